"""
Two plans beside each other as a person reads them, and what a change brings about.
"""

from collections.abc import Iterable, Sequence

from adapters.cli.terminal.output import Paint, Table, noted
from adapters.cli.views.room_view import MOST_ROWS, lost_work, more, named, work
from adapters.compare.outcome import certainty, label
from adapters.compare.plan_difference import (
    Became,
    GangDifference,
    PlanDifference,
    is_loss,
    tier_pairs,
)
from adapters.compare.tier_words import SCALES, shown
from adapters.compare.what_would_be import PlannedCase, SeriesStep, WhatIf
from models.devices.gpu_counts import shown_gpus, signed_gpus
from models.plan import GangLine, Plan, TierResult
from models.why.reasons import counted

_VERBS = {
    Became.STARTS: ("starts", "start"),
    Became.RESTARTS: ("starts anew", "start anew"),
    Became.RESERVES: ("has its places reserved", "have their places reserved"),
    Became.GROWS: ("grows", "grow"),
    Became.STAYS: ("need not leave", "need not leave"),
    Became.KEEPS: ("keeps more of its pods", "keep more of their pods"),
    Became.LEAVES: ("leaves", "leave"),
    Became.WAITS: ("waits", "wait"),
    Became.SHRINKS: ("has fewer pods", "have fewer pods"),
    Became.WAITS_OTHERWISE: (
        "waits for another reason",
        "wait for another reason",
    ),
    Became.NEW: ("is new", "are new"),
    Became.GONE: ("is gone", "are gone"),
}
_GOOD = frozenset(
    {Became.STARTS, Became.RESERVES, Became.GROWS, Became.STAYS, Became.KEEPS}
)
_BAD = frozenset({Became.LEAVES, Became.WAITS, Became.SHRINKS, Became.RESTARTS})
_BAR = 24
_NAMES = ("NOW", "THEN")


def answer_lines(
    found: WhatIf, paint: Paint, *, wide: bool, width: int | None
) -> list[str]:
    """
    Lay out both plans of a what-if: numbers, tiers with bounds, and who is concerned.
    """
    before, after = found.before, found.after
    return [
        *_numbers(before, after),
        "",
        *tier_lines(before.plan, after.plan, _NAMES, width),
        *gang_lines(found.difference, _NAMES, paint, wide=wide, width=width),
    ]


def _numbers(before: PlannedCase, after: PlannedCase) -> list[str]:
    pair = (before, after)
    rows: list[tuple[str, list[float]]] = [
        ("GPUs in the cluster", [each.gpus for each in pair]),
        ("GPUs at work after the plan", [each.totals.gpus for each in pair]),
        ("pods that run or are bound", [each.totals.pods for each in pair]),
        ("gangs with all they need", [each.totals.gangs for each in pair]),
        ("gangs that wait", [each.waiting for each in pair]),
    ]
    cells = [
        (name, shown_gpus(now), shown_gpus(then), _signed(then - now))
        for name, (now, then) in rows
    ]
    lost = [lost_work(each.snapshot, each.plan) for each in pair]
    if any(lost):
        cells.append(("work lost", work(lost[0]), work(lost[1]), ""))
    head = ("AFTER THE ROUND", "NOW", "THEN", "CHANGE")
    return Table(head, cells, frozenset({1, 2, 3})).lines()


def _signed(number: float) -> str:
    return signed_gpus(number).replace("-", "−") if number else "–"


def tier_lines(
    before: Plan, after: Plan, names: tuple[str, str], width: int | None
) -> list[str]:
    """
    Lay out the tiers of two plans, each value with its bound and what is proven.
    """
    pairs = [
        (one, other)
        for one, other in tier_pairs(before, after)
        if any(each and (each.value or each.bound) for each in (one, other))
    ]
    if not pairs:
        return ["No tier has anything to reach or to lose."]
    rows = [_tier_row(*pair) for pair in pairs]
    head = ("TIER", names[0], "BOUND", "GAP", names[1], "BOUND", "GAP")
    notes = []
    every = [each for pair in pairs for each in pair if each is not None]
    if any(tier.name in SCALES for tier in every):
        notes.append("value: % of one cluster, of each plan's own")
    return [*Table(head, rows, frozenset(range(1, 7))).lines(), *noted(notes, width)]


def _tier_row(one: TierResult | None, other: TierResult | None) -> tuple[str, ...]:
    tier = one or other
    name = label(tier) if tier else ""
    return (name, *_tier_cells(one, tier), *_tier_cells(other, tier))


