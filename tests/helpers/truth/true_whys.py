"""
Whether what a gang is told of the rules that hold it is true, by the exact model.

Rules are lifted here once more, in the snapshot itself, and not as the solver does it.
"""

from collections import Counter
from dataclasses import replace
from functools import cached_property

from exact import gather, starts_by_right, starts_now
from exact.alone import only
from exact.evictions.step import Frozen, Stage
from exact.evictions.steps import build_step, optimise, second_tiers
from exact.facts import bounding
from exact.search import Value
from models.eviction_bounds import protecting_nobody
from models.gangs import Group, PodPhase, PodSet, pod_sets
from models.neighbours import Apart
from models.nodes import HOSTNAME, Toleration
from models.queues import QueueResource
from models.why.verdicts import Verdict
from solver.evict.open_step import remembering
from solver.problem.problem import problem_of

NOT_READY = {
    Verdict.NEVER,
    Verdict.UNSUPPORTED,
    Verdict.HELD,
    Verdict.PODS,
    Verdict.GROUP,
    Verdict.BACKOFF,
    Verdict.UNDECIDED,
    Verdict.NONE,
}
_ROOM = {Verdict.ROOM, Verdict.FRAGMENTS, Verdict.DEVICES}


class TrueWhy:
    """
    One round, and what the exact model says of the cores of its gangs.
    """

    def __init__(self, snapshot, policy, plan):
        self.snapshot = snapshot
        self.policy = policy
        self.plan = plan
        self.problem = problem_of(snapshot, policy)

    def problems(self, why) -> list[str]:
        """
        List what is wrong with the cores of one gang.
        """
        if why.verdict in NOT_READY or _keeps_room(why) or self._share_places:
            return []
        if self._kept_off(why.gang):
            return []
        if _finds(why) and any(op.op == "Reserve" for op in self.plan.operations):
            return []
        if "next" in why.because[0].facts:
            alone = starts_now(gather(self.snapshot), self._team(why.gang))
            return [] if alone else [f"{why.gang} could not start alone"]
        found = []
        for core in (why.because, *why.besides):
            words = [(one.rule.value, one.at) for one in core]
            if self.starts(why.gang, core):
                found.append(f"{why.gang} starts under {words}")
            for one in core:
                rest = [other for other in core if other is not one]
                if not self.starts(why.gang, rest):
                    found.append(f"{why.gang} does not start under {words} - {one.at}")
        return found

    @property
    def _share_places(self) -> bool:
        """
        Tell whether parts are promised where others still are, which no device holds.
        """
        ops = {op.op for op in self.plan.operations if op.devices}
        return bool(ops & {"Reserve", "Move"})

    def starts(self, key, core) -> bool:
        """
        Tell whether a gang starts, with its group, where only some rules hold.
        """
        words = {one.rule for one in core}
        team = self._team(key)
        world = self._world(team, core)
        if starts_now(gather(world), team):
            return True
        if Verdict.OUTRANKED in words or not any(map(_gives_way, core)):
            return False
        policy = self.policy
        if Verdict.PROTECTED not in words:
            world, policy = _unprotected(world, policy, team)
        facts = gather(world)
        path = {name for one in team for name in facts.gangs[one].path}
        shares = _claimable(self.problem, path)
        if Verdict.SHARE not in words:
            rich = dict.fromkeys(facts.named, 2**40)
            shares = {**shares, **dict.fromkeys(path, rich)}
        if not policy.evicts(borrowing=False):
            return False
        if starts_by_right(facts, policy, shares, team):
            return True
        return policy.evicts(borrowing=True) and _borrows(facts, policy, shares, team)

    def _team(self, key) -> set[str]:
        mates = self._gangs[key].gang.mates
        return {key, *(mate for mate in mates if self._gangs[mate].needy)}

    @cached_property
    def _facts(self):
        return gather(self.snapshot)

    @property
    def _gangs(self):
        return self._facts.gangs

    def _kept_off(self, key) -> bool:
        """
        Tell whether room that is kept may bind a team: it is not lifted alone.
        """
        team, held = self._team(key), self._facts.held
        others = {name for one in team for name in self._gangs[one].outside}
        table = {}
        for fact in (self._gangs[one] for one in team):
            for leaf in pod_sets(fact.gang.tree):
                _add(table, [key], leaf.requests, fact.pending[leaf.name])
        asked = table.get(key, Counter())
        return any(
            limit is not None and held.get((queue.name, name), 0) + asked[name] > limit
            for queue in bounding(self.snapshot)
            if queue.name in others
            for name in self._facts.named
            for limit in [queue.rule(name).limit]
        )

    # --- lifting rules ----------------------------------------------------------

    def _world(self, team, core):
        words = {one.rule for one in core}
        snapshot = self._given(team) if Verdict.OUTRANKED in words else self.snapshot
        lifted = self._lifted(team, core)
        gangs = tuple(
            replace(gang, tree=_freed(tree, core, snapshot.nodes))
            if gang.key in team
            else replace(gang, tree=tree)
            for gang in snapshot.gangs
            for tree in [_together(gang.tree, lifted)]
        )
        nodes = tuple(_open(node, core, lifted) for node in snapshot.nodes)
        if not words & _ROOM:
            pods = sum(
                len(leaf.pods)
                for gang in gangs
                if gang.key in team
                for leaf in pod_sets(gang.tree)
            )
            nodes += tuple(
                replace(
                    node, name=f"{node.name}-copy-{at}", used={}, taken=(), others=()
                )
                for node in nodes
                for at in range(pods)
            )
        binding = self._binding(team)
        path = {name for one in team for name in self._gangs[one].path}
        held = self._facts.held
        queues = tuple(
            _bounded(queue, core, binding, mine=queue.name in path, held=held)
            for queue in snapshot.queues
        )
        return replace(snapshot, gangs=gangs, nodes=nodes, queues=queues)

    def _lifted(self, team, core) -> set[Apart]:
        """
        List by what a team and others are no more apart.
        """
        every = [leaf for gang in self.snapshot.gangs for leaf in pod_sets(gang.tree)]
        others = [said for node in self.snapshot.nodes for said, _ in node.others]
        ours = [
            leaf.neighbours
            for key in team
            for leaf in pod_sets(self._gangs[key].gang.tree)
            if self._gangs[key].pending[leaf.name]
        ]
        selected = {name for said in ours for name in said.selected}
        own = {rule for said in ours for rule in said.apart}
        alone = {rule for rule in own if rule.key == HOSTNAME}
        alone &= {rule for x in ours for rule in x.apart if rule.pods in x.selected}
        return {
            rule
            for said in (*(leaf.neighbours for leaf in every), *others)
            for rule in said.apart
            if rule in own or rule.pods in selected
            if not _holds(core, "apart", rule, alone=rule in alone)
        }

    def _binding(self, team):
        """
        List the quotas that a team's pods could reach, where it is not preemptible.
        """
        given = self._given(team)
        facts = gather(given)
        found = set()
        for key in team:
            fact = facts.gangs[key]
            if fact.gang.preemptible:
                continue
            for queue, name in ((q, n) for q in fact.path for n in facts.named):
                quota = next(
                    x.rule(name).quota for x in given.queues if x.name == queue
                )
                most = sum(
                    leaf.requests.get(name, 0) * fact.pending[leaf.name]
                    for one in team
                    for leaf in pod_sets(facts.gangs[one].gang.tree)
                    for fact in [facts.gangs[one]]
                    if queue in fact.path
                )
                held = facts.held_hard.get((queue, name), 0)
                if quota is not None and held + most > quota:
                    found.add((queue, name))
        return found

    def _given(self, team):
        """
        See what the plan binds for others as running; also of what comes later.

        Of what comes when others have left, nodes hold what is more than these free.
        """
        facts = self._gangs
        every = [
            (f"{gang.namespace}/{pod.name}", gang, leaf, pod)
            for gang in self.snapshot.gangs
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
        ]
        asked = {name: (gang, leaf.requests, pod) for name, gang, leaf, pod in every}
        said = {name: leaf.neighbours for name, _, leaf, _ in every}
        places, load, held, fixed = {}, {}, {}, {}
        gone, coming, left, left_fixed = set(), {}, {}, {}
        for op in self.plan.operations:
            gang, requests, pod = asked[op.pod]
            if gang.key in team:
                continue
            path = facts[gang.key].bounding
            if op.op == "Bind":
                places[op.pod] = op
                continue
            if op.op != "Evict":
                _add(load, [op.node], requests, 1)
                coming.setdefault(op.node, []).append((said[op.pod], 1))
            if op.op != "Reserve":
                gone.add(op.pod)
            if op.op != "Reserve" and pod.phase is PodPhase.RUNNING:
                _add(load, [pod.node], requests, -1)
            if op.op != "Move":
                sign = 1 if op.op == "Reserve" else -1
                _add(held, path, requests, sign)
                _add(fixed, path, requests, sign * (not gang.preemptible))
            if op.op != "Reserve" and pod.phase is PodPhase.RUNNING:
                _add(left, path, requests, 1)
                _add(left_fixed, path, requests, int(not gang.preemptible))
        gangs = tuple(
            replace(gang, tree=_placed(gang.tree, gang.namespace, places, gone))
            for gang in self.snapshot.gangs
        )
        nodes = tuple(
            replace(
                node,
                used=Counter(node.used) + +load.get(node.name, Counter()),
                others=(*node.others, *coming.get(node.name, ())),
            )
            for node in self.snapshot.nodes
        )
        tables = held, fixed, left, left_fixed
        queues = tuple(
            _lowered(queue, *(x.get(queue.name, {}) for x in tables))
            for queue in self.snapshot.queues
        )
        return replace(self.snapshot, gangs=gangs, nodes=nodes, queues=queues)


