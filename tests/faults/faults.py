"""
Faults: mistakes one could make in the solver, each with the scenarios it spoils.

A fault that no scenario catches is a rule without a scenario; see README.md of this
folder for how to look for one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from models.gangs import MatchPolicy, PodPhase, PodSet
from solver.domains import OUTSIDE
from solver.problem import Unit
from solver.standing import least_need
from tests.faults.switch import (
    Switch,
    always,
    becomes,
    both,
    during,
    saying,
    seeing,
    switch,
)


@dataclass(frozen=True, slots=True)
class Fault:
    """
    A mistake, how to make it, and the scenarios of which each must then fail.
    """

    name: str
    about: str
    apply: Switch
    caught_by: tuple[str, ...]
    strategy: str = "solver"


# --- what the changes are made of ---------------------------------------------


def _nodes(**changes):
    """
    See a standing whose tree nodes are changed, by field.
    """

    def change(state):
        return replace(
            state,
            nodes=tuple(
                replace(node, **{k: make(node) for k, make in changes.items()})
                for node in state.nodes
            ),
        )

    return change


def _leaves(**changes):
    def change(state):
        return replace(
            state,
            leaves=tuple(
                replace(leaf, **{k: make(leaf) for k, make in changes.items()})
                for leaf in state.leaves
            ),
        )

    return change


def _pods(tree, change):
    if isinstance(tree, PodSet):
        return replace(tree, pods=tuple(p for q in tree.pods for p in change(q)))
    return replace(tree, children=tuple(_pods(c, change) for c in tree.children))


def _phases(phases: Mapping[PodPhase, PodPhase]):
    """
    See a gang whose pods are in other phases.
    """

    def one(pod):
        return [replace(pod, phase=phases.get(pod.phase, pod.phase))]

    return lambda gang: replace(gang, tree=_pods(gang.tree, one))


def _gangs(**changes):
    """
    See a snapshot whose gangs are changed, by field.
    """

    def change(snapshot):
        gangs = tuple(
            replace(gang, **{k: make(gang) for k, make in changes.items()})
            for gang in snapshot.gangs
        )
        return replace(snapshot, gangs=gangs)

    return change


def _machines(**changes):
    """
    See a snapshot whose nodes are changed, by field.
    """

    def change(snapshot):
        nodes = tuple(
            replace(node, **{k: make(node) for k, make in changes.items()})
            for node in snapshot.nodes
        )
        return replace(snapshot, nodes=nodes)

    return change


def _rules(**changes):
    """
    See queues whose rules are changed, by field.
    """

    def change(queues):
        return tuple(
            replace(
                queue,
                resources={
                    name: replace(
                        rule, **{k: make(rule) for k, make in changes.items()}
                    )
                    for name, rule in queue.resources.items()
                },
            )
            for queue in queues
        )

    return change


def _queues(**changes):
    return lambda queues: tuple(
        replace(queue, **{k: make(queue) for k, make in changes.items()})
        for queue in queues
    )


def _counting(policy: MatchPolicy, *phases: PodPhase) -> Switch:
    def change(table):
        return {**table, policy: frozenset(phases)}

    return switch("solver.standing:_COUNTED", change)


# --- the ways in which things go wrong ----------------------------------------


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


def _not_below_others(old):
    """
    Forget the domain of a node above one that has its own.
    """

    def add(model, problem, classes, vars_, at):
        below = any(
            node.topology is not None and at != i and vars_.state.nodes[at].parent < 0
            for i, node in enumerate(vars_.state.nodes)
        )
        if not below:
            old(model, problem, classes, vars_, at)

    return add


def _entitles_the_first_only(old):
    """
    Charge only the first gang of a group to the fair share.
    """

    def add(model, problem, types):
        kept = [kind.states for kind in types]
        for kind in types:
            kind.states = kind.states[:1]
        old(model, problem, types)
        for kind, states in zip(types, kept, strict=True):
            kind.states = states

    return add


def _without_remainders(_old):
    """
    Give whole parts only; what rounding leaves goes to the next band.
    """

    def fill(weights, wants, shares, left):
        whole, amount = sum(weights.values()), left
        for name in weights:
            part = min(amount * weights[name] // whole, wants[name] - shares[name])
            shares[name] += part
            left -= part
        return left

    return fill


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
    return value + sum(
        values.of_pod(leaf.pod_set.requests) * len(leaf.running)
        for leaf in state.leaves
    )


def _tiers_by(rank):
    """
    Sort the tiers anew; those ranked -1 are dropped.
    """

    def change(keys, *_):
        return tuple(sorted((k for k in keys if rank(k) >= 0), key=rank))

    return switch("solver.score:tier_keys", saying(change))


def _swapped(one: str, other: str):
    names = {one: other, other: one}
    order = ("entitled", "disruption", "borrowing", "topology", "surplus", "packing")
    listed = [*order, "gpus", "pods", "gangs", "order"]
    return _tiers_by(lambda key: listed.index(names.get(key.name, key.name)))


def _locks_the_bound(old):
    """
    Lock what the relaxed model promised instead of what was decoded.
    """

    def lock(self, encoding, at):
        decoded, self.values = self.values, tuple(self.bounds)
        old(self, encoding, at)
        self.values = decoded

    return lock


def _once_each(old):
    return lambda self, at: old(self, at) if at == 0 else None


def _reversed_places(_old):
    """
    Give places to pods from the last to the first.
    """

    def placement(problem, draft):
        from models.plan import Placement

        binds = {
            f"{state.gang.namespace}/{pod.name}": problem.room.nodes[host].name
            for unit in problem.units
            for state in unit.states
            for leaf, hosts in zip(
                state.leaves, draft.places.get(state.key, ()), strict=False
            )
            for pod, host in zip(leaf.pending[::-1], sorted(hosts), strict=False)
        }
        return Placement(binds=binds, entitled=draft.entitled)

    return placement


def _youngest_first(types, problem, *_):
    return [
        tuple(sorted(units, key=lambda u: -problem.positions.get(u.key, 0)))
        for units in types
    ]


def _without_queue(unit):
    return replace(
        unit,
        states=tuple(
            replace(s, gang=replace(s.gang, queue="", preemptible=True))
            for s in unit.states
        ),
    )


def _ageless(unit):
    states = tuple(replace(s, gang=replace(s.gang, age=0)) for s in unit.states)
    return replace(unit, states=states)


def _highest_band(_old):
    def with_band(unit, bands):
        highest = max(state.gang.priority for state in unit.states)
        return Unit(states=unit.states, starts=unit.starts, band=bands.of(highest))

    return with_band


def _one_band(bands, *_):
    low = min(bands.labels.values(), default=0)
    return replace(bands, cuts=(), labels={0: low} if bands.labels else {})


def _largest_factor(old):
    def factor(problem, queue):
        each = [
            replace(problem, queues=replace(problem.queues, named=(resource,)))
            for resource in problem.queues.named
        ]
        return max((old(one, queue) for one in each), default=1)

    return factor


def _lost_nodes_pin(found, problem, state, node, *_):
    index = problem.room.index
    lost = any(
        p.node not in index for i in node.leaves for p in state.leaves[i].running
    )
    return found | {OUTSIDE} if lost else found


def _last_label(_old):
    """
    Name a domain by its own label only, whatever it lies in.
    """

    def domain(self, labels, level):
        if level not in self.levels or level not in labels:
            return None
        return (labels[level],)

    return domain


def _later_resources(old):
    """
    Forget the first resource that pods ask for.
    """

    def rows(requests, kinds, counts):
        return old(requests[:, 1:], kinds[:, 1:], counts)

    return rows


def _sums_only(old):
    """
    Keep the sum row of each resource, without the floor rows that know of nodes.
    """

    def rows(requests, kinds, counts):
        each = [[r] for r in range(requests.shape[1])]
        found = [old(requests[:, r], kinds[:, r], counts) for r in each]
        return [row for rows in found for row in rows[:1]]

    return rows


def _worst_fit(hosts, *_):
    return hosts[::-1]


def _without(*fields):
    """
    See a demand on nodes without some of its parts.
    """
    empty = {"selector": (), "terms": None, "tolerations": ()}
    return lambda demand: replace(demand, **{f: empty[f] for f in fields})


def _some_term_each(demand):
    """
    See every alternative of an affinity as a condition of its own.
    """
    if demand.terms is None:
        return demand
    return replace(demand, terms=(tuple(rule for t in demand.terms for rule in t),))


def _any_rule(demand):
    """
    See every expression of an affinity as an alternative.
    """
    if demand.terms is None:
        return demand
    return replace(demand, terms=tuple((rule,) for t in demand.terms for rule in t))


def _operator(name: str, holds) -> Switch:
    """
    Let one operator of node affinity mean something else.
    """

    def change(old):
        def run(self, labels):
            if self.operator != name:
                return old(self, labels)
            return holds(self, labels.get(self.key))

        return run

    return switch("models.nodes:LabelRule.holds", change)


def _accepts(change) -> Switch:
    return switch("models.nodes:Toleration.accepts", change)


def _no_reason(target: str) -> Switch:
    return switch(target, always(None))


NO_REPAIR = switch("solver.search:_Search._refine", always(value=False))
NO_MODEL_OF_A_CLASS = switch("solver.pack:EXACT_CELLS", becomes(0))
LEAF_QUEUE_ONLY = switch(
    "solver.quotas:QueueTree.path", saying(lambda path, *_: path[:1])
)
FIRST_CHILDREN_BY_HAND = switch(
    "solver.place:_by_ease",
    lambda _old: lambda _state, node: list(node.children[: node.min_groups or None]),
)

# --- the faults ----------------------------------------------------------------

FAULTS: tuple[Fault, ...] = (
    # gangs and their trees
    Fault(
        "minimum-one-too-low",
        "a leaf starts with one pod less than its minimum",
        switch(
            "solver.standing:Leaf.need",
            becomes(property(lambda leaf: max(0, leaf.minimum - leaf.counted - 1))),
        ),
        (),
    ),
    Fault(
        "minimum-one-too-high",
        "a leaf starts only with one pod more than its minimum",
        switch(
            "solver.standing:Leaf.need",
            becomes(property(lambda leaf: max(0, leaf.minimum - leaf.counted + 1))),
        ),
        (),
    ),
    Fault(
        "minimum-of-replicas",
        "every pod of a leaf is taken as needed",
        switch(
            "solver.standing:standing",
            saying(lambda s, *_: _leaves(minimum=lambda x: x.pod_set.replicas)(s)),
        ),
        (),
    ),
    Fault(
        "one-child-too-few",
        "K − 1 of the children are enough",
        switch(
            "solver.encode.tree:add_minimums",
            seeing(at1=_nodes(min_groups=lambda n: max(0, n.min_groups - 1))),
        ),
        (),
    ),
    Fault(
        "one-child-too-many",
        "K + 1 of the children are asked for",
        switch(
            "solver.standing:standing",
            saying(
                lambda s, *_: _nodes(
                    min_groups=lambda n: min(n.min_groups + 1, len(n.children))
                )(s)
            ),
        ),
        (),
    ),
    Fault(
        "only-the-first-k-children",
        "only the first K-subset of the children is tried",
        both(
            switch("solver.encode.tree:add_minimums", _only_first_children),
            FIRST_CHILDREN_BY_HAND,
        ),
        (),
    ),
    Fault(
        "empty-children-count",
        "a child that is satisfied with no pod at all counts towards K",
        switch(
            "solver.standing:TreeNode.live",
            becomes(property(lambda node: node.satisfied)),
        ),
        (),
    ),
    Fault(
        "running-children-do-not-count",
        "a child that runs already does not count towards K",
        switch("solver.standing:TreeNode.live", becomes(property(lambda _: False))),
        (),
    ),
    Fault(
        "min-pods-ignored",
        "a minimum over pods of several shapes is no constraint",
        switch(
            "solver.encode.tree:add_minimums",
            seeing(at1=_nodes(min_pods=lambda _: 0)),
        ),
        (),
    ),
    Fault(
        "min-groups-ignored",
        "a minimum over children is no constraint",
        switch(
            "solver.encode.tree:add_minimums",
            seeing(at1=_nodes(min_groups=lambda _: 0)),
        ),
        (),
    ),
    Fault(
        "trees-without-minimums",
        "the nodes of a tree with a choice have no minimums",
        switch("solver.encode.tree:add_minimums", always(None)),
        (),
    ),
    Fault(
        "no-choice-in-trees",
        "every leaf of every tree is taken as needed",
        switch("solver.standing:Standing.rigid", becomes(property(lambda _: True))),
        (),
    ),
    Fault(
        "role-order-dropped",
        "a leaf may get pods before those it comes after",
        switch("solver.encode.tree:add_role_order", always(None)),
        (),
    ),
    Fault(
        "value-without-role-order",
        "the least a gang needs is counted without the order of its roles",
        switch(
            "solver.problem:_least_value",
            seeing(at0=_leaves(after=lambda _: ())),
        ),
        (),
    ),
    Fault(
        "running-gangs-do-not-grow",
        "a gang that has its minimum gets no more pods",
        switch(
            "solver.problem:_units",
            saying(lambda units, *_: [u for u in units if u.starts]),
        ),
        (),
    ),
    Fault(
        "running-members-forgotten",
        "a gang that runs in part needs its whole minimum again",
        switch(
            "solver.standing:standing",
            seeing(at0=_phases({PodPhase.RUNNING: PodPhase.FAILED})),
        ),
        (),
    ),
    Fault(
        "surplus-is-a-reason-to-start",
        "a gang's value is that of all its pods, surplus included",
        switch("solver.problem:_least_value", becomes(_whole_value)),
        (),
    ),
    Fault(
        "running-pods-have-value",
        "a gang's value includes the pods that it has already",
        switch("solver.problem:_least_value", saying(_value_with_running)),
        (),
    ),
    Fault(
        "value-of-the-dearest-subset",
        "a gang's value is that of its dearest K-subset",
        switch("solver.problem:_least_value", becomes(_dearest_value)),
        (),
    ),
    Fault(
        "no-surplus",
        "a gang gets its minimum and nothing beyond",
        switch(
            "solver.standing:standing",
            saying(lambda s, *_: _leaves(pending=lambda x: x.pending[: x.need])(s)),
        ),
        (),
    ),
    Fault(
        "gated-pods-are-pending",
        "a pod behind a gate is bound",
        switch(
            "solver.standing:standing",
            seeing(at0=_phases({PodPhase.GATED: PodPhase.PENDING})),
        ),
        (),
    ),
    Fault(
        "failed-pods-count",
        "a failed pod counts as one that runs",
        switch(
            "solver.standing:_COUNTED",
            lambda table: {k: v | {PodPhase.FAILED} for k, v in table.items()},
        ),
        (),
    ),
    Fault(
        "pods-in-reverse",
        "the places of a leaf are given out from its last pod to its first",
        switch("solver.draft:placement_of", _reversed_places),
        (),
    ),
    # groups and match policies
    Fault(
        "groups-start-apart",
        "each gang of a GangGroup starts by itself",
        switch("solver.problem:_units", seeing(at0=_gangs(mates=lambda _: ()))),
        (),
    ),
    Fault(
        "group-in-its-highest-band",
        "a GangGroup is in the band of its highest gang",
        both(
            switch("solver.problem:_with_band", _highest_band),
            switch(
                "solver.problem:_band_priority",
                lambda _old: lambda s, _: s.gang.priority,
            ),
        ),
        (),
    ),
    Fault(
        "one-gang-entitles-the-group",
        "a GangGroup is entitled when its first gang is",
        switch("solver.encode.quota:add_entitlement", _entitles_the_first_only),
        (),
    ),
    Fault(
        "missing-mates-do-not-matter",
        "a gang starts although one of its group does not exist",
        _no_reason("solver.eligibility:_missing_mates"),
        (),
    ),
    Fault(
        "lists-need-not-agree",
        "a group list that the others do not hold is accepted",
        _no_reason("solver.eligibility:_group_conflict"),
        (),
    ),
    Fault(
        "a-blocked-mate-does-not-matter",
        "a gang starts although one of its group never can",
        switch(
            "solver.eligibility:spread_to_groups", lambda _old: lambda _s, b: dict(b)
        ),
        (),
    ),
    Fault(
        "only-waiting-counts-running",
        "under only-waiting, pods that run count",
        _counting(MatchPolicy.ONLY_WAITING, PodPhase.RUNNING),
        (),
    ),
    Fault(
        "waiting-and-running-counts-succeeded",
        "under waiting-and-running, pods that succeeded count",
        _counting(
            MatchPolicy.WAITING_AND_RUNNING, PodPhase.RUNNING, PodPhase.SUCCEEDED
        ),
        (),
    ),
    Fault(
        "succeeded-pods-do-not-count",
        "under waiting-running-succeed, pods that succeeded do not count",
        _counting(MatchPolicy.WAITING_RUNNING_SUCCEED, PodPhase.RUNNING),
        (),
    ),
    Fault(
        "never-once-satisfied",
        "under once-satisfied, a gang keeps its minimum for ever",
        switch("solver.standing:_is_ordinary", always(value=False)),
        (),
    ),
    Fault(
        "satisfied-only-by-the-mark",
        "under once-satisfied, a gang that has its minimum now is not seen",
        switch(
            "solver.standing:_is_ordinary",
            lambda _old: (
                lambda g: g.match_policy == "once-satisfied" and g.once_satisfied
            ),
        ),
        (),
    ),
    # readiness
    Fault(
        "waits-for-no-pods",
        "a gang whose pods do not exist is taken as ready",
        _no_reason("solver.eligibility:_readiness"),
        (),
    ),
    Fault(
        "time-out-and-back-off-ignored",
        "a gang that timed out or was refused is planned",
        _no_reason("solver.eligibility:_held"),
        (),
    ),
    Fault(
        "min-resources-ignored",
        "a gang starts although the free total is below its minResources",
        _no_reason("solver.eligibility:_short_of_minimum"),
        (),
    ),
    Fault(
        "queues-never-closed",
        "a queue that is closed, missing or not a leaf starts gangs",
        _no_reason("solver.eligibility:_queue_reason"),
        (),
    ),
    # nodes
    Fault(
        "taints-ignored",
        "taints keep nobody off",
        switch("models.nodes:NodeDemand._tolerates", always(value=True)),
        (),
    ),
    Fault(
        "prefer-no-schedule-forbids",
        "a taint PreferNoSchedule keeps pods off",
        switch(
            "models.nodes:NodeDemand._tolerates",
            lambda _old: lambda self, t: any(x.accepts(t) for x in self.tolerations),
        ),
        (),
    ),
    Fault(
        "toleration-of-any-effect",
        "a toleration of one effect holds for all",
        _accepts(lambda old: lambda t, taint: old(replace(t, effect=""), taint)),
        (),
    ),
    Fault(
        "toleration-of-any-value",
        "a toleration does not look at the value",
        _accepts(
            lambda old: lambda t, taint: old(replace(t, operator="Exists"), taint)
        ),
        (),
    ),
    Fault(
        "one-taint-tolerated-is-enough",
        "a node with two taints takes pods that tolerate one",
        switch(
            "models.nodes:NodeDemand.allows",
            lambda old: (
                lambda self, node: (
                    old(self, node)
                    or any(
                        old(self, replace(node, taints=(taint,)))
                        for taint in node.taints
                    )
                )
            ),
        ),
        (),
    ),
    Fault(
        "selector-ignored",
        "a node selector chooses nothing",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_without("selector"))),
        (),
    ),
    Fault(
        "selector-of-one-label",
        "only the first label of a selector counts",
        switch(
            "models.nodes:NodeDemand.allows",
            seeing(at0=lambda d: replace(d, selector=d.selector[:1])),
        ),
        (),
    ),
    Fault(
        "affinity-ignored",
        "required node affinity chooses nothing",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_without("terms"))),
        (),
    ),
    Fault(
        "affinity-terms-all-hold",
        "every term of an affinity must hold instead of one",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_some_term_each)),
        (),
    ),
    Fault(
        "affinity-expressions-any-holds",
        "one expression of a term is enough instead of all",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_any_rule)),
        (),
    ),
    Fault(
        "operator-in-is-the-first-value",
        "the operator In looks at its first value only",
        _operator("In", lambda rule, have: have == rule.values[0]),
        (),
    ),
    Fault(
        "operator-not-in-needs-the-label",
        "the operator NotIn does not hold where the label is absent",
        _operator(
            "NotIn", lambda rule, have: have is not None and have not in rule.values
        ),
        (),
    ),
    Fault(
        "operator-exists-ignored",
        "the operator Exists holds everywhere",
        _operator("Exists", lambda _rule, _have: True),
        (),
    ),
    Fault(
        "operator-does-not-exist-ignored",
        "the operator DoesNotExist holds everywhere",
        _operator("DoesNotExist", lambda _rule, _have: True),
        (),
    ),
    Fault(
        "operator-gt-or-equal",
        "the operator Gt holds for equal numbers",
        _operator(
            "Gt", lambda rule, have: bool(have) and int(have) >= int(rule.values[0])
        ),
        (),
    ),
    Fault(
        "operator-lt-as-text",
        "the operator Lt compares texts instead of numbers",
        _operator("Lt", lambda rule, have: bool(have) and have < rule.values[0]),
        (),
    ),
    Fault(
        "unschedulable-ignored",
        "an unschedulable node takes pods",
        switch(
            "models.nodes:NodeDemand.allows",
            seeing(at1=lambda node: replace(node, unschedulable=False)),
        ),
        (),
    ),
    Fault(
        "load-of-others-ignored",
        "what pods that are not ours use of a node is taken as free",
        switch("solver.room:room_of", seeing(at0=_machines(used=lambda _: {}))),
        (),
    ),
    Fault(
        "running-load-ignored",
        "what our running pods use of a node is taken as free",
        switch("solver.room:_LOAD", becomes(frozenset({PodPhase.TERMINATING}))),
        (),
    ),
    Fault(
        "terminating-load-ignored",
        "what our terminating pods use of a node is taken as free",
        switch("solver.room:_LOAD", becomes(frozenset({PodPhase.RUNNING}))),
        (),
    ),
    Fault(
        "number-of-pods-ignored",
        "a node takes any number of pods",
        switch(
            "solver.room:room_of",
            seeing(
                at0=_machines(allocatable=lambda n: {**n.allocatable, "pods": 10**6})
            ),
        ),
        (),
    ),
    Fault(
        "a-resource-forgotten",
        "the model does not measure nodes in one of the resources",
        switch("solver.classes:_resource_rows", _later_resources),
        (),
    ),
    Fault(
        "hosts-are-shared",
        "pods of an exclusive gang may share a host",
        switch(
            "solver.shapes:shapes_of",
            seeing(
                at1=lambda states: [
                    _leaves(pod_set=lambda x: replace(x.pod_set, exclusive=False))(s)
                    for s in states
                ]
            ),
        ),
        (),
    ),
    Fault(
        "running-hosts-are-shared",
        "an exclusive pod may join a running one of its gang",
        switch("solver.shapes:_banned", always(())),
        (),
    ),
    Fault(
        "no-host-rows",
        "the model does not know that exclusive pods need hosts of their own",
        switch("solver.classes:_host_rows", always([])),
        (),
    ),
    # queues
    Fault(
        "limit-rows-dropped",
        "the model knows neither limits nor quotas",
        switch("solver.encode.quota:add_limits", always(None)),
        (),
    ),
    Fault(
        "limit-of-the-leaf-queue-only",
        "limits and quotas above the leaf queue are no constraints",
        during("solver.encode.quota:add_limits", LEAF_QUEUE_ONLY),
        (),
    ),
    Fault(
        "limit-without-running",
        "what runs in a queue does not count towards its limit",
        switch(
            "solver.quotas:QueueTree.limit_left",
            lambda _old: lambda self, queue, r: self.queues[queue].rule(r).limit,
        ),
        (),
    ),
    Fault(
        "limit-off-by-one",
        "a queue may exceed its limit by one",
        switch(
            "solver.quotas:QueueTree.limit_left",
            saying(lambda left, *_: None if left is None else left + 1),
        ),
        (),
    ),
    Fault(
        "quota-rows-dropped",
        "non-preemptible work may exceed its quota",
        switch("solver.quotas:QueueTree.quota_left", always(None)),
        (),
    ),
    Fault(
        "quota-for-everybody",
        "preemptible work is held within quota, too",
        switch(
            "solver.problem:problem_of", seeing(at0=_gangs(preemptible=lambda _: False))
        ),
        (),
    ),
    Fault(
        "quota-charged-by-all-that-runs",
        "running preemptible work uses up the quota",
        switch(
            "solver.quotas:QueueTree.quota_left",
            lambda _old: (
                lambda self, queue, r: (
                    None
                    if self.queues[queue].rule(r).quota is None
                    else max(
                        0,
                        self.queues[queue].rule(r).quota
                        - self.running.get(queue, {}).get(r, 0),
                    )
                )
            ),
        ),
        (),
    ),
    Fault(
        "entitlement-rows-dropped",
        "every start is entitled",
        switch("solver.encode.quota:_tight_rows", always(set())),
        (),
    ),
    Fault(
        "entitlement-on-the-leaf-queue-only",
        "fair shares above the leaf queue are no constraints",
        during("solver.encode.quota:add_entitlement", LEAF_QUEUE_ONLY),
        (),
    ),
    Fault(
        "entitlement-without-running",
        "what runs in a queue does not count towards its share",
        switch(
            "solver.encode.quota:_share_left",
            lambda _old: (
                lambda problem, queue, r: problem.shares.get(queue, {}).get(r, 0)
            ),
        ),
        (),
    ),
    Fault(
        "entitlement-of-one-resource",
        "only the last named resource decides who is entitled",
        switch(
            "solver.encode.quota:_tight_rows",
            saying(
                lambda rows, problem, *_: {
                    (queue, r) for queue, r in rows if r == problem.queues.named[-1]
                }
            ),
        ),
        (),
    ),
    Fault(
        "borrowing-factor-always-one",
        "how much of its share a queue uses does not matter to borrowing",
        switch("solver.score:borrow_factor", always(1)),
        (),
    ),
    Fault(
        "borrowing-factor-of-the-least-used",
        "the resource of which a queue uses least decides its factor",
        switch("solver.score:borrow_factor", _largest_factor),
        (),
    ),
    Fault(
        "remainders-to-the-next-band",
        "what rounding leaves of a fair share goes to the next priority",
        switch("solver.fairshare:_fill", _without_remainders),
        (),
    ),
    Fault(
        "weights-ignored",
        "fair shares are equal parts whatever the weights",
        switch(
            "solver.fairshare:fair_shares",
            seeing(at0=_rules(weight=lambda rule: min(1, rule.weight))),
        ),
        (),
    ),
    Fault(
        "weight-zero-shares",
        "a queue of weight 0 shares in what the quotas leave",
        switch(
            "solver.fairshare:fair_shares",
            seeing(at0=_rules(weight=lambda rule: max(1, rule.weight))),
        ),
        (),
    ),
    Fault(
        "limits-ignored-in-shares",
        "a fair share may exceed the limit",
        switch(
            "solver.fairshare:fair_shares", seeing(at0=_rules(limit=lambda _: None))
        ),
        (),
    ),
    Fault(
        "quotas-ignored-in-shares",
        "fair shares are divided by weight without the quotas",
        switch("solver.fairshare:fair_shares", seeing(at0=_rules(quota=lambda _: 0))),
        (),
    ),
    Fault(
        "queue-priority-ignored",
        "what the quotas leave is divided without looking at priorities",
        switch(
            "solver.fairshare:fair_shares", seeing(at0=_queues(priority=lambda _: 0))
        ),
        (),
    ),
    Fault(
        "children-share-the-cluster",
        "child queues divide the whole cluster instead of their parent's share",
        switch(
            "solver.fairshare:fair_shares", seeing(at0=_queues(parent=lambda _: None))
        ),
        (),
    ),
    Fault(
        "the-impossible-take-a-share",
        "gangs that can never start ask for a share",
        switch(
            "solver.feasible:structural_reasons", lambda _old: lambda _s, b, *_: dict(b)
        ),
        (),
    ),
    Fault(
        "impossible-subtrees-take-a-share",
        "subtrees that can never be satisfied ask for a share",
        switch(
            "solver.feasible:Possible._living_leaves",
            lambda _old: lambda _self, state: list(range(len(state.leaves))),
        ),
        (),
    ),
    # priority
    Fault(
        "ageing-ignored",
        "a gang's value does not grow with its age",
        switch("models.policy:Policy.quarters", always(4)),
        (),
    ),
    Fault(
        "ages-mixed-in-a-type",
        "gangs of different age steps are taken as alike",
        switch("solver.encode.activation:_kind", seeing(at1=_ageless)),
        (),
    ),
    Fault(
        "queues-mixed-in-a-type",
        "gangs of different queues are taken as alike",
        switch("solver.encode.activation:_kind", seeing(at1=_without_queue)),
        (),
    ),
    Fault(
        "bands-merged",
        "all priorities are one band",
        switch("solver.bands:cut_bands", saying(_one_band)),
        (),
    ),
    Fault(
        "cut-points-ignored",
        "every priority is a band of its own, whatever the policy's cut points",
        switch(
            "solver.bands:cut_bands",
            seeing(at1=lambda policy: policy.model_copy(update={"bands": None})),
        ),
        (),
    ),
    Fault(
        "lowest-band-first",
        "the tiers go from the lowest band to the highest",
        switch(
            "solver.bands:Bands.falling",
            becomes(property(lambda bands: sorted(bands.labels.items()))),
        ),
        (),
    ),
    # topology
    Fault(
        "required-dropped",
        "a required domain is no constraint where a tree has a choice",
        switch("solver.encode.tree:_add_required", always(None)),
        (),
    ),
    Fault(
        "no-required-in-the-model",
        "no gang has a required domain",
        switch(
            "solver.standing:standing",
            saying(lambda s, *_: _nodes(topology=lambda _: None)(s)),
        ),
        (),
    ),
    Fault(
        "children-leave-their-parent",
        "children with domains of their own may leave that of their parent",
        switch("solver.encode.tree:_add_required", _not_below_others),
        (),
    ),
    Fault(
        "running-members-do-not-pin",
        "a gang grows in another domain than the one where it runs",
        switch("solver.spread:running_domains", always(frozenset())),
        (),
    ),
    Fault(
        "lost-nodes-pin",
        "members on nodes that are gone keep a gang from growing",
        switch("solver.spread:running_domains", saying(_lost_nodes_pin)),
        (),
    ),
    Fault(
        "racks-of-one-name-are-one",
        "a domain is named by its own label, whatever it lies in",
        switch("models.topology:Topology.domain", _last_label),
        (),
    ),
    Fault(
        "no-label-is-a-domain",
        "nodes without the label are a domain",
        switch(
            "models.topology:Topology.domain",
            lambda old: (
                lambda self, labels, level: old(
                    self, {**dict.fromkeys(self.levels, "none"), **labels}, level
                )
            ),
        ),
        (),
    ),
    Fault(
        "sum-over-domains",
        "what is wanted in a domain may lie anywhere",
        switch("solver.encode.capacity:_add_domain_rows", always(None)),
        (),
    ),
    Fault(
        "preferred-ignored",
        "preferred domains do not count",
        _tiers_by(lambda key: -1 if key.name == "topology" else 0),
        (),
    ),
    Fault(
        "preferred-is-required",
        "a preferred domain is a condition",
        switch(
            "solver.standing:standing",
            saying(
                lambda s, *_: _nodes(
                    topology=lambda n: (
                        replace(
                            n.topology,
                            required=n.topology.required or n.topology.preferred,
                        )
                        if n.topology
                        else None
                    )
                )(s)
            ),
        ),
        (),
    ),
    Fault(
        "preferred-cells-dropped",
        "a preferred domain costs nothing to open",
        switch("solver.encode.tree:_add_preferred", always(None)),
        (),
    ),
    # tiers and the search
    Fault(
        "surplus-before-topology",
        "surplus pods come before preferred domains",
        _swapped("surplus", "topology"),
        (),
    ),
    Fault(
        "borrowing-before-entitled",
        "borrowing starts come before entitled ones",
        _swapped("entitled", "borrowing"),
        (),
    ),
    Fault(
        "packing-before-surplus",
        "whole holes come before surplus pods",
        _swapped("packing", "surplus"),
        (),
    ),
    Fault(
        "packing-ignored",
        "which holes stay whole does not matter",
        _tiers_by(lambda key: -1 if key.name == "packing" else 0),
        (),
    ),
    Fault(
        "order-ignored",
        "which of equal gangs starts does not matter",
        both(
            _tiers_by(lambda key: -1 if key.name == "order" else 0),
            switch("solver.encode.activation:gang_types", saying(_youngest_first)),
        ),
        (),
    ),
    Fault(
        "youngest-first",
        "inside a type the youngest gang starts",
        switch("solver.encode.activation:gang_types", saying(_youngest_first)),
        (),
    ),
    Fault(
        "oldest-last",
        "across types the youngest gang starts",
        switch(
            "solver.problem:problem_of",
            saying(
                lambda p, *_: replace(
                    p,
                    positions={
                        k: len(p.positions) - 1 - at for k, at in p.positions.items()
                    },
                )
            ),
        ),
        (),
    ),
    Fault(
        "running-work-not-counted",
        "the tiers gpus and pods count only what is bound",
        switch(
            "solver.problem:problem_of",
            saying(lambda p, *_: replace(p, running_gpus=0, running_pods=0)),
        ),
        (),
    ),
    Fault(
        "first-tier-only",
        "the search stops after its first tier",
        switch("solver.search:_Search._solve_tier", _once_each),
        (),
    ),
    Fault(
        "no-search",
        "greedy's answer is taken as it is",
        switch("solver.search:_Search._solve_tier", always(None)),
        (),
    ),
    Fault(
        "tiers-not-locked",
        "an earlier tier is not locked while a later one is solved",
        switch("solver.search:_Search._lock", always(None)),
        (),
    ),
    Fault(
        "relaxed-value-locked",
        "the value of the relaxed model is locked instead of the decoded one",
        both(switch("solver.search:_Search._lock", _locks_the_bound), NO_REPAIR),
        (),
    ),
    Fault(
        "values-are-all-one",
        "every pod is worth the same, whatever it asks for",
        switch("solver.values:PodValues.of_pod", always(1)),
        (),
    ),
    Fault(
        "values-are-sums",
        "a pod is worth the sum of its shares instead of the largest",
        switch(
            "solver.values:PodValues.of_pod",
            lambda _old: (
                lambda self, requests: sum(
                    -(-(10**9) * amount // self.totals[name])
                    for name, amount in requests.items()
                    if self.totals.get(name)
                )
            ),
        ),
        (),
    ),
    # packing and decoding
    Fault(
        "floor-rows-dropped",
        "classes are sums over nodes, and what cannot be packed is not repaired",
        both(
            switch("solver.classes:_resource_rows", _sums_only),
            NO_REPAIR,
        ),
        (),
    ),
    Fault(
        "no-repair",
        "a class that cannot be packed is not split",
        NO_REPAIR,
        (),
    ),
    Fault(
        "no-exact-packing",
        "classes are packed by fit only, and not split",
        both(NO_MODEL_OF_A_CLASS, NO_REPAIR),
        (),
    ),
    Fault(
        "capacity-rows-dropped",
        "nodes hold whatever is wanted, and nothing is repaired",
        both(switch("solver.encode.capacity:_add_rows", always(None)), NO_REPAIR),
        (),
    ),
    # reasons
    Fault(
        "no-fitting-node-not-seen",
        "a pod that fits no empty node is no reason",
        _no_reason("solver.feasible:_no_fitting_node"),
        (),
    ),
    Fault(
        "demand-exceeds-cluster-not-seen",
        "a gang larger than all matching nodes is no reason",
        _no_reason("solver.feasible:_exceeds_cluster"),
        (),
    ),
    Fault(
        "topology-too-small-not-seen",
        "a gang larger than every domain is no reason",
        _no_reason("solver.feasible:_exceeds_domains"),
        (),
    ),
    Fault(
        "quota-exceeds-maximum-not-seen",
        "a gang larger than its queue's limit is no reason",
        _no_reason("solver.feasible:_exceeds_quota"),
        (),
    ),
    Fault(
        "quota-limit-reached-not-seen",
        "a limit reached by what runs is no reason",
        _no_reason("solver.explain:_over_limit"),
        (),
    ),
    Fault(
        "insufficient-capacity-not-seen",
        "too little free room is no reason",
        _no_reason("solver.explain:_short_of_room"),
        (),
    ),
    Fault(
        "fragmentation-not-proven",
        "a gang that no packing holds is said to yield to others",
        switch("solver.alone:starts_alone", always(value=True)),
        (),
    ),
    # greedy
    Fault(
        "greedy-ignores-limits",
        "greedy starts gangs beyond the limit of their queue",
        switch("solver.ledger:Ledger.allows", always(value=True)),
        (),
        "greedy",
    ),
    Fault(
        "greedy-entitles-everybody",
        "greedy calls every start entitled",
        switch("solver.ledger:Ledger.entitles", always(value=True)),
        (),
        "greedy",
    ),
    Fault(
        "greedy-leaves-halves",
        "greedy does not take back the pods of a gang that does not fit",
        switch("solver.workspace:Workspace.undo", always(None)),
        (),
        "greedy",
    ),
    Fault(
        "greedy-starts-the-first-of-a-group",
        "greedy starts each gang of a group that fits",
        switch("solver.place:place_gang", saying(lambda *_: True)),
        (),
        "greedy",
    ),
    Fault(
        "greedy-without-roles",
        "greedy gives pods to a leaf before those it comes after",
        switch("solver.place:roles_reached", always(value=True)),
        (),
        "greedy",
    ),
    Fault(
        "greedy-tries-the-first-children",
        "greedy tries only the first K of the children",
        FIRST_CHILDREN_BY_HAND,
        (),
        "greedy",
    ),
    Fault(
        "greedy-without-domains",
        "greedy places gangs in any domain",
        switch(
            "solver.place:masks_for",
            lambda _old: lambda _work, _state, _node, mask: [mask],
        ),
        (),
        "greedy",
    ),
    Fault(
        "greedy-shares-hosts",
        "greedy puts two pods of an exclusive gang on one host",
        switch("solver.workspace:Workspace._keep_hosts_apart", always(None)),
        (),
        "greedy",
    ),
    Fault(
        "greedy-fits-worst",
        "greedy takes the emptiest node first",
        switch("solver.workspace:Workspace._by_fit", saying(_worst_fit)),
        (),
        "greedy",
    ),
    Fault(
        "greedy-youngest-first",
        "greedy starts the youngest gang of a queue first",
        switch(
            "solver.greedy:_inside_queue",
            saying(lambda rank, *_: (rank[0], -rank[1], rank[2])),
        ),
        (),
        "greedy",
    ),
    Fault(
        "greedy-lowest-priority-first",
        "greedy starts the lowest priority of a queue first",
        switch(
            "solver.greedy:_inside_queue",
            saying(lambda rank, *_: (-rank[0], rank[1], rank[2])),
        ),
        (),
        "greedy",
    ),
    Fault(
        "greedy-queues-by-name",
        "greedy serves queues by name instead of by share",
        switch("solver.greedy:_standing_of", always((0, 0.0))),
        (),
        "greedy",
    ),
)
