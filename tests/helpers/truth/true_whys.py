"""
Whether what a gang is told of the rules that hold it is true, by the exact model.

Rules are lifted here once more, in the snapshot itself, and not as the solver does it.
"""

from collections import Counter
from dataclasses import replace

from exact import gather, starts_by_right, starts_now
from exact.evictions.step import Frozen, Stage
from exact.evictions.steps import build_step, optimise, second_tiers
from exact.search import Value
from models.gangs import Group, PodPhase, PodSet, pod_sets
from models.nodes import Toleration
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
        if Verdict.OUTRANKED in words or not words & _ROOM:
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
        mates = gather(self.snapshot).gangs[key].gang.mates
        return {key, *(mate for mate in mates if self._needy(mate))}

    def _needy(self, key) -> bool:
        return gather(self.snapshot).gangs[key].needy

    # --- lifting rules ----------------------------------------------------------

    def _world(self, team, core):
        words = {one.rule for one in core}
        snapshot = self._given(team) if Verdict.OUTRANKED in words else self.snapshot
        gangs = tuple(
            replace(gang, tree=_freed(gang.tree, core, snapshot.nodes))
            if gang.key in team
            else gang
            for gang in snapshot.gangs
        )
        nodes = tuple(_open(node, core) for node in snapshot.nodes)
        if not words & _ROOM:
            pods = sum(
                len(leaf.pods)
                for gang in gangs
                if gang.key in team
                for leaf in pod_sets(gang.tree)
            )
            nodes += tuple(
                replace(node, name=f"{node.name}-copy-{at}", used={}, taken=())
                for node in nodes
                for at in range(pods)
            )
        binding = self._binding(team)
        queues = tuple(_bounded(queue, core, binding) for queue in snapshot.queues)
        return replace(snapshot, gangs=gangs, nodes=nodes, queues=queues)

    def _binding(self, team):
        """
        List the quotas that a team's pods could reach, where it is not preemptible.
        """
        facts = gather(self._given(team))
        found = set()
        for key in team:
            fact = facts.gangs[key]
            if fact.gang.preemptible:
                continue
            for queue, name in ((q, n) for q in fact.path for n in facts.named):
                quota = next(
                    x.rule(name).quota for x in self.snapshot.queues if x.name == queue
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

        Of what comes when others have left, nodes and queues hold what is more than
        these free.
        """
        facts = gather(self.snapshot).gangs
        asked = {
            f"{gang.namespace}/{pod.name}": (gang, leaf.requests, pod)
            for gang in self.snapshot.gangs
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
        }
        places, load, held, fixed = {}, {}, {}, {}
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
            if op.op != "Reserve" and pod.phase is PodPhase.RUNNING:
                _add(load, [pod.node], requests, -1)
            if op.op != "Move":
                sign = 1 if op.op == "Reserve" else -1
                _add(held, path, requests, sign)
                _add(fixed, path, requests, sign * (not gang.preemptible))
        gangs = tuple(
            replace(gang, tree=_placed(gang.tree, gang.namespace, places))
            for gang in self.snapshot.gangs
        )
        nodes = tuple(
            replace(node, used=Counter(node.used) + +load.get(node.name, Counter()))
            for node in self.snapshot.nodes
        )
        queues = tuple(
            _lowered(queue, held.get(queue.name, {}), fixed.get(queue.name, {}))
            for queue in self.snapshot.queues
        )
        return replace(self.snapshot, gangs=gangs, nodes=nodes, queues=queues)


def _add(table, names, requests, sign):
    for name in names:
        row = table.setdefault(name, Counter())
        for resource, amount in requests.items():
            row[resource] += sign * amount


def _lowered(queue, held, fixed):
    """
    Take from a queue's limit and quota what it will hold more later.
    """

    def less(bound, more):
        return bound if bound is None else max(0, bound - max(0, more))

    resources = {
        name: replace(
            rule,
            limit=less(rule.limit, held.get(name, 0)),
            quota=less(rule.quota, fixed.get(name, 0)),
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


def _borrows(facts, policy, shares, team) -> bool:
    others = {
        key: replace(fact, plannable=False) if fact.needy and key not in team else fact
        for key, fact in facts.gangs.items()
    }
    alone = replace(facts, gangs=others)
    step = build_step(alone, policy, shares, Stage.BORROWING, Frozen())
    found: list[Value] = optimise(step, second_tiers(step)) or []
    return any(value for name, _, value in found if name in {"entitled", "borrowing"})


def _placed(tree, namespace, places):
    if isinstance(tree, Group):
        children = tuple(_placed(x, namespace, places) for x in tree.children)
        return replace(tree, children=children)
    pods = tuple(
        replace(pod, phase=PodPhase.RUNNING, node=op.node, devices=op.devices)
        if (op := places.get(f"{namespace}/{pod.name}"))
        else pod
        for pod in tree.pods
    )
    return replace(tree, pods=pods)


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
    if Verdict.VOLUMES not in words:
        demand = replace(demand, volumes=())
    keys = {one.at for one in core if one.facts.get("kind") == "taint"}
    known = {taint.key for node in nodes for taint in node.taints} - keys
    more = tuple(Toleration(key=key, operator="Exists") for key in sorted(known))
    demand = replace(demand, tolerations=(*demand.tolerations, *more))
    alone = leaf.exclusive and Verdict.NEIGHBOURS in words
    return replace(leaf, demand=demand, exclusive=alone)


def _open(node, core):
    of_nodes = [one for one in core if one.rule is Verdict.NODES]
    drained = [one for one in of_nodes if one.facts.get("kind") == "drained"]
    closed = any(one.at == node.name or one.at.endswith(" nodes") for one in drained)
    return replace(
        node,
        unschedulable=node.unschedulable and closed,
    )


def _bounded(queue, core, binding):
    """
    Lift limits, and quotas that bind work which is not preemptible.
    """
    limits = {(one.at, one.resource) for one in core if one.rule is Verdict.LIMIT}
    quotas = {(one.at, one.resource) for one in core if one.rule is Verdict.QUOTA}
    resources = {
        name: replace(rule, lend=None) for name, rule in queue.resources.items()
    }
    for name in {*resources, *(r for q, r in binding if q == queue.name)}:
        rule = resources.get(name, QueueResource())
        key = queue.name, name
        free = key in binding and key not in quotas
        resources[name] = replace(
            rule,
            limit=rule.limit if key in limits else None,
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
    evict = policy.evict.model_copy(update={"again": 0})
    world = replace(snapshot, budgets=(), queues=queues, gangs=gangs)
    return world, policy.model_copy(update={"evict": evict})
