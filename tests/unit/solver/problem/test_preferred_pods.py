"""
What pods lack of the neighbours that they prefer, counted on nodes.
"""

import pytest

from models.neighbours import Neighbours, Preferred
from models.policy import Policy, Tier
from models.snapshot import Snapshot
from solver.problem.problem import problem_of
from tests.helpers.build import gang, leaf, node

TOGETHER = Preferred("web", "zone", 3)
ALONE = Preferred("web", "zone", -2)


def said(*preferred, own=True):
    return Neighbours(preferred=preferred, preferred_by=("web",) if own else ())


def around(neighbours, *, listed=True):
    nodes = tuple(
        node(name, gpus=4, labels=labels)
        for name, labels in (
            ("a", {"zone": "a"}),
            ("b", {"zone": "b"}),
            ("c", {"zone": "b"}),
            ("d", {}),
        )
    )
    one = gang("g", leaf(minimum=3, neighbours=neighbours))
    policy = Policy(tiers=(Tier(name="neighbours"),)) if listed else Policy()
    return problem_of(Snapshot(nodes=nodes, gangs=(one,)), policy).preferred


@pytest.mark.parametrize(
    ("rule", "own", "hosts", "expected"),
    [
        (TOGETHER, True, [1, 2], 0),
        (TOGETHER, True, [0, 1, 2], 3),
        (TOGETHER, True, [3, 3], 6),
        (TOGETHER, False, [1, 2], 6),
        (ALONE, True, [0, 1], 0),
        (ALONE, True, [0, 1, 2], 4),
        (ALONE, True, [3, 3], 0),
        (ALONE, False, [1, 2], 0),
    ],
)
def test_a_pod_lacks_whom_it_prefers_and_does_not_find(rule, own, hosts, expected):
    neighbours = said(rule, own=own)

    assert around(neighbours).unmet([(neighbours, hosts)]) == expected


def test_nothing_is_counted_where_the_policy_does_not_ask():
    assert around(said(TOGETHER), listed=False) is None


def test_the_first_goes_where_all_of_its_kind_have_room():
    found = around(said(TOGETHER))
    room = found.domains.of("zone") * 0 + 2

    assert found.first_domain(said(TOGETHER), room, 3).tolist() == [
        False,
        True,
        True,
        False,
    ]
    assert found.first_domain(said(TOGETHER), room, 5) is None
