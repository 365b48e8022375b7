"""
A plan as a person reads it, on one screen where the case is small.
"""

from collections import Counter
from typing import TYPE_CHECKING

from adapters.cli.terminal.output import Paint, Table, joined
from adapters.cli.views.fallback_view import WAYS
from adapters.cli.views.room_view import MOST_ROWS, losses, more, placed, reserved
from adapters.cli.views.tier_view import tiers
from adapters.cli.views.versus import is_waiting, versus
from adapters.compare.outcome import gpus_of_nodes, gpus_of_steps
from models.devices.gpu_counts import counted_gpus, shown_gpus
from models.plan import GangLine, Plan
from models.why.reasons import NOTHING_NEEDED, counted

if TYPE_CHECKING:
    from models.documents.scenario import Scenario


def view(
    scenario: "Scenario",
    plan: Plan,
    greedy: Plan | None,
    paint: Paint,
    *,
    wide: bool,
    diff: bool,
    width: int | None = None,
) -> list[str]:
    """
    Lay a plan out: input, tiers, who starts, who makes room, who waits, the effort.
    """
    beside = greedy if greedy is not None and greedy.strategy != plan.strategy else None
    return [
        *(paint("bold", line) for line in _header(scenario, plan, width)),
        *tiers(plan, beside, wide=wide, width=width),
        *_starting(scenario, plan, paint, wide=wide, width=width),
        *losses(scenario.snapshot, plan, paint, wide=wide, width=width),
        *reserved(scenario.snapshot, plan, paint, wide=wide, width=width),
        *_waiting(plan, paint, wide=wide, width=width),
        *(versus(scenario.snapshot, plan, greedy, paint) if diff and greedy else []),
        "",
        *_effort(plan, width),
    ]


def _header(scenario: "Scenario", plan: Plan, width: int | None) -> list[str]:
    snapshot = scenario.snapshot
    gpus, free = gpus_of_nodes(snapshot)
    waiting = sum(is_waiting(line.state) for line in plan.gangs)
    room = f", {shown_gpus(free)} of {counted_gpus(gpus)} free" if gpus else ""
    parts = [
        f"Round from {scenario.source}",
        f"{counted(len(snapshot.nodes), 'node')}{room}",
        f"{counted(len(snapshot.gangs), 'gang')}, {waiting:,} waiting",
        f"seed {plan.seed}",
    ]
    return joined(parts, width)


def _starting(
    scenario: "Scenario", plan: Plan, paint: Paint, *, wide: bool, width: int | None
) -> list[str]:
    gpus, bound = gpus_of_steps(scenario.snapshot, plan, "Bind")
    nodes: dict[str, Counter[str]] = {}
    for step in plan.operations:
        if step.op == "Bind":
            nodes.setdefault(step.gang, Counter())[step.node] += 1
    lines = [line for line in plan.gangs if line.name in nodes]
    if not lines:
        return ["", "No gang starts or grows."]
    table = Table(
        ("GANG", "QUEUE", "STATE", "PODS", "GPUS", "RUNS", "NODES"),
        [
            (
                line.name,
                line.queue,
                line.state,
                f"{line.pods.binding:,}",
                shown_gpus(gpus[line.name]),
                _runs(line),
                placed(nodes[line.name], wide=wide),
            )
            for line in _first(lines, wide=wide)
        ],
        frozenset({3, 4}),
    )
    rows = _painted(table.folded(_inside(width)), paint, "green")
    _, free = gpus_of_nodes(scenario.snapshot)
    base = f"{shown_gpus(bound)} of {shown_gpus(free)} free GPUs" if free else "no GPUs"
    return ["", f"{_bound(lines)}, {base}", *rows, *more(len(lines), wide=wide)]


def _bound(lines: list[GangLine]) -> str:
    """
    Sum up what is bound: 2 gangs start, 1 grows: 7 pods.
    """
    new = sum(line.state == "Starting" for line in lines)
    more = len(lines) - new
    parts = []
    if new:
        parts.append(f"{counted(new, 'gang')} {'starts' if new == 1 else 'start'}")
    if more:
        gangs = f"{more:,}" if new else counted(more, "gang")
        parts.append(f"{gangs} {'grows' if more == 1 else 'grow'}")
    pods = sum(line.pods.binding for line in lines)
    return f"{', '.join(parts)}: {counted(pods, 'pod')}"


