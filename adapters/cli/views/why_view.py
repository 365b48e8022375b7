"""
Why a gang waits, for eyes: the verdict, what it rests on, how that is known.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from adapters.cli.terminal.output import Paint, Table
from adapters.files.change_words import change_words, ordinal
from models.changes import EvictedGangs
from models.devices.gpu_counts import shown_gpus
from models.why.cost_of_start import StartCost
from models.why.reasons import counted, does, listed
from models.why.remedies import Remedies, Remedy, WhenStarts, WhySummary
from models.why.resource_words import plain
from models.why.verdicts import Blocker, PlaceInLine, Verdict, WhyWaits, amount

NOTHING = "–"
_PROOFS = {
    "counting": "counted: together these forbid it, and none can be left out",
    "model": "proven twice: together these forbid it, and none can be left out",
}
_INDENT = "  "
_IN_LINE = frozenset({Verdict.OUTRANKED, Verdict.LIMIT, Verdict.QUOTA, Verdict.SHARE})


def why_lines(
    why: WhyWaits,
    remedies: Remedies,
    when: WhenStarts,
    cost: StartCost | None,
    paint: Paint,
    width: int | None,
) -> Iterator[str]:
    """
    Say it line by line.
    """
    word = "" if why.verdict is Verdict.NONE else f": {why.verdict.value}"
    colour = "green" if why.verdict is Verdict.NONE else "yellow"
    yield paint(colour, f"{why.gang} {why.state}{word}")
    yield from _wrapped(why.sentence, width)
    if len(why.because) > 1 or any(one.needs is not None for one in why.because):
        yield ""
        yield "Because"
        yield from (f"{_INDENT}{line}" for line in _table(why.because).lines())
        if why.proof:
            yield ""
            yield from _wrapped(_PROOFS[why.proof], width)
    for core in why.besides:
        yield ""
        yield from _wrapped(
            f"Besides: {'; '.join(one.sentence for one in core)}", width
        )

    if cost is not None:
        yield ""
        yield from _wrapped(f"{cost.sentence[:1].upper()}{cost.sentence[1:]}", width)
    if why.place is not None and why.verdict in _IN_LINE:
        yield ""
        yield from _wrapped(_in_line(why.place), width)
    yield from _help(why, remedies, width)
    if why.verdict is not Verdict.NONE:
        yield ""
        yield f"When: {when.sentence}"


def _in_line(place: PlaceInLine) -> str:
    """
    Say who comes first where that is what decides.
    """
    of = f"{ordinal(place.at)} of {place.waiting:,} that wait and can be planned"
    nearest = [*reversed(place.before)]
    first = f"; before it {listed(nearest, 'gang')}" if nearest else ""
    return f"In line: {of}, {ordinal(place.in_queue)} of its queue{first}"


def summary_lines(
    found: WhySummary, width: int | None, reserved: int = 0, waiting: int = 0
) -> Iterator[str]:
    """
    Say what holds back how many, and what would start most.

    Besides, some may have places ``reserved`` that are not free yet, and others may be
    ``waiting`` that nobody asked for.
    """
    if reserved:
        has = "has its" if reserved == 1 else "have their"
        yield f"{counted(reserved, 'gang')} {has} places reserved, until others leave."
    if not found.gangs:
        yield _nobody(reserved, waiting)
        return
    if reserved:
        yield ""
    rows = [
        (one.rule.value, one.at or NOTHING, f"{one.gangs:,}", shown_gpus(one.gpus))
        for one in found.blockers
    ]
    rows.append(("*", "", f"{found.gangs:,}", shown_gpus(found.gpus)))
    head = ("WAITS FOR", "AT", "GANGS", "GPUS")
    yield from Table(head, rows, frozenset({2, 3})).lines()
    yield ""
    if found.best is None:
        which = "that was tried" if found.untried else "of the menu"
        yield f"No single change {which} was found to start more than it stops."
    else:
        words = " and ".join(change_words(change) for change in found.best.changes)
        starts = counted(len(found.best.starts), "gang")
        lost = _others(replace(found.best, starts=()))
        yield from _wrapped(f"Would start most, {starts}: {words}{lost}", width)
    if found.untried:
        yield f"{_INDENT}{found.untried:,} more changes were not tried"


def _nobody(reserved: int, waiting: int) -> str:
    if waiting:
        what = does(waiting, "gang that waits", "gangs that wait")
        return f"None of the {what} matches."
    return "Nothing else waits." if reserved else "Nothing waits."


def _help(why: WhyWaits, remedies: Remedies, width: int | None) -> Iterator[str]:
    """
    Say what would help, cheapest first, and what others gain and lose by it.
    """
    if why.verdict is Verdict.NONE:
        return
    yield ""
    if not remedies.found:
        yield f"{_nothing(remedies)}."
        return
    when = "for the round after this one" if remedies.later else "for this round"
    yield f"Would help, cheapest first (each was planned and judged, {when})"
    for at, one in enumerate(remedies.found, start=1):
        words = " and ".join(change_words(change) for change in one.changes)
        unless = ", unless others that wait take the room" if one.alone else ""
        text = f"{at}. {words}{_others(one)}{unless} (price {one.price})"
        yield from _wrapped(text, width)
    if remedies.untried:
        yield f"{_INDENT}{remedies.untried:,} more changes were not tried"


def _nothing(remedies: Remedies) -> str:
    """
    Say that nothing helps, and how sure that is.
    """
    if remedies.proven:
        return "Nothing on the menu helps, which is proven"
    if remedies.untried:
        left = f"{remedies.untried:,} changes were not tried"
        return f"Nothing that helps was found on the menu; {left}"
    return "Nothing on the menu was found to help"


def _others(one: Remedy) -> str:
    """
    Say what becomes of others; that evicted ones leave is said by the change itself.
    """
    evicted = {
        name
        for change in one.changes
        if isinstance(change, EvictedGangs)
        for name in change.gangs
    }
    leave = [name for name in one.leaves if name not in evicted]
    told = (
        (one.starts, "starts, too", "start, too"),
        (one.waits, "no longer starts", "no longer start"),
        (leave, "leaves", "leave"),
    )
    parts = [
        f"{listed(names, 'gang')} {several if len(names) > 1 else single}"
        for names, single, several in told
        if names
    ]
    return f"; {', '.join(parts)}" if parts else ""


def _table(blockers: Sequence[Blocker]) -> Table:
    rows = [
        (
            one.rule.value,
            str(one.facts.get("outside", one.at)) or NOTHING,
            NOTHING if one.needs is None else amount(one.resource, one.needs),
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