def _add(table, names, requests, sign):
    for name in names:
        row = table.setdefault(name, Counter())
        for resource, amount in requests.items():
            row[resource] += sign * amount


def _lowered(queue, held, fixed, left, left_fixed):
    """
    Take from a queue's limit and quota what it will hold more later.

    Who leaves is counted until then.
    """

    def less(bound, name, more, until):
        more = max(0, more.get(name, 0)) + until.get(name, 0)
        return bound if bound is None else max(0, bound - more)

    resources = {
        name: replace(
            rule,
            limit=less(rule.limit, name, held, left),
            quota=less(rule.quota, name, fixed, left_fixed),
        )
        for name, rule in queue.resources.items()
    }
    return replace(queue, resources=resources)


def _claimable(problem, path):
    """
    Give the shares less what gangs may claim that had to leave a short while ago.

    They do not wait where a team is asked about as if it were alone, and yet count
    against what may start on its ``path``; what others may lose they do not change.
    """
    booked = remembering(problem).queues.booked
    return {
        queue: {
            name: due - (booked.get(queue, {}).get(name, 0) if queue in path else 0)
            for name, due in row.items()
        }
        for queue, row in problem.shares.items()
    }


def _keeps_room(why) -> bool:
    """
    Tell whether kept room is a rule: it is a part of all nodes, and copies add to it.
    """
    return any(
        "outside" in x.facts for core in (why.because, *why.besides) for x in core
    )


