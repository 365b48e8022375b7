"""
Why a gang waits, for eyes: the verdict, what it rests on, how that is known.
"""

import textwrap
from collections.abc import Iterator, Sequence

from adapters.cli.terminal.output import Paint, Table
from models.verdicts import Blocker, Verdict, WhyWaits, amount, plain

NOTHING = "–"
_PROOFS = {
    "counting": "counted: these forbid it, and without any one of them it could start",
    "model": "proven twice: these forbid it; without any one of them a start was found",
}
_INDENT = "  "


def why_lines(why: WhyWaits, paint: Paint, width: int | None) -> Iterator[str]:
    """
    Say it line by line.
    """
    word = "" if why.verdict is Verdict.NONE else f": {why.verdict.value}"
    colour = "green" if why.verdict is Verdict.NONE else "yellow"
    yield paint(colour, f"{why.gang} {why.state}{word}")
    yield from _wrapped(why.sentence, width)
    numbered = [one for one in why.because if one.needs is not None]
    if numbered:
        yield ""
        yield "Because"
        yield from (f"{_INDENT}{line}" for line in _table(numbered).lines())
    if why.proof:
        yield ""
        yield from _wrapped(_PROOFS[why.proof], width)
    for core in why.besides:
        yield ""
        yield from _wrapped(
            f"Besides: {'; '.join(one.sentence for one in core)}", width
        )


def _table(blockers: Sequence[Blocker]) -> Table:
    rows = [
        (
            one.rule.value,
            one.at or NOTHING,
            amount(one.resource, one.needs or 0),
            NOTHING if one.has is None else plain(one.resource, one.has),
            NOTHING if one.used is None else plain(one.resource, one.used),
        )
        for one in blockers
    ]
    return Table(("RULE", "AT", "NEEDS", "THERE", "USED"), rows, frozenset({2, 3, 4}))


def _wrapped(text: str, width: int | None) -> list[str]:
    if width is None:
        return [f"{_INDENT}{text}"]
    return [f"{_INDENT}{line}" for line in textwrap.wrap(text, max(20, width - 2))]
