"""
Whether what a plan says to waiting gangs is true, by the exact model.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from exact import UndecidedError, gather, starts_by_right, starts_now
from exact.facts import bounding, outsiders
from exact.trees import least_value
from models.devices.gpu_parts import is_reckoned
from models.eviction_bounds import bounds_leaving, protecting_nobody
from models.gangs import Gang, Pod, PodPhase, PodSet, pod_sets
from models.plan import GangLine, Plan
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.reasons import Reason, Waiting
from solver.explain.protected import (
    ABOVE,
    BOUNDED,
    IN_BUDGET,
    JUST_EVICTED,
    NOT_PREEMPTIBLE,
    TOO_YOUNG,
)
from solver.problem.problem import problem_of

_NAME = re.compile(r"[\w.-]+/[\w.-]+")


class Truth:
    """
    One snapshot with its plan, and what the exact model says of each reason.
    """

    def __init__(self, snapshot: Snapshot, policy: Policy, plan: Plan):
        self.snapshot = snapshot
        self.policy = policy
        self.plan = plan
        self.facts = gather(snapshot)
        self.shares = problem_of(snapshot, policy).shares
        self.got = Counter(
            op.gang for op in plan.operations if op.op in {"Bind", "Reserve", "Move"}
        )
        self.checks = {
            Reason.LOWER_TIER_OR_PRIORITY: self._outranked,
            Reason.PREEMPTION_PROTECTED: self._protected,
            Reason.INSUFFICIENT_CAPACITY: self._short,
            Reason.FRAGMENTED: self._in_pieces,
            Reason.QUOTA_LIMIT_REACHED: self._over_limit,
        }

    def untrue(self) -> list[str]:
        """
        List what is wrong in the reasons of all gangs that are ready.
        """
        return [
            f"{line.name}: {line.waiting.message}: {problem}"
            for line in self.plan.gangs
            if line.waiting is not None and self.facts.gangs[line.name].plannable
            for problem in self._problems(line, line.waiting)
        ]

    def _problems(self, line: GangLine, waiting: Waiting) -> Iterator[str]:
        check = self.checks.get(waiting.reason)
        with suppress(UndecidedError):  # a tree too large for the exact model
            if check is not None:
                yield from check(self._team(line), waiting.facts)

    def _team(self, line: GangLine) -> set[str]:
        return {line.name, *self.facts.gangs[line.name].mates}

    # --- one reason after the other -------------------------------------------

    def _outranked(self, team, facts):
        names = _NAME.findall(str(facts.get("to", facts.get("behind", ""))))
        if not names or len(names) != min(3, facts["gangs"]):
            yield "does not say who"
        if "evicting" in facts:
            if not starts_by_right(self.facts, self.policy, self.shares, team):
                yield "could not start alone, even with evictions"
        elif not starts_now(self.facts, team):
            yield "could not start alone"
        if "behind" in facts:
            return
        if not all(self.got[name] for name in names):
            yield "who is named gets nothing"
        if facts.get("given", 1) <= 0:
            yield "nothing is given to others"
        if "evicting" in facts or "queue" in facts or self._share_places:
            return
        if starts_now(gather(self._carried(set())), team):
            yield "could start beside the others"
        whole = facts["gangs"] == len(names)
        if whole and not starts_now(gather(self._carried(set(names))), team):
            yield "could not start without those that are named"

    def _protected(self, team, facts):
        who = str(facts["who"])
        names = _NAME.findall(who)
        if not names or len(names) != min(3, facts["gangs"]):
            yield "does not say who"
        if starts_now(self.facts, team):
            yield "could start alone"
        if starts_by_right(self.facts, self.policy, self.shares, team):
            yield "could start alone with evictions"
        for name, why in re.findall(r"([\w.-]+/[\w.-]+) \(([^)]*)\)", who):
            if not self._is_protected(name, why):
                yield f"{name} is not {why}"
        evict = protecting_nobody(self.policy.evict)
        policy = self.policy.model_copy(update={"evict": evict})
        if not starts_by_right(gather(self._lifted(team)), policy, self.shares, team):
            yield "could not start, were nothing protected"

    def _short(self, team, facts):
        if str(facts.get("where", "")).endswith("minResources"):
            return
        resource = facts["resource"]
        whole = facts.get("where", "").endswith("with its group")
        options = [team] if whole else [{name} for name in team]
        numbers = [
            (self._needs(some, resource), self._free(some, resource))
            for some in options
        ]
        known = not is_reckoned(resource)  # sums of parts are not in a snapshot
        if known and (facts["needs"], facts["free"]) not in numbers:
            yield f"the numbers are {numbers}"
        if facts["needs"] <= facts["free"]:
            yield "nothing is short"
        if starts_now(self.facts, team):
            yield "could start alone"

    def _in_pieces(self, team, _facts):
        if starts_now(self.facts, team):
            yield "could start alone"
        asked = {r for key in team for r in self._asked(key)}
        for resource in {r for r in asked if not is_reckoned(r)}:
            if self._needs(team, resource) > self._free(team, resource):
                yield f"{resource} is short"

    def _over_limit(self, team, facts):
        queue, resource = facts["queue"], facts["resource"]
        table = self.facts.held_hard if "work" in facts else self.facts.held
        if "kept" in facts:
            bounds = {
                (table.get((team.name, resource), 0), limit)
                for team, members in outsiders(self.snapshot)
                if queue in members
                if (limit := team.rule(resource).limit) is not None
            }
            if (facts["used"], facts["limit"]) not in bounds:
                yield "nobody keeps that room"
        elif facts["used"] != table.get((queue, resource), 0):
            yield "the queue uses another amount"
        if facts["used"] + facts["needs"] <= facts["limit"]:
            yield "the limit is not reached"
        if starts_now(self.facts, team):
            yield "could start alone"

    # --- what is asked of a snapshot ------------------------------------------

    def _asked(self, key):
        leaves = pod_sets(self.facts.gangs[key].gang.tree)
        return {name for leaf in leaves for name in leaf.requests}

    def _needs(self, team, resource):
        total = 0
        for key in team:
            fact = self.facts.gangs[key]
            tree = fact.gang.tree
            each = {x.name: x.requests.get(resource, 0) for x in pod_sets(tree)}
            total += least_value(tree, fact.counted, fact.pending, each)
        return total

    def _free(self, team, resource):
        return sum(
            max(0, self.facts.free[node.name].get(resource, 0))
            for node in self.snapshot.nodes
            if any(self._allows(self.facts.gangs[key].gang, node) for key in team)
        )

    def _allows(self, gang, node):
        """
        Tell whether some pod of a gang may be on a node, beside those that run there.
        """
        here = [
            leaf
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING and pod.node == node.name
        ]
        return any(
            leaf.demand.allows(node)
            and not any(leaf.exclusive or other.exclusive for other in here)
            for leaf in self._confined(gang.tree, node)
        )

    def _confined(self, tree, node):
        """
        Walk the leaves whose pods need no domain that a node is in none of.
        """
        level = None if tree.topology is None else tree.topology.required
        if level and not any(
            one.domain(node.labels, level) for one in self.snapshot.topologies
        ):
            return
        if isinstance(tree, PodSet):
            yield tree
        else:
            for child in tree.children:
                yield from self._confined(child, node)

    @property
    def _share_places(self):
        """
        Tell whether parts are promised where others still are, which no device holds.
        """
        ops = {op.op for op in self.plan.operations if op.devices}
        return bool(ops & {"Reserve", "Move"})

    def _carried(self, without):
        """
        See what is bound or reserved by the plan as work that runs, but for some gangs.
        """
        leaves = {
            f"{gang.namespace}/{pod.name}": leaf
            for gang in self.snapshot.gangs
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
        }
        load = (
            _running(f"carried-{at}", leaves[op.pod], op)
            for at, op in enumerate(self.plan.operations)
            if op.op in {"Bind", "Reserve", "Move"} and op.gang not in without
        )
        return replace(self.snapshot, gangs=(*self.snapshot.gangs, *load))

    def _is_protected(self, name, why):
        gang = self.facts.gangs[name].gang
        queues = {queue.name: queue for queue in self.snapshot.queues}
        match why:
            case _ if why == NOT_PREEMPTIBLE:
                return not gang.preemptible
            case _ if why == IN_BUDGET:
                return any(
                    name in budget.gangs and budget.allowed < self._running_in(budget)
                    for budget in self.snapshot.budgets
                )
            case _ if why == TOO_YOUNG:
                path = [queues[x] for x in self.facts.gangs[name].path]
                least = max(
                    max(queue.reclaim_min_runtime, queue.preempt_min_runtime)
                    for queue in path
                )
                pods = (pod for leaf in pod_sets(gang.tree) for pod in leaf.pods)
                return any(pod.node and pod.seconds < least for pod in pods)
            case _ if why == BOUNDED:
                return bounds_leaving(self.policy.evict)
            case _ if why == JUST_EVICTED:
                return gang.evicted_ago < self.policy.evict.again
        return why == ABOVE and self._has_too_much(name)

    def _has_too_much(self, name):
        """
        Tell whether a gang's queue, or all beside some that keep room, passed a limit.
        """
        return any(
            limit is not None and limit < self.facts.held.get((queue.name, resource), 0)
            for queue in bounding(self.snapshot)
            if queue.name in self.facts.gangs[name].bounding
            for resource in self.facts.named
            for limit in [queue.rule(resource).limit]
        )

    def _running_in(self, budget):
        trees = (self.facts.gangs[name].gang.tree for name in budget.gangs)
        pods = (pod for tree in trees for leaf in pod_sets(tree) for pod in leaf.pods)
        return sum(pod.phase is PodPhase.RUNNING for pod in pods)

    def _lifted(self, team):
        """
        See the snapshot as if nothing that runs were protected, nor kept from moves.
        """
        path = {name for one in team for name in self.facts.gangs[one].path}
        return replace(
            self.snapshot,
            budgets=(),
            queues=tuple(
                replace(
                    queue,
                    reclaim_min_runtime=0,
                    preempt_min_runtime=0,
                    resources=self._unpassed(queue, mine=queue.name in path),
                )
                for queue in self.snapshot.queues
            ),
            gangs=tuple(
                replace(gang, preemptible=True)
                if any(p.node for leaf in pod_sets(gang.tree) for p in leaf.pods)
                else gang
                for gang in self.snapshot.gangs
            ),
        )

    def _unpassed(self, queue, *, mine):
        """
        Lift limits that are passed, but for a team's own, and let queues keep no room.
        """
        rules, held = {}, self.facts.held
        for name, rule in queue.resources.items():
            limit = rule.limit
            passed = limit is not None and held.get((queue.name, name), 0) > limit
            limit = None if passed and not mine else limit
            rules[name] = replace(rule, limit=limit, lend=None)
        return rules


def _running(name, leaf, op):
    """
    Give one pod as work that runs where a plan has it, on its devices, in no queue.
    """
    pod = Pod(name, PodPhase.RUNNING, op.node, devices=op.devices)
    tree = replace(
        leaf, name="", minimum=1, replicas=1, pods=(pod,), after=(), topology=None
    )
    return Gang(name=name, tree=tree, queue="")
