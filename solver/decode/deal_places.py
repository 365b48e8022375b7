"""
Decoding: counts become places, class by class, and places are dealt out to gangs.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from models.neighbours import Neighbours
from solver.decode.pack import PackedPods, pack
from solver.decode.wants import Value, Want, wants_of
from solver.effort.budget import Budget
from solver.encode.encoding import Encoding
from solver.encode.neighbours.open_places import Firsts
from solver.place.draft import Draft
from solver.place.fill import fill
from solver.place.round_state import RoundState, around_now
from solver.place.stranded import stranded
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools
from solver.problem.problem import Unit


@dataclass(frozen=True, slots=True)
class Decoded:
    """
    A draft, and the classes whose counts no packing realises.

    It is ``whole`` where all starts that were counted have their places.
    """

    draft: Draft
    unpacked: tuple[int, ...]
    whole: bool


Slots = dict[tuple[str, int], dict[int, int]]


def decode(
    encoding: Encoding, value: Value, budget: Budget, slots: Slots | None = None
) -> Decoded:
    """
    Turn the model's counts into a draft that holds on real nodes.

    What a class cannot pack gets a second chance anywhere it may be; a gang that still
    misses a core pod does not start, and what that leaves free is offered to others.
    With ``slots`` it is known what nodes hold, and nothing is packed.
    """
    unpacked: tuple[int, ...] = ()
    if slots is None:
        slots, unpacked = pack_all(encoding, value, budget)
    work = RoundState(encoding.problem)
    wants, entitled = wants_of(encoding, value)
    dealer = _Dealer(encoding, work, slots)
    dealer.keep_first(value, entitled)
    failed = dealer.deal(wants, encoding.open.firsts(value))
    if dealer.has_lonely:
        unpacked = tuple(sorted({*unpacked, *_with_neighbours(encoding, value)}))
    work.entitled = {key for key in entitled if key in work.placed}
    if failed:
        work.entitled -= {s.key for unit in failed for s in unit.states}
    return Decoded(work.draft(), unpacked, not failed)


def _with_neighbours(encoding: Encoding, value: Value) -> Iterator[int]:
    """
    List the classes with counts of pods whose rules a node of its own would tell apart.
    """
    items = encoding.problem.shapes.items
    for at, item in enumerate(encoding.classes.items):
        terms = encoding.capacity.class_terms(at)
        beside = (var for s, row in terms.items() if items[s].neighbours for var in row)
        if len(item.nodes) > 1 and any(map(value, beside)):
            yield at


def pack_all(
    encoding: Encoding, value: Value, budget: Budget
) -> tuple[Slots, tuple[int, ...]]:
    """
    Pack every class; give what lies where, and the classes that were not packed.
    """
    capacity = encoding.capacity
    slots: Slots = {}
    unpacked = []
    for at, item in enumerate(encoding.classes.items):
        items = list(_items_of(encoding, value, at))
        if not items:
            continue
        touched = capacity.touched.get(at)
        limit = None if touched is None else value(touched)
        packing, done = pack(encoding.problem, item.nodes, items, limit, budget)
        if not done:
            unpacked.append(at)
        for (i, node), count in packing.slots.items():
            row = slots.setdefault((items[i].pool, items[i].shape), {})
            host = item.nodes[node]
            row[host] = row.get(host, 0) + count
    return slots, tuple(unpacked)


def _items_of(encoding: Encoding, value: Value, at: int) -> Iterator[PackedPods]:
    """
    List what lies in a class, shape by shape; with a domain, on which of its nodes.
    """
    capacity, item = encoding.capacity, encoding.classes.items[at]
    shared = len(capacity.scoped) <= 1
    position = {node: i for i, node in enumerate(item.nodes)}
    for shape in item.shapes:
        loose = capacity.loose.get((shape, at))
        count = 0 if loose is None else value(loose)
        if count:
            yield PackedPods("", shape, count)
        for topology, table in capacity.scoped.items():
            for index, part in enumerate(item.parts):
                scoped = table.get((shape, at, index))
                count = 0 if scoped is None else value(scoped)
                if count:
                    nodes = tuple(position[n] for n in part.nodes)
                    yield PackedPods("" if shared else topology, shape, count, nodes)


def iter_first(row: dict[int, int]) -> Iterator[int]:
    """
    Walk a table that loses its first entry between two steps, or stop.
    """
    while row:
        yield next(iter(row))


def _slots(row: dict[int, int], host: int, number: int) -> list[int]:
    """
    Take so many slots of a node, which is left out once it has none.
    """
    if number:
        row[host] -= number
        if not row[host]:
            del row[host]
    return [host] * number


class _Dealer:
    """
    Hands slots to wants, the most confined first, and repairs what is short.
    """

    def __init__(self, encoding: Encoding, work: RoundState, slots: Slots) -> None:
        self.encoding = encoding
        self.work = work
        self.slots = slots
        self.shared = len(encoding.capacity.scoped) <= 1
        self.has_lonely = False
        self._first: dict[int, dict[int, int]] = {}
        self._entitled: Collection[str] = ()
        self._masks: dict[tuple[int, int], Bools] = {}

    def keep_first(self, value: Value, entitled: Collection[str]) -> None:
        """
        Keep the slots for entitled gangs on which the model says that they fit now.
        """
        for (shape, at), count in self.encoding.capacity.first.items():
            left = value(count)
            mine = [row for (_, x), row in self.slots.items() if x == shape]
            for host in self.encoding.classes.items[at].nodes:
                step = min(left, sum(row.get(host, 0) for row in mine))
                if step:
                    self._first.setdefault(shape, {})[host] = step
                    left -= step
        self._entitled = entitled if self._first else ()

    def deal(self, wants: list[Want], firsts: Firsts) -> list[Unit]:
        """
        Place all wants; give back the units that could not be placed whole.
        """
        short: list[tuple[Want, int]] = []
        taken: list[tuple[Standing, int, list[int]]] = []
        beside: list[tuple[Want, int]] = []
        for want in sorted(wants, key=self._confinement):
            if self._said(want):
                beside.append((want, want.count))
                continue
            hosts = self._from_slots(want)
            taken.append((want.state, want.leaf, hosts))
            if len(hosts) < want.count:
                short.append((want, want.count - len(hosts)))
        self.work.take_all(taken)
        short += self._beside_others(self._with_first(beside, firsts))
        failed: dict[str, Unit] = {}
        for want, left in short:
            if want.unit.key in failed:
                continue
            mask = self._mask(want)
            done = fill(self.work, want.state, want.leaf, left, mask)
            self.has_lonely |= done < left and bool(self._said(want))
            if done < left and (want.core or not want.unit.starts):
                failed[want.unit.key] = want.unit
        for unit in failed.values():
            self._take_back(unit)
        return [*failed.values(), *self._strand(failed)]

    def _strand(self, failed: Collection[str]) -> Iterator[Unit]:
        """
        Take units back as long as some lie only beside those that were taken back.
        """
        problem = self.encoding.problem
        gone = bool(failed)
        while gone:
            keys = stranded(problem, self.work.placed, around_now(problem))
            units = [u for u in problem.units if any(s.key in keys for s in u.states)]
            for unit in units:
                self._take_back(unit)
                yield unit
            gone = bool(units)

    def _row(self, want: Want) -> dict[int, int]:
        """
        Give the slots that a want may take.
        """
        pool = ""
        if want.cell is not None and not self.shared:
            pool = self.encoding.classes.levels[want.level][0]
        return self.slots.get((pool, self._shape(want)), {})

    def _shape(self, want: Want) -> int:
        return self.encoding.problem.shapes.of_leaf[want.state.key, want.leaf]

    def _said(self, want: Want) -> Neighbours:
        return self.encoding.problem.shapes.items[self._shape(want)].neighbours

    def _with_first(
        self, wants: list[tuple[Want, int]], firsts: Firsts
    ) -> list[tuple[Want, int]]:
        """
        Take the places of those who are first of their like, before any that they find.
        """
        around, left = self.work.around, [count for _, count in wants]
        while firsts and around is not None:
            names = [one.near.pods for one in firsts]
            first = min(firsts, key=lambda one: sum(x in one.selected for x in names))
            where = [around.domains.of(x) == at for x, at in firsts.pop(first).items()]
            for at, (want, _) in enumerate(wants):
                said = self._said(want)
                if (said.near, said.selected) == first and around.is_first(said):
                    left[at] += self._take_slots(want, 1, where) - 1
        return [(want, count) for (want, _), count in zip(wants, left, strict=True)]

    def _beside_others(self, wants: list[tuple[Want, int]]) -> list[tuple[Want, int]]:
        """
        Take slots one by one, as far as those who lie already let it be.
        """
        left, before = wants, -1
        while before != (missing := sum(count for _, count in left)):
            left = [(want, self._take_slots(want, count)) for want, count in left]
            before = missing
        return [(want, count) for want, count in left if count]

    def _take_slots(self, want: Want, count: int, where: Sequence[Bools] = ()) -> int:
        """
        Take as many slots as may be by now; say how many are missing.
        """
        row, inside = self._row(want), self._mask(want)
        while count:
            there = np.zeros(len(self.work.room.rows), dtype=bool)
            there[[*row]] = True
            mask = there if inside is None else there & inside
            room = self.work.room_for(want.state, want.leaf, mask)
            free = np.all([room > 0, *where], axis=0)
            host = next((host for host in row if free[host]), None)
            if host is None:
                break
            self.work.take(want.state, want.leaf, {host: 1})
            _slots(row, host, 1)
            count -= 1
        return count

    def _confinement(self, want: Want) -> tuple[int, int, bool]:
        rank = -1
        if want.level >= 0:
            rank = self.encoding.classes.ranks[want.level]
        return (-rank, 0 if want.core else 1, want.state.key not in self._entitled)

    def _mask(self, want: Want) -> Bools | None:
        if want.cell is None:
            return None
        key = (want.level, want.cell)
        if key not in self._masks:
            domains = self.encoding.classes.domain_of[:, want.level]
            self._masks[key] = np.asarray(domains == want.cell)
        return self._masks[key]

    def _from_slots(self, want: Want) -> list[int]:
        """
        Take places for a want, as many as there are.
        """
        row, mask = self._row(want), self._mask(want)
        taken = self._from_first(want, row, mask)
        for host in list(row) if mask is not None else iter_first(row):
            if mask is not None and not mask[host]:
                continue
            if len(taken) == want.count:
                break
            taken += _slots(row, host, min(want.count - len(taken), row[host]))
        return taken

    def _from_first(
        self, want: Want, row: dict[int, int], mask: Bools | None
    ) -> list[int]:
        """
        Take places for an entitled gang where it has room now.
        """
        taken: list[int] = []
        if want.state.key not in self._entitled or not want.core:
            return taken
        first = self._first.get(self._shape(want), {})
        for host in list(first):
            if mask is None or mask[host]:
                step = min(want.count - len(taken), first[host], row.get(host, 0))
                first[host] -= step
                taken += _slots(row, host, step)
        return taken

    def _take_back(self, unit: Unit) -> None:
        for state in unit.states:
            rows = self.work.placed.pop(state.key, {})
            for leaf, hosts in rows.items():
                for host in hosts:
                    self.work.give(state, leaf, host)
