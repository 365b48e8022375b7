"""
What a plan would lose if a gang that is outranked started: in which tier, and who.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adapters.compare.outcome import (
    first_difference,
    gpus_of_nodes,
    gpus_of_steps,
    is_better,
    paired_tiers,
)
from adapters.compare.tier_words import SCALES
from adapters.inventory.listed import Seen
from models.devices.gpu_counts import counted_gpus
from models.plan import Plan, TierResult
from models.policy import Policy
from models.resources import format_duration
from models.snapshot import Snapshot
from models.why.cost_of_start import StartCost
from models.why.reasons import Waiting, counted, listed
from models.why.remedies import others_changed
from models.why.verdicts import Verdict, WhyWaits
from solver import RoundsTakeLongError, start_anyway

_HOUR = 3600
_PIECES = 20
_LEAST = 0.1
_LOSES = {
    "entitled": "entitled work{band} would be worth {much} less",
    "borrowing": "work{band} that borrows would be worth {much} less",
    "surplus": "pods beyond what gangs need would be worth {much} less",
    "late": "work of who is late would be worth {much} less",
    "gpus": "{much} fewer would be at work",
    "pods": "{much} fewer would run",
    "gangs": "{much} fewer would run",
    "topology": "gangs would be spread over {much} more",
    "neighbours": "{much} more of wishes about neighbours would be unmet",
    "packing": "{much} more of whole holes would be broken",
    "expected-fragments": "{much} more would be of no use to typical pods",
    "order": "nothing would be worse but the order, in which older gangs come first",
    "": "{much} more of work would be lost",
    "gangs evicted": "{much} more would be evicted whole",
    "pods evicted": "{much} more would be evicted or moved",
    "rank": "work of higher priorities would be evicted, by {much}",
    "age": "older work would be evicted or moved, by {much}",
    "size": "larger work would be evicted or moved, by {much}",
}
_NOUNS = {
    "pods": "pod",
    "gangs": "gang",
    "gangs evicted": "gang",
    "pods evicted": "pod",
    "topology": "domain",
    "rank": "band",
    "order": "point",
}
_AMOUNTS: Mapping[str, Callable[[float], str]] = {
    "": lambda by: f"{by / _HOUR:,.1f} GPU-hours",
    "age": lambda by: format_duration(int(by)),
    "gpus": counted_gpus,
    "expected-fragments": lambda by: _gpus(by / _PIECES),
    "packing": lambda by: f"{by:,} GPU²",
    "neighbours": lambda by: f"a weight of {by:,}",
}
_EVICTED = {"gangs": "gangs evicted", "pods": "pods evicted"}


def start_cost(
    snapshot: Snapshot, policy: Policy, plan: Plan, why: WhyWaits
) -> StartCost | None:
    """
    Plan the round with a gang that is outranked, and say what is worse then.

    There is nothing to say of a gang that waits for another reason.
    """
    if why.verdict is not Verdict.OUTRANKED:
        return None
    try:
        other = start_anyway(snapshot, policy, why.gang)
    except RoundsTakeLongError:
        said = "what the plan would lose with it was not tried: the round is too large"
        return StartCost(sentence=said, tried=False)
    line = next((x for x in other.gangs if x.name == why.gang), None) if other else None
    if other is None or line is None or line.state == "Waiting":
        waiting = None if line is None else line.waiting
        return StartCost(sentence=_no_start(waiting, beside_held=bool(plan.holds)))
    return _cost(snapshot, plan, other, why.gang)


def _no_start(waiting: Waiting | None, *, beside_held: bool) -> str:
    """
    Say why it could not be planned to start: what nodes are held for is no tier.
    """
    facts = {} if waiting is None else waiting.facts
    if facts.get("next") and facts.get("behind"):
        return f"with it, the next round would evict it again, for {facts['behind']}"
    beside = " beside the nodes that are held for others" if beside_held else ""
    return f"no plan was found in which it starts{beside}"


def with_cost(seen: Seen, gang: str) -> Seen:
    """
    Say of a gang that is outranked what the plan would lose with it, too.
    """
    known = seen.whys.get(gang)
    if seen.plan is None or known is None or known.waits_for != Verdict.OUTRANKED:
        return seen
    why = WhyWaits(
        gang=gang, state="Waiting", verdict=Verdict.OUTRANKED, sentence=known.message
    )
    cost = start_cost(seen.snapshot, seen.policy, seen.plan, why)
    if cost is None or not cost.tried:
        return seen
    said = f"{known.message}; {cost.sentence.partition(': ')[0]}"
    return replace(seen, whys={**seen.whys, gang: replace(known, message=said)})


def _cost(snapshot: Snapshot, plan: Plan, other: Plan, gang: str) -> StartCost:
    starts, waits, leaves = others_changed(plan.states, other.states, gang)
    gone = {gang, *waits, *leaves}
    shrinks = tuple(x for x in sorted(_pods(plan) - _pods(other)) if x not in gone)
    cost = StartCost(
        sentence="with it, the plan would be worth the same in every tier",
        starts=starts,
        waits=waits,
        leaves=leaves,
        shrinks=shrinks,
    )
    pairs = paired_tiers(plan, other)
    pair = first_difference(plan, other)
    seen = pairs if pair is None else pairs[: pairs.index(pair) + 1]
    proven = all(tier.proof == "proven" for two in seen for tier in two)
    if pair is None:
        return replace(cost, proven=proven)
    tier, then = pair
    if is_better(then, tier):
        said = f"a plan with it was found that is better in tier {tier.name}"
        return replace(cost, sentence=f"{said}: this one was not proven best")
    told = _told(snapshot, plan, other, cost)
    words = f"with it, {_words(pairs, pair, snapshot, proven=proven)}"
    return replace(
        cost,
        sentence=f"{words}: {told}" if told else words,
        tier=tier.name,
        band=tier.band,
        value=tier.counted(tier.value),
        then=tier.counted(then.value),
        proven=proven,
    )


def _pods(plan: Plan) -> Counter[str]:
    """
    Count of each gang the pods that get places.
    """
    return Counter(x.gang for x in plan.operations if x.op in {"Bind", "Reserve"})


def _words(
    pairs: Sequence[tuple[TierResult, TierResult]],
    pair: tuple[TierResult, TierResult],
    snapshot: Snapshot,
    *,
    proven: bool,
) -> str:
    tier = pair[0]
    kind, _, part = tier.name.partition("-")
    if kind in {"disruption", "preemption"}:
        name = _EVICTED.get(part, part)
    else:
        name = tier.name
    alone = sum(one.name == tier.name for one, _ in pairs) == 1
    band = "" if tier.band is None or alone else f" of priority ≥ {tier.band}"
    much = _amount(name, *pair, gpus_of_nodes(snapshot)[0])
    most = "" if proven else "at most "
    return _LOSES[name].format(much=f"{most}{much}", band=band)


def _amount(name: str, tier: TierResult, then: TierResult, gpus: float) -> str:
    """
    Say how much worse a tier is; value as the GPUs or the part of the cluster it is.
    """
    by = tier.counted(abs(tier.value - then.value))
    if tier.name in SCALES:
        part = by / SCALES[tier.name]
        return _gpus(part * gpus) if gpus else f"{100 * part:.1f} % of the cluster"
    if name in _AMOUNTS:
        return _AMOUNTS[name](by)
    return counted(int(by), _NOUNS[name])


def _gpus(number: float) -> str:
    shown = round(number, 1)
    return counted_gpus(shown) if shown else f"less than {counted_gpus(_LEAST)}"


def _told(snapshot: Snapshot, plan: Plan, other: Plan, cost: StartCost) -> str:
    """
    Say who would pay, each with the GPUs that it loses.
    """
    given, _ = gpus_of_steps(snapshot, plan, "Bind", "Reserve")
    kept, _ = gpus_of_steps(snapshot, other, "Bind", "Reserve")
    taken, _ = gpus_of_steps(snapshot, other, "Evict")
    fewer = {name: given.get(name, 0) - kept.get(name, 0) for name in cost.shrinks}
    parts = []
    for names, gpus, verb in (
        (cost.waits, given, "would wait"),
        (cost.leaves, taken, "would leave"),
        (cost.shrinks, fewer, "would have fewer pods"),
        (cost.starts, kept, "would start"),
    ):
        each = [
            f"{name} ({counted_gpus(gpus[name])})" if gpus.get(name) else name
            for name in names
        ]
        if each:
            parts.append(f"{listed(each, 'gang')} {verb}")
    return ", ".join(parts)
