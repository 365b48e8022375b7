"""
Cases by turns: each day draws one in eight, and eight days draw all.

The word in ``DRAWN`` is a day, such as 2026-11-23, or ``all``, as in CI.
"""

from datetime import date

PART = 8


def is_drawn(at: int, word: str) -> bool:
    """
    Tell whether a day draws the case at some place in its row.

    One of each eight in a row is drawn, another of the next eight, so that cases of
    two, four or eight kinds by turns are all drawn from.
    """
    if word == "all":
        return True
    return (at + at // PART + date.fromisoformat(word).toordinal()) % PART == 0
