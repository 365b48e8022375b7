"""
Rows that say exactly what the bins of a node hold together: facets of what they can.

What fits into bins, in numbers of each kind, is the sum of what fits into each.  The
convex hull is bounded by rows a · x ≤ Σ over bins of the most that a · content is;
those are kept that touch it in as many independent directions as there are kinds less
one.  For devices that are taken one by one these are Hall's conditions.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import gcd

import numpy as np
from numpy.typing import NDArray

from adapters.kube.claims.device_bins import Content, TooManyError

Row = tuple[int, ...]
"""
What one item of each kind counts.
"""
Kinds = frozenset[tuple[Content, ...]]
"""
The bins of a node by what they can hold, equal ones once.
"""
_Ints = NDArray[np.int64]
_LARGEST = (1, 1, 64, 24, 12, 7)
"""
What a row may count for one item, by how many kinds lie beside one another in a bin:
about as many rows are tried of each number of kinds.
"""
_AT_ONCE = 100_000
"""
So many points are looked at together, over all rows that may be facets.
"""
MOST_MIXED, MOST_SINGLE = 5, 10
"""
The kinds of items that may compete for the same bins: where a bin holds several items,
and where each holds one.
"""


def most_of(rows: _Ints, contents: Sequence[Content] | _Ints) -> list[int]:
    """
    Give the most that a content of a bin counts in each of some rows.
    """
    counted = rows @ np.asarray(contents, dtype=np.int64).T
    most: list[int] = counted.max(axis=1).tolist()
    return most


@lru_cache(maxsize=4096)
def facets_of(kinds: Kinds, number: int) -> tuple[Row, ...]:
    """
    Give the rows that bound so many kinds of items in some bins.

    Raises
    ------
    TooManyError
        When more kinds compete for the same bins than are told apart.
    """
    found: list[Row] = []
    for together in _competing(kinds, number):
        own = sorted({_seen(contents, together) for contents in kinds})
        own = [contents for contents in own if any(map(any, contents))]
        for row in _rows(tuple(own), len(together)):
            whole = [0] * number
            for at, amount in zip(together, row, strict=True):
                whole[at] = amount
            found.append(tuple(whole))
    return tuple(sorted(found))


def _seen(
    contents: tuple[Content, ...], together: Sequence[int]
) -> tuple[Content, ...]:
    """
    See of contents some kinds only.
    """
    return tuple(sorted({tuple(one[at] for at in together) for one in contents}))


def _competing(kinds: Kinds, number: int) -> list[tuple[int, ...]]:
    """
    Part the kinds of items that have a place at all into those that compete.
    """
    groups: list[set[int]] = []
    for contents in kinds:
        here = {at for at in range(number) if any(one[at] for one in contents)}
        if here:
            apart = [group for group in groups if not group & here]
            joined = here.union(*(group for group in groups if group & here))
            groups = [*apart, joined]
    return sorted(tuple(sorted(group)) for group in groups)


@lru_cache(maxsize=4096)
def _rows(own: tuple[tuple[Content, ...], ...], number: int) -> tuple[Row, ...]:
    if number == 1:
        return ((1,),)
    points = [np.array(contents, dtype=np.int64) for contents in own]
    candidates = _candidates_for(points)
    parts = _parts(candidates, points)
    some = np.concatenate([_may_be_facets(rows, points) for rows in parts])
    found = [rows[_are_facets(rows, points)] for rows in _parts(some, points)]
    return tuple(map(tuple, np.concatenate(found).tolist()))


def _parts(rows: _Ints, points: Sequence[_Ints]) -> list[_Ints]:
    """
    Part rows so that what they count of all points is never too much at once.
    """
    number = -(-len(rows) * sum(map(len, points)) // _AT_ONCE)
    return np.array_split(rows, max(1, number))


def _may_be_facets(rows: _Ints, points: Sequence[_Ints]) -> _Ints:
    """
    Leave out the rows that touch too few points.
    """
    directions = (rows == 0).sum(axis=1)
    directions += sum(_touched(rows, each).sum(axis=1) - 1 for each in points)
    found: _Ints = rows[directions >= rows.shape[1] - 1]
    return found


def _touched(rows: _Ints, points: _Ints) -> NDArray[np.bool_]:
    """
    Tell which points count most in each row.
    """
    counted = rows @ points.T
    return np.asarray(counted == counted.max(axis=1, keepdims=True))


def _candidates_for(points: Sequence[_Ints]) -> _Ints:
    """
    List what may be a facet: small numbers for kinds that lie beside others in a bin.

    A kind that has its bin for itself counts as much as all that it keeps out.
    """
    number = points[0].shape[1]
    if all((each.sum(axis=1) <= 1).all() for each in points):
        _must_be_few(number, MOST_SINGLE)
        return _small(number, 1)
    alone = [
        at
        for at in range(number)
        if all(
            (each[each[:, at] > 0].astype(bool).sum(axis=1) <= 1).all()
            for each in points
        )
    ]
    beside = [at for at in range(number) if at not in alone]
    _must_be_few(len(beside), MOST_MIXED)
    _must_be_few(len(alone), MOST_MIXED)
    some = _small(len(beside), _LARGEST[len(beside)])
    rows = np.zeros((1 + len(some), number), dtype=np.int64)
    rows[1:, beside] = some
    found = _in_all_orders(rows, alone, points)
    return found[found.any(axis=1)]


def _in_all_orders(rows: _Ints, alone: Sequence[int], points: Sequence[_Ints]) -> _Ints:
    """
    Give numbers to kinds that have their bins for themselves, one after the other.

    In one bin a kind may count as much as kinds beside others do, in another bin as
    much as a kind that has that one for itself: then it comes after that.
    """
    known = {frozenset[int](): rows}
    for turn in alone:
        grown: dict[frozenset[int], list[_Ints]] = {}
        for some, each in known.items():
            for at in alone if len(points) > 1 else [turn]:
                if at not in some:
                    more = _with_alone(each, at, points)
                    grown.setdefault(some | {at}, []).append(more)
        known = {some: _distinct(np.concatenate(each)) for some, each in grown.items()}
    (found,) = known.values()
    return found


def _with_alone(rows: _Ints, at: int, points: Sequence[_Ints]) -> _Ints:
    """
    Let a kind that has its bin for itself count as much as all others there do at most.

    It counts no less in any facet: it could count more, and nothing would be cut off.
    """
    found = []
    for each in points:
        own = int(each[:, at].max())
        if own:
            more = rows * own
            parts = _parts(rows, points)
            more[:, at] = [most for some in parts for most in most_of(some, each)]
            found.append(more)
    every = np.concatenate([*found, np.eye(rows.shape[1], dtype=np.int64)[[at]]])
    common = np.maximum(np.gcd.reduce(every, axis=1), 1)
    return _distinct(every // common[:, None])


def _distinct(rows: _Ints) -> _Ints:
    """
    Give each row once: column by column, rows that are the same so far get one number.
    """
    kept = np.arange(len(rows))
    same = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        pairs = same * (column.max() + 1) + column
        _, kept, same = np.unique(pairs, return_index=True, return_inverse=True)
    return rows[kept]


def _must_be_few(number: int, most: int) -> None:
    if number > most:
        raise TooManyError(
            f"{number} kinds of items compete, and at most {most} are planned"
        )


@lru_cache(maxsize=64)
def _small(number: int, largest: int) -> _Ints:
    """
    List the rows of small numbers that have no common factor.
    """
    every = product(range(largest + 1), repeat=number)
    rows = [row for row in every if gcd(*row) == 1]
    return np.array(rows, dtype=np.int64).reshape(len(rows), number)


def _are_facets(rows: _Ints, points: Sequence[_Ints]) -> NDArray[np.bool_]:
    """
    Tell whether what touches each row leaves one direction only.
    """
    number = rows.shape[1]
    lines = [np.eye(number, dtype=np.int64) * (rows == 0)[:, :, None]]
    for each in points:
        which = _touched(rows, each)
        first = each[which.argmax(axis=1)]
        lines.append((each - first[:, None]) * which[:, :, None])
    ranks = np.linalg.matrix_rank(np.concatenate(lines, axis=1))
    return np.asarray(ranks >= number - 1)