def _finds(why) -> bool:
    """
    Tell whether a gang looks for others: who is reserved is here as if it were there.
    """
    return any(
        one.facts.get("kind") == "near"
        for core in (why.because, *why.besides)
        for one in core
    )


def _borrows(facts, policy, shares, team) -> bool:
    alone = only(facts, team)
    step = build_step(alone, policy, shares, Stage.BORROWING, Frozen())
    found: list[Value] = optimise(step, second_tiers(step)) or []
    return any(value for name, _, value in found if name in {"entitled", "borrowing"})


def _placed(tree, namespace, places, gone):
    """
    Put pods where they get places; those that leave are there, and nobody's neighbours.
    """
    if isinstance(tree, Group):
        children = tuple(_placed(x, namespace, places, gone) for x in tree.children)
        return replace(tree, children=children)

    def after(pod):
        name = f"{namespace}/{pod.name}"
        if op := places.get(name):
            place = {"node": op.node, "devices": op.devices}
            return replace(pod, phase=PodPhase.RUNNING, **place)
        if name in gone and pod.phase is PodPhase.RUNNING:
            return replace(pod, phase=PodPhase.TERMINATING)
        return pod

    return replace(tree, pods=tuple(map(after, tree.pods)))


def _gives_way(one) -> bool:
    """
    Tell whether a rule may let a gang through once others have left.
    """
    beside = one.rule is Verdict.NEIGHBOURS and one.facts["kind"] != "alone"
    return one.rule in _ROOM or beside


def _kept(core, kind) -> set[str]:
    named = {Verdict.NEIGHBOURS, Verdict.VOLUMES}
    found = (one for one in core if one.rule in named)
    return {one.at for one in found if one.facts.get("kind") == kind}


def _holds(core, kind, rule, *, alone=False) -> bool:
    """
    Tell whether pods are apart or spread by a core: with room they have other hosts.
    """
    if rule.key == HOSTNAME and not {one.rule for one in core} & _ROOM:
        return False
    kept = _kept(core, kind)
    return bool(_kept(core, "alone")) if alone else f"{rule.pods} by {rule.key}" in kept


