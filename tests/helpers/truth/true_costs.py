"""
Whether what a plan would lose with a gang is true, by the exact model.

Where nobody may leave the best plan that starts it is known whole.  Else some plans
that start it are: with nobody leaving, and with who leaves for entitled work.
"""

from adapters.compare.start_cost import start_cost
from exact import best, best_that_starts, first_step_that_starts, first_worse
from models.why.verdicts import Verdict, WhyWaits
from solver import start_anyway
from solver.problem.problem import problem_of


def problems_of_cost(snapshot, policy, plan, gang, told):
    """
    Walk what is wrong with the cost of a gang; ``told`` counts how much was looked at.
    """
    why = WhyWaits(gang=gang, state="", verdict=Verdict.OUTRANKED, sentence="")
    cost = start_cost(snapshot, policy, plan, why)
    other = start_anyway(snapshot, policy, gang)
    asked = snapshot, policy, problem_of(snapshot, policy).shares
    calm = best_that_starts(gang, *asked)
    if other is None or other.states[gang] == "Waiting":
        told[cost.sentence.partition(", for")[0]] += 1
        if calm is not None and not _evicts(policy):
            yield f"{gang}: a plan starts it, and none was found"
        return
    some = [calm] if calm else []
    if _evicts(policy) and (first := first_step_that_starts(gang, *asked)):
        some.append(first)
    have = {(x.name, x.band): x.value for x in other.tiers}
    proven = {(x.name, x.band) for x in other.tiers if x.proof == "proven"}
    for values in some:
        worse = first_worse(have, values)
        if worse and (worse[:2] in proven or worse[:2] not in have):
            yield f"{gang}: {cost.sentence}; a plan that starts it has {worse}"
    if cost.proven:
        told[f"costs proven, {'evicting' if _evicts(policy) else 'calm'}"] += 1
        if not _evicts(policy):
            yield from _not_the_loss(cost, plan, best(*asked), calm)


def _evicts(policy):
    return policy.evicts(borrowing=False) or policy.evicts(borrowing=True)


def _not_the_loss(cost, plan, now, then):
    """
    Say where the first tier that is worse is another one, or by another amount.
    """
    pairs = zip(now, then, strict=True)
    pair = next((pair for pair in pairs if pair[0] != pair[1]), None)
    expected = ("", None, 0, 0)
    if pair is not None:
        (name, band, value), (_, _, less) = pair
        tier = next(x for x in plan.tiers if (x.name, x.band) == (name, band))
        expected = (name, band, tier.counted(value), tier.counted(less))
    said = (cost.tier, cost.band, cost.value, cost.then)
    if said != expected:
        yield f"said to lose {said}, and it is {expected}"
