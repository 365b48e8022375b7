"""
Places in which pods look for others, and how a hint opens them one after the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from models.neighbours import Near
from solver.encode.variables import Linear, Var

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


class Ranked(NamedTuple):
    """
    Whether pods open a place, once those are open that they need themselves.
    """

    opens: Var
    pods: Sequence[Var]
    needs: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """
    A place with all that may open it.
    """

    place: Place
    left: Linear
    free: Sequence[Var]
    begins: Sequence[Begin]
    ranked: Sequence[Ranked]


@dataclass(slots=True)
class OpenPlaces:
    """
    The variables of places: who is first of its like, who opens what, and when.
    """

    leads: dict[First, Var] = field(default_factory=dict)
    openings: list[Opening] = field(default_factory=list)
    ranks: dict[Place, Var] = field(default_factory=dict)

    def firsts(self, value: Callable[[Var], int]) -> Firsts:
        """
        Say who is first of its like in an answer, and in which domain of each key.
        """
        found: Firsts = {}
        for opening in self.openings:
            _, key, cell = opening.place
            for one in opening.begins:
                if value(one.begins):
                    found.setdefault(one.first, {})[key] = cell
        return found

    def hint(self, values: Mapping[int, int]) -> list[tuple[Var, int]]:
        """
        List what each would be, given the counts.
        """
        course = _InTurn(self.openings, values)
        course.run(self.leads)
        literals = [*self.leads.values()]
        for opening in self.openings:
            literals += [one.begins for one in opening.begins]
            literals += [one.opens for one in opening.ranked]
        pairs = [(one, int(one.index in course.true)) for one in literals]
        ranks = self.ranks.items()
        return pairs + [(var, course.turns.get(place, 0)) for place, var in ranks]


class _InTurn:
    """
    Places opened one after the other: the turn of each, and the literals that hold.
    """

    def __init__(self, openings: Sequence[Opening], values: Mapping[int, int]) -> None:
        self.openings = openings
        self.values = values
        self.true: set[int] = set()
        self.turns = {
            one.place: 0
            for one in openings
            if one.left.constant > 0 or self._any(one.free)
        }
        self.closed = {one.place for one in openings} - self.turns.keys()

    def run(self, leads: Mapping[First, Var]) -> None:
        """
        Open what can be, and where nothing can let somebody be the first of its like.
        """
        left = dict(leads)
        while self._follow() or self._begin(left):
            pass

    def _any(self, terms: Sequence[Var]) -> bool:
        return any(self.values.get(var.index, 0) for var in terms)

    def _open(self, place: Place, literal: Var, turn: int) -> None:
        self.true.add(literal.index)
        self.turns[place] = turn
        self.closed.discard(place)

    def _follow(self) -> bool:
        before = len(self.closed)
        for opening in self.openings:
            for one in opening.ranked if opening.place in self.closed else ():
                if self._any(one.pods) and self.closed.isdisjoint(one.needs):
                    turns = [self.turns.get(need, 0) for need in one.needs]
                    self._open(opening.place, one.opens, 1 + max(turns, default=0))
                    break
        return len(self.closed) < before

    def _begin(self, left: dict[First, Var]) -> bool:
        for first in list(left):
            keys = set[str]()
            for opening in self.openings:
                key = opening.place[1]
                for one in opening.begins if opening.place in self.closed else ():
                    if one.first == first and key not in keys and self._any(one.own):
                        keys.add(key)
                        self._open(opening.place, one.begins, 0)
            if keys:
                self.true.add(left.pop(first).index)
                return True
        return False
