"""
Rules about room that queues keep of their quotas: others' starts do not use it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from models.resources import format_quantity
from solver.verify.evidence import Evidence
from solver.verify.queues import amounts_of, asked_by
from solver.verify.violation import Violation

_Own = Mapping[str, Mapping[str, int]]


class _Reading(NamedTuple):
    """
    How queues are read: if one counts with what it keeps, if the plan adds to what is.
    """

    keeps: bool = False
    adds: bool = False


def lending_limits(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that what the plan adds leaves the room that queues keep.

    A queue takes what it keeps, or what it holds: of a leaf what runs in it, of others
    what the queues below take.  However that is read, with some queue that keeps: Σ of
    what the outermost take ≤ cluster, and of those below a queue with a limit ≤ that
    limit, now with what is bound and after the plan, where the plan adds to it.  What
    is kept counts as there, though nodes may be gone.
    """
    keeping = kept_anywhere(evidence)
    if not keeping:
        return
    cases, losses = list(evidence.placing()), list(evidence.losses.values())
    bound = amounts_of(evidence, [(case.gang, case.bound) for case in cases])
    placed = amounts_of(evidence, [(case.gang, case.placed) for case in cases])
    gone = amounts_of(evidence, [(loss.gang, loss.evicted) for loss in losses])
    moved = amounts_of(evidence, [(loss.gang, asked_by(loss)) for loss in losses])
    for resource in keeping:
        now = _row(evidence, evidence.running, resource)
        stays = _less(now, _row(evidence, gone, resource))
        rest = _less(now, _row(evidence, moved, resource))
        for before, added in ((now, bound), (stays, placed), (rest, moved)):
            more = _more(before, _row(evidence, added, resource))
            yield from _beyond(evidence, resource, before, more)


def kept_anywhere(evidence: Evidence) -> list[str]:
    """
    List the resources of which some queue keeps some.
    """
    queues = evidence.snapshot.queues
    return sorted({r for q in queues for r in q.resources if q.rule(r).kept})


def leaves_kept(evidence: Evidence, queue: str, resource: str, held: int) -> bool:
    """
    Tell whether a queue could hold so much beside what others keep, were it alone.
    """
    return not any(_beyond(evidence, resource, {}, {queue: held}))


def _row(evidence: Evidence, amounts: _Own, resource: str) -> dict[str, int]:
    """
    Give what each leaf queue itself has.
    """
    return {
        name: row.get(resource, 0)
        for name, row in amounts.items()
        if name not in evidence.parents
    }


def _less(row: Mapping[str, int], gone: Mapping[str, int]) -> dict[str, int]:
    return {name: row.get(name, 0) - gone.get(name, 0) for name in {*row, *gone}}


def _more(row: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    return {name: row.get(name, 0) + added.get(name, 0) for name in {*row, *added}}


def _beyond(
    evidence: Evidence,
    resource: str,
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> Iterator[Violation]:
    total = sum(max(0, node.offers(resource)) for node in evidence.snapshot.nodes)
    tops: list[tuple[str | None, int | None]] = [(None, total)]
    tops += [(q.name, q.rule(resource).limit) for q in evidence.snapshot.queues]
    for top, most in tops:
        if most is None or not _keeps(evidence, top, resource):
            continue
        there = max(most, *_readings(evidence, top, resource, {}, {}).values())
        readings = _readings(evidence, top, resource, before, after)
        takes = readings.get(_Reading(keeps=True, adds=True), 0)
        if takes > there:
            takes_, most_ = (format_quantity(resource, x) for x in (takes, there))
            message = f"{resource}: {takes_} are in use or kept, there are {most_}"
            yield Violation("lending-limit", top or "cluster", message)


def _keeps(evidence: Evidence, top: str | None, resource: str) -> bool:
    return any(
        queue.rule(resource).kept
        and (top is None or top in evidence.path(queue.name)[1:])
        for queue in evidence.snapshot.queues
    )


def _readings(
    evidence: Evidence,
    top: str | None,
    resource: str,
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> dict[_Reading, int]:
    """
    Give the most that the queues right below one take, each by what it holds or keeps.

    A plan only adds: so what counts of a reading is if it adds anything at all.
    """
    found = {_Reading(): 0}
    for queue in evidence.snapshot.queues:
        if queue.parent != top:
            continue
        name, kept = queue.name, queue.rule(resource).kept
        own = after.get(name, 0)
        adds = _Reading(adds=own > before.get(name, 0))
        below = _readings(evidence, name, resource, before, after)
        takes = _most((_both(adds, one), own + most) for one, most in below.items())
        if kept:
            keeps = _Reading(keeps=True)
            takes[keeps] = max(kept, takes.get(keeps, kept))
        found = _most(
            (_both(one, other), most + more)
            for one, most in found.items()
            for other, more in takes.items()
        )
    return found


def _both(one: _Reading, other: _Reading) -> _Reading:
    return _Reading(one.keeps or other.keeps, one.adds or other.adds)


def _most(sums: Iterable[tuple[_Reading, int]]) -> dict[_Reading, int]:
    found: dict[_Reading, int] = {}
    for reading, total in sums:
        found[reading] = max(total, found.get(reading, total))
    return found
