"""
Faults of victims: what leaves together, what must stay whole, and who is protected.
"""

from dataclasses import replace

from tests.faults.changes import gangs
from tests.faults.fault import Fault
from tests.faults.in_model import dropped, in_model
from tests.faults.queues import LEAF_QUEUE_ONLY
from tests.faults.switch import (
    always,
    during,
    frozen_first,
    number,
    saying,
    seeing,
    switch,
)


def _for_leaves_only(old):
    """
    Keep the minimums of leaves and forget those of inner tree nodes.
    """

    def keep(model, leaving, at, state, t, below):
        if state.nodes[t].leaf >= 0:
            old(model, leaving, at, state, t, below)

    return keep


def _for_inner_nodes_only(old):
    """
    Keep the minimums of inner tree nodes and forget those of leaves.
    """

    def keep(model, leaving, at, state, t, below):
        if state.nodes[t].leaf < 0:
            old(model, leaving, at, state, t, below)

    return keep


def _counts_some(choice, state):
    """
    See a choice only where more pods count than a gang of one leaf needs.
    """
    leaf = state.leaves[0]
    return choice and (len(state.nodes) > 1 or leaf.counted > leaf.minimum)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "what-counts-for-nothing-goes-whole",
        "running pods that do not count leave together though none is needed",
        switch("solver.evict.gathering:_has_choice", saying(_counts_some)),
        ("evict/reclaim/pods-that-count-for-nothing-are-units-by-themselves",),
    ),
    # --- victims
    Fault(
        "fixed-work-leaves",
        "work that is not preemptible may leave",
        switch(
            "solver.problem.running_gangs:Runners.__init__",
            seeing(at1=gangs(preemptible=lambda _: True)),
        ),
        (
            "evict/protected/work-that-is-not-preemptible",
            "evict/protected/when-nothing-is-preemptible",
        ),
    ),
    Fault(
        "victims-below-their-minimum",
        "a leaf may be left with fewer pods than its minimum",
        in_model(
            switch(
                "solver.encode.leaving.who_leaves:_keep_minimums", _for_inner_nodes_only
            )
        ),
        (
            "evict/reclaim/a-gang-is-never-left-below-its-minimum",
            "evict/reclaim/a-child-is-never-left-below-its-minimum",
        ),
    ),
    Fault(
        "victims-with-too-few-children",
        "a gang may be left with fewer children than it needs",
        in_model(
            switch("solver.encode.leaving.who_leaves:_keep_minimums", _for_leaves_only)
        ),
        ("evict/reclaim/the-whole-gang-goes-where-all-children-are-needed",),
    ),
    Fault(
        "victims-without-their-roles",
        "pods may stay whose earlier role is gone",
        dropped("solver.encode.leaving.who_leaves:_keep_roles"),
        (
            "evict/reclaim/what-comes-first-does-not-leave-what-comes-after",
            "evict/moves/no-single-pod-whose-earlier-role-leaves",
        ),
    ),
    Fault(
        "gangs-torn-apart",
        "each node decides by itself whether its part of a gang leaves",
        dropped("solver.encode.leaving.who_leaves:_add_wholly"),
        (
            "evict/reclaim/a-gang-that-goes-whole-is-one-unit",
            "evict/reclaim/a-victim-makes-room-on-every-node",
        ),
    ),
    Fault(
        "useless-parts-forgotten",
        "parts of gangs whose room is of no use are no choice of their nodes",
        in_model(
            switch(
                "solver.encode.conversion.contents:undominated",
                seeing(at0=lambda c: replace(c, linked=(False,) * len(c.linked))),
            )
        ),
        ("evict/reclaim/a-part-of-no-use-goes-with-its-gang",),
    ),
    Fault(
        "relief-forgotten",
        "who leaves for room below a limit of its queue must leave room of use",
        frozen_first(
            switch(
                "solver.encode.conversion.alike_nodes:relieved_queues",
                always(frozenset()),
            )
        ),
        ("evict/preempt/below-a-limit-a-pod-leaves-whose-room-nobody-can-use",),
    ),
    Fault(
        "mates-leave-beside-a-start",
        "a gang of a group starts while another of it is evicted",
        dropped("solver.encode.leaving.step_rules:_keep_mates"),
        ("groups/who-starts-later-keeps-the-others-of-its-group",),
    ),
    Fault(
        "mates-start-beside-who-left",
        "in idle room a gang starts though another of its group is evicted",
        switch("solver.evict.freeze:_left_by_mates", always({})),
        ("groups/nobody-starts-beside-a-gang-that-is-evicted",),
    ),
    Fault(
        "promises-without-mates",
        "a gang is evicted beside which another of its group has places reserved",
        switch("solver.evict.group_mates:promised_mates", always(frozenset())),
        ("groups/who-starts-later-keeps-the-others-of-its-group",),
    ),
    Fault(
        "parts-on-closed-nodes-stay",
        "parts of gangs on nodes that take no pods do not leave with their gang",
        in_model(
            number("search.most_open_cells", 0),
            switch(
                "solver.encode.conversion.alike_nodes:Grouping._linked",
                saying(lambda found, *_: found & False),
            ),
        ),
        ("evict/preempt/a-role-on-a-cordoned-node-goes-with-its-gang",),
    ),
    Fault(
        "crowded-nodes-without-a-base",
        "a crowded node is of no use unless somebody leaves it",
        in_model(
            switch(
                "solver.encode.conversion.convert_nodes:_crowded",
                saying(lambda crowded, *_: replace(crowded, base=-1)),
            )
        ),
        ("evict/reclaim/crowded-nodes-are-of-use-as-they-are",),
    ),
    Fault(
        "pods-on-vanished-nodes-forgotten",
        "pods on nodes that are gone do not leave with their gang",
        dropped("solver.encode.leaving.who_leaves:_add_lost"),
        ("evict/reclaim/an-elastic-gang-half-on-a-vanished-node-goes-whole",),
    ),
    # --- protection
    Fault(
        "min-runtimes-ignored",
        "who has just started may leave",
        switch("solver.evict.rights.may_leave:_Runtimes.passed", always((True, True))),
        (
            "evict/protected/min-runtime-against-reclaim",
            "evict/protected/min-runtime-against-preempt",
        ),
    ),
    Fault(
        "min-runtimes-off-by-one",
        "who has run for exactly the min runtime stays",
        switch(
            "solver.evict.rights.may_leave:_Runtimes.passed",
            seeing(at1=lambda seconds: seconds - 1),
        ),
        ("evict/protected/exactly-the-min-runtime-is-enough",),
    ),
    Fault(
        "min-runtimes-of-the-leaf-queue",
        "min runtimes of queues above do not count",
        during("solver.evict.rights.may_leave:Permissions._of_queue", LEAF_QUEUE_ONLY),
        ("evict/protected/the-longest-min-runtime-of-the-path-holds",),
    ),
    Fault(
        "min-runtimes-mixed-up",
        "the min runtime of one rule holds for the other",
        switch(
            "solver.evict.rights.may_leave:_Runtimes.passed",
            saying(lambda both_, *_: (both_[1], both_[0])),
        ),
        (
            "evict/protected/the-min-runtime-of-preempt-does-not-hold-off-reclaim",
            "evict/protected/min-runtime-against-reclaim",
        ),
    ),
    Fault(
        "the-oldest-pod-speaks-for-all",
        "a gang goes whole if one of its pods may",
        switch(
            "solver.evict.gathering:_Gathering._add_large",
            lambda old: (
                lambda self, gang, pods: old(
                    self,
                    gang,
                    tuple(
                        (at, replace(p, seconds=max(x.seconds for _, x in pods)))
                        for at, p in pods
                    ),
                )
            ),
        ),
        ("evict/protected/one-young-pod-protects-a-whole-gang",),
    ),
    Fault(
        "budgets-ignored",
        "the model knows no budgets",
        in_model(switch("solver.encode.leaving.evicted_units:budget_rows", always({}))),
        (
            "evict/protected/a-budget-holds-for-all-its-gangs",
            "evict/protected/a-moved-pod-counts-towards-its-budget",
        ),
    ),
    Fault(
        "the-last-budget-counts",
        "of a gang's budgets only the last one holds",
        in_model(
            switch(
                "solver.encode.leaving.evicted_units:budget_rows",
                saying(lambda rows, *_: dict(sorted(rows.items())[:1])),
            )
        ),
        ("evict/protected/of-two-budgets-the-smaller-counts",),
    ),
    Fault(
        "again-at-once",
        "who was evicted may be evicted again at once",
        switch(
            "solver.evict.rights.may_leave:Permissions.may_leave",
            lambda _old: lambda self, gang: gang.key not in self._decided,
        ),
        (
            "evict/policy/again-601s",
            "evict/policy/again-holds-off-moves",
        ),
    ),
)
