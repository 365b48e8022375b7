"""
Remedies, tried: the round with a change planned and judged, for each line of the menu.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations

from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.menu_line import OF_OTHERS, OF_ROOM, MenuLine, is_hopeless
from models.why.remedies import Remedies, Remedy
from models.why.verdicts import Blocker, Verdict, WhyWaits
from solver.problem.problem import Problem, problem_of
from solver.why.given_to_others import given_by
from solver.why.menu import menu_of
from solver.why.named_rules import rules_of
from solver.why.trial import Lines, Trial, try_out
from solver.why.why_waits import unit_of

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

    They are tried in a ``trial``, for who wants to know which ones were.
    """
    if why.verdict is Verdict.NONE:
        return Remedies()
    problem = problem_of(snapshot, policy)
    hopeless = is_hopeless(problem.blocked.get(why.gang))
    menu = menu_for(problem, plan, why.gang)
    cores = [why.because] if hopeless else _cores(why)
    tried = partial(_tried, menu=menu, cores=cores)
    return tried(trial) if trial else try_out(snapshot, policy, plan, why.gang, tried)


def _tried(
    trial: Trial, menu: Sequence[MenuLine], cores: Sequence[Sequence[Blocker]]
) -> Remedies:
    trial.untried += sum(x.left_out for x in menu if _may_take(cores, x))
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


def menu_for(problem: Problem, plan: Plan, gang: str) -> list[MenuLine]:
    """
    List what could be changed for a gang that a plan lets wait.
    """
    unit = unit_of(problem, gang)
    beside = given_by(plan, problem, unit).beside(problem)
    rules = rules_of(problem, beside, unit)
    every = menu_of(problem, unit, rules, problem.policy.prices)
    return [line for line in every if line.most > 0]


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
    tried = (trial.tried_with([(line, by)]) for by in range(few[0], few[-1] + 1))
    return next((one for one in tried if one is not None), None)


def _pair(
    trial: Trial, menu: Sequence[MenuLine], cores: Sequence[Sequence[Blocker]]
) -> list[Remedy]:
    """
    Find the cheapest two changes that help together.

    Of two the one that costs more is kept small first.  Whatever helps, what is cheaper
    is asked for again until nothing is.
    """
    best: Remedy | None = None
    found = [two for two in combinations(menu, 2) if _may_take(cores, *two)]
    pairs = [sorted(two, key=lambda line: -line.price(line.least)) for two in found]
    for first, second in sorted(pairs, key=_least_price):
        less = best = best or _both(trial, first, second)
        while less is not None and _least_price((first, second)) < less.price:
            less = _cheaper_both(trial, first, second, less.price)
            best = less or best
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


def _both(trial: Trial, first: MenuLine, second: MenuLine) -> Remedy | None:
    """
    Find the least amounts of two lines with which the gang starts, one by one.
    """
    if not trial.may_help([(first, first.most), (second, second.most)]):
        return None
    one = trial.search(
        first, first.amounts, lambda by: [(first, by), (second, second.most)]
    )
    used = first.most if one is None else first.amount_in(one.changes)
    two = trial.search(second, second.amounts, lambda by: [(first, used), (second, by)])
    trial.open |= trial.crowded and not (one or two)
    return two or one


def _cheaper_both(
    trial: Trial, first: MenuLine, second: MenuLine, price: int
) -> Remedy | None:
    """
    Find amounts of two lines below a price with which the gang starts.

    Of each amount of the first the most of the second is tried that costs less; in
    the next round of a large cluster that would take too long.
    """
    amounts = first.amounts if trial.alone is None else ()
    for by in amounts:
        left = price - first.price(by)
        few = [more for more in second.amounts if second.price(more) < left]
        next_left = price - first.price(min(by + 1, first.most))
        if not few or (by < first.most and second.price(few[-1]) < next_left):
            continue  # the next amount is tried with as much of the second

        def lines(more: int, by: int = by) -> Lines:
            return [(first, by), (second, more)]

        found = trial.search(second, few, lines)
        if found is not None:
            return _with_less(trial, first, second, found)
    return None


def _with_less(
    trial: Trial, first: MenuLine, second: MenuLine, found: Remedy
) -> Remedy | None:
    """
    Find the least amount of one line with which the gang starts beside another's.
    """
    used, most = second.amount_in(found.changes), first.amount_in(found.changes)
    amounts = range(first.least, most + 1)
    return trial.search(first, amounts, lambda by: [(first, by), (second, used)])
