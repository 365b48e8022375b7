"""
An answer of a model, turned into a draft that may be kept.
"""

from solver.decode.deal_places import decode
from solver.decode.evictions import decode_step
from solver.decode.wants import Value
from solver.effort.budget import Budget
from solver.encode.encoding import Encoding
from solver.evict.open_step import Opened
from solver.place.complete import complete
from solver.place.draft import Draft


def read(
    encoding: Encoding, value: Value, budget: Budget, opened: Opened | None
) -> tuple[Draft | None, tuple[int, ...]]:
    """
    Give the draft of an answer, and the classes whose counts could not be packed.

    In a step there is none where not all that moves found its place, or what was placed
    gives no right to those who leave.
    """
    if opened is None or encoding.leaving is None:
        decoded = decode(encoding, value, budget)
        draft = decoded.draft
        if decoded.unpacked:
            draft = complete(encoding.problem, draft, budget)
        return draft, decoded.unpacked
    decoded, moved = decode_step(encoding, encoding.leaving, value, budget)
    draft = opened.settled(decoded.draft)
    holds = moved and opened.holds(draft, whole=decoded.whole)
    return draft if holds else None, decoded.unpacked
