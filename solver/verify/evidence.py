"""
What the snapshot says and the plan does, indexed once for all rules.

Only gangs and nodes that the plan touches are looked at closely.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from models.gangs import Gang, Pod, PodPhase, PodSet, pod_sets
from models.nodes import Node
from models.plan import Operation, Plan
from models.policy import Policy
from models.queues import Queue
from models.resources import Resources
from models.snapshot import Snapshot
from solver.verify.counting import Tally, counted, is_ordinary, is_satisfied, tally

Amounts = dict[str, dict[str, int]]
OCCUPYING = frozenset({PodPhase.RUNNING, PodPhase.TERMINATING})


class Step(NamedTuple):
    """
    An operation with the pod it names, if that exists; ``again`` if bound before.
    """

    operation: Operation
    pod: Pod | None
    leaf: PodSet | None
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One gang before and after the plan; ``bound`` is leaf to node to pods.

    ``before`` and ``after`` are the pods that count per leaf.
    """

    gang: Gang
    bound: Mapping[str, Mapping[str, int]]
    placed: Mapping[str, int]
    before: Mapping[str, int]
    after: Mapping[str, int]
    ordinary: bool

    @property
    def starts(self) -> bool:
        """
        Whether the gang needed something and the plan binds pods of it.
        """
        return bool(self.placed) and not self.satisfied_before

    @property
    def satisfied_before(self) -> bool:
        """
        Whether the gang needed nothing before the plan.
        """
        return self.ordinary or is_satisfied(self.gang.tree, self.before)

    @property
    def satisfied_after(self) -> bool:
        """
        Whether the gang's minimums hold after the plan.
        """
        return self.ordinary or is_satisfied(self.gang.tree, self.after)

    def demand(self, resource: str) -> int:
        """
        Add up what the bound pods ask for of a resource.
        """
        return sum(
            leaf.requests.get(resource, 0) * self.placed.get(leaf.name, 0)
            for leaf in pod_sets(self.gang.tree)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    Everything the rules look at.

    ``cases`` are the gangs that bind pods and their mates; ``loads`` the requests of
    our pods on the nodes that get more; ``running`` and ``fixed`` what runs in each
    queue itself, of the resources that some queue names.
    """

    snapshot: Snapshot
    policy: Policy
    plan: Plan
    nodes: Mapping[str, Node]
    gangs: Mapping[str, Gang]
    queues: Mapping[str, Queue]
    steps: tuple[Step, ...]
    cases: Mapping[str, Case]
    loads: Mapping[str, list[Resources]]
    named: tuple[str, ...]
    parents: frozenset[str] = frozenset()
    running: Amounts = field(default_factory=dict)
    fixed: Amounts = field(default_factory=dict)

    def binding(self) -> Iterable[Case]:
        """
        List the gangs of which pods are bound, by name.
        """
        return [case for case in self.cases.values() if case.placed]

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


def evidence_of(snapshot: Snapshot, policy: Policy, plan: Plan) -> Evidence:
    """
    Index a snapshot and a plan for the rules.
    """
    gangs = {f"{gang.namespace}/{gang.name}": gang for gang in snapshot.gangs}
    steps = _steps(plan, gangs)
    bound = _bound(steps)
    keys = set(bound)
    for key in bound:
        keys.update(mate for mate in gangs[key].mates if mate in gangs)
    nodes = {
        node for leaves in bound.values() for row in leaves.values() for node in row
    }
    evidence = Evidence(
        snapshot=snapshot,
        policy=policy,
        plan=plan,
        nodes={node.name: node for node in snapshot.nodes},
        gangs=gangs,
        queues={queue.name: queue for queue in snapshot.queues},
        steps=steps,
        cases={key: _case(gangs[key], bound.get(key, {})) for key in sorted(keys)},
        loads={name: [] for name in nodes},
        named=tuple(sorted({r for q in snapshot.queues for r in q.resources})),
        parents=frozenset(q.parent for q in snapshot.queues if q.parent is not None),
    )
    _add_up(evidence)
    return evidence


def _steps(plan: Plan, gangs: Mapping[str, Gang]) -> tuple[Step, ...]:
    pods: dict[str, dict[str, tuple[Pod, PodSet]]] = {}
    steps = []
    done: set[str] = set()
    for operation in plan.operations:
        name = operation.gang
        if name not in pods:
            pods[name] = _pods(gangs[name]) if name in gangs else {}
        pod, leaf = pods[name].get(operation.pod, (None, None))
        steps.append(Step(operation, pod, leaf, operation.pod in done))
        if operation.op == "Bind":
            done.add(operation.pod)
    return tuple(steps)


def _pods(gang: Gang) -> dict[str, tuple[Pod, PodSet]]:
    prefix = f"{gang.namespace}/"
    return {
        prefix + pod.name: (pod, leaf)
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }


def _bound(steps: tuple[Step, ...]) -> dict[str, dict[str, dict[str, int]]]:
    """
    Count the pods that get a place: gang to leaf to node to pods.
    """
    bound: dict[str, dict[str, dict[str, int]]] = {}
    for operation, pod, leaf, again in steps:
        if operation.op != "Bind" or pod is None or leaf is None or again:
            continue
        if pod.phase in OCCUPYING:
            continue
        row = bound.setdefault(operation.gang, {}).setdefault(leaf.name, {})
        row[operation.node] = row.get(operation.node, 0) + 1
    return bound


def _case(gang: Gang, bound: Mapping[str, Mapping[str, int]]) -> Case:
    tallies: dict[str, Tally] = {leaf.name: tally(leaf) for leaf in pod_sets(gang.tree)}
    before = counted(gang, tallies)
    placed = {name: sum(row.values()) for name, row in bound.items()}
    return Case(
        gang=gang,
        bound=bound,
        placed=placed,
        before=before,
        after={name: have + placed.get(name, 0) for name, have in before.items()},
        ordinary=is_ordinary(gang, before),
    )


def _add_up(evidence: Evidence) -> None:
    """
    Walk all pods once: who is on the touched nodes, and what runs in each queue.
    """
    loads, named = evidence.loads, evidence.named
    for gang in evidence.snapshot.gangs:
        tree = gang.tree
        for leaf in (tree,) if isinstance(tree, PodSet) else pod_sets(tree):
            running = 0
            for pod in leaf.pods:
                if pod.node is None:
                    continue
                phase = pod.phase
                if phase is PodPhase.RUNNING:
                    running += 1
                elif phase is not PodPhase.TERMINATING:
                    continue
                if pod.node in loads:
                    loads[pod.node].append(leaf.requests)
            if running and named:
                _charge(evidence, gang, leaf.requests, running)


def _charge(evidence: Evidence, gang: Gang, requests: Resources, pods: int) -> None:
    own = evidence.running.setdefault(gang.queue, {})
    for name in evidence.named:
        amount = requests.get(name, 0) * pods
        if amount:
            own[name] = own.get(name, 0) + amount
            if not gang.preemptible:
                fixed = evidence.fixed.setdefault(gang.queue, {})
                fixed[name] = fixed.get(name, 0) + amount
