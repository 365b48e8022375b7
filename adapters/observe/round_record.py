"""
What is recorded of a round: all that says again why it went as it did.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.compare.outcome import gpus_of_steps
from adapters.files.writing.plan_writer import plan_document
from adapters.loop.interfaces import Turn
from adapters.observe.round_file import MOST_GANGS, MOST_OPERATIONS
from models.gangs import Gang, plain_roles
from models.plan import Plan, PodCounts
from models.policy import Policy
from models.receipt import Receipt
from models.snapshot import Snapshot

_STEADY = frozenset({"Running", "Finished"})
_AS_PLANNED = (
    "strategy",
    "fallback",
    "status",
    "deterministic",
    "snapshot",
    "seed",
    "versions",
    "tiers",
    "model",
)
_RESULTS = ("done", "held", "again", "refused", "skipped")


def record_of(
    turn: Turn,
    policy: Policy,
    outcome: str,
    why: str = "",
    ended: Sequence[str] = (),
) -> dict[str, Any]:
    """
    Write a round as plain values.

    Parameters
    ----------
    turn
        The round, with a receipt for each of its operations where it was carried out.
    policy
        What was wanted.
    outcome
        ``done``, or ``dropped`` where none of it was tried.
    why
        Why it was dropped.
    ended
        Gangs that ran and that are gone since the round before was recorded.
    """
    plan = turn.plan
    document = plan_document(plan)
    operations = _operations(plan, turn.receipts)
    return {
        **head_of(turn.name, turn.began, outcome, why),
        **{word: document[word] for word in _AS_PLANNED},
        "policy": policy.model_dump(by_alias=True, mode="json"),
        "seconds": {"round": _rounded(turn.seconds), "plan": document["seconds"]},
        "nodes": len(turn.snapshot.nodes),
        "gangs": _gangs(turn, document["gangs"], ended),
        "gpus": _bound_gpus(turn),
        "held": {"gpus": plan.held, "gpuSeconds": turn.snapshot.held},
        "receipts": _receipts(turn.receipts),
        "operations": operations[:MOST_OPERATIONS],
        "operationsLeftOut": max(0, len(operations) - MOST_OPERATIONS),
    }


def held_binds(turn: Turn) -> list[dict[str, Any]]:
    """
    Say what came of binds that were held, and as what their gangs began.
    """
    states = {line.name: line.state for line in turn.plan.gangs}
    return [
        {**_operation(receipt), "state": states.get(receipt.operation.gang, "")}
        for receipt in turn.receipts
        if receipt.result != "held"
    ]


def _gangs(
    turn: Turn, lines: list[dict[str, Any]], ended: Sequence[str]
) -> dict[str, Any]:
    """
    Count the gangs of a plan, and list those that neither run on nor have ended.
    """
    shown = [line for line in lines if line["state"] not in _STEADY]
    shown.sort(key=lambda line: line["state"] == "Waiting")
    every = turn.plan.gangs
    whys = (line.waiting for line in every if line.waiting)
    return {
        "states": _counted(line.state for line in every),
        "reasons": _counted(why.reason.value for why in whys),
        "items": _with_asks(shown[:MOST_GANGS], turn.snapshot),
        "leftOut": max(0, len(shown) - MOST_GANGS),
        "ended": list(ended[:MOST_GANGS]),
    }


def _bound_gpus(turn: Turn) -> float:
    return gpus_of_steps(turn.snapshot, turn.plan, "Bind")[1]


def alive_in(turn: Turn) -> tuple[set[str], set[str], set[str]]:
    """
    Name the gangs of which pods run or were bound, those still there, those that leave.
    """
    lines = [line for line in turn.plan.gangs if line.state != "Finished"]
    run = {line.name for line in lines if line.pods.running}
    bound = {r.operation.gang for r in turn.receipts if _is_bound(r)}
    leave = {line.name for line in lines if _leaves_whole(line.pods)}
    return run | bound, {line.name for line in lines}, leave


def _is_bound(receipt: Receipt) -> bool:
    return receipt.operation.op == "Bind" and receipt.result == "done"


def _leaves_whole(pods: PodCounts) -> bool:
    return 0 < pods.running == pods.evicting and not pods.binding


def _with_asks(lines: list[dict[str, Any]], snapshot: Snapshot) -> list[dict[str, Any]]:
    """
    Say of gangs that start since when they waited, and what they ask for.

    That is said once of each, and not of those that wait, so that records stay short.
    """
    starts = {line["name"] for line in lines if line["state"] == "Starting"}
    asks = {gang.key: _asks(gang) for gang in snapshot.gangs if gang.key in starts}
    return [
        {**line, "asks": asks[line["name"]]} if line["name"] in asks else line
        for line in lines
    ]


def _asks(gang: Gang) -> dict[str, Any]:
    roles = plain_roles(gang)
    return {
        "age": gang.age,
        "priority": gang.priority,
        "preemptible": gang.preemptible,
        "maxRuntime": gang.max_runtime,
        "roles": None
        if roles is None
        else [
            {
                "name": role.name,
                "pods": role.replicas,
                "min": role.minimum,
                "requests": dict(sorted(role.requests.items())),
                "exclusive": role.exclusive,
            }
            for role in roles
        ],
    }


def head_of(name: str, began: float, outcome: str, why: str = "") -> dict[str, Any]:
    """
    Begin the record of a round, also of one that came to nothing.
    """
    moment = datetime.fromtimestamp(began, tz=UTC).isoformat(timespec="milliseconds")
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Round",
        "name": name,
        "began": moment.replace("+00:00", "Z"),
        "outcome": outcome,
        "why": why or None,
    }


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(spent, 6) for name, spent in seconds.items()}


def _operations(plan: Plan, receipts: Sequence[Receipt]) -> list[dict[str, Any]]:
    """
    List the operations in their order, those that failed before all others.
    """
    if not receipts:
        receipts = [Receipt(operation=s, result="skipped") for s in plan.operations]
    ordered = sorted(receipts, key=lambda receipt: receipt.result == "done")
    return [_operation(receipt) for receipt in ordered]


def _operation(receipt: Receipt) -> dict[str, Any]:
    step = receipt.operation
    written: dict[str, Any] = {
        "op": step.op,
        "pod": step.pod,
        "gang": step.gang,
        "node": step.node,
        "result": receipt.result,
        "seconds": round(receipt.seconds, 6),
    }
    if receipt.message:
        written["message"] = receipt.message
    if step.rule:
        written |= {"rule": step.rule, "for": list(step.beneficiaries)}
    return written


def _receipts(receipts: Sequence[Receipt]) -> dict[str, dict[str, int]]:
    """
    Count what became of the operations, by kind.
    """
    found: dict[str, dict[str, int]] = {}
    for receipt in receipts:
        row = found.setdefault(receipt.operation.op, dict.fromkeys(_RESULTS, 0))
        row[receipt.result] += 1
    return dict(sorted(found.items()))


def _counted(words: Any) -> Mapping[str, int]:  # noqa: ANN401 - an iterable of words
    return dict(sorted(Counter(words).items()))
