"""
What the snapshot says and the plan does, indexed once for all rules.

Only gangs and nodes that the plan touches are looked at closely.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from models.gangs import Gang, PodPhase, PodSet, pod_sets
from models.memory.aged_gangs import by_name
from models.nodes import Node
from models.plan import Plan
from models.policy import Policy
from models.queues import Queue
from models.resources import Resources
from models.snapshot import Snapshot
from solver.verify.gang_changes import Case, GangLoss, case_of, loss_of
from solver.verify.known import JudgeMemo
from solver.verify.plan_steps import (
    STALE,
    Amounts,
    Deeds,
    Step,
    deeds_of,
    is_leaving,
    steps_of,
)
from solver.verify.shares.share_readings import Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    Everything the rules look at.

    ``taking`` are the evictions and moves of running pods, without those of stale
    gangs; ``cases`` the gangs that get places and their mates, ``losses`` the gangs
    of which pods are evicted or moved; ``loads`` the requests of our pods on nodes
    that get more, ``leaving`` of those among them that are no load after the plan;
    ``running`` and ``fixed`` what runs in each queue itself, of the resources that
    some queue names.  ``shares`` holds the fair shares once somebody has asked, and
    ``promises`` those that are kept; ``memo`` what is known of snapshots before.
    """

    snapshot: Snapshot
    policy: Policy
    plan: Plan
    nodes: Mapping[str, Node]
    gangs: Mapping[str, Gang]
    queues: Mapping[str, Queue]
    steps: tuple[Step, ...]
    taking: tuple[Step, ...]
    cases: Mapping[str, Case]
    losses: Mapping[str, GangLoss]
    loads: Mapping[str, list[Resources]]
    leaving: Mapping[str, list[Resources]]
    named: tuple[str, ...]
    parents: frozenset[str] = frozenset()
    running: Amounts = field(default_factory=dict)
    fixed: Amounts = field(default_factory=dict)
    shares: list[Shares] = field(default_factory=list)
    promises: list[frozenset[str]] = field(default_factory=list)
    memo: JudgeMemo = field(default_factory=JudgeMemo)

    def gaining(self) -> Iterable[Case]:
        """
        List the gangs of which pods get a place, by name.
        """
        return [case for case in self.cases.values() if case.got]

    def placing(self) -> Iterable[Case]:
        """
        List the gangs of which pods are bound or reserved, by name.
        """
        return [case for case in self.cases.values() if case.placed]

    def beneficiaries(self, rule: str | None = None) -> set[str]:
        """
        Name all gangs that pods leave for, by one rule or by any.
        """
        operations = [step.operation for step in self.taking]
        # One list may be shared by thousands of operations.
        lists = {
            id(operation.beneficiaries): operation.beneficiaries
            for operation in operations
            if rule is None or operation.rule == rule
        }
        return set().union(*lists.values())

    def path(self, queue: str) -> list[str]:
        """
        List a queue and those above it as far as they exist, the queue first.
        """
        found: list[str] = []
        at: str | None = queue
        while at is not None and at in self.queues and at not in found:
            found.append(at)
            at = self.queues[at].parent
        return found


def evidence_of(
    snapshot: Snapshot, policy: Policy, plan: Plan, memo: JudgeMemo
) -> Evidence:
    """
    Index a snapshot and a plan for the rules.
    """
    gangs = by_name(snapshot.gangs)
    steps = steps_of(plan.operations, gangs)
    deeds = deeds_of(steps)
    keys = {key for key, done in deeds.items() if done.gets_places}
    for key in tuple(keys):
        keys.update(mate for mate in gangs[key].mates if mate in gangs)
    cases = {key: case_of(gangs[key], deeds.get(key, Deeds())) for key in sorted(keys)}
    nodes = {n for case in cases.values() for row in case.got.values() for n in row}
    evidence = Evidence(
        snapshot=snapshot,
        policy=policy,
        plan=plan,
        nodes=memo.of_nodes(
            "by name", snapshot.nodes, lambda: {n.name: n for n in snapshot.nodes}
        ),
        gangs=gangs,
        queues={queue.name: queue for queue in snapshot.queues},
        steps=steps,
        taking=tuple([s for s in steps if s.takes and s.operation.rule != STALE]),
        cases=cases,
        losses={
            key: loss_of(gangs[key], done)
            for key, done in deeds.items()
            if done.departed
        },
        loads={name: [] for name in nodes},
        leaving={name: [] for name in nodes},
        named=tuple(sorted({r for q in snapshot.queues for r in q.resources})),
        parents=frozenset(q.parent for q in snapshot.queues if q.parent is not None),
        memo=memo,
    )
    _add_up(evidence)
    _take_away(evidence, deeds)
    return evidence


def _add_up(evidence: Evidence) -> None:
    """
    Look at all pods once: who is on the touched nodes, and what runs in each queue.
    """
    sums = evidence.memo.sums(evidence.snapshot)
    for name, there in evidence.loads.items():
        there.extend(sums.loads(name))
    for where, amounts in sorted(sums.queued.items()):
        for name in evidence.named:
            _charge(evidence, where, name, amounts[name])
    for at in sums.rest:
        gang = evidence.snapshot.gangs[at]
        for leaf in pod_sets(gang.tree):
            running = _add_leaf(evidence, leaf)
            for name in evidence.named if running else ():
                amount = leaf.requests.get(name, 0) * running
                _charge(evidence, (gang.queue, gang.preemptible), name, amount)


def _add_leaf(evidence: Evidence, leaf: PodSet) -> int:
    """
    Add the pods of one leaf to the touched nodes, and count those that run.
    """
    loads, leaving, running = evidence.loads, evidence.leaving, 0
    for pod in leaf.pods:
        if pod.node is None:
            continue
        if pod.phase is PodPhase.RUNNING:
            running += 1
        elif pod.phase is not PodPhase.TERMINATING:
            continue
        elif pod.node in loads and is_leaving(pod):
            leaving[pod.node].append(leaf.requests)
        if pod.node in loads:
            loads[pod.node].append(leaf.requests)
    return running


def _take_away(evidence: Evidence, deeds: Mapping[str, Deeds]) -> None:
    """
    List on the touched nodes what the plan evicts and moves away.
    """
    leaving = evidence.leaving
    for key in evidence.losses:
        departed = deeds[key].departed
        for leaf in pod_sets(evidence.gangs[key].tree):
            for name, pods in departed.get(leaf.name, {}).items():
                if name in leaving:
                    leaving[name] += [leaf.requests] * pods


def _charge(
    evidence: Evidence, where: tuple[str, bool], name: str, amount: int
) -> None:
    """
    Add what runs of a resource in a queue, preemptible or not.
    """
    queue, preemptible = where
    if not amount:
        return
    own = evidence.running.setdefault(queue, {})
    own[name] = own.get(name, 0) + amount
    if not preemptible:
        fixed = evidence.fixed.setdefault(queue, {})
        fixed[name] = fixed.get(name, 0) + amount