def _together(tree, lifted):
    """
    Let pods be with those that they are apart from by rules that are lifted.
    """
    if isinstance(tree, Group):
        children = tuple(_together(child, lifted) for child in tree.children)
        return replace(tree, children=children)
    return replace(tree, neighbours=_less_apart(tree.neighbours, lifted))


def _less_apart(said, lifted):
    return replace(said, apart=tuple(x for x in said.apart if x not in lifted))


def _free_neighbours(said, core):
    near = said.near
    if near and f"{near.pods} by {', '.join(near.keys)}" not in _kept(core, "near"):
        near = None
    free = not _kept(core, "free")
    return replace(
        said,
        near=near,
        spread=tuple(x for x in said.spread if _holds(core, "spread", x)),
        claims=() if free else said.claims,
        shared=() if free else said.shared,
    )


def _freed(tree, core, nodes):
    words = {one.rule for one in core}
    levels = {one.at for one in core if one.rule is Verdict.TOPOLOGY}
    demand = tree.topology
    kept = demand is None or demand.required is None or demand.required in levels
    tree = tree if kept else replace(tree, topology=None)
    if isinstance(tree, Group):
        return replace(
            tree, children=tuple(_freed(x, core, nodes) for x in tree.children)
        )
    return _free_leaf(tree, core, words, nodes)


def _free_leaf(leaf: PodSet, core, words, nodes):
    demand = leaf.demand
    selected = any(
        one.rule is Verdict.NODES and one.facts.get("kind") == "selector"
        for one in core
    )
    if not selected:
        demand = replace(demand, selector=(), terms=None)
    if not _kept(core, "reached"):
        demand = replace(demand, volumes=())
    keys = {one.at for one in core if one.facts.get("kind") == "taint"}
    known = {taint.key for node in nodes for taint in node.taints} - keys
    more = tuple(Toleration(key=key, operator="Exists") for key in sorted(known))
    demand = replace(demand, tolerations=(*demand.tolerations, *more))
    alone = leaf.exclusive and bool(_kept(core, "alone")) and bool(words & _ROOM)
    said = _free_neighbours(leaf.neighbours, core)
    return replace(leaf, demand=demand, exclusive=alone, neighbours=said)


def _open(node, core, lifted):
    of_nodes = [one for one in core if one.rule is Verdict.NODES]
    drained = [one for one in of_nodes if one.facts.get("kind") == "drained"]
    closed = any(one.at == node.name or one.at.endswith(" nodes") for one in drained)
    return replace(
        node,
        unschedulable=node.unschedulable and closed,
        others=tuple((_less_apart(said, lifted), n) for said, n in node.others),
    )


def _bounded(queue, core, binding, *, mine, held):
    """
    Lift limits of queues of a team, and quotas that bind what is not preemptible.

    Nobody is protected from moves by limits that are passed, or by room that is kept.
    """
    kept = any(one.rule is Verdict.PROTECTED for one in core)
    limits = {(one.at, one.resource) for one in core if one.rule is Verdict.LIMIT}
    quotas = {(one.at, one.resource) for one in core if one.rule is Verdict.QUOTA}
    resources = {
        name: rule if kept else replace(rule, lend=None)
        for name, rule in queue.resources.items()
    }
    for name in {*resources, *(r for q, r in binding if q == queue.name)}:
        rule = resources.get(name, QueueResource())
        key = queue.name, name
        free = key in binding and key not in quotas
        passed = rule.limit is not None and held.get(key, 0) > rule.limit
        resources[name] = replace(
            rule,
            limit=rule.limit
            if key in limits or not (mine or (passed and not kept))
            else None,
            quota=None if free else rule.quota,
        )
    return replace(queue, resources=resources)


def _unprotected(snapshot, policy, team):
    queues = tuple(
        replace(queue, reclaim_min_runtime=0, preempt_min_runtime=0)
        for queue in snapshot.queues
    )
    gangs = tuple(
        replace(gang, preemptible=True)
        if gang.key not in team
        and any(pod.node for leaf in pod_sets(gang.tree) for pod in leaf.pods)
        else gang
        for gang in snapshot.gangs
    )
    evict = protecting_nobody(policy.evict)
    world = replace(snapshot, budgets=(), queues=queues, gangs=gangs)
    return world, policy.model_copy(update={"evict": evict})
