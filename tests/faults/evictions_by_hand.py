"""
Faults of greedy where it evicts.
"""

from math import inf

from tests.faults.fault import Fault
from tests.faults.switch import always, saying, switch


def surplus_with_its_core(_old):
    """
    Count a tree node that is emptied as one unit, with all its surplus.
    """

    def count(state, t):
        leaves = state.nodes[t].leaves
        return {i: len(state.leaves[i].running) for i in leaves}

    return count


FAULTS: tuple[Fault, ...] = (
    Fault(
        "greedy-takes-surplus-with-its-core",
        "greedy counts a gang that goes whole as one unit, with all its surplus",
        switch("solver.evict.rights.cores:core_of", surplus_with_its_core),
        (
            "evict/reclaim/an-elastic-gang-does-not-go-whole-for-one-unit",
            "evict/reclaim/the-core-of-a-tree-is-what-it-needs",
        ),
        "greedy",
    ),
    Fault(
        "greedy-evicts-without-rights",
        "greedy lets queues lose anything",
        switch(
            "solver.evict.rights.hand_rights:HandRights._is_right", always(value=True)
        ),
        ("evict/reclaim/where-the-cheapest-may-not-all-go-others-do",),
        "greedy",
    ),
    Fault(
        "greedy-evicts-without-bounds",
        "greedy knows neither budgets nor the bounds of the policy",
        switch(
            "solver.evict.rights.policy_bounds:PolicyBounds.hold", always(value=True)
        ),
        (
            "evict/protected/a-budget-holds-for-all-its-gangs",
            "evict/policy/max-pods-3",
        ),
        "greedy",
    ),
    Fault(
        "greedy-without-the-last-unit",
        "greedy takes no unit that brings a queue below its share",
        switch("solver.evict.rights.leaving_sums:Sums.largest", always(0)),
        (
            "evict/reclaim/the-last-unit-may-take-it-below",
            "evict/preempt/the-last-unit-may-be-larger",
        ),
        "greedy",
    ),
    Fault(
        "greedy-takes-the-dearest",
        "greedy takes the dearest victims first",
        switch(
            "solver.evict.greedy.victim_table:VictimTable._cost",
            saying(lambda cost, *_: 1e6 - cost),
        ),
        (
            "evict/moves/three-nodes-become-two",
            "evict/reclaim/least-work-is-lost",
        ),
        "greedy",
    ),
    Fault(
        "greedy-never-moves",
        "greedy finds no new places",
        switch(
            "solver.evict.greedy.eviction_log:Leavers.find_place", always(value=False)
        ),
        (
            "evict/moves/small-gangs-move-for-a-large-one",
            "evict/moves/a-move-comes-before-an-eviction",
        ),
        "greedy",
    ),
    Fault(
        "greedy-stops-at-departments",
        "greedy lets what leaves a department make no room in its share",
        switch("solver.place.queue_ledger:Ledger.give_share", always(None)),
        ("evict/reclaim/queues-of-one-department-reclaim-from-each-other",),
        "greedy",
    ),
    Fault(
        "greedy-does-not-reckon",
        "greedy evicts whatever that loses for each GPU",
        switch("solver.evict.beneficiaries:worth", always(value=inf)),
        (
            "evict/policy/max-lost-per-gpu-59",
            "evict/policy/max-lost-per-gpu-counts-moves",
        ),
        "greedy",
    ),
)
