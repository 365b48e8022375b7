"""
Gangs that are held: something comes before their binds, which are begun later.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from adapters.loop.interfaces import Turn
from models.plan import Operation
from models.receipt import Result
from solver import is_live


@dataclass(slots=True, eq=False)
class HeldGang:
    """
    The binds of one gang, or gang group, that something else comes before.

    Nothing of the gang goes before one that ``starts`` it.  ``over`` is why it is given
    up, ``result`` what its receipts then say.
    """

    name: str
    turn: Turn
    steps: tuple[Operation, ...]
    since: float
    starts: bool = field(init=False)
    over: str = field(default="", kw_only=True)
    result: Result = field(default="again", kw_only=True)

    def __post_init__(self) -> None:
        self.starts = not all(map(is_live, self.turn.snapshot.gangs))

    def give_up(self, result: Result, why: str) -> None:
        """
        Note why it is given up; the first reason stands.
        """
        if not self.over:
            self.over, self.result = why, result

    def give_up_with_it(self, waiting: Iterable["HeldGang"]) -> None:
        """
        Give up what the gang grew by while its start was held, where that is given up.
        """
        for other in waiting if self.over and self.starts else ():
            if other.name == self.name:
                other.give_up(self.result, self.over)


def are_behind(held: Iterable[HeldGang], binds: Iterable[Operation]) -> bool:
    """
    Tell whether the start of any gang of some binds is held.
    """
    gangs = {step.gang for step in binds}
    return any(
        each.starts and any(step.gang in gangs for step in each.steps) for each in held
    )


H = TypeVar("H", bound=HeldGang)


class HeldGangs(Generic[H]):
    """
    Gangs that are held, and those whose end is being carried out.
    """

    def __init__(self) -> None:
        self.held: list[H] = []
        self._ended: dict[str, H] = {}

    @property
    def steps(self) -> Iterator[Operation]:
        """
        Walk the binds that something comes before.
        """
        for held in (*self.held, *self._ended.values()):
            yield from held.steps

    def clear(self) -> None:
        """
        Forget what was held: somebody else may have led since.
        """
        self.held, self._ended = [], {}

    def _held_again(self) -> list[H]:
        """
        Hold again whose end could not be stored, as nothing is carried out now.

        A round comes before their end is tried again.
        """
        again, self._ended = [*self._ended.values()], {}
        self.held = [*again, *self.held]
        return again

    def _end(self, held: H) -> Turn:
        """
        Give the binds of a gang that can be ended, or is given up.
        """
        self.held.remove(held)
        self._ended[held.name] = held
        held.give_up_with_it(self.held)
        return held.turn
