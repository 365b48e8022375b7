"""
What is shown of nodes with pieces that pods are tied to.
"""

from adapters.files import scenario_of
from adapters.inventory.listed import Seen
from adapters.inventory.nodes import node_rows
from tests.adapters.documents import scenario

NODE = {
    "name": "n",
    "allocatable": {"x.io/whole": 4},
    "used": {"x.io/whole": 4},
    "tied": [{"x.io/whole": 1}, {"x.io/whole": 2}],
}


def test_a_piece_is_used_by_those_tied_to_it_and_else_free():
    runs = {"name": "g", "min": 2, "running": [{"node": "n", "pods": 2, "tied": [1]}]}
    found = scenario_of("test", scenario(nodes=[NODE], gangs=[runs]))
    (row,) = node_rows(
        Seen(snapshot=found.snapshot, policy=found.policy, source="test")
    )

    assert (2, 1, 1) == tuple(x["x.io/whole"] for x in (row.ours, row.others, row.free))
