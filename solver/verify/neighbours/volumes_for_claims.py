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
    claiming = [one for one in occupants(evidence) if one.said.claims]
    given: dict[_Piece, tuple[_Piece, ...]] = {}
    for one in claiming:
        for kind, number in one.said.claims:
            for _ in range(number * (one.stay + one.ending)):
                _finds_one(_pieces(one, kind), given, set())
    for one in claiming:
        for kind, number in one.said.claims:
            lacking = sum(
                not _finds_one(_pieces(one, kind), given, set())
                for _ in range(number * one.new)
            )
            if lacking:
                what = f"{lacking} claims of {kind} on {one.node.name}"
                yield Violation("volume-for-claim", one.gang, f"{what} find no volume")


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
    suited: tuple[_Piece, ...],
    given: dict[_Piece, tuple[_Piece, ...]],
    tried: set[_Piece],
) -> bool:
    """
    Give a claim a volume; who has it may take another one.
    """
    for piece in suited:
        if piece in tried:
            continue
        tried.add(piece)
        if piece not in given or _finds_one(given[piece], given, tried):
            given[piece] = suited
            return True
    return False
