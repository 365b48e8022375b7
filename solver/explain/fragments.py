"""
What lies free in pieces: for how many pods of each leaf there is room as it is.
"""

from models.why.reasons import counted
from solver.place.in_pieces import room_of_leaf
from solver.problem.problem import Problem, Unit

_MOST_SHOWN = 4


def pieces(problem: Problem, unit: Unit) -> str:
    """
    Say of each leaf for how many of its needed pods there is room, the scarce first.
    """
    found: list[tuple[bool, str]] = []
    for state in unit.states:
        for i, leaf in enumerate(state.leaves):
            if not leaf.need:
                continue
            room, where = room_of_leaf(problem, state, i, problem.shapes.fits)
            name = leaf.path if len(unit.states) == 1 else f"{state.key} {leaf.path}"
            of_leaf = f" of {name.strip()}" if name else ""
            its = "" if name else "its "
            needed = f"{its}{counted(leaf.need, 'pod')}{of_leaf}"
            text = f"{min(room, leaf.need)} of {needed}{where}"
            found.append((room >= leaf.need, text))
    shown = [text for _, text in sorted(found, key=lambda item: item[0])]
    if len(shown) > _MOST_SHOWN:
        shown = [*shown[:_MOST_SHOWN], f"{len(shown) - _MOST_SHOWN} more such leaves"]
    if not shown or (len(shown) == 1 and found[0][0]):
        return "none of the ways in which it could start"
    is_rigid = all(state.rigid for state in unit.states)
    if (all if is_rigid else any)(enough for enough, _ in found):
        shown[-1] += f", but not for {'all' if is_rigid else 'enough'} of them at once"
    return ", ".join(shown)
