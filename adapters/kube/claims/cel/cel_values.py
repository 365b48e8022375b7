"""
Values of device selectors: what attributes and capacities hold, and how they compare.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, total_ordering

from models.errors import PhalanxError, QuantityError
from models.resources import read_number

_SEMVER = re.compile(
    r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?"
)
_LONGEST = 64


class ThrownError(PhalanxError):
    """
    A selector throws where it is evaluated for a device.
    """


@total_ordering
@dataclass(frozen=True, slots=True)
class Semver:
    """
    A version as semver.org orders it; what stands after a plus sign counts for nothing.
    """

    numbers: tuple[int, int, int]
    before: tuple[tuple[bool, int, str], ...] = ()

    def __lt__(self, other: "Semver") -> bool:
        mine = self.numbers, not self.before, self.before
        return mine < (other.numbers, not other.before, other.before)


@total_ordering
@dataclass(frozen=True, slots=True)
class Amount:
    """
    A quantity.
    """

    number: Decimal

    def __lt__(self, other: "Amount") -> bool:
        return self.number < other.number


@dataclass(frozen=True, slots=True)
class Maybe:
    """
    A value that may not be there, as ``?.`` gives it.
    """

    value: "Value | None"


@dataclass(frozen=True, slots=True)
class Fields:
    """
    Named values; a ``default`` stands for each that is not there.
    """

    values: Mapping[str, "Value"]
    default: "Value | None" = None

    def get(self, key: str) -> "Value | None":
        """
        Give one of them; none where it is not there.
        """
        return self.values.get(key, self.default)


Value = bool | int | str | Semver | Amount | Maybe | Fields | tuple["Value", ...]
EMPTY = Fields({})


@lru_cache(maxsize=1024)
def semver(text: str) -> Semver:
    """
    Read a version.
    """
    found = _SEMVER.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise ThrownError(f"{text!r} is not a version such as 1.2.3")
    major, minor, patch, before = found.groups()
    parts = (before or "").split(".") if before else ()
    return Semver(
        (int(major), int(minor), int(patch)),
        tuple(
            (False, int(part), "") if part.isdecimal() else (True, 0, part)
            for part in parts
        ),
    )


def amount(text: str) -> Amount:
    """
    Read a quantity.
    """
    try:
        return Amount(read_number(text))
    except QuantityError as error:
        raise ThrownError(f"{text!r} is not a quantity such as 10Gi") from error


def same(left: Value, right: Value) -> bool:
    """
    Tell whether two values are of one type, and equal.
    """
    for value in (left, right):
        if isinstance(value, Fields):
            raise ThrownError("compares maps, which is not known")
    return type(left) is type(right) and left == right


def word_for(value: Value) -> str:
    """
    Name the type of a value.
    """
    return _WORDS[type(value)]


_WORDS = {
    bool: "a bool",
    int: "an int",
    str: "a string",
    Semver: "a version",
    Amount: "a quantity",
    Maybe: "an optional",
    Fields: "a map",
    tuple: "a list",
}
