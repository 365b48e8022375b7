"""
Faults of gangs: minimums, children, roles, growth, and what a gang is worth.
"""

from collections.abc import Mapping
from dataclasses import replace

from models.gangs import PodPhase, PodSet
from models.plan import Placement
from solver.problem.gang_state import least_need
from solver.problem.node_room import NO_PLACES
from tests.faults.changes import FIRST_CHILDREN_BY_HAND, leaves, tree_nodes
from tests.faults.fault import Fault
from tests.faults.switch import (
    Switch,
    always,
    asked,
    becomes,
    both,
    saying,
    seeing,
    switch,
)


def _pods(tree, change):
    """
    See a tree whose pods are changed.
    """
    if isinstance(tree, PodSet):
        return replace(tree, pods=tuple(map(change, tree.pods)))
    return replace(tree, children=tuple(_pods(c, change) for c in tree.children))


def _needing(count) -> Switch:
    """
    Let every leaf need as many pods as a function of it says.
    """

    def finish(leaf):
        object.__setattr__(leaf, "need", count(leaf))

    return switch("solver.problem.gang_state:Leaf.__post_init__", becomes(finish))


def _phases(phases: Mapping[PodPhase, PodPhase]):
    """
    See a gang whose pods are in other phases.
    """

    def one(pod):
        return replace(pod, phase=phases.get(pod.phase, pod.phase))

    return lambda gang: replace(gang, tree=_pods(gang.tree, one))


def _only_first_children(old):
    """
    Let a later child start only where the first K do.
    """

    def add(model, state, active, totals):
        old(model, state, active, totals)
        for node in state.nodes:
            first = node.children[: node.min_groups]
            for late in node.children[node.min_groups :]:
                for early in first:
                    if early in active and late in active:
                        model.add_implication(
                            active[late].variable, active[early].variable
                        )

    return add


def _dearest_value(state, values):
    """
    Value of the dearest set of pods that would do.
    """
    prices = [values.of_pod(leaf.pod_set.requests) for leaf in state.leaves]
    return -(least_need(state, lambda i: -prices[i]) or 0)


def _whole_value(state, values):
    """
    Value of all pending pods, surplus included.
    """
    return sum(
        values.of_pod(leaf.pod_set.requests) * len(leaf.pending)
        for leaf in state.leaves
    )


def _value_with_running(value, state, values):
    """
    Value of what is missing and of what runs.
    """
    return value + sum(
        values.of_pod(leaf.pod_set.requests) * len(leaf.running)
        for leaf in state.leaves
    )


def _reversed_places(_old):
    """
    Give places to pods from the last to the first.
    """

    def placement(problem, draft):
        binds = {
            f"{state.gang.namespace}/{pod.name}": problem.room.nodes[host].name
            for unit in problem.units
            for state in unit.states
            for leaf, hosts in zip(
                state.leaves, draft.places.get(state.key, NO_PLACES), strict=False
            )
            for pod, host in zip(leaf.pending[::-1], sorted(hosts), strict=False)
        }
        return Placement(binds=binds, entitled=draft.entitled)

    return placement


