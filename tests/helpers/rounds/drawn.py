"""
Cases by turns: each day draws one in sixteen, and sixteen days draw all.

The word in ``DRAWN`` is a day, such as 2026-11-23, or ``all``, as in CI.
"""

import os
from collections.abc import Sequence
from datetime import date
from typing import TypeVar
from zlib import crc32

PART = 16
T = TypeVar("T")


def is_drawn(at: int, word: str) -> bool:
    """
    Tell whether a day draws the case at some place in its row.

    One of each sixteen in a row is drawn, another of the next, so that cases of
    two, four, eight or sixteen kinds by turns are all drawn from.
    """
    if word == "all":
        return True
    return (at + at // PART + date.fromisoformat(word).toordinal()) % PART == 0


def first_place(test: str) -> int:
    """
    Give the place in a row of sixteen of a test's first case.

    By its name: else all tests that have one case only were drawn on the same day.
    """
    return crc32(test.encode()) % PART


def of_day(cases: Sequence[T]) -> list[T]:
    """
    Give the cases of a test that the day draws, one at least.
    """
    word = os.environ["DRAWN"]
    some = [case for at, case in enumerate(cases) if is_drawn(at, word)]
    return some or [cases[date.fromisoformat(word).toordinal() % len(cases)]]
