"""
Tiers as a person reads them: what is wanted, who reaches what, and what is proven.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from adapters.cli.terminal.output import Table, noted
from adapters.compare.outcome import certainty, first_difference, paired_tiers
from adapters.compare.tier_words import SCALES, shown, tier_name
from models.plan import Plan, TierResult

_WANTED = {
    "entitled": "most value",
    "disruption": "least work lost, GPU-seconds",
    "disruption-gangs": "fewest gangs evicted whole",
    "disruption-pods": "fewest pods evicted or moved",
    "disruption-rank": "lowest priorities evicted, bands",
    "disruption-age": "youngest evicted or moved, seconds",
    "disruption-size": "smallest evicted or moved",
    "borrowing": "most value",
    "preemption": "least work lost, GPU-seconds",
    "preemption-gangs": "fewest gangs evicted whole",
    "preemption-pods": "fewest pods evicted or moved",
    "preemption-rank": "lowest priorities evicted, bands",
    "preemption-age": "youngest evicted or moved, seconds",
    "preemption-size": "smallest evicted or moved",
    "topology": "fewest extra domains",
    "neighbours": "least weight of what is unmet",
    "surplus": "most value",
    "expected-fragments": "least of no use to typical pods, GPU/20",
    "packing": "least holes broken, GPU²",
    "gpus": "most GPUs",
    "pods": "most pods",
    "gangs": "most gangs",
    "late": "most value of who is late",
    "order": "most points by age",
}


@dataclass(frozen=True, slots=True)
class _TierLine:
    """
    One tier of a plan beside greedy's.
    """

    name: str
    tier: TierResult
    other: TierResult | None

    @property
    def is_empty(self) -> bool:
        """
        Tell whether there is nothing to reach, and nobody reaches anything.
        """
        theirs = self.other.value if self.other else 0
        return not (self.tier.value or self.tier.bound or theirs)

    @property
    def cells(self) -> tuple[TierResult, ...]:
        """
        Give the results whose values are shown, greedy's first.
        """
        return (self.tier,) if self.other is None else (self.other, self.tier)


_RESERVED = (
    "packing, expected-fragments: a pod with a reserved place counts more than any node"
)


def tiers(
    plan: Plan, greedy: Plan | None, *, wide: bool, width: int | None
) -> list[str]:
    """
    Lay the tiers out, greedy beside the plan where there is one to compare with.
    """
    names = [plan.strategy] if greedy is None else [greedy.strategy, plan.strategy]
    more = []
    plans = [plan] if greedy is None else [greedy, plan]
    if any(op.op == "Reserve" for each in plans for op in each.operations):
        more.append(_RESERVED)
    if greedy is not None and first_difference(plan, greedy) is not None:
        more.append("the first tier in which two plans differ says which is better")
    return _laid_out(_lines(plan, greedy), names, more, wide=wide, width=width)


def recorded_tiers(
    every: Sequence[TierResult], strategy: str, width: int | None
) -> list[str]:
    """
    Lay out the tiers of a plan of which nothing else is left.
    """
    return _laid_out(_alone(every), [strategy], [], wide=False, width=width)


def _laid_out(
    every: list[_TierLine],
    names: Sequence[str],
    more: Sequence[str],
    *,
    wide: bool,
    width: int | None,
) -> list[str]:
    kept = every if wide else [line for line in every if not line.is_empty]
    head = ("TIER", "WANTED", *map(str.upper, names), "BOUND", "GAP")
    rows = [_row(line, wide=wide) for line in kept]
    table = Table(head, rows, frozenset(range(2, len(head))))
    notes = [*_empty(every, kept), *_notes([k.tier for k in kept], wide=wide), *more]
    return [*(table.lines() if kept else []), *noted(notes, width)]


def _alone(every: Sequence[TierResult]) -> list[_TierLine]:
    return [_TierLine(tier_name(every, tier), tier, None) for tier in every]


def _lines(plan: Plan, greedy: Plan | None) -> list[_TierLine]:
    if greedy is None:
        return _alone(plan.tiers)
    pairs = paired_tiers(plan, greedy)
    every = [tier for tier, _ in pairs]
    return [_TierLine(tier_name(every, tier), tier, other) for tier, other in pairs]


def _row(line: _TierLine, *, wide: bool) -> tuple[str, ...]:
    tier = line.tier
    return (
        line.name,
        _WANTED[tier.name],
        *(shown(cell, cell.value, wide=wide) for cell in line.cells),
        shown(tier, tier.bound, wide=wide),
        certainty(tier),
    )


def _empty(every: list[_TierLine], kept: list[_TierLine]) -> list[str]:
    """
    Name the tiers that are not shown, all bands of one as one.
    """
    if not kept:
        return ["no tier has anything to reach or to lose"]
    left = [line for line in every if line not in kept]
    shown_names = {line.tier.name for line in kept}
    texts = []
    for name, group in groupby(left, key=lambda line: line.tier.name):
        lines = list(group)
        first, last = lines[0].name, lines[-1].name
        if len(lines) > 1 and name not in shown_names:
            texts.append(f"{first.split()[0]}–{last.split()[0]} {name}")
        else:
            texts += [line.name for line in lines]
    return [f"value and bound are 0 in: {'; '.join(texts)}"] if texts else []


def _notes(tiers: list[TierResult], *, wide: bool) -> list[str]:
    """
    Say what the numbers count, as far as they are shown.
    """
    scaled = {tier.name: SCALES[tier.name] for tier in tiers if tier.name in SCALES}
    notes = []
    if scaled and wide:
        sizes = ", ".join(f"{size:,} in {name}" for name, size in scaled.items())
        notes.append(f"value: one cluster is {sizes}, before age and need")
    elif scaled:
        notes.append(
            "value: % of one cluster; a pod counts with its largest share of the "
            "cluster, weighted by age and need"
        )
    if any(tier.name.endswith("-rank") for tier in tiers):
        notes.append("bands: those below the priority of each evicted pod, added up")
    if any(
        tier.counted(tier.bound) > SCALES[tier.name]
        for tier in tiers
        if tier.name in SCALES
    ):
        notes.append(
            "above 100 %: old gangs count up to twice, and bounds by arithmetic add "
            "up all that waits"
        )
    if any(tier.proof == "gap" for tier in tiers):
        notes.append("gap: what may be missing, of the larger of value and bound")
    if any(tier.proof == "conditional" for tier in tiers):
        notes.append("conditional: the best for the tiers above as they were decided")
    return notes
