"""
Rules about single operations: what they name exists and may be done.
"""

from collections.abc import Iterator
from typing import get_args

from models.gangs import PodPhase
from models.plan import Op
from solver.verify.evidence import Evidence
from solver.verify.gang_counts import WAITING
from solver.verify.plan_steps import PLACING, TAKING
from solver.verify.violation import Violation

_KNOWN = frozenset(get_args(Op))


def unknown_operations(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every operation is a Bind, Evict, Move or Reserve.
    """
    for step in evidence.steps:
        name = step.operation.op
        if name not in _KNOWN:
            message = f"operation {name} is not one of {', '.join(sorted(_KNOWN))}"
            yield Violation("unknown-operation", step.operation.pod, message)


def unknown_pods(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every operation names a pod that exists in its gang, with its uid.
    """
    for operation, pod, _, _, _ in evidence.steps:
        if operation.op not in _KNOWN:
            continue
        if operation.gang not in evidence.gangs:
            message = f"its gang {operation.gang} does not exist"
        elif pod is None:
            message = f"gang {operation.gang} has no such pod"
        elif operation.uid and pod.uid and operation.uid != pod.uid:
            message = f"the plan means uid {operation.uid}, the pod has {pod.uid}"
        else:
            continue
        yield Violation("unknown-pod", operation.pod, message)


def unknown_nodes(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every operation names a node that exists.

    A pod may be evicted from a node that has vanished.
    """
    for step in evidence.steps:
        operation = step.operation
        if operation.op == "Evict" or operation.op not in _KNOWN:
            continue
        if operation.node not in evidence.nodes:
            message = f"node {operation.node} does not exist"
            yield Violation("unknown-node", operation.pod, message)


def pods_not_pending(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that only pending and reserved pods get a place, each once.
    """
    for operation, pod, _, again, _ in evidence.steps:
        if operation.op not in PLACING or pod is None:
            continue
        done = "bound" if operation.op == "Bind" else "reserved"
        if pod.phase not in WAITING:
            where = f" on {pod.node}" if pod.node else ""
            message = f"{pod.phase}{where}, only pending pods can be {done}"
        elif again:
            message = f"{done} to {operation.node}, and it is named before"
        else:
            continue
        yield Violation("pod-not-pending", operation.pod, message)


def pods_not_running(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that only running pods are evicted or moved, from where they run, each once.
    """
    for step in evidence.steps:
        operation, pod = step.operation, step.pod
        if operation.op not in TAKING or pod is None or step.takes:
            continue
        done = "evicted" if operation.op == "Evict" else "moved"
        if pod.phase is not PodPhase.RUNNING:
            message = f"{pod.phase}, only running pods can be {done}"
        elif pod.node != step.source:
            message = f"{done} from {step.source}, but it runs on {pod.node}"
        else:
            message = f"{done} from {step.source}, and it is named before"
        yield Violation("pod-not-running", operation.pod, message)
