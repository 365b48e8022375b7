"""
The rule about free volumes that several nodes reach.
"""

from collections.abc import Iterator

from models.neighbours import ReachedVolumes
from solver.verify.evidence import Evidence
from solver.verify.neighbours.occupants import Occupant, occupants
from solver.verify.violation import Violation

_Piece = tuple[ReachedVolumes, int]


def volumes_for_claims(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that each claim of a pod that gets a place can have a volume of its own.

    Volumes of pods that were there are theirs, also of those that leave or move.
    """
    claiming = [one for one in occupants(evidence) if one.said.takes_volumes]
    given: dict[_Piece, tuple[_Piece, ...]] = {}
    for one in claiming:
        for kind, number in one.said.claims:
            for _ in range(number * (one.stay + one.ending)):
                _finds_one(_pieces(one, kind), given)
    yield from _shared_by_pods(claiming, given)
    for one in claiming:
        for kind, number in one.said.claims:
            lacking = sum(
                not _finds_one(_pieces(one, kind), given)
                for _ in range(number * one.new)
            )
            if lacking:
                what = f"{lacking} claims of {kind} on {one.node.name}"
                yield Violation("volume-for-claim", one.gang, f"{what} find no volume")


def _shared_by_pods(
    claiming: list[Occupant], given: dict[_Piece, tuple[_Piece, ...]]
) -> Iterator[Violation]:
    """
    Ensure that all pods of a claim are on nodes that reach a volume it can have.

    Those that have one keep it or change it; the pods that come may narrow the choice.
    """
    users: dict[tuple[str, str], list[Occupant]] = {}
    for one in claiming:
        for claim in one.said.shared:
            users.setdefault(claim, []).append(one)
    there: dict[tuple[str, str], tuple[_Piece, ...]] = {}
    first = dict(given)
    for claim, pods in sorted(users.items()):
        old = _for_all([one for one in pods if one.stay or one.ending], claim[1])
        if old and _finds_one(old, first):
            there[claim] = old
    grow = {claim for claim, pods in users.items() if any(one.new for one in pods)}
    for claim in sorted(there.keys() - grow):
        _finds_one(there[claim], given)
    for claim in sorted(grow):
        pods = [one for one in users[claim] if one.stay or one.ending or one.new]
        if not _finds_one(_for_all(pods, claim[1]), given):
            gang = next(one.gang for one in pods if one.new)
            what = f"no volume for claim {claim[0]} is reached by all of its pods"
            yield Violation("volume-for-claim", gang, what)


def _for_all(pods: list[Occupant], kind: str) -> tuple[_Piece, ...]:
    """
    List each volume that a claim of several pods may have.
    """
    rows = [_pieces(one, kind) for one in pods]
    return tuple(x for x in rows[0] if all(x in row for row in rows)) if rows else ()


def _pieces(one: Occupant, kind: str) -> tuple[_Piece, ...]:
    """
    List each volume that a claim may have on its node.
    """
    return tuple(
        (volumes, at)
        for volumes in one.node.volumes
        if kind in volumes.kinds
        for at in range(volumes.number)
    )


def _finds_one(
    suited: tuple[_Piece, ...], given: dict[_Piece, tuple[_Piece, ...]]
) -> bool:
    """
    Give a claim a volume; who has it may take another one.
    """
    came: dict[_Piece, _Piece | None] = dict.fromkeys(suited)
    queue = list(suited)
    for piece in queue:
        if piece in given:
            more = [x for x in given[piece] if x not in came]
            came |= dict.fromkeys(more, piece)
            queue += more
            continue
        at, before = piece, came[piece]
        while before is not None:
            given[at] = given[before]
            at, before = before, came[before]
        given[at] = suited
        return True
    return False
