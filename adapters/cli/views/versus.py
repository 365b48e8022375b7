"""
The plan beside greedy's: what each starts, where the better one is better.
"""

from collections import Counter

from adapters.cli.terminal.output import Paint, Table
from adapters.cli.views.room_view import lost_work, work
from adapters.compare.outcome import (
    gpus_of_nodes,
    gpus_of_steps,
)
from adapters.compare.verdict import verdict
from adapters.files.writing.plan_writer import started
from models.devices.gpu_counts import shown_gpus
from models.plan import Plan
from models.snapshot import Snapshot

_NAMES_SHOWN = 12


def versus(snapshot: Snapshot, plan: Plan, greedy: Plan, paint: Paint) -> list[str]:
    """
    Lay two plans of one input side by side, and say which is better and why.
    """
    if plan.strategy == greedy.strategy:
        return ["", "This is greedy's own plan: there is nothing to compare."]
    waiting = sum(is_waiting(line.state) for line in plan.gangs)
    _, free = gpus_of_nodes(snapshot)
    pair = (greedy, plan)
    rows = [
        ("  gangs that start", *(_starts(p) for p in pair), f"{waiting:,} waiting"),
        ("  pods bound", *(_pods(p) for p in pair), ""),
        (
            "  GPUs bound",
            *(_gpus(p, snapshot) for p in pair),
            f"{shown_gpus(free)} free",
        ),
        *_room(snapshot, pair),
    ]
    head = (f"Greedy and {plan.strategy}", "GREEDY", plan.strategy.upper(), "OF")
    return [
        "",
        *Table(head, rows, frozenset({1, 2})).lines(),
        *_names(plan, greedy, paint),
        f"  {verdict(plan, greedy)}",
    ]


def is_waiting(state: str) -> bool:
    """
    Tell whether a gang waited before the plan, by its state in it.
    """
    return state in {"Starting", "Waiting", "Reserved"}


def _starts(plan: Plan) -> str:
    return f"{len(started(plan)):,}"


def _pods(plan: Plan) -> str:
    return f"{sum(step.op == 'Bind' for step in plan.operations):,}"


def _gpus(plan: Plan, snapshot: Snapshot) -> str:
    return shown_gpus(gpus_of_steps(snapshot, plan, "Bind")[1])


def _room(snapshot: Snapshot, pair: tuple[Plan, Plan]) -> list[tuple[str, ...]]:
    """
    Compare who makes room for whom, where anybody does.
    """
    if not any(step.op != "Bind" for plan in pair for step in plan.operations):
        return []
    gangs = (f"{sum(g.state == 'Reserved' for g in plan.gangs):,}" for plan in pair)
    gone = [Counter(step.op for step in plan.operations) for plan in pair]
    lost = (work(lost_work(snapshot, plan)) for plan in pair)
    return [
        ("  gangs with reserved places", *gangs, ""),
        ("  pods evicted", *(f"{ops['Evict']:,}" for ops in gone), ""),
        ("  pods moved", *(f"{ops['Move']:,}" for ops in gone), ""),
        ("  work lost", *lost, ""),
    ]


def _names(plan: Plan, greedy: Plan, paint: Paint) -> list[str]:
    """
    Name the gangs that only one of the two starts.
    """
    mine, theirs = started(plan), started(greedy)
    lines = []
    for who, only, colour in (
        (plan.strategy, sorted(mine.keys() - theirs.keys()), "green"),
        (greedy.strategy, sorted(theirs.keys() - mine.keys()), "red"),
    ):
        if only:
            lines.append(paint(colour, f"  only {who} starts {_listed(only)}"))
    return lines


def _listed(names: list[str]) -> str:
    text = ", ".join(name.removeprefix("default/") for name in names[:_NAMES_SHOWN])
    left = len(names) - _NAMES_SHOWN
    return f"{text} and {left:,} more" if left > 0 else text
