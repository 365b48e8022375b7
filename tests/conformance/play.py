"""
Rounds on an outside case until nothing changes, and the end against the other's end.
"""

from collections import Counter
from dataclasses import dataclass

from models.gangs import PodPhase, pod_sets
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.next_snapshot import carry_out
from solver.problem.gang_state import least_pods
from solver.round import decide
from solver.verify import verify
from tests.conformance.cases import Case

ROUNDS = 8
SECONDS = 1
POLICY = Policy()


@dataclass(frozen=True)
class End:
    """
    Pods of each gang that run in the end, and what it cost.
    """

    running: dict[str, int]
    evictions: int
    rounds: int
    settled: bool = True
    violations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """
    Two ends side by side; ``worse`` says in words where ours is not as good.
    """

    case: Case
    ours: End
    worse: str

    @property
    def running(self) -> list[tuple[str, int, int]]:
        """
        List the gangs of which not as many pods run: name, the other's, ours.
        """
        names = sorted({*self.ours.running, *self.case.running})
        rows = [
            (name, self.case.running.get(name, 0), self.ours.running.get(name, 0))
            for name in names
        ]
        return [row for row in rows if row[1] != row[2]]


def judged(case: Case, strategy: str = "solver") -> Verdict:
    """
    Play a case and hold its end against the other's, in the order of the policy.
    """
    snapshot = case.snapshot
    ours = played(snapshot, strategy)
    other = End(case.running, case.evictions, case.rounds)
    return Verdict(case, ours, _worse(snapshot, ours, other))


def played(snapshot: Snapshot, strategy: str = "solver") -> End:
    """
    Play rounds until nothing changes; evicted pods wait again, bound pods run.
    """
    evictions, number = 0, 0
    violations: list[str] = []
    settled = False
    while not settled and number < ROUNDS:
        number += 1
        plan = decide(snapshot, POLICY, strategy=strategy)
        violations += [
            f"round {number}: {broken}" for broken in verify(snapshot, POLICY, plan)
        ]
        evictions += sum(step.op in {"Evict", "Move"} for step in plan.operations)
        settled = not _changes(snapshot, plan)
        snapshot = carry_out(snapshot, plan, SECONDS)
    return End(_running(snapshot), evictions, number, settled, tuple(violations))


def _changes(snapshot: Snapshot, plan: Plan) -> bool:
    """
    Tell whether a plan does more than to repeat reservations.
    """
    held = {
        (f"{gang.namespace}/{pod.name}", pod.node)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.RESERVED
    }
    leaving = any(
        pod.phase is PodPhase.TERMINATING
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )
    return leaving or any(
        step.op != "Reserve" or (step.pod, step.node) not in held
        for step in plan.operations
    )


def _running(snapshot: Snapshot) -> dict[str, int]:
    return {
        gang.key: sum(
            pod.phase is PodPhase.RUNNING
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
        )
        for gang in snapshot.gangs
    }


def _worse(snapshot: Snapshot, ours: End, other: End) -> str:
    """
    Say where our end is not as good: pods by band, gangs, evictions for the same gain.
    """
    if not ours.settled:
        return f"not settled after {ours.rounds} rounds"
    mine, theirs = (_by_band(snapshot, end) for end in (ours, other))
    for band in sorted({*mine, *theirs}, reverse=True):
        if mine[band] != theirs[band]:
            if mine[band] > theirs[band]:
                return ""
            return f"{mine[band]} pods of priority {band}, not {theirs[band]}"
    have, had = (_gangs(snapshot, end) for end in (ours, other))
    if have != had:
        return "" if have > had else f"{have} gangs, not {had}"
    if ours.evictions > other.evictions:
        return f"{ours.evictions} evictions, not {other.evictions}"
    return ""


def _by_band(snapshot: Snapshot, end: End) -> Counter[int]:
    pods: Counter[int] = Counter()
    for gang in snapshot.gangs:
        pods[gang.priority] += end.running.get(gang.key, 0)
    return pods


def _gangs(snapshot: Snapshot, end: End) -> int:
    return sum(
        end.running.get(gang.key, 0) >= max(1, least_pods(gang))
        for gang in snapshot.gangs
    )
