"""
What a strategy answers: a draft, its tiers with bounds, and the effort it took.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from models.plan import ModelSize, Proof, TierResult
from solver.hold.heads import Head
from solver.place.draft import Draft
from solver.problem.problem import Problem
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import is_better, score, tier_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    A draft with one result per tier, and the GPUs that idle for heads.

    ``first_in_line`` is the unit that found no room and that others wait behind, where
    a strategy knows a line.  ``makes_way`` are gangs that do not start since the next
    round would evict them, with those for whom it would.  In ``turn`` seconds one more
    of those in line has its turn.  Nodes held for heads are ``lent`` to gangs, by unit.
    """

    problem: Problem
    draft: Draft
    tiers: tuple[TierResult, ...]
    model: ModelSize = field(default_factory=ModelSize)
    heads: tuple[Head, ...] = ()
    held: int = 0
    turn: int | None = None
    lent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first_in_line: str = ""
    makes_way: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


def is_ahead(one: Outcome, other: Outcome) -> bool:
    """
    Tell whether one answer comes to more than another.

    A promise that is kept counts in no tier; so where only one of them keeps some, the
    tiers of the bands above these are compared.
    """
    kept = [{u.key: u.band for u in x.problem.frozen.committed} for x in (one, other)]
    top = max((band for _, band in kept[0].items() ^ kept[1].items()), default=-1)
    keys = tuple(key for key in tier_keys(one.problem) if key.bands.start > top)
    values = (score(each.problem, each.draft, keys) for each in (one, other))
    return is_better(keys, *values)


def tier_results(
    keys: Sequence[TierKey],
    values: Sequence[int],
    bounds: Sequence[int],
    sure: Sequence[bool] | None = None,
) -> tuple[TierResult, ...]:
    """
    Say for each tier whether its value is proven: all earlier tiers must be, too.

    Further measures of what is lost are left out where nothing is.

    Parameters
    ----------
    keys
        The tiers.
    values
        The value of each.
    bounds
        The bound of each, given who was frozen.
    sure
        Whether each has its best value whoever else could have been frozen; all have
        where nothing else could.
    """
    results = []
    earlier = True
    for key, value, bound, holds in zip(
        keys, values, bounds, sure or (True,) * len(keys), strict=True
    ):
        closed = value == bound
        earlier = earlier and closed and holds
        proof: Proof = "gap"
        if closed:
            proof = "proven" if earlier else "conditional"
        further = key.name in LOSSES and key.name != "disruption"
        if not further or value or bound:
            results.append(_result(key, value, bound, proof))
    return tuple(results)


def _result(key: TierKey, value: int, bound: int, proof: Proof) -> TierResult:
    return TierResult(
        name=key.name,
        band=key.label,
        direction=key.direction,
        value=value,
        bound=bound,
        proof=proof,
        pieces=key.pieces,
    )
