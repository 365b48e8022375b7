"""
Rules about what a plan says of itself: tiers, status, and a line for each gang.
"""

from collections import Counter
from collections.abc import Iterator

from models.memory.aged_gangs import places_of
from models.plan import GangLine, Op, TierResult
from solver.verify.evidence import Evidence
from solver.verify.violation import Violation

_LEAVES = frozenset({"Evicting"})
_RESERVED = frozenset({"Reserved"})
_GETS_PODS = frozenset({"Starting", "Growing"})
_GETS_NONE = frozenset({"Waiting", "Finished", "Running"})


def tier_bounds(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every tier's bound is on the far side of its value.
    """
    for tier in evidence.plan.tiers:
        gap = tier.bound - tier.value
        if (gap < 0) if tier.direction == "max" else (gap > 0):
            side = "below" if gap < 0 else "above"
            message = f"bound {tier.bound} is {side} the value {tier.value}"
            yield Violation("tier-bound", _tier_name(tier), message)


def tier_proofs(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a tier is called proven only with all before it, at its bound.
    """
    unproven: TierResult | None = None
    for tier in evidence.plan.tiers:
        if tier.proof == "proven":
            if tier.bound != tier.value:
                message = (
                    f"called proven, but {tier.value} is not the bound {tier.bound}"
                )
                yield Violation("tier-proof", _tier_name(tier), message)
            elif unproven is not None:
                message = f"called proven, but {_tier_name(unproven)} before it is not"
                yield Violation("tier-proof", _tier_name(tier), message)
        elif unproven is None:
            unproven = tier


def plan_status(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that an optimal plan has every tier proven and an idle one does nothing.
    """
    plan = evidence.plan
    unproven = [tier for tier in plan.tiers if tier.proof != "proven"]
    if plan.status == "optimal" and unproven:
        message = (
            f"called optimal, but {len(unproven)} of {len(plan.tiers)} tiers are not "
            f"proven, first {_tier_name(unproven[0])}"
        )
        yield Violation("plan-status", "plan", message)
    if plan.status == "idle" and plan.operations:
        message = f"called idle, but it has {len(plan.operations)} operations"
        yield Violation("plan-status", "plan", message)


def _tier_name(tier: TierResult) -> str:
    return tier.name if tier.band is None else f"{tier.name}/{tier.band}"


def gang_lines(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every gang has at most one line, which says what the operations do.
    """
    done = Counter([(s.operation.gang, s.operation.op) for s in evidence.steps])
    touched = {step.operation.gang for step in evidence.steps}
    there = places_of(evidence.snapshot.gangs)
    lines = evidence.plan.gangs
    seen: set[str] = set()
    silent = evidence.memo.of_each("silent", lines, _says_nothing_happens)
    for line, is_silent in zip(lines, silent, strict=True):
        name, message = line.name, ""
        if name in touched or not is_silent:
            message = _contradiction(line, done)
        if name not in there:
            message = "the plan lists it, but it does not exist"
        elif name in seen:
            message = "the plan lists it twice"
        seen.add(name)
        if message:
            yield Violation("gang-line", name, message)


def _contradiction(line: GangLine, done: Counter[tuple[str, Op]]) -> str:
    name = line.name
    binds, reserves = done[name, "Bind"], done[name, "Reserve"]
    leaves = done[name, "Evict"] + done[name, "Move"]
    if line.pods.binding != binds:
        return f"pods bound: {line.pods.binding} by its line, {binds} by operations"
    if line.pods.evicting != leaves:
        what = f"{line.pods.evicting} by its line, {leaves} by operations"
        return f"pods evicted or moved: {what}"
    if leaves:
        fitting, what = _LEAVES, f"{leaves} pods of it are evicted or moved"
    elif binds:
        fitting, what = _GETS_PODS, f"{binds} pods of it are bound"
    elif reserves:
        fitting, what = _RESERVED, f"{reserves} pods of it are reserved"
    else:
        fitting, what = _GETS_NONE, "nothing happens to it"
    return "" if line.state in fitting else f"called {line.state}, but {what}"


def _says_nothing_happens(line: GangLine) -> bool:
    """
    Tell whether a line says that nothing happens to its gang.
    """
    pods = line.pods
    return not pods.binding and not pods.evicting and line.state in _GETS_NONE
