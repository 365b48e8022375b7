"""
Remedies, tried: the round with a change planned and judged, for each line of the menu.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.reasons import Reason, Waiting
from models.why.remedies import Remedies, Remedy
from models.why.verdicts import Blocker, Verdict, WhyWaits
from solver.problem.problem import Problem, problem_of
from solver.why.given_to_others import given_by
from solver.why.menu import menu_of
from solver.why.menu_line import OF_OTHERS, OF_ROOM, MenuLine
from solver.why.named_rules import rules_of
from solver.why.trial import Trial, trial_of
from solver.why.two_changes import both, cheaper_both
from solver.why.why_waits import unit_of

HOPELESS = frozenset(
    {
        Reason.INVALID_GANG,
        Reason.CONFIG_CONFLICT,
        Reason.UNSUPPORTED_CONSTRAINT,
        Reason.HELD,
        Reason.QUEUE_NOT_FOUND,
        Reason.QUEUE_CLOSED,
        Reason.WAITING_FOR_GROUP,
        Reason.WAITING_FOR_VOLUMES,
        Reason.WAITING_FOR_DEVICES,
        Reason.TIMED_OUT,
    }
)
"""
Reasons that nothing takes away, but that enough pods run for fewer to be enough.
"""
_KNOWN = OF_OTHERS | OF_ROOM | {Verdict.PODS, Verdict.BACKOFF}


def remedies_of(
    snapshot: Snapshot,
    policy: Policy,
    plan: Plan,
    why: WhyWaits,
    trial: Trial | None = None,
) -> Remedies:
    """
    Say what would start a gang that waits: single changes, or two where none helps.

    Parameters
    ----------
    snapshot
        What is.
    policy
        What is wanted, and what changes cost.
    plan
        The round that was planned for both.
    why
        Why the gang waits in it.
    trial
        Where changes are tried, for who wants to know which ones were.
    """
    problem = problem_of(snapshot, policy)
    waiting = problem.blocked.get(why.gang)
    hopeless = waiting is not None and _cause(waiting) in HOPELESS
    menu = menu_for(problem, plan, why.gang)
    cores = [why.because] if hopeless else _cores(why)
    trial = trial or trial_of(snapshot, policy, plan, why.gang)
    singles = [line for line in menu if _may_take(cores, line)]
    found = _singles(trial, singles) or _pair(trial, menu, cores)
    found = found or _each(_below(trial, line, None) for line in singles)
    cheapest = sorted(found, key=lambda one: one.price)
    return Remedies(
        found=tuple(trial.with_others(one) for one in cheapest),
        tried=trial.tried,
        untried=trial.untried,
        proven=not found and not trial.untried and not trial.open,
        later=trial.alone is not None,
    )


def _cause(waiting: Waiting) -> Reason:
    """
    Give the reason, of who waits for another of its group that one's.
    """
    if waiting.reason is not Reason.WAITING_FOR_GROUP:
        return waiting.reason
    causes = {reason.value: reason for reason in Reason}
    return causes.get(str(waiting.facts.get("cause")), waiting.reason)


def menu_for(problem: Problem, plan: Plan, gang: str) -> list[MenuLine]:
    """
    List what could be changed for a gang that a plan lets wait.
    """
    unit = unit_of(problem, gang)
    beside = given_by(plan, problem, unit).beside(problem)
    rules = rules_of(problem, beside, unit)
    lines = menu_of(problem, unit, rules, problem.policy.prices)
    return [line for line in lines if line.most]


def _each(some: Iterable[Remedy | None]) -> list[Remedy]:
    return [one for one in some if one is not None]


def _singles(trial: Trial, lines: Sequence[MenuLine]) -> list[Remedy]:
    """
    Find of each line what helps, then what is cheaper than all of that.
    """
    least = [(line, trial.least(line)) for line in lines]
    price = min((one.price for _, one in least if one is not None), default=None)
    if price is None:
        return []
    return _each(_below(trial, line, price) or one for line, one in least)


def _below(trial: Trial, line: MenuLine, price: int | None) -> Remedy | None:
    """
    Find the first amount of a line below a price that helps, where more may help less.
    """
    if trial.alone is not None or not trial.crowded:
        return None
    few = [by for by in line.amounts if price is None or line.price(by) < price]
    if not few or not trial.may_help([(line, few[-1])]):
        return None
    tried = (trial.tried_with([(line, by)]) for by in few)
    return next((one for one in tried if one is not None), None)


def _pair(
    trial: Trial, menu: Sequence[MenuLine], cores: Sequence[Sequence[Blocker]]
) -> list[Remedy]:
    """
    Find the cheapest two changes that help together.

    Of two the one that costs more is kept small first.
    """
    best: Remedy | None = None
    found = [two for two in combinations(menu, 2) if _may_take(cores, *two)]
    pairs = [sorted(two, key=lambda line: -line.price(line.least)) for two in found]
    for first, second in sorted(pairs, key=_least_price):
        if best is None:
            best = both(trial, first, second)
        elif _least_price((first, second)) < best.price:
            best = cheaper_both(trial, first, second, best.price) or best
    return [] if best is None else [best]


def _least_price(lines: Iterable[MenuLine]) -> int:
    return sum(line.price(line.least) for line in lines)


def _cores(why: WhyWaits) -> list[Sequence[Blocker]]:
    """
    List the cores that hold whatever is planned: they forbid until a rule gives way.
    """
    cores = (why.because, *why.besides)
    return [core for core in cores if core and {x.rule for x in core} <= _KNOWN]


def _may_take(cores: Sequence[Sequence[Blocker]], *lines: MenuLine) -> bool:
    """
    Tell whether lines could take some rule away from each core.
    """
    weak = frozenset().union(*(line.weakens for line in lines))
    return all(any(one.rule in weak for one in core) for core in cores)
