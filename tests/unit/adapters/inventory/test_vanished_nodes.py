"""
What pods hold whose node is gone: nothing of the nodes that there are.
"""

from adapters.compare.outcome import outcome_of
from adapters.inventory.gangs import RowsMemo
from models.policy import Policy
from solver.round import decide
from tests.helpers.build import gang, nodes, snapshot

CASE = snapshot(
    nodes(1),
    [
        gang("here", gpus=8, running=["n0"]),
        gang("lost", minimum=2, gpus=4, running=["gone", "gone"]),
    ],
)


def test_a_list_of_gangs_counts_gpus_of_nodes_that_are_there():
    rows = {row.name: row.used for row in RowsMemo().of(CASE)}
    assert {"here": 8, "lost": 0} == rows


def test_gpus_at_work_after_a_plan_are_those_of_nodes_that_are_there():
    totals = outcome_of(CASE, decide(CASE, Policy(), strategy="greedy")).totals
    assert (8, 3) == (totals.gpus, totals.pods)