FAULTS: tuple[Fault, ...] = (
    Fault(
        "minimum-one-too-low",
        "a leaf starts with one pod less than its minimum",
        _needing(lambda leaf: max(0, leaf.minimum - leaf.counted - 1)),
        (
            "gang/binds-nothing-below-the-minimum",
            "gang/two-gangs-never-share-a-deadlock",
        ),
    ),
    Fault(
        "minimum-one-too-high",
        "a leaf starts only with one pod more than its minimum",
        _needing(lambda leaf: max(0, leaf.minimum - leaf.counted + 1)),
        (
            "gang/starts-when-the-minimum-fits",
            "gang/minimum-alone-means-that-many-replicas",
        ),
    ),
    Fault(
        "minimum-of-replicas",
        "every pod of a leaf is taken as needed",
        switch(
            "solver.problem.gang_state:standing",
            saying(lambda s, *_: leaves(minimum=lambda x: x.pod_set.replicas)(s)),
        ),
        ("gang/minimum-below-replicas", "gang/surplus-is-no-reason-to-start"),
    ),
    Fault(
        "one-child-too-few",
        "K − 1 of the children are enough",
        switch(
            "solver.encode.k_of_n:add_minimums",
            seeing(at1=tree_nodes(min_groups=lambda n: max(0, n.min_groups - 1))),
        ),
        (
            "subgroups/min-pods-without-enough-groups-waits",
            "subgroups/nothing-grows-below-an-unsatisfied-group",
        ),
    ),
    Fault(
        "one-child-too-many",
        "K + 1 of the children are asked for",
        switch(
            "solver.problem.gang_state:standing",
            saying(
                lambda s, *_: tree_nodes(
                    min_groups=lambda n: min(n.min_groups + 1, len(n.children))
                )(s)
            ),
        ),
        (
            "subgroups/a-child-on-full-nodes-is-passed-by",
            "subgroups/running-children-count",
        ),
    ),
    Fault(
        "only-the-first-k-children",
        "only the first K-subset of the children is tried",
        both(
            switch("solver.encode.k_of_n:add_minimums", _only_first_children),
            FIRST_CHILDREN_BY_HAND,
        ),
        ("subgroups/only-the-second-subset-fits", "subgroups/only-the-last-pair-fits"),
    ),
    Fault(
        "empty-children-count",
        "a child that is satisfied with no pod at all counts towards K",
        switch(
            "solver.problem.gang_state:TreeNode.live",
            becomes(property(lambda node: node.satisfied)),
        ),
        ("subgroups/an-empty-child-does-not-count",),
    ),
    Fault(
        "running-children-do-not-count",
        "a child that runs already does not count towards K",
        switch(
            "solver.problem.gang_state:TreeNode.live",
            becomes(property(lambda _: False)),
        ),
        ("matchpolicy/once-satisfied-holds-for-every-subset",),
    ),
    Fault(
        "min-pods-ignored",
        "a minimum over pods of several shapes is no constraint",
        asked(
            switch(
                "solver.encode.k_of_n:add_minimums",
                seeing(at1=tree_nodes(min_pods=lambda _: 0)),
            )
        ),
        ("subgroups/min-pods-are-placed-whole-or-not-at-all",),
    ),
    Fault(
        "trees-without-minimums",
        "the nodes of a tree with a choice have no minimums",
        switch("solver.encode.k_of_n:add_minimums", always(None)),
        (
            "subgroups/a-surplus-child-comes-whole-or-not",
            "peers/native-min-group-count",
        ),
    ),
    Fault(
        "no-choice-in-trees",
        "every leaf of every tree is taken as needed",
        switch("solver.problem.gang_state:Standing._is_rigid", always(value=True)),
        (
            "subgroups/only-the-second-subset-fits",
            "subgroups/nested-k-of-n-at-two-levels",
        ),
    ),
    Fault(
        "role-order-dropped",
        "a leaf may get pods before those it comes after",
        switch("solver.encode.roles:add_role_order", always(None)),
        (
            "roles/executors-never-start-alone",
            "roles/surplus-of-a-later-role-waits-too",
        ),
    ),
    Fault(
        "value-without-role-order",
        "the least a gang needs is counted without the order of its roles",
        switch(
            "solver.problem.problem:_least_value",
            seeing(at0=leaves(after=lambda _: ())),
        ),
        ("roles/value-includes-the-role-that-comes-first",),
    ),
    Fault(
        "running-gangs-do-not-grow",
        "a gang that has its minimum gets no more pods",
        switch(
            "solver.problem.problem:_units",
            saying(lambda units, *_: [u for u in units if u.starts]),
        ),
        ("gang/running-elastic-gang-grows", "roles/growth-after-a-running-driver"),
    ),
    Fault(
        "running-members-forgotten",
        "a gang that runs in part needs its whole minimum again",
        switch(
            "solver.problem.gang_state:standing",
            seeing(at0=_phases({PodPhase.RUNNING: PodPhase.FAILED})),
        ),
        ("gang/below-its-minimum-is-completed", "subgroups/a-lost-worker-comes-back"),
    ),
    Fault(
        "surplus-is-a-reason-to-start",
        "a gang's value is that of all its pods, surplus included",
        switch("solver.problem.problem:_least_value", becomes(_whole_value)),
        ("gang/surplus-is-no-reason-to-start",),
    ),
    Fault(
        "running-pods-have-value",
        "a gang's value includes the pods that it has already",
        switch("solver.problem.problem:_least_value", saying(_value_with_running)),
        ("gang/value-is-that-of-the-missing-pods",),
    ),
    Fault(
        "value-of-the-dearest-subset",
        "a gang's value is that of its dearest K-subset",
        switch("solver.problem.problem:_least_value", becomes(_dearest_value)),
        ("subgroups/a-costly-child-adds-no-value",),
    ),
    Fault(
        "no-surplus",
        "a gang gets its minimum and nothing beyond",
        switch(
            "solver.problem.gang_state:standing",
            saying(lambda s, *_: leaves(pending=lambda x: x.pending[: x.need])(s)),
        ),
        ("gang/minimum-below-replicas", "gang/running-elastic-gang-grows"),
    ),
    Fault(
        "gated-pods-are-pending",
        "a pod behind a gate is bound",
        switch(
            "solver.problem.gang_state:standing",
            seeing(at0=_phases({PodPhase.GATED: PodPhase.PENDING})),
        ),
        ("readiness/gated-pods-do-not-count", "readiness/too-few-ready-children-wait"),
    ),
    Fault(
        "failed-pods-count",
        "a failed pod counts as one that runs",
        switch(
            "solver.problem.gang_state:_COUNTED",
            lambda table: {k: v | {PodPhase.FAILED} for k, v in table.items()},
        ),
        ("readiness/failed-pods-do-not-count",),
    ),
    Fault(
        "pods-in-reverse",
        "the places of a leaf are given out from its last pod to its first",
        switch("solver.plan.placement:placement_of", _reversed_places),
        ("gang/running-elastic-gang-grows",),
    ),
)
