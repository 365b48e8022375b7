"""
What a round is not shown makes no plan better.
"""

from dataclasses import dataclass, field, replace

import pytest

from adapters.replay.world import world_sink, world_source
from adapters.replay.world.world_source import WorldSource
from models.policy import Evict, Policy
from solver.round import decide
from tests.helpers.played import driven, lines, played, run, some_jobs

STILL = Evict(preempt=False, reclaim=False, consolidate=False)
LATE = Policy.model_validate(
    {
        "evict": STILL,
        "tiers": [{"name": "late", "after": "1h", "gpus": 8}, "gangs", "packing"],
        "waiting": {
            "protectAfter": "2h",
            "firmAfter": "2h",
            "headsOf": "cluster",
            "gpus": 8,
        },
    }
)


@dataclass
class Both:
    """
    A planner that also plans for all who wait, and compares the two.
    """

    hidden: int = 0
    differing: list[str] = field(default_factory=list)

    def __call__(self, world, snapshot, policy):
        plan = decide(snapshot, policy, explained=False)
        shown = world.shown
        world.shown = [idx for kind in world.line.waiting() for _, _, idx in kind.line]
        self.hidden += len(world.shown) - len(shown)
        whole = decide(WorldSource(world).snapshot(), policy, explained=False)
        world.shown = shown
        for one, other in zip(plan.tiers, whole.tiers, strict=True):
            assert one.name == other.name
            if one.name != "order" and one.value != other.value:
                self.differing.append(f"{world.now} {one} {other}")
                break
        return plan


@pytest.mark.drawn
@pytest.mark.parametrize("policy", [Policy(evict=STILL), LATE], ids=["default", "late"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_plan_for_the_window_is_as_good_as_one_for_the_whole_line(
    tmp_path, seed, policy
):
    both = Both()
    driven(
        tmp_path, run(some_jobs(seed, 60, elastic=False), "3x8", policy=policy), both
    )

    assert both.hidden > 0
    assert [] == both.differing


def _evicting(folder, seed, monkeypatch, *, whole):
    """
    Play with evictions, shown what may start or as much as empty nodes would take.

    Why those waited who were not shown is not told, so that is left out of the rows.
    """
    shown = []
    snapshot = WorldSource.snapshot

    def counted(source):
        shown.append(len(source.world.shown))
        return snapshot(source)

    monkeypatch.setattr(WorldSource, "snapshot", counted)
    if whole:
        monkeypatch.setattr(world_source, "room_at_most", lambda _: None)
    jobs = [replace(each, priority=0) for each in some_jobs(seed, 100, elastic=False)]
    found = played(folder, run(jobs, "3x8", evictions=True))
    monkeypatch.undo()
    return _without_reasons(found), sum(shown)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_with_evictions_nobody_is_shown_for_whom_there_would_be_no_room(
    tmp_path, seed, monkeypatch
):
    some, fewer = _evicting(tmp_path / "some", seed, monkeypatch, whole=False)
    every, more = _evicting(tmp_path / "every", seed, monkeypatch, whole=True)

    assert every == some
    assert fewer < more


@pytest.mark.drawn
@pytest.mark.parametrize("again", ["0s", "1h"])
@pytest.mark.parametrize("seed", [1, 2])
def test_with_evictions_rounds_at_which_no_clock_has_passed_need_no_plan(
    tmp_path, seed, again, monkeypatch
):
    policy = {"evict": {"again": again}, "waiting": {"heads": 0}}
    jobs = [replace(each, priority=0) for each in some_jobs(seed, 40, elastic=False)]
    said = {"evictions": True, "policy": Policy.model_validate(policy)}
    made = run(jobs, "3x8", strategy="greedy", **said)

    some = played(tmp_path / "some", made)
    monkeypatch.setattr(world_sink, "next_moment", lambda *_: 1)
    every = played(tmp_path / "every", made)

    assert _without_reasons(every) == _without_reasons(some)
    assert _planned(tmp_path / "some") < _planned(tmp_path / "every")


def _without_reasons(found):
    return {name: row | {"reason": ""} for name, row in found.items()}


def _planned(folder):
    return len(lines(folder, "timings.jsonl"))
