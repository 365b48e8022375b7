"""
Places in which pods look for others, and who is the first of its like in them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from models.neighbours import Near
from solver.encode.variables import Var

Place = tuple[str, str, int]
"""
A selector, a topology key, and one of its domains.
"""


class First(NamedTuple):
    """
    Who may be the first of its like: whom it looks for, and who finds it.
    """

    near: Near
    selected: tuple[str, ...]


Firsts = dict[First, dict[str, int]]


class Begin(NamedTuple):
    """
    Whether the first of its like is in a place, among its ``own`` pods there.
    """

    first: First
    begins: Var
    own: Sequence[Var]


@dataclass(slots=True)
class OpenPlaces:
    """
    The places that the first of its like may open.
    """

    begins: list[tuple[Place, Begin]] = field(default_factory=list)

    def firsts(self, value: Callable[[Var], int]) -> Firsts:
        """
        Say who is first of its like in an answer, and in which domain of each key.
        """
        found: Firsts = {}
        for (_, key, cell), one in self.begins:
            if value(one.begins):
                found.setdefault(one.first, {})[key] = cell
        return found
