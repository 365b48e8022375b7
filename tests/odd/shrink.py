"""
Makes a failing round small: whatever is not needed for its failure is left out.
"""

import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from tests.odd.world import Part

Fails = Callable[[Part], bool]
Way = tuple[str | int, ...]
_SIMPLE = {"nvidia.com/gpu", "cpu", "pods", "min", "replicas", "priority", "created"}


def shrunk(document: Part, fails: Fails, seconds: float = float("inf")) -> Part:
    """
    Leave out part after part as long as a round fails in the same manner.

    Once its seconds are over, it is as small as it has become.

    Parameters
    ----------
    document
        A round that fails.
    fails
        Tells whether another round does so too; what lint does not take does not.
    seconds
        How long to try.
    """
    end = time.monotonic() + seconds
    while True:
        for smaller in _smaller(document):
            if time.monotonic() > end:
                return document
            if fails(smaller):
                document = smaller
                break
        else:
            return document


def _smaller(document: Part) -> Iterator[Part]:
    """
    Walk rounds with one thing less, the largest things first.
    """
    ways = [way for way in _ways(document) if len(way) > 1]
    for way in sorted(ways, key=lambda way: (len(way), str(way))):
        yield _without(document, way)
    for way in ways:
        value = _at(document, way)
        if way[-1] in _SIMPLE and isinstance(value, int):
            for less in sorted({0, 1, value // 2, value - 1}):
                if 0 <= less < value:
                    yield _with(document, way, less)


def _ways(value: Any, here: Way = ()) -> Iterator[Way]:
    if here:
        yield here
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _ways(inner, (*here, name))
    elif isinstance(value, list):
        for at in reversed(range(len(value))):
            yield from _ways(value[at], (*here, at))


def _at(document: Part, way: Way) -> Any:
    value: Any = document
    for step in way:
        value = value[step]
    return value


def _without(document: Part, way: Way) -> Part:
    copy = deepcopy(document)
    del _at(copy, way[:-1])[way[-1]]
    return copy


def _with(document: Part, way: Way, value: int) -> Part:
    copy = deepcopy(document)
    _at(copy, way[:-1])[way[-1]] = value
    return copy
