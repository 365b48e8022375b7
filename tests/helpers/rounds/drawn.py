"""
Random cases by turns: each day draws one in four, and four days draw all.

The word in ``DRAWN`` is a day, such as 2026-11-23, or ``all``, as in CI.
"""

from datetime import date

PART = 4


def is_drawn(at: int, word: str) -> bool:
    """
    Tell whether a day draws the case at some place in its row.

    One of each four in a row is drawn, another of the next four, so that cases of two
    or four kinds by turns are all drawn from.
    """
    if word == "all":
        return True
    return (at + at // PART + date.fromisoformat(word).toordinal()) % PART == 0
