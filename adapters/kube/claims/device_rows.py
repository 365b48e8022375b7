"""
Devices as resources of nodes: rows that say exactly what can be had together.

Each row is a resource.  A node offers of it the most that its free devices count there,
and a pod asks for what its items count; so capacity rows of nodes, which every part of
planning knows, hold exactly when the devices can be dealt (decision 0033).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from adapters.kube.claims.device_bins import Content, TooManyError, contents
from adapters.kube.claims.device_choices import Options, chosen_contents, options_of
from adapters.kube.claims.device_items import Item
from adapters.kube.claims.facets import MOST_MIXED, Row, facets_of, most_of
from adapters.kube.claims.given_back import Holder, HoldersGone
from adapters.kube.claims.node_bins import NodeBin
from models.resources import CLAIMED_DEVICES, Resources

_LONGEST = 200
_LATER = "claims want more kinds of devices than are planned together: older come first"
HeldBins = Counter[tuple[Content, ...]]
"""
The bins of a node by what they can hold.
"""
TogetherGiven = tuple[tuple[Holder, ...], Resources]
"""
Who has bins in common, and how much more a node offers once all of them have left.
"""
_Change = tuple[HeldBins, HeldBins]
"""
Some bins of a node before somebody leaves, and after.
"""


@dataclass(frozen=True, slots=True)
class DeviceRows:
    """
    The rows of all items, and what each node offers of them.

    ``closed`` are nodes where not all kinds of items are planned, with the reason, and
    ``left_out`` the items that are planned nowhere for that.  ``given`` is what some
    pods with devices give back if they leave, by their keys, and ``tied`` by node what
    some holders give back together.
    """

    items: tuple[Item, ...] = ()
    rows: Mapping[str, Row] = field(default_factory=dict)
    offered: Mapping[str, Resources] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[Item, str] = field(default_factory=dict)
    given: Mapping[str, Resources] = field(default_factory=dict)
    tied: Mapping[str, Sequence[TogetherGiven]] = field(default_factory=dict)

    def asked(self, numbers: Mapping[Item, int]) -> Resources:
        """
        Say what some items ask for.
        """
        found = {}
        which = {self.items.index(item): number for item, number in numbers.items()}
        for name, row in self.rows.items():
            amount = sum(row[at] * number for at, number in which.items())
            if amount:
                found[name] = amount
        return found


def device_rows(
    items: Sequence[Item],
    singles: Sequence[Item],
    nodes: Mapping[str, Sequence[NodeBin]],
    first: Sequence[Item] = (),
    leaving: Mapping[str, HoldersGone] = MappingProxyType({}),
) -> DeviceRows:
    """
    Find the rows for some items and the free devices of all nodes.

    ``singles`` are the items that bins know, in their order.  A node whose devices more
    kinds of items want than can be told apart offers something to the ``first`` alone.
    ``leaving`` says by node what would change if its pods left.
    """
    asked = tuple(options_of(item, singles) for item in items)
    told = _RowsFound()
    for node, bins in nodes.items():
        told.read(node, bins, items, asked, first)
    held, closed = told.held, told.closed
    changes = _changes(leaving, {x: held[x] for x in held if x not in closed}, asked)
    found = {*_units(len(items)), *told.rows}
    found.update(row for one in changes.values() for row in one.rows)
    rows = dict(zip(_names(items, sorted(found)), sorted(found), strict=True))
    counts = _RowCounts(rows)
    offered = _offers(held, counts)
    nowhere = _nowhere(items, rows, offered)
    waits = {item: why for item, why in told.left_out.items() if item in nowhere}
    given = {
        key: _counted(change, counts)
        for one in changes.values()
        for key, change in one.each.items()
    }
    tied: dict[str, list[TogetherGiven]] = {}
    for node, one in changes.items():
        for who, change, between in one.tied:
            tied.setdefault(node, []).append((who, _counted(change, counts)))
            given |= _least_of_each(who, change, between, counts)
    return DeviceRows(tuple(items), rows, offered, closed, waits, given, tied)


@dataclass(slots=True)
class _RowsFound:
    """
    What the nodes hold that were read, and the rows for that.
    """

    held: dict[str, HeldBins] = field(default_factory=dict)
    rows: set[Row] = field(default_factory=set)
    closed: dict[str, str] = field(default_factory=dict)
    left_out: dict[Item, str] = field(default_factory=dict)

    def read(
        self,
        node: str,
        bins: Sequence[NodeBin],
        items: Sequence[Item],
        asked: Sequence[Options],
        first: Sequence[Item],
    ) -> None:
        """
        Read one node, with fewer kinds of items where all are too many.
        """
        turns = [items.index(item) for item in first if item in items][:MOST_MIXED]
        for some in (
            range(len(items)),
            *(turns[:number] for number in range(len(turns), -1, -1)),
        ):
            kinds = {at for item in some for at, _ in asked[item]}
            try:
                free = tuple(contents(each.free.only(kinds)) for each in bins)
                self.held[node] = _held(free, asked)
                self.rows.update(facets_of(frozenset(self.held[node]), len(items)))
            except TooManyError as error:
                self.closed[node] = str(error)
            else:
                left = (item for at, item in enumerate(items) if at not in some)
                why = f"{_LATER} ({self.closed.get(node)})"
                self.left_out |= dict.fromkeys(left, why)
                break


class _Changes(NamedTuple):
    """
    How the bins of a node change: by who leaves, and who leaves together; rows for it.
    """

    each: Mapping[str, _Change]
    tied: Sequence[tuple[tuple[Holder, ...], _Change, Mapping[int, HeldBins]]]
    rows: tuple[Row, ...]


def _changes(
    leaving: Mapping[str, HoldersGone],
    held: Mapping[str, HeldBins],
    asked: Sequence[Options],
) -> dict[str, _Changes]:
    """
    Say how the bins of nodes change, where the rows for that are not too many.
    """
    found: dict[str, _Changes] = {}
    for node in sorted(leaving.keys() & held.keys()):
        with suppress(TooManyError):
            each = {
                key: (_held(one.before, asked), _held(one.after, asked))
                for key, one in leaving[node].each.items()
            }
            tied = [
                (
                    x.who,
                    (_held(x.all_gone.before, asked), _held(x.all_gone.after, asked)),
                    {mask: _held(bins, asked) for mask, bins in x.between.items()},
                )
                for x in leaving[node].tied
            ]
            after = [*(x for _, x in each.values()), *(x for _, (_, x), _ in tied)]
            after += [x for _, _, between in tied for x in between.values()]
            rows = facets_of(frozenset(held[node]).union(*after), len(asked))
            found[node] = _Changes(each, tied, rows)
    return found


class _RowCounts:
    """
    What bins count in all rows, found once for each that holds something else.
    """

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._rows = [*rows]
        number = len(next(iter(rows.values()), ()))
        matrix = np.array([*rows.values()], dtype=np.int64)
        self._matrix = matrix.reshape(len(rows), number)
        self._known: dict[tuple[Content, ...], list[int]] = {}

    def of(self, here: HeldBins) -> dict[str, int]:
        """
        Give the most that some bins count in each row.
        """
        total = [0] * len(self._rows)
        for each, number in here.items():
            most = self._known.get(each)
            if most is None:
                most = self._known[each] = most_of(self._matrix, each)
            total = [a + number * b for a, b in zip(total, most, strict=True)]
        return dict(zip(self._rows, total, strict=True))


def _counted(change: _Change, counts: _RowCounts) -> Resources:
    """
    Say how much more a node offers.
    """
    before, after = (counts.of(bins) for bins in change)
    return {row: n - before[row] for row, n in after.items() if n > before[row]}


def _least_of_each(
    who: Sequence[Holder],
    change: _Change,
    between: Mapping[int, HeldBins],
    counts: _RowCounts,
) -> dict[str, Resources]:
    """
    Say what each of some holders gives back at least, whoever of the others has left.
    """
    if not between:
        return {}
    last = (1 << len(who)) - 1
    bins = {0: change[0], **between, last: change[1]}
    known = {mask: counts.of(each) for mask, each in bins.items()}
    found: dict[str, Resources] = {}
    for at, one in enumerate(who):
        beside = [mask for mask in known if not mask >> at & 1]
        least = {
            row: min(known[mask | 1 << at][row] - known[mask][row] for mask in beside)
            for row in known[0]
        }
        found[one.key] = {row: n for row, n in least.items() if n > 0}
    return found


def _offers(held: Mapping[str, HeldBins], counts: _RowCounts) -> dict[str, Resources]:
    """
    Say what each node offers; nodes that are alike offer the same object.
    """
    known: dict[frozenset[tuple[tuple[Content, ...], int]], Resources] = {}
    offered: dict[str, Resources] = {}
    for node, here in held.items():
        key = frozenset(here.items())
        if key not in known:
            known[key] = counts.of(here)
        offered[node] = known[key]
    return offered


def _nowhere(
    items: Sequence[Item], rows: Mapping[str, Row], offered: Mapping[str, Resources]
) -> set[Item]:
    """
    List the items of which no node offers any.
    """
    units = {row: name for name, row in rows.items()}
    names = [units[unit] for unit in _units(len(items))]
    there = {name for name in names if any(each[name] for each in offered.values())}
    return {item for item, name in zip(items, names, strict=True) if name not in there}


def _held(bins: tuple[tuple[Content, ...], ...], asked: Sequence[Options]) -> HeldBins:
    """
    Say what the bins of a node hold of items; those that a choice joins are one.
    """
    joined = {at for options in asked if len(options) > 1 for at, _ in options}
    if not joined:
        return Counter(bins)  # then items and singles are the same
    several, found = [], HeldBins()
    for each in bins:
        if any(one[at] for one in each for at in joined):
            several.append(each)
        else:
            found[_of_items(each, asked)] += 1
    if several:
        found[chosen_contents(tuple(sorted(several)), tuple(asked))] += 1
    return found


def _of_items(
    contents: Sequence[Content], asked: Sequence[Options]
) -> tuple[Content, ...]:
    """
    Count contents of a bin that no choice concerns by items.
    """
    return tuple(
        tuple(one[options[0][0]] if len(options) == 1 else 0 for options in asked)
        for one in contents
    )


def _units(number: int) -> Iterable[Row]:
    for at in range(number):
        yield tuple(int(at == other) for other in range(number))


def _names(items: Sequence[Item], rows: Iterable[Row]) -> Iterable[str]:
    """
    Name rows by what they count.
    """
    words = [_word(item) for item in items]
    twice = {word for word in words if words.count(word) > 1}
    words = [
        f"{word}_{_digest(repr(item))[:6]}" if word in twice else word
        for word, item in zip(words, items, strict=True)
    ]
    for row in rows:
        parts = [
            word if amount == 1 else f"{amount}x{word}"
            for word, amount in zip(words, row, strict=True)
            if amount
        ]
        name = "_and_".join(parts)
        if len(name) > _LONGEST:
            name = f"{name[:_LONGEST]}_{_digest(name)}"
        yield f"{CLAIMED_DEVICES}{name}"


def _word(item: Item) -> str:
    said = str(item).replace("×", "x").replace("|", "_or_").replace("&", "_with_")
    return said.replace("/", "_")


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=6).hexdigest()
