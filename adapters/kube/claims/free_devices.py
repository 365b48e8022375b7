"""
What is free of the devices of all nodes, found again only where somebody came or left.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from adapters.kube.claims.device_bins import TooManyError
from adapters.kube.claims.device_items import Item
from adapters.kube.claims.device_matching import DeviceMatching
from adapters.kube.claims.device_pools import Pool, Pools
from adapters.kube.claims.device_reader import Device, DeviceName
from adapters.kube.claims.device_requests import DeviceClaim, HeldDevice
from adapters.kube.claims.given_back import Holder, HoldersGone, given_back
from adapters.kube.claims.gpu_shares import shares_had, shares_of, told_of_choices
from adapters.kube.claims.node_bins import DevicesOfNode, NodeBin
from adapters.kube.objects.fields import FieldError


@dataclass(frozen=True, slots=True)
class _FreeOfNode:
    """
    The free bins of a node, and what they were made of; why there are none instead.
    """

    of: DevicesOfNode
    held: tuple[HeldDevice, ...]
    is_whole: bool
    bins: Sequence[NodeBin] | str


class FreeDevices:
    """
    The devices of some pools as some kinds of items need them.

    ``items`` are the kinds that pods ask for, ``singles`` those that bins know: of one
    with a choice, what it is made of.  ``faults`` are the kinds that cannot be
    evaluated, and ``shares`` what others count as GPUs.
    """

    def __init__(self) -> None:
        self.pools = Pools()
        self.faults: dict[Item, str] = {}
        self.shares: dict[Item, int] = {}
        self.told: tuple[str, ...] = ()
        self.items: tuple[Item, ...] = ()
        self.singles: tuple[Item, ...] = ()
        self.nodes: dict[str, DevicesOfNode] = {}
        self._asked: frozenset[Item] = frozenset()
        self._matching = DeviceMatching(())
        self._bins: dict[str, _FreeOfNode] = {}
        self._freed: dict[str, _FreeOfNode] = {}
        self._apart: dict[int, dict[str, _FreeOfNode]] = {}
        self._node_of: dict[DeviceName, str] = {}
        self._devices: dict[DeviceName, Device] = {}

    def take(self, pools: Pools) -> None:
        """
        Take the pools that are there now; of nodes whose pools stayed all is kept.
        """
        self.pools = pools
        self._devices = {d.name: d for pool in pools.pools for d in pool.devices}
        by_node: dict[str, list[Pool]] = {}
        self._node_of = {}
        for pool in pools.pools:
            here = {d.name: d.node for d in pool.devices if d.node is not None}
            self._node_of |= here
            for node in sorted(set(here.values())):
                by_node.setdefault(node, []).append(pool)
        before, self.nodes = self.nodes, {}
        for node, own in by_node.items():
            known = before.get(node)
            if known is None or known.pools != tuple(own):
                known = DevicesOfNode(node, own)
            self.nodes[node] = known
        for bins in (self._bins, self._freed, *self._apart.values()):
            for node in [at for at in bins if bins[at].of is not self.nodes.get(at)]:
                del bins[node]
        self._count()

    def see(self, items: Iterable[Item]) -> None:
        """
        Look at devices as these items need them.
        """
        asked = frozenset(items)
        if asked != self._asked:
            asks = {ask for item in asked for part in item.parts for ask in part.asks}
            self._asked, self._bins, self._freed, self._apart = asked, {}, {}, {}
            self._matching = DeviceMatching(asks)
            self._count()

    def _count(self) -> None:
        """
        Count the items by the kinds of devices that there are.
        """
        kinds = self._matching.take(self._devices.values())
        found = ((item, self._fault(item, kinds)) for item in self._asked)
        self.faults = {item: why for item, why in found if why}
        items = _sorted(self._asked - self.faults.keys())
        singles = _sorted({x for item in items for x, _ in item.choices})
        if (items, singles) != (self.items, self.singles):
            self._bins, self._freed, self._apart = {}, {}, {}
        self.items, self.singles = items, singles
        self.shares = {x: shares_of(x, kinds, self._matching) for x in items}
        told = (told_of_choices(item, kinds, self._matching) for item in items)
        self.told = tuple(sorted(filter(None, told)))

    def had(self, held: Iterable[HeldDevice]) -> int | None:
        """
        Count what a claim has in 1/7000 of a GPU; none where a device is not known.
        """
        return shares_had(held, self._devices)

    def _fault(self, item: Item, kinds: Sequence[Device]) -> str:
        """
        Say which selector of an item throws for any device there is.
        """
        try:
            for part in item.parts:
                for ask in part.asks:
                    deque(self._matching.those(ask, kinds), maxlen=0)
        except FieldError as error:
            return str(error)
        return ""

    def bins(
        self, held: Iterable[HeldDevice]
    ) -> tuple[dict[str, Sequence[NodeBin]], dict[str, str]]:
        """
        Give the free bins of all nodes, and the nodes where there are too many ways.
        """
        by_node = self._by_node(held)
        found: dict[str, Sequence[NodeBin]] = {}
        closed: dict[str, str] = {}
        for node in self.nodes:
            bins = self.of_node(node, by_node.get(node, ()))
            if isinstance(bins, str):
                closed[node] = bins
            else:
                found[node] = bins
        return found, closed

    def overdrawn(self, held: Iterable[HeldDevice]) -> set[DeviceName]:
        """
        Name the devices of which claims have more together than there is.
        """
        by_node = self._by_node(held).items()
        return {
            name for node, some in by_node for name in self.nodes[node].overdrawn(some)
        }

    def _by_node(self, held: Iterable[HeldDevice]) -> dict[str, list[HeldDevice]]:
        found: dict[str, list[HeldDevice]] = {}
        for each in held:
            if (node := self._node_of.get(each.device)) is not None:
                found.setdefault(node, []).append(each)
        return found

    def of_node(self, node: str, held: Iterable[HeldDevice]) -> Sequence[NodeBin] | str:
        """
        Give the free bins of one node; why there are none where they are too many.
        """
        return self._known(self._bins, node, held)

    def leaving(
        self, holders: Iterable[Holder], held: Iterable[HeldDevice]
    ) -> dict[str, HoldersGone]:
        """
        Say by node what would change if its pods left, where that is known.
        """
        found: dict[str, HoldersGone] = {}
        joined = frozenset(
            self.singles.index(single)
            for item in self.items
            if len(item.choices) > 1
            for single, _ in item.choices
        )
        there: dict[str, list[HeldDevice]] = {}
        for each in held:
            there.setdefault(self._node_of.get(each.device, ""), []).append(each)
        by_node: dict[str, list[Holder]] = {}
        for holder in holders:
            by_node.setdefault(holder.node, []).append(holder)
        for node in by_node.keys() & self.nodes.keys():
            mine = Counter(each for holder in by_node[node] for each in holder.held)
            rest = Counter(there.get(node, ())) - mine
            now = self.of_node(node, there.get(node, ()))
            freed = self._known(self._freed, node, rest.elements())
            if not isinstance(now, str) and not isinstance(freed, str):
                without = partial(self._without, node, there.get(node, ()))
                with suppress(TooManyError):
                    found[node] = given_back(by_node[node], now, freed, joined, without)
        return found

    def _without(
        self,
        node: str,
        held: Iterable[HeldDevice],
        question: int,
        gone: Sequence[Holder],
    ) -> Sequence[NodeBin] | str:
        """
        Give the free bins of a node once some have left, as known from this question.
        """
        rest = Counter(held) - Counter(each for one in gone for each in one.held)
        known = self._apart.setdefault(question, {})
        return self._known(known, node, rest.elements())

    def _known(
        self, bins: dict[str, _FreeOfNode], node: str, held: Iterable[HeldDevice]
    ) -> Sequence[NodeBin] | str:
        mine = tuple(sorted(held, key=repr))
        is_whole = node not in self.pools.faulty and "" not in self.pools.faulty
        known = bins.get(node)
        if known is None or (known.held, known.is_whole) != (mine, is_whole):
            of = self.nodes[node]
            known = _FreeOfNode(
                of, mine, is_whole, self._made(of, mine, is_whole=is_whole)
            )
            bins[node] = known
        return known.bins

    def _made(
        self, of: DevicesOfNode, held: Sequence[HeldDevice], *, is_whole: bool
    ) -> Sequence[NodeBin] | str:
        try:
            return of.bins(self.singles, self._matching, held, is_whole=is_whole)
        except TooManyError as error:
            return str(error)


def _sorted(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items, key=lambda item: (str(item), repr(item))))


def given_twice(
    free: FreeDevices, claims: Mapping[str, DeviceClaim]
) -> dict[DeviceName, list[str]]:
    """
    Name the devices of which claims have more than there is, with these claims.
    """
    had: dict[DeviceName, list[str]] = {}
    for key, claim in claims.items():
        for each in claim.held or ():
            had.setdefault(each.device, []).append(key)
    held = (each for claim in claims.values() for each in claim.held or ())
    return {name: had[name] for name in free.overdrawn(held)}
