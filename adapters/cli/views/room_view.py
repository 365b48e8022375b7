"""
Who makes room for whom, as a person reads it: evictions, moves, reserved places.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from adapters.cli.terminal.output import Paint, Table, noted
from adapters.compare.outcome import gpus_of_steps, shares_of_steps
from models.devices.gpu_counts import counted_gpus, in_gpus, shown_gpus
from models.gangs import pod_sets, running_pods
from models.plan import Operation, Plan
from models.snapshot import Snapshot
from models.why.reasons import counted
from solver import PodValues

MOST_ROWS = 20
_MOST_NAMES = 2
_MOST_PLACES = 4
_HOUR = 3600
_RULES = {
    "reclaim": "reclaim: its queue uses more than its fair share or its quota, and "
    "work of another queue is entitled to that room",
    "lend": "lend: it was lent nodes that were held for a gang that waits longer, and "
    "that needs them now",
    "preempt": "preempt: work of higher priority in the same queue takes its room",
    "consolidate": "consolidate: its pods start again where places are reserved for "
    "them",
    "stale": "stale: it ran below its minimum for too long; what it loses is not "
    "counted",
}
_WORK = (
    "work lost: GPU-hours (GPU-h), the GPUs times how long their pods have run; "
    "that work starts anew"
)
_WITHOUT_GPUS = "a pod without GPUs counts as many as its part of the cluster has"


@dataclass(slots=True)
class _Loss:
    """
    What one gang loses under one rule for the same gangs.
    """

    gang: str
    rule: str
    beneficiaries: tuple[str, ...]
    is_move: bool
    pods: int = 0
    shares: int = 0
    work: int = 0
    places: Counter[str] = field(default_factory=Counter)


def losses(
    snapshot: Snapshot, plan: Plan, paint: Paint, *, wide: bool, width: int | None
) -> list[str]:
    """
    Say which gangs lose what, for whom, by which rule, and how much work that was.
    """
    found = _losses(snapshot, plan)
    if not found:
        return []
    table = _loss_table(snapshot, found if wide else found[:MOST_ROWS], wide=wide)
    rules = {loss.rule for loss in found}
    notes = [text for rule, text in _RULES.items() if rule in rules]
    notes.append(_WORK)
    if any(loss.work and not loss.shares for loss in found):
        notes.append(_WITHOUT_GPUS)
    return [
        "",
        _summary(found),
        *_indented(table, paint, "red", width),
        *more(len(found), wide=wide),
        *noted(notes, width),
    ]


def _loss_table(snapshot: Snapshot, found: Iterable[_Loss], *, wide: bool) -> Table:
    running = _running(snapshot)
    queues = {gang.key: gang.queue for gang in snapshot.gangs}
    return Table(
        ("GANG", "QUEUE", "LOSES", "GPUS", "WORK LOST", "RULE", "FOR", "FROM"),
        [
            (
                loss.gang,
                queues.get(loss.gang, "?"),
                _pods(loss, running[loss.gang]),
                shown_gpus(in_gpus(loss.shares)),
                "not counted" if loss.rule == "stale" else work(loss.work),
                loss.rule,
                named(loss.beneficiaries, wide=wide),
                placed(loss.places, wide=wide),
            )
            for loss in found
        ],
        frozenset({3, 4}),
    )


def _indented(
    table: Table, paint: Paint, colour: str, width: int | None
) -> Iterator[str]:
    """
    Give the lines of a table a little to the right, its rows in one colour.
    """
    head, *rest = table.folded(None if width is None else width - 2)
    yield f"  {head}"
    yield from (paint(colour, f"  {line}") for line in rest)


def reserved(
    snapshot: Snapshot, plan: Plan, paint: Paint, *, wide: bool, width: int | None
) -> list[str]:
    """
    Say whose places are reserved until those who are there have left.
    """
    gpus, kept = gpus_of_steps(snapshot, plan, "Reserve")
    nodes: dict[str, Counter[str]] = {}
    for step in plan.operations:
        if step.op == "Reserve":
            nodes.setdefault(step.gang, Counter())[step.node] += 1
    if not nodes:
        return []
    queues = {gang.key: gang.queue for gang in snapshot.gangs}
    names = sorted(nodes)
    rows = [
        (
            name,
            queues.get(name, "?"),
            f"{nodes[name].total():,}",
            shown_gpus(gpus[name]),
            placed(nodes[name], wide=wide),
        )
        for name in (names if wide else names[:MOST_ROWS])
    ]
    heads = ("GANG", "QUEUE", "PODS", "GPUS", "RESERVED ON")
    pods = sum(places.total() for places in nodes.values())
    who = counted(len(names), "gang")
    has = "has its places" if len(names) == 1 else "have their places"
    what = f"{counted(pods, 'pod')}, {counted_gpus(kept)}"
    return [
        "",
        f"{who} {has} reserved, to start when others have left: {what}",
        *_indented(Table(heads, rows, frozenset({2, 3})), paint, "yellow", width),
        *more(len(names), wide=wide),
    ]


def work(gpu_seconds: int) -> str:
    """
    Write lost work in GPU-hours; what is not nothing never reads as nothing.
    """
    if not gpu_seconds:
        return "none"
    hours = gpu_seconds / _HOUR
    return f"{hours:,.1f} GPU-h" if hours >= 0.05 else "< 0.1 GPU-h"


def lost_work(snapshot: Snapshot, plan: Plan) -> int:
    """
    Sum up the GPU-seconds that a plan loses, but for stale gangs.
    """
    found = _losses(snapshot, plan)
    return sum(loss.work for loss in found if loss.rule != "stale")


def placed(places: Mapping[str, int], *, wide: bool) -> str:
    """
    Name places with the pods there; of very many the first ones.
    """
    names = sorted(places)
    kept = names if wide else names[:_MOST_PLACES]
    text = " ".join(
        f"{name}×{places[name]}" if places[name] > 1 else name for name in kept
    )
    return text if len(kept) == len(names) else f"{text} +{len(names) - len(kept)}"


def more(number: int, *, wide: bool) -> list[str]:
    """
    Count the rows that are not shown.
    """
    left = 0 if wide else number - MOST_ROWS
    return [f"  … and {left:,} more (-o wide)"] if left > 0 else []


def _losses(snapshot: Snapshot, plan: Plan) -> list[_Loss]:
    """
    Group what leaves by gang, rule and whom it is for.
    """
    gone = list(shares_of_steps(snapshot, plan, "Evict", "Move"))
    if not gone:
        return []
    lost = _work(snapshot, {step.pod for step, _ in gone})
    found: dict[tuple[str, str, tuple[str, ...], bool], _Loss] = {}
    for step, shares in gone:
        key = (step.gang, step.rule or "?", step.beneficiaries, step.op == "Move")
        loss = found.setdefault(key, _Loss(*key))
        loss.pods += 1
        loss.shares += shares
        loss.work += lost.get(step.pod, 0)
        loss.places[_from(step)] += 1
    return [found[key] for key in sorted(found)]


def _from(step: Operation) -> str:
    return f"{step.source}→{step.node}" if step.op == "Move" else step.node


def _work(snapshot: Snapshot, names: set[str]) -> dict[str, int]:
    """
    Give the GPU-seconds that pods have run.
    """
    values = PodValues.of(snapshot)
    return {
        name: values.work(leaf.requests, pod.seconds)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if (name := f"{gang.namespace}/{pod.name}") in names
    }


def _running(snapshot: Snapshot) -> Counter[str]:
    return Counter(gang.key for gang in snapshot.gangs for _ in running_pods(gang))


def _pods(loss: _Loss, running: int) -> str:
    """
    Say how much of a gang goes: all 8 pods, 2 of 8 pods.
    """
    every = counted(running, "pod")
    part = f"all {every}" if loss.pods == running > 1 else f"{loss.pods:,} of {every}"
    text = every if loss.pods == running == 1 else part
    return f"{text}, moved" if loss.is_move else text


def named(names: Iterable[str], *, wide: bool) -> str:
    """
    Name gangs, or the first few of many.
    """
    every = sorted(names)
    kept = every if wide else every[:_MOST_NAMES]
    left = len(every) - len(kept)
    return ", ".join(kept) + (f" +{left}" if left else "") if every else "nobody"


def _summary(found: list[_Loss]) -> str:
    """
    Sum up: 2 gangs make room: 12 pods evicted, 4 moved; 20.5 GPU-h of work lost.
    """
    gangs = len({loss.gang for loss in found})
    evicted = sum(loss.pods for loss in found if not loss.is_move)
    moved = sum(loss.pods for loss in found if loss.is_move)
    parts = []
    if evicted:
        parts.append(f"{counted(evicted, 'pod')} evicted")
    if moved:
        parts.append(f"{f'{moved:,}' if evicted else counted(moved, 'pod')} moved")
    gpus = in_gpus(sum(loss.shares for loss in found))
    lost = work(sum(loss.work for loss in found if loss.rule != "stale"))
    verb = "makes room" if gangs == 1 else "make room"
    return (
        f"{counted(gangs, 'gang')} {verb}: {', '.join(parts)}, "
        f"{counted_gpus(gpus)}; work lost: {lost}"
    )
