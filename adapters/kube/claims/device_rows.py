"""
Devices as resources of nodes: rows that say exactly what can be had together.

Each row is a resource.  A node offers of it the most that its free devices count there,
and a pod asks for what its items count; so capacity rows of nodes, which every part of
planning knows, hold exactly when the devices can be dealt (decision 0033).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from adapters.kube.claims.device_bins import Content, TooManyError, contents
from adapters.kube.claims.device_choices import Options, chosen_contents, options_of
from adapters.kube.claims.device_items import Item
from adapters.kube.claims.facets import Row, facets_of, most_of
from adapters.kube.claims.node_bins import NodeBin
from models.resources import CLAIMED_DEVICES, Resources

_LONGEST = 200
HeldBins = Counter[tuple[Content, ...]]
"""
The bins of a node by what they can hold.
"""


@dataclass(frozen=True, slots=True)
class DeviceRows:
    """
    The rows of all items, and what each node offers of them.

    ``closed`` are nodes of which nothing is offered, with the reason.
    """

    items: tuple[Item, ...] = ()
    rows: Mapping[str, Row] = field(default_factory=dict)
    offered: Mapping[str, Resources] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)

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
) -> DeviceRows:
    """
    Find the rows for some items and the free devices of all nodes.

    ``singles`` are the items that bins know, in their order.
    """
    asked = tuple(options_of(item, singles) for item in items)
    closed: dict[str, str] = {}
    held: dict[str, HeldBins] = {}
    found: set[Row] = set(_units(len(items)))
    for node, bins in nodes.items():
        try:
            here = _held(tuple(contents(each.free) for each in bins), asked)
            found.update(facets_of(frozenset(here), len(items)))
        except TooManyError as error:
            closed[node] = str(error)
        else:
            held[node] = here
    rows = dict(zip(_names(items, sorted(found)), sorted(found), strict=True))
    known: dict[frozenset[tuple[tuple[Content, ...], int]], Resources] = {}
    offered: dict[str, Resources] = {}
    for node, here in held.items():
        key = frozenset(here.items())
        if key not in known:
            known[key] = _offered(here, rows)
        offered[node] = known[key]
    return DeviceRows(tuple(items), rows, offered, closed)


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


def _offered(here: HeldBins, rows: Mapping[str, Row]) -> Resources:
    return {
        name: sum(most_of(row, each) * number for each, number in here.items())
        for name, row in rows.items()
    }


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
