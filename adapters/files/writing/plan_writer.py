"""
Plans to JSON: every key, in one order, in the same bytes every time.
"""

import json
from typing import Any

from models.plan import GangLine, ModelSize, Operation, Plan

PHASES = ("read", "problem", "greedy", "build", "search", "decode", "verify", "total")


def plan_json(plan: Plan) -> str:
    """
    Write a plan as its JSON text.
    """
    return json.dumps(plan_document(plan), indent=1, ensure_ascii=False) + "\n"


def plan_document(plan: Plan) -> dict[str, Any]:
    """
    Give a plan as plain values in the documented order.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Plan",
        "strategy": plan.strategy,
        "status": plan.status,
        "deterministic": plan.deterministic,
        "snapshot": plan.snapshot,
        "seed": plan.seed,
        "versions": dict(sorted(plan.versions.items(), reverse=True)),
        "tiers": _tiers(plan),
        "gangs": [_gang(line) for line in plan.gangs],
        "operations": [_operation(operation) for operation in plan.operations],
        "model": _model(plan.model),
        "seconds": _seconds(plan),
        "fallback": _fallback(plan),
        "cut": [*plan.cut],
        "held": plan.held,
        "holds": [
            {
                "gang": hold.gang,
                "nodes": [*hold.nodes],
                "expected": hold.expected,
                "lent": [*hold.lent],
            }
            for hold in plan.holds
        ],
    }


def _tiers(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "name": tier.name,
            "band": tier.band,
            "direction": tier.direction,
            "value": tier.counted(tier.value),
            "bound": tier.counted(tier.bound),
            "proof": tier.proof,
        }
        for tier in plan.tiers
    ]


def _model(size: ModelSize) -> dict[str, int]:
    return {
        "variables": size.variables,
        "constraints": size.constraints,
        "nodeClasses": size.node_classes,
        "podShapes": size.pod_shapes,
        "gangTypes": size.gang_types,
    }


def _fallback(plan: Plan) -> dict[str, Any] | None:
    if plan.fallback is None:
        return None
    return {
        "way": plan.fallback.way,
        "failed": [
            {"way": one.way, "violations": [*one.violations], "error": one.error}
            for one in plan.fallback.failed
        ],
    }


def _seconds(plan: Plan) -> dict[str, float] | None:
    if plan.seconds is None:
        return None
    return {name: round(plan.seconds.get(name, 0.0), 6) for name in PHASES}


def _gang(line: GangLine) -> dict[str, Any]:
    waiting = line.waiting
    pods = line.pods
    return {
        "name": line.name,
        "queue": line.queue,
        "state": line.state,
        "entitled": line.entitled,
        "guaranteed": line.guaranteed,
        "reason": waiting.reason.value if waiting else None,
        "message": waiting.message if waiting else None,
        "facts": dict(sorted(waiting.facts.items())) if waiting else {},
        "pods": {
            "total": pods.total,
            "min": pods.minimum,
            "running": pods.running,
            "succeeded": pods.succeeded,
            "failed": pods.failed,
            "binding": pods.binding,
            "evicting": pods.evicting,
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    head: dict[str, Any] = {
        "op": operation.op,
        "pod": operation.pod,
        "uid": operation.uid,
        "gang": operation.gang,
    }
    reason = {"for": list(operation.beneficiaries), "rule": operation.rule}
    match operation.op:
        case "Bind":
            return {**head, "node": operation.node, "devices": _devices(operation)}
        case "Evict":
            return {**head, "node": operation.node, **reason}
        case "Move":
            move = {"from": operation.source, "to": operation.node, **reason}
            return {**head, **move, **_places(operation)}
        case "Reserve":
            return {**head, "node": operation.node, **_places(operation)}


def _places(operation: Operation) -> dict[str, Any]:
    """
    Name the GPUs of a pod that is moved or waits, where it has parts of some.
    """
    return {"devices": _devices(operation)} if operation.devices else {}


def _devices(operation: Operation) -> list[dict[str, Any]]:
    """
    Name the GPUs of which a pod gets parts, and what it gets of each.
    """
    amounts: dict[str, Any] = {}
    if (each := operation.of_each) is not None:
        amounts = {"cores": each.cores, "memory": each.memory}
        if each.profile:
            amounts = {"mig": each.profile}
    return [
        {"device": one.device}
        | amounts
        | ({"start": one.start} if one.start >= 0 else {})
        for one in operation.devices
    ]


def difference(plan: Plan, other: Plan) -> dict[str, Any]:
    """
    Say what two plans for one input do differently.
    """
    mine, theirs = started(plan), started(other)
    return {
        "strategy": other.strategy,
        "tiers": _tiers(other),
        "startsOnlyHere": sorted(mine.keys() - theirs.keys()),
        "startsOnlyThere": sorted(theirs.keys() - mine.keys()),
    }


def started(plan: Plan) -> dict[str, GangLine]:
    """
    Give the gangs that a plan starts, by name.
    """
    return {line.name: line for line in plan.gangs if line.state == "Starting"}
