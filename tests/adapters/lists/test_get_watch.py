"""
``phalanx get --watch``: what has changed, and its end.
"""

import json

import pytest

from adapters.cli.terminal.output import Format
from adapters.cli.views import listing
from adapters.cli.views.get_views import gangs_of
from adapters.cli.views.listing import Look, watch
from adapters.inventory.gangs import gang_rows
from adapters.inventory.listed import Seen
from models.policy import Policy
from tests.adapters.commands.command import phalanx
from tests.helpers.build import gang, leaf, nodes, snapshot


def looks(*worlds):
    """
    See one gang after the other, each as it runs on so many nodes.
    """
    for running in worlds:
        gangs = [
            gang(name, leaf(minimum=1, running=["n0"] * number), age=seconds)
            for name, number, seconds in running
        ]
        yield Seen(
            snapshot=snapshot(nodes=nodes(2), gangs=gangs), policy=Policy(), source="s"
        )


@pytest.mark.parametrize("form", [Format.TABLE, Format.JSON, Format.NAME])
def test_a_watch_prints_what_has_changed_and_nothing_else(form, capsys):
    seen = list(
        looks(
            [("a", 0, 5), ("b", 1, 5)],
            [("a", 0, 6), ("b", 1, 6)],
            [("a", 1, 7), ("b", 1, 7)],
            [("b", 1, 8)],
        )
    )
    worlds = (gang_rows(world) for world in seen)
    shown = [
        capsys.readouterr().out.splitlines()
        for _ in watch(gangs_of(seen[0]), worlds, Look(form=form))
    ]
    gone = {Format.TABLE: ["default/a is gone"], Format.NAME: []}

    assert 2 + (form is Format.TABLE) == len(shown[0])
    assert [] == shown[1]  # that time goes by is no change
    assert [True] == ['"a"' in line or "default/a" in line for line in shown[2]]
    if form is Format.JSON:  # as it was last, so that scripts know which one
        last = json.loads(shown[2][0])
        assert [last | {"state": "Gone"}] == [*map(json.loads, shown[3])]
    else:
        assert gone[form] == shown[3]


def test_a_watch_ends_when_it_is_interrupted(recorded, monkeypatch, capsys):
    class Interrupted:
        def wait(self, _seconds):
            raise KeyboardInterrupt

    monkeypatch.setattr(listing, "Event", Interrupted)

    assert 130 == phalanx("get", "rounds", "--rounds", recorded, "--watch")
    assert "r1" in capsys.readouterr().out