def _tier_cells(
    tier: TierResult | None, like: TierResult | None
) -> tuple[str, str, str]:
    if tier is not None:
        return shown(tier, tier.value), shown(tier, tier.bound), certainty(tier)
    return ("0", "0", "proven") if like and is_loss(like) else ("–", "–", "not listed")


def gang_lines(
    found: PlanDifference,
    names: tuple[str, str],
    paint: Paint,
    *,
    wide: bool,
    width: int | None,
) -> list[str]:
    """
    Say who starts, leaves or waits because of the difference, each kind by itself.
    """
    if not found.is_any:
        return ["", "Nothing differs: both plans do the same."]
    lines = ["", _summary(found)]
    for kind in Became:
        gangs = found.of(kind)
        if gangs:
            lines += _kind(names, gangs, paint, wide=wide, width=width)
    return lines


def _summary(found: PlanDifference) -> str:
    parts: list[str] = []
    for kind, (one, several) in _VERBS.items():
        number = len(found.of(kind))
        if number:
            noun = counted(number, "gang") if not parts else f"{number:,}"
            parts.append(f"{noun} {one if number == 1 else several}")
    if found.elsewhere:
        pods = counted(found.elsewhere, "pod")
        parts.append(f"{pods} on another node")
    return f"What differs: {', '.join(parts) or 'other operations, for the same gangs'}"


def _kind(
    names: tuple[str, str],
    gangs: Sequence[GangDifference],
    paint: Paint,
    *,
    wide: bool,
    width: int | None,
) -> list[str]:
    kept = gangs if wide else gangs[:MOST_ROWS]
    rows = [
        (
            each.line.name,
            each.line.queue,
            _state(each.before, each.evicted[0]),
            _state(each.after, each.evicted[1]),
            _why(each, wide=wide),
        )
        for each in kept
    ]
    kind = gangs[0].became
    verb = _VERBS[kind][len(gangs) > 1]
    table = Table((verb.upper(), "QUEUE", *names, "WHY"), rows)
    colour = "green" if kind in _GOOD else "red" if kind in _BAD else "yellow"
    head, *rest = table.folded(None if width is None else width - 2)
    return [
        "",
        f"  {head}",
        *(paint(colour, f"  {line}") for line in rest),
        *more(len(gangs), wide=wide),
    ]


def _state(line: GangLine | None, evicted: int) -> str:
    if line is None:
        return "–"
    if line.state == "Evicting" and not evicted:
        return "Moving"
    return line.state if line.waiting is None else line.waiting.reason.value


def _why(gang: GangDifference, *, wide: bool) -> str:
    if gang.after is not None and gang.after.waiting is not None:
        return gang.after.waiting.message
    rules = " and ".join(gang.rules)
    if not gang.beneficiaries:
        return rules
    return f"{rules}, for {named(gang.beneficiaries, wide=wide)}"


def series_lines(steps: Sequence[SeriesStep], paint: Paint) -> list[str]:
    """
    Lay out a series as a table with a chart: the GPUs at work for each amount.
    """
    most = max(step.answer.after.totals.gpus for step in steps)
    head = ("AMOUNT", "GPUS AT WORK", "START", "LEAVE", "WAIT", "PROVEN", "")
    rows = [_step(step, most) for step in steps]
    lines = Table(head, rows, frozenset(range(5))).lines()
    before = steps[0].answer.before
    key = [
        "start: gangs that start, or have places reserved, because of it",
        "leave: gangs that leave because of it; wait: all that wait",
    ]
    if most:
        key.append(f"each bar: GPUs at work, the longest {shown_gpus(most)}")
    return [
        (
            f"now: {shown_gpus(before.totals.gpus)} of {shown_gpus(before.gpus)} GPUs "
            f"at work after the plan, {counted(before.waiting, 'gang')} waiting"
        ),
        "",
        lines[0],
        *_coloured(steps, lines[1:], paint),
        *noted(key, None),
    ]


def _coloured(
    steps: Sequence[SeriesStep], lines: Sequence[str], paint: Paint
) -> Iterable[str]:
    for step, line in zip(steps, lines, strict=True):
        yield paint("green", line) if step.answer.difference.is_any else line


def _step(step: SeriesStep, most: float) -> tuple[str, ...]:
    after, found = step.answer.after, step.answer.difference
    eighths = round(_BAR * 8 * after.totals.gpus / (most or 1))
    bar = "█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8]
    return (
        f"{step.amount:,}",
        f"{shown_gpus(after.totals.gpus)} of {shown_gpus(after.gpus)}",
        f"{len(found.of(Became.STARTS, Became.RESERVES)):,}",
        f"{len(found.of(Became.LEAVES)):,}",
        f"{after.waiting:,}",
        "yes" if after.plan.status != "feasible" else "no",
        bar,
    )
