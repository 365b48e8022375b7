"""
A plan as a person reads it, on one screen where the case is small.
"""

from typing import TYPE_CHECKING

from adapters.cli.output import Paint, Table
from adapters.files.plan_writer import started
from adapters.outcome import certainty, gpus_of_pods
from models.plan import GangLine, Plan, TierResult

if TYPE_CHECKING:
    from models.scenario import Scenario

SCALED = frozenset({"entitled", "borrowing", "surplus"})
ONE_CLUSTER = 10**9
_MOST_ROWS = 30
_NAMES_SHOWN = 12


def view(
    scenario: "Scenario",
    plan: Plan,
    greedy: Plan | None,
    paint: Paint,
    *,
    wide: bool,
    diff: bool,
) -> list[str]:
    """
    Lay a plan out: input, tiers, who starts, who waits, the difference, the effort.
    """
    return [
        paint("bold", _header(scenario, plan)),
        *_tiers(plan, greedy, wide=wide),
        *_starting(scenario, plan, paint, wide=wide),
        *_waiting(plan, paint, wide=wide),
        *(_difference(plan, greedy, paint) if diff and greedy else []),
        "",
        _effort(plan),
    ]


def _header(scenario: "Scenario", plan: Plan) -> str:
    snapshot = scenario.snapshot
    classes = plan.model.node_classes
    kinds = f" in {classes:,} classes" if classes else ""
    pending = sum(_is_candidate(line) for line in plan.gangs)
    return (
        f"Round from {scenario.source} · {len(snapshot.nodes):,} nodes{kinds} · "
        f"{len(snapshot.gangs):,} gangs, {pending:,} candidates · seed {plan.seed}"
    )


def _is_candidate(line: GangLine) -> bool:
    return line.state in {"Starting", "Growing", "Waiting", "Reserved"}


def _tiers(plan: Plan, greedy: Plan | None, *, wide: bool) -> list[str]:
    others = greedy.tiers if greedy else plan.tiers
    table = Table(
        ("TIER", "GREEDY", plan.strategy.upper(), "BOUND", "GAP"),
        [
            (
                _tier_name(index, tier),
                _shown(other, other.value, wide=wide),
                _shown(tier, tier.value, wide=wide),
                _shown(tier, tier.bound, wide=wide),
                certainty(tier),
            )
            for index, (tier, other) in enumerate(
                zip(plan.tiers, others, strict=True), start=1
            )
        ],
        frozenset({1, 2, 3, 4}),
    )
    lines = table.lines()
    if not wide and any(tier.name in SCALED for tier in plan.tiers):
        lines.append(
            "  % of one cluster: a pod counts with its largest share of the cluster, "
            "weighted by age and need"
        )
    if any(tier.proof == "gap" for tier in plan.tiers):
        lines.append("  gap: what may be missing, of the larger of value and bound")
    if any(tier.proof == "conditional" for tier in plan.tiers):
        lines.append("  conditional: the best for the tiers above as they were decided")
    return lines


def _tier_name(index: int, tier: TierResult) -> str:
    band = "" if tier.band is None else f" of priority ≥ {tier.band}"
    return f"{index} {tier.name}{band}"


def _shown(tier: TierResult, value: int, *, wide: bool) -> str:
    if wide or tier.name not in SCALED:
        return f"{value:,}"
    parts = 4 if tier.name in {"entitled", "borrowing"} else 1
    factor = 4 if tier.name == "borrowing" else 1
    return f"{100 * value / (ONE_CLUSTER * parts * factor):.1f} %"


