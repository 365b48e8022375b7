"""
Other numbers for the search, by name: what ``phalanx bench --tuning`` tries.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from solver.tuning import DEFAULT, Tuning


class TuningError(ValueError):
    """
    A name or a value that no number of the search has.
    """


def described() -> Iterator[tuple[str, object, Mapping[str, Any]]]:
    """
    Walk all numbers: the name, the default, and what is known of it.
    """
    for room in fields(DEFAULT):
        group = getattr(DEFAULT, room.name)
        for one in fields(group):
            name = f"{room.name}.{one.name}"
            yield name, getattr(group, one.name), one.metadata


def tuned(tuning: Tuning, name: str, value: object) -> Tuning:
    """
    Give the numbers with one of them changed.

    Raises
    ------
    TuningError
        When there is no such number, or the value is none that it can have.
    """
    known = {each: default for each, default, _ in described()}
    if name not in known:
        raise TuningError(f"no number is called {name!r}, only {', '.join(known)}")
    default = known[name]
    wanted = tuple(value) if isinstance(value, list) else value
    if isinstance(default, float) and type(wanted) is int:
        wanted = float(wanted)
    if _form(wanted) != _form(default):
        raise TuningError(f"{name} is {default!r}, and cannot be {value!r}")
    room, _, own = name.partition(".")
    group = replace(getattr(tuning, room), **{own: wanted})
    return replace(tuning, **{room: group})


def _form(value: object) -> tuple[type, int]:
    return type(value), len(value) if isinstance(value, tuple) else 0


def tuning_of(words: Sequence[str]) -> Tuning:
    """
    Read changes such as ``search.fine=0.2``; a value is written as JSON.

    Raises
    ------
    TuningError
        When a word is no such change.
    """
    tuning = DEFAULT
    for word in words:
        name, _, text = word.partition("=")
        try:
            value = json.loads(text)
        except ValueError:
            raise TuningError(f"{word!r} is not NAME=VALUE") from None
        tuning = tuned(tuning, name, value)
    return tuning
