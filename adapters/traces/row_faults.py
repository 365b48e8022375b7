"""
The tally: what was wrong with the rows of a trace, and what was done about it.

Every rule has one name.  A row is repaired where what was meant is beyond doubt, else
it is left out; a file of which most rows are left out is refused.
"""

from collections import Counter
from dataclasses import dataclass, field

from models.errors import InputRejectedError, Problem
from models.why.reasons import counted

MOST_EXAMPLES = 3
REPAIRS = {
    "unsorted": "submitted before the row above; sorted by submission",
    "line-ends": "ends with CR LF, while others end with LF; both are read",
    "renamed": "its name is not one that a pod may have; written in lower case, with -",
    "same-name": "has the name of another job, or role of its job; a number was added",
    "differs": "says something else than the first row of its job, which holds",
    "fraction": "a part of a second; rounded up",
}
OMISSIONS = {
    "negative-duration": "its duration is negative",
    "no-duration": "it has no duration: it never ended, or never ran",
    "bad-number": "a cell that should hold a number does not",
    "not-whole": "a number that must be whole is not",
    "out-of-range": "a number is smaller or larger than it may be",
    "min-above-pods": "it needs more pods than it has, or none",
    "other-time": "its submission is a date where the first is seconds, or the reverse",
    "unknown-unit": "a time has a unit that nobody knows",
    "bad-time": "its submission is not a time",
    "no-pods": "it asks for no pod",
    "bad-part": "it asks for a part of a GPU that there is not",
    "too-few-cells": "the row has fewer cells than the file has columns",
    "not-text": "the row is not UTF-8 text",
    "tree": "its gang has SubGroups of SubGroups, a topology or an order",
    "no-requests": "the record does not say what it asks for: it is of an old version",
    "bad-record": "it is not a record of a round",
    "other-role": "another row of its job is left out",
    "cancelled": "it was cancelled before it ran",
}


class TraceRejectedError(InputRejectedError):
    """
    A file of jobs or machines cannot be read.
    """


@dataclass
class Tally:
    """
    How many rows there were, and by rule how many were repaired and left out.

    ``examples`` are the first lines of each rule, with what stood there.
    """

    name: str
    rows: int = 0
    repaired: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def repair(self, rule: str, line: int, what: str = "") -> None:
        """
        Count a row that is read as it was meant.
        """
        self.repaired[rule] += 1
        self._note(rule, line, what)

    def leave_out(self, rule: str, line: int, what: str = "") -> None:
        """
        Count a row that is not read.
        """
        self.left_out[rule] += 1
        self._note(rule, line, what)

    def _note(self, rule: str, line: int, what: str) -> None:
        seen = self.examples.setdefault(rule, [])
        if len(seen) < MOST_EXAMPLES:
            seen.append(f"line {line}" + (f": {what[:60]!r}" if what else ""))

    def judge(self, *, every: bool = False) -> None:
        """
        Refuse a file that is empty, or of which most rows were left out.

        Where ``every`` row counts, one that was left out is enough.
        """
        lost = sum(self.left_out.values())
        if not self.rows:
            raise rejected(self.name, "has no rows")
        if not lost or (2 * lost <= self.rows and not every):
            return
        problems = [
            Problem(
                rule,
                f"{counted(count, 'row')}: {OMISSIONS[rule]}",
                "; ".join(self.examples[rule]),
            )
            for rule, count in self.left_out.most_common()
        ]
        too_many = "" if every else ", more than half"
        said = f"{lost:,} of {self.rows:,} cannot be read{too_many}"
        first = Problem("rows", said)
        raise TraceRejectedError(self.name, [first, *problems])


def rejected(name: str, what: str, hint: str = "") -> InputRejectedError:
    """
    Refuse a file as a whole.
    """
    return TraceRejectedError(name, [Problem("file", what, hint)])