def _runs(line: GangLine) -> str:
    """
    Say how many pods run afterwards, and of how many where the gang is elastic.
    """
    pods = line.pods
    have = pods.running + pods.binding
    if have == pods.minimum == pods.total:
        return f"{have:,}"
    if pods.minimum == pods.total:
        return f"{have:,} of {pods.total:,}"
    return f"{have:,} of {pods.minimum:,}–{pods.total:,}"


def _waiting(plan: Plan, paint: Paint, *, wide: bool, width: int | None) -> list[str]:
    lines = [line for line in plan.gangs if line.state == "Waiting"]
    if not lines:
        return []
    table = Table(
        ("GANG", "QUEUE", "NEEDS", "REASON", "MESSAGE"),
        [
            (line.name, line.queue, _needs(line), *_why(line))
            for line in _first(lines, wide=wide)
        ],
        frozenset({2}),
    )
    rows = _painted(table.folded(_inside(width)), paint, "yellow")
    return ["", _held(lines), *rows, *more(len(lines), wide=wide)]


def _needs(line: GangLine) -> str:
    """
    Say how many pods it needs: none, whatever its minimum, if it waits for no reason.
    """
    return counted(line.pods.minimum if line.waiting else 0, "pod")


def _why(line: GangLine) -> tuple[str, str]:
    """
    Give a gang's reason and message; one that needs no pod has neither.
    """
    if line.waiting is None:
        return "–", NOTHING_NEEDED
    return line.waiting.reason.value, line.waiting.message


def _held(lines: list[GangLine]) -> str:
    """
    Sum up who waits, the most common reason first.
    """
    text = f"{counted(len(lines), 'gang')} {'waits' if len(lines) == 1 else 'wait'}"
    why = Counter(_why(line)[0] for line in lines)
    if len(lines) <= MOST_ROWS:
        return text
    if len(why) == 1:
        return f"{text}, all {next(iter(why))}"
    return f"{text}: {', '.join(f'{n:,} {name}' for name, n in why.most_common())}"


def _inside(width: int | None) -> int | None:
    return None if width is None else width - 2


def _painted(lines: list[str], paint: Paint, colour: str) -> list[str]:
    return [f"  {lines[0]}", *(paint(colour, f"  {line}") for line in lines[1:])]


def _first(lines: list[GangLine], *, wide: bool) -> list[GangLine]:
    return lines if wide else lines[:MOST_ROWS]


_CUT = {
    "starts": "starting gangs one by one",
    "search": "the search",
    "packing": "exact packing",
    "losses": "the bound on what is lost",
    "reservations": "whether reservations give way",
    "lend": "a head for which those leave who were lent its nodes",
    "next-round": "what the next round would evict",
    "reasons": "reasons",
}


def _effort(plan: Plan, width: int | None) -> list[str]:
    status = {
        "optimal": "every tier proven",
        "feasible": "not every tier proven",
        "idle": "nothing to do",
    }
    parts = [*_work(plan), status[plan.status], _repeatable(plan)]
    if plan.fallback is not None:
        parts.insert(0, f"Planned again {WAYS[plan.fallback.way]}")
    if plan.cut:
        words = [_CUT.get(word, word) for word in plan.cut]
        parts.append(f"the limit cut short {', '.join(words)}")
    return joined(parts, width)


def _work(plan: Plan) -> list[str]:
    """
    Say how the plan was found and how long it took.
    """
    size, spent = plan.model, plan.seconds or {}
    total = f"{spent.get('total', 0.0):.2f} s"
    if plan.strategy == "greedy":
        return [f"Planned by greedy in {total}", "bounds by arithmetic"]
    if not size.variables:
        how = "no time to search" if plan.status == "feasible" else "no model needed"
        return [f"Planned by greedy in {total}: {how}"]
    shape = (
        f"{counted(size.variables, 'variable')}, "
        f"{counted(size.constraints, 'constraint')}"
    )
    classes = (
        f"{size.node_classes:,} node class{'' if size.node_classes == 1 else 'es'}"
    )
    return [f"Model of {classes}: {shape}", f"solved in {total}"]


def _repeatable(plan: Plan) -> str:
    if plan.deterministic:
        return "same input gives the same plan"
    return "by the clock or several workers: another run may differ"
