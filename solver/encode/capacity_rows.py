"""
Rows that hold a node class to its room: one per resource, and one per level of demand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from solver.problem.node_room import Ints


@dataclass(frozen=True, slots=True)
class CapacityRow:
    """
    Σ coefficient × count over shapes ≤ total; ``each`` is the most one node adds.
    """

    coefficients: tuple[int, ...]
    total: int
    each: int


def resource_rows(requests: Ints, kinds: Ints, counts: Ints) -> list[CapacityRow]:
    """
    Give the sum row of every binding resource, and its floor rows where they cut.

    For every amount q that a shape asks for: Σ ⌊request / q⌋ ≤ Σ over nodes ⌊free / q⌋.
    Where two amounts give the same sum, the smaller one cuts more.
    """
    rows = []
    for r in range(requests.shape[1]):
        free = kinds[:, r]
        if (free < 0).all() or not requests[:, r].any():
            continue
        asked = [int(v) for v in requests[:, r]]
        step = 0
        for value in asked:
            step = gcd(step, value)
        total = int((free.clip(min=0) * counts).sum())
        base = CapacityRow(
            tuple(v // step for v in asked), total // step, int(free.max()) // step
        )
        rows.append(base)
        last = -1
        for q in sorted({v for v in asked if v > step}):
            floor = int((free.clip(min=0) // q * counts).sum())
            if floor == last:
                continue
            last = floor
            row = CapacityRow(tuple(v // q for v in asked), floor, int(free.max()) // q)
            if row.each <= 64 and not _implied(row, base):
                rows.append(row)
    return rows


def _implied(row: CapacityRow, base: CapacityRow) -> bool:
    return all(
        a * base.total <= b * row.total
        for a, b in zip(row.coefficients, base.coefficients, strict=True)
    )


def row_of(size: int, terms: Mapping[int, int], total: int, each: int) -> CapacityRow:
    """
    Write a row over so many shapes, with 0 for those that are not named.
    """
    return CapacityRow(tuple(terms.get(i, 0) for i in range(size)), total, each)