def _starting(
    scenario: "Scenario", plan: Plan, paint: Paint, *, wide: bool
) -> list[str]:
    size = gpus_of_pods(scenario.snapshot)
    gpus: dict[str, int] = {}
    nodes: dict[str, dict[str, int]] = {}
    for step in plan.operations:
        if step.op == "Bind":
            gpus[step.gang] = gpus.get(step.gang, 0) + size.get(step.pod, 0)
            places = nodes.setdefault(step.gang, {})
            places[step.node] = places.get(step.node, 0) + 1
    lines = [line for line in plan.gangs if line.name in nodes]
    if not lines:
        return ["", "No gang starts."]
    new = sum(line.state == "Starting" for line in lines)
    pods = sum(line.pods.binding for line in lines)
    head = f"Start {new} gangs, grow {len(lines) - new}: {pods:,} pods"
    table = Table(
        ("GANG", "QUEUE", "STATE", "PODS", "GPUS", "NODES"),
        [
            (
                line.name,
                line.queue,
                line.state,
                f"{line.pods.running + line.pods.binding}/{line.pods.total}",
                f"{gpus[line.name]:,}",
                _places(nodes[line.name], wide=wide),
            )
            for line in _first(lines, wide=wide)
        ],
        frozenset({3, 4}),
    )
    total = sum(gpus.values())
    shown = _painted(table.lines(), paint, "green")
    return ["", f"{head}, {total:,} GPUs", *shown, *_rest(lines, wide=wide)]


def _places(nodes: dict[str, int], *, wide: bool) -> str:
    names = sorted(nodes)
    kept = names if wide else names[:4]
    text = " ".join(
        f"{name}×{nodes[name]}" if nodes[name] > 1 else name for name in kept
    )
    return text if len(kept) == len(names) else f"{text} +{len(names) - len(kept)}"


def _waiting(plan: Plan, paint: Paint, *, wide: bool) -> list[str]:
    lines = [line for line in plan.gangs if line.waiting is not None]
    if not lines:
        return []
    table = Table(
        ("GANG", "QUEUE", "NEEDS", "REASON", "MESSAGE"),
        [
            (
                line.name,
                line.queue,
                f"{line.pods.minimum} pods",
                line.waiting.reason.value if line.waiting else "",
                line.waiting.message if line.waiting else "",
            )
            for line in _first(lines, wide=wide)
        ],
        frozenset({2}),
    )
    shown = _painted(table.lines(), paint, "yellow")
    return ["", f"Wait {len(lines)} gangs", *shown, *_rest(lines, wide=wide)]


def _painted(lines: list[str], paint: Paint, colour: str) -> list[str]:
    return [f"  {lines[0]}", *(f"  {paint(colour, line)}" for line in lines[1:])]


def _first(lines: list[GangLine], *, wide: bool) -> list[GangLine]:
    return lines if wide else lines[:_MOST_ROWS]


def _rest(lines: list[GangLine], *, wide: bool) -> list[str]:
    left = len(lines) - len(_first(lines, wide=wide))
    return [f"  … and {left:,} more (-o wide)"] if left else []


def _difference(plan: Plan, greedy: Plan, paint: Paint) -> list[str]:
    mine, theirs = started(plan), started(greedy)
    more, less = (
        sorted(mine.keys() - theirs.keys()),
        sorted(theirs.keys() - mine.keys()),
    )
    text = f"{plan.strategy} starts {len(mine)} gangs, greedy {len(theirs)}"
    if not more and not less:
        return ["", f"{text}: the same ones"]
    parts = []
    if more:
        parts.append(paint("green", f"+ {_names(more)}"))
    if less:
        parts.append(paint("red", f"− {_names(less)}"))
    return ["", f"{text}: {'   '.join(parts)}"]


def _names(names: list[str]) -> str:
    shown = ", ".join(name.removeprefix("default/") for name in names[:_NAMES_SHOWN])
    left = len(names) - _NAMES_SHOWN
    return f"{shown} and {left:,} more" if left > 0 else shown


def _effort(plan: Plan) -> str:
    size = plan.model
    spent = plan.seconds or {}
    if not size.variables:
        model = "No model was needed"
    else:
        model = f"Model {size.variables:,} variables, {size.constraints:,} constraints"
    phases = " · ".join(
        f"{name} {spent[name]:.2f} s"
        for name in ("build", "search", "total")
        if name in spent
    )
    words = {
        "optimal": "every tier proven",
        "feasible": "not every tier proven",
        "idle": "nothing to do",
    }
    return f"{model} · {phases} · {words[plan.status]} · {_repeatable(plan)}"


def _repeatable(plan: Plan) -> str:
    if plan.deterministic:
        return "same input gives the same plan"
    return "searched by the clock: another run may differ"
