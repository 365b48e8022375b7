"""
Rules about single operations: what they name exists and may be done.
"""

from collections.abc import Iterator
from typing import get_args

from models.gangs import PodPhase
from models.plan import Op
from solver.verify.evidence import Evidence
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
    for operation, pod, _, _ in evidence.steps:
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
    Ensure that only pending pods are bound, each once.
    """
    for operation, pod, _, again in evidence.steps:
        if operation.op != "Bind" or pod is None:
            continue
        if again:
            message = f"bound a second time, to {operation.node}"
        elif pod.phase is not PodPhase.PENDING:
            where = f" on {pod.node}" if pod.node else ""
            message = f"{pod.phase}{where}, only pending pods can be bound"
        else:
            continue
        yield Violation("pod-not-pending", operation.pod, message)


def evictions_not_allowed(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that nothing is evicted, moved or reserved, which is not planned yet.
    """
    for step in evidence.steps:
        name = step.operation.op
        if name != "Bind" and name in _KNOWN:
            message = f"{name} is not planned yet, only Bind is"
            yield Violation("eviction-not-allowed", step.operation.pod, message)
