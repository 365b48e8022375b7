"""
Decoding: counts become places, class by class, and places are dealt out to gangs.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np

from solver.decode.pack import PackedPods, pack
from solver.effort.budget import Budget
from solver.encode.encoding import Encoding
from solver.encode.variables import (
    Cell,
    ChoiceVars,
    Count,
    Footprint,
    RigidVars,
    TypeVars,
    Var,
)
from solver.place.draft import Draft
from solver.place.fill import fill
from solver.place.round_state import RoundState, around_now
from solver.place.stranded import stranded
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools
from solver.problem.problem import Unit

Value = Callable[[Var], int]


@dataclass(frozen=True, slots=True)
class Decoded:
    """
    A draft, and the classes whose counts no packing realises.

    It is ``whole`` where all starts that were counted have their places.
    """

    draft: Draft
    unpacked: tuple[int, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Want:
    """
    Pods of one leaf in one place; core pods are what the gang needs to start.
    """

    unit: Unit
    state: Standing
    leaf: int
    level: int
    cell: Cell
    count: int
    core: bool


Slots = dict[tuple[str, int], dict[int, int]]


def decode(encoding: Encoding, value: Value, budget: Budget) -> Decoded:
    """
    Turn the model's counts into a draft that holds on real nodes.

    What a class cannot pack gets a second chance anywhere it may be; a gang that still
    misses a core pod does not start, and what that leaves free is offered to others.
    """
    slots, unpacked = _pack_all(encoding, value, budget)
    work = RoundState(encoding.problem)
    wants, entitled = wants_of(encoding, value)
    dealer = _Dealer(encoding, work, slots)
    failed = dealer.deal(wants)
    work.entitled = {key for key in entitled if key in work.placed}
    if failed:
        work.entitled -= {s.key for unit in failed for s in unit.states}
    return Decoded(work.draft(), unpacked, not failed)


def _pack_all(
    encoding: Encoding, value: Value, budget: Budget
) -> tuple[Slots, tuple[int, ...]]:
    capacity = encoding.capacity
    slots: Slots = {}
    unpacked = []
    shared = len(capacity.scoped) <= 1
    for at, item in enumerate(encoding.classes.items):
        position = {node: i for i, node in enumerate(item.nodes)}
        items = []
        for shape in item.shapes:
            count = (
                value(capacity.loose[shape, at]) if (shape, at) in capacity.loose else 0
            )
            if count:
                items.append(PackedPods("", shape, count))
            for topology, table in capacity.scoped.items():
                for index, part in enumerate(item.parts):
                    count = (
                        value(table[shape, at, index])
                        if (shape, at, index) in table
                        else 0
                    )
                    if count:
                        nodes = tuple(position[n] for n in part.nodes)
                        pool = "" if shared else topology
                        items.append(PackedPods(pool, shape, count, nodes))
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


def wants_of(encoding: Encoding, value: Value) -> tuple[list[Want], set[str]]:
    """
    List the pods that an answer places, and the gangs it starts as entitled.
    """
    wants: list[Want] = []
    entitled: set[str] = set()
    teams: dict[int, list[_FootprintGang]] = {}
    for kind in encoding.types:
        num = _value(kind.starts, value)
        started = kind.units[:num]
        for unit in started[: _value(kind.entitled, value)]:
            if unit.starts:
                entitled.update(state.key for state in unit.states)
        for vars_ in kind.states:
            if isinstance(vars_, RigidVars) and vars_.footprint is not None:
                team = teams.setdefault(id(vars_.footprint), [])
                team += _members(kind, vars_, started, value)
            elif isinstance(vars_, RigidVars):
                wants += _rigid_wants(kind, vars_, started, value)
            else:
                wants += _choice_wants(kind, vars_, value)
    for footprint in encoding.demand.footprints.values():
        wants += _footprint_wants(footprint, teams.get(id(footprint), []), value)
    wants.sort(key=lambda w: w.core, reverse=True)
    return wants, entitled


def cores_of(encoding: Encoding, value: Value) -> dict[str, dict[int, int]]:
    """
    Give the cores that an answer counts as entitled, of gangs with a choice.
    """
    return {
        vars_.state.key: {i: _value(count, value) for i, count in vars_.core.items()}
        for kind in encoding.types
        for vars_ in kind.states
        if isinstance(vars_, ChoiceVars) and vars_.core
    }


def _value(count: Count, value: Value) -> int:
    return count.upper if count.variable is None else value(count.variable)


def _rigid_wants(
    kind: TypeVars, vars_: RigidVars, started: tuple[Unit, ...], value: Value
) -> Iterator[Want]:
    which = kind.sample.states.index(vars_.state)
    cells: list[tuple[Cell, tuple[Unit, ...]]] = [(None, started)]
    if vars_.level >= 0:
        cells = []
        rest = started
        for cell, active in vars_.active.items():
            num = _value(active, value)
            cells.append((cell, rest[:num]))
            if active.variable is not None:
                rest = rest[num:]
    for place, units in cells:
        for i, need in enumerate(vars_.core):
            more = vars_.surplus.get((i, place))
            left = 0 if more is None else _value(more, value)
            for unit in units:
                state = unit.states[which]
                extra = min(left, len(state.leaves[i].pending) - need)
                left -= extra
                if need:
                    yield Want(unit, state, i, vars_.level, place, need, core=True)
                if extra:
                    yield Want(unit, state, i, vars_.level, place, extra, core=False)


@dataclass(slots=True)
class _FootprintGang:
    """
    A gang that starts in a footprint, with the surplus it gets per leaf.
    """

    unit: Unit
    state: Standing
    extra: dict[int, int]


def _members(
    kind: TypeVars, vars_: RigidVars, started: tuple[Unit, ...], value: Value
) -> Iterator[_FootprintGang]:
    which = kind.sample.states.index(vars_.state)
    left = {i: _value(more, value) for (i, _), more in vars_.surplus.items()}
    for unit in started:
        state = unit.states[which]
        extra = {}
        for i, more in left.items():
            extra[i] = min(more, len(state.leaves[i].pending) - vars_.core[i])
            left[i] = more - extra[i]
        yield _FootprintGang(unit, state, extra)


def _footprint_wants(
    footprint: Footprint, team: list[_FootprintGang], value: Value
) -> Iterator[Want]:
    """
    Deal members to domains: those with most surplus where most surplus has its place.
    """
    more = {key: _value(count, value) for key, count in footprint.surplus.items()}
    active = {cell: _value(count, value) for cell, count in footprint.active.items()}

    def spare(cell: int) -> float:
        total = sum(more.get((i, cell), 0) for i in range(len(footprint.core)))
        return -total / active[cell]

    rest = sorted(team, key=lambda m: -sum(m.extra.values()))
    for cell in sorted((c for c, num in active.items() if num), key=spare):
        here, rest = rest[: active[cell]], rest[active[cell] :]
        for member in here:
            for i, need in enumerate(footprint.core):
                level = footprint.level
                if need:
                    yield Want(
                        member.unit, member.state, i, level, cell, need, core=True
                    )
                extra = min(member.extra.get(i, 0), more.get((i, cell), 0))
                if extra:
                    more[i, cell] -= extra
                    yield Want(
                        member.unit, member.state, i, level, cell, extra, core=False
                    )


def _choice_wants(kind: TypeVars, vars_: ChoiceVars, value: Value) -> Iterator[Want]:
    for (i, cell), count in vars_.counts.items():
        num = _value(count, value)
        if num:
            level = vars_.level[i]
            yield Want(kind.sample, vars_.state, i, level, cell, num, core=True)


def iter_first(row: dict[int, int]) -> Iterator[int]:
    """
    Walk a table that loses its first entry between two steps, or stop.
    """
    while row:
        yield next(iter(row))


class _Dealer:
    """
    Hands slots to wants, the most confined first, and repairs what is short.
    """

    def __init__(self, encoding: Encoding, work: RoundState, slots: Slots) -> None:
        self.encoding = encoding
        self.work = work
        self.slots = slots
        self.shared = len(encoding.capacity.scoped) <= 1
        self._masks: dict[tuple[int, int], Bools] = {}

    def deal(self, wants: list[Want]) -> list[Unit]:
        """
        Place all wants; give back the units that could not be placed whole.
        """
        short: list[tuple[Want, int]] = []
        taken: list[tuple[Standing, int, list[int]]] = []
        beside: list[tuple[Want, int]] = []
        for want in sorted(wants, key=self._confinement):
            if self._has_neighbours(want):
                beside.append((want, want.count))
                continue
            hosts = self._from_slots(want)
            taken.append((want.state, want.leaf, hosts))
            if len(hosts) < want.count:
                short.append((want, want.count - len(hosts)))
        self.work.take_all(taken)
        short += self._beside_others(self._beside_others(beside))
        failed: dict[str, Unit] = {}
        for want, left in short:
            if want.unit.key in failed:
                continue
            mask = self._mask(want)
            done = fill(self.work, want.state, want.leaf, left, mask)
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
        shape = self.encoding.problem.shapes.of_leaf[want.state.key, want.leaf]
        return self.slots.get((pool, shape), {})

    def _has_neighbours(self, want: Want) -> bool:
        shapes = self.encoding.problem.shapes
        shape = shapes.of_leaf[want.state.key, want.leaf]
        return bool(shapes.items[shape].neighbours)

    def _beside_others(self, wants: list[tuple[Want, int]]) -> list[tuple[Want, int]]:
        """
        Take slots one by one, as far as those who lie already let it be.
        """
        short = []
        for want, count in wants:
            row, left, moved = self._row(want), count, True
            while left and moved:
                moved = False
                room = self.work.room_for(want.state, want.leaf, self._mask(want))
                for host in [host for host in row if room[host] > 0][:1]:
                    self.work.take(want.state, want.leaf, {host: 1})
                    row[host] -= 1
                    if not row[host]:
                        del row[host]
                    left, moved = left - 1, True
            if left:
                short.append((want, left))
        return short

    def _confinement(self, want: Want) -> tuple[int, int]:
        rank = -1
        if want.level >= 0:
            rank = self.encoding.classes.ranks[want.level]
        return (-rank, 0 if want.core else 1)

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
        taken: list[int] = []
        for host in list(row) if mask is not None else iter_first(row):
            if mask is not None and not mask[host]:
                continue
            step = min(want.count - len(taken), row[host])
            taken += [host] * step
            row[host] -= step
            if not row[host]:
                del row[host]
            if len(taken) == want.count:
                break
        return taken

    def _take_back(self, unit: Unit) -> None:
        for state in unit.states:
            rows = self.work.placed.pop(state.key, {})
            for leaf, hosts in rows.items():
                for host in hosts:
                    self.work.give(state, leaf, host)
