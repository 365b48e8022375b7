"""
What was made of immutable objects, kept for as long as these are there.

Objects are known by their identity, so they must never be changed; what is made of one
must depend on it alone.  Whoever owns such a memo may drop it at any time: the same is
made again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
Made = TypeVar("Made")
_FEW = 200


class Kept(Generic[T, Made]):
    """
    What ``make`` gives of objects, made once for each.
    """

    __slots__ = ("_known", "_make")

    def __init__(self, make: Callable[[T], Made]) -> None:
        self._make = make
        self._known: dict[int, tuple[T, Made]] = {}

    def of(self, things: Sequence[T]) -> list[Made]:
        """
        Give what is made of each of the objects that are there; others are forgotten.
        """
        known, make = self._known, self._make
        there = list(map(id, things))
        found = list(map(known.get, there))
        for at in [at for at, entry in enumerate(found) if entry is None]:
            thing = things[at]
            found[at] = known[there[at]] = (thing, make(thing))
        if len(known) > len(things):
            self._known = {at: known[at] for at in there}
        return [entry[1] for entry in found if entry is not None]

    def ahead(self, things: Sequence[T]) -> Iterator[None]:
        """
        Make what will be asked for later, a few at a time.
        """
        for at in range(0, len(things), _FEW):
            for thing in things[at : at + _FEW]:
                if id(thing) not in self._known:
                    self._known[id(thing)] = thing, self._make(thing)
            yield


class Held(Generic[T]):
    """
    The objects that were there last, to tell which of them are gone and which are new.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[int, T] = {}

    def changed(self, things: Iterable[T]) -> tuple[list[T], list[T]]:
        """
        Take what is there now; give what is gone, and what has come, in no order.
        """
        there = list(things)
        fresh = dict(zip(map(id, there), there, strict=True))
        old, self._held = self._held, fresh
        if not old:
            return [], [*fresh.values()]
        gone = [old[at] for at in old.keys() - fresh.keys()]
        came = [fresh[at] for at in fresh.keys() - old.keys()]
        return gone, came
