"""
When the loop looks again: at a change, at a moment of a rule, and not before.
"""

from dataclasses import replace

import pytest

from adapters.loop.parts import Pulse
from adapters.loop.timing import Timing
from models.errors import PhalanxError
from tests.helpers.build import gang, nodes, snapshot
from tests.unit.adapters.loop.playing import RUNS, WAITS, Play, Source


def test_a_quiet_cluster_is_not_looked_at_again(play):
    play.source.shown = RUNS
    play.step()
    for _ in range(5):
        play.step()

    assert 1 == play.source.looks
    assert 5 == play.told.said.count("skipped")


def test_a_change_ends_the_quiet(play):
    play.source.shown = RUNS
    play.step()
    play.source.change()
    play.step()

    assert 2 == play.source.looks


class Restless(Source):
    """
    Changes between the first looks at its revision.
    """

    changes = 5

    @property
    def revision(self) -> int:
        self.changes = max(0, self.changes - 1)
        return -self.changes

    @revision.setter
    def revision(self, number: int) -> None:
        self.first = number


@pytest.mark.parametrize(("spent", "left"), [(0.5, 0), (0.0, 4)])
def test_changes_that_follow_each_other_are_waited_for_as_long_as_a_round_takes(
    tmp_path, spent, left
):
    play = Play(WAITS, tmp_path)
    source = Restless(WAITS)
    timing = Timing(replace(play.parts, source=source, pulse=Pulse(settle=0.001)))
    timing.spent = spent
    timing.wait(0.0, None)

    assert left == source.changes


def test_the_next_moment_of_a_rule_ends_the_quiet(play):
    full = [gang("g", minimum=1, running=["n0"], gpus=8), gang("h", minimum=1)]
    play.source.shown = snapshot(nodes(1), full)
    play.step()
    play.time.now += 599
    play.step()
    early = play.source.looks
    play.time.now += 1  # a gang of ten minutes counts more
    play.step()

    assert (1, 2) == (early, play.source.looks)


def test_the_quiet_ends_when_less_counts_for_which_nodes_were_held(play):
    full = [
        gang("g", minimum=1, running=["n0"], gpus=8),
        gang("h", minimum=1, age=86400),
    ]
    play.time.now = 900_000.0
    play.parts.memory.held.note(1, 815_000.0)
    play.parts.memory.held.note(0, 815_100.0)
    play.source.shown = snapshot(nodes(1), full)
    play.step()
    before = play.source.looks
    play.time.now += 899
    play.step()
    early = play.source.looks
    play.time.now += 1
    play.step()

    assert (1, 1, 2) == (before, early, play.source.looks)


def test_a_change_during_a_round_is_not_lost(play):
    play.source.shown = RUNS
    look = play.source.snapshot

    def changes():
        play.source.revision += 1
        return look()

    play.source.snapshot = changes
    play.step()
    play.source.snapshot = look
    play.step()

    assert 2 == play.source.looks


def test_without_a_snapshot_nothing_is_planned(play):
    play.source.error = PhalanxError("pods were not read yet")
    play.step()
    play.source.error = None
    play.step()

    assert ["refused", "planned"] == play.told.news[1:3]
