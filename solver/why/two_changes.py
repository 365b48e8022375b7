"""
Two lines of the menu tried together: the least amounts with which a gang starts.
"""

from models.why.remedies import Remedy
from solver.why.menu_line import MenuLine
from solver.why.trial import Lines, Trial, amount_in


def both(trial: Trial, first: MenuLine, second: MenuLine) -> Remedy | None:
    """
    Find the least amounts of two lines with which the gang starts, one by one.
    """
    if not trial.may_help([(first, first.most), (second, second.most)]):
        return None
    one = trial.search(
        first, first.amounts, lambda by: [(first, by), (second, second.most)]
    )
    used = first.most if one is None else amount_in(first, one)
    two = trial.search(second, second.amounts, lambda by: [(first, used), (second, by)])
    trial.open |= trial.crowded and not (one or two)
    return two or one


def cheaper_both(
    trial: Trial, first: MenuLine, second: MenuLine, price: int
) -> Remedy | None:
    """
    Find amounts of two lines below a price with which the gang starts.

    Of each amount of the first the most of the second is tried that costs less; in
    the next round of a large cluster that would take too long.
    """
    best: Remedy | None = None
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
            best, price = found, found.price
    return best
