"""
The most room that there could be for some gangs, whoever leaves.
"""

from dataclasses import replace

import pytest

from models.changes.all_room import in_all_room
from models.neighbours import Near, Neighbours
from models.nodes import HOSTNAME
from tests.helpers.build import gang, node, snapshot

MINE = gang("mine")
STAYS = gang("stays", running=["n0"], preemptible=False)
MAY_LEAVE = [
    gang("runs", running=["n0"]),
    gang("waits"),
    gang("in-part", replicas=2, minimum=1, running=["n0"], preemptible=False),
    replace(STAYS, name="lent", lent_by=("default/x",)),
]


def left(*others, mine=MINE):
    found = in_all_room(snapshot([node()], [mine, *others]), [mine])
    return None if found is None else [each.name for each in found.gangs]


def test_all_are_gone_but_who_runs_whole_and_may_not_be_made_to_leave():
    assert ["mine", "stays"] == left(STAYS, *MAY_LEAVE)


@pytest.mark.parametrize(
    ("mine", "others"),
    [
        (
            gang("mine", neighbours=Neighbours(near=Near("web", (HOSTNAME,)))),
            [gang("w", running=["n0"], neighbours=Neighbours(selected=("web",)))],
        ),
        (
            replace(MINE, mates=("default/mate", "default/mine")),
            [gang("mate", running=["n0"])],
        ),
    ],
    ids=["beside others", "with its group"],
)
def test_nothing_is_known_where_places_are_there_by_others(mine, others):
    assert left(*others, mine=mine) is None
    assert ["mine"] == left()
