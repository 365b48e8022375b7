"""
Options: what may leave a node together, and the free room that each choice leaves.

Nodes with the same contents are one group.  Of the choices that leave a node equally
useful only those are kept that take nothing more than needed.  Converted nodes of equal
use form a bin, whose size is decided by the model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product
from math import prod

import numpy as np

from models.gangs import pod_sets
from models.gpu_parts import GpuDevice
from solver.encode.devices.device_kinds import hash_row, with_device_states
from solver.encode.devices.leaving_devices import some_choices
from solver.encode.node_classes import Classes, binding, bins_of, domains_of
from solver.encode.node_classes import Level as TopologyLevel
from solver.evict.victims import Thing, Victims, held_row
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem
from solver.tuning import Encode

Devices = tuple[tuple[GpuDevice, ...], ...]
"""
The devices of each pod that leaves together.
"""
Columns = tuple[tuple[int, ...], tuple[Devices, ...]]
"""
An account and devices for each column of a table of choices.
"""
Costs = tuple[tuple[tuple[int, int], ...], ...]
"""
Per account the work and age of its things on one node, the cheapest first.
"""


@dataclass(frozen=True, slots=True)
class Option:
    """
    How many things of each account leave one node, at what cost, into which bin.
    """

    taken: tuple[int, ...]
    work: int
    age: int
    bin: int


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """
    Nodes with the same contents: their accounts, and what may be done with one of them.

    ``base`` is the bin of a node that nobody leaves, or -1 where it is of no use.  An
    account is there once for each of the ``devices`` that its things have.
    """

    nodes: tuple[int, ...]
    accounts: tuple[int, ...]
    options: tuple[Option, ...]
    base: int
    devices: tuple[Devices, ...]

    def things(self, victims: Victims, node: int, column: int) -> list[Thing]:
        """
        List what an option counts on a node.
        """
        here = victims.on_node.get(node, {}).get(self.accounts[column], [])
        return [thing for thing in here if thing.devices == self.devices[column]]


@dataclass(frozen=True, slots=True)
class Level:
    """
    A bin that a crowded node may join, and what it must have free of each resource.
    """

    bin: int
    need: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """
    A node with more choices than can be listed: its things one by one, and the bins.

    ``rows`` are what one thing of each account holds, ``costs`` what each loses.
    """

    node: int
    accounts: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    costs: Costs
    free: tuple[int, ...]
    levels: tuple[Level, ...]
    base: int


@dataclass(frozen=True, slots=True)
class Conversion:
    """
    All groups and crowds, the bins as classes of one node each, and whether all is in.
    """

    groups: tuple[NodeGroup, ...]
    crowds: tuple[Crowd, ...]
    classes: Classes
    exact: bool


@dataclass(slots=True)
class _Contents:
    """
    One kind of node contents while its choices are worked out.
    """

    fits: Bools
    free: Ints
    rows: tuple[Ints, ...]
    counts: tuple[int, ...]
    linked: tuple[bool, ...]
    choices: list[tuple[int, ...]] = field(default_factory=list)
    node: int = -1
    crowded: bool = False
    exact: bool = True


def num_choices(victims: Victims, tuning: Encode) -> int:
    """
    Count the choices of all unlike nodes, as many of each as would be listed.
    """
    kinds = {
        tuple(sorted((at, *(t.cost for t in things)) for at, things in here.items()))
        for here in victims.on_node.values()
    }
    linked = {at for at, account in enumerate(victims.accounts) if account.wide >= 0}
    return sum(
        min(
            tuning.most_linked
            if linked.intersection(x[0] for x in kind)
            else tuning.most_choices,
            prod(len(things) for things in kind),
        )
        for kind in kinds
    )


def convert(
    problem: Problem,
    shapes: Sequence[int],
    levels: Sequence[TopologyLevel],
    victims: Victims,
    apart: Mapping[int, int],
) -> Conversion:
    """
    Work out the groups, options and bins of a step.

    Parameters
    ----------
    problem
        The round, with the room there will be later.
    shapes
        The shapes that may get a place.
    levels
        The topology levels they ask for.
    victims
        What may leave.
    apart
        Nodes that form bins of their own, with a tag.
    """
    return _Converter(problem, shapes, levels, victims, apart).run()


class _Bins:
    """
    Bins by what can be used on their nodes, where these are, and who stays apart.
    """

    def __init__(self, domains: Ints, apart: Mapping[int, int]) -> None:
        self.domains = domains
        self.apart = apart
        self._index: dict[object, int] = {}
        self._samples: list[tuple[int, Ints, Bools]] = []
        self._numbers: list[int] = []

    def of(self, node: int, row: Ints, fits: Bools) -> int:
        """
        Give a node with so much of use the number of its bin, or -1.
        """
        if not fits.any():
            return -1
        tag = self.apart.get(node, 0)
        name = (fits.tobytes(), row.tobytes(), self.domains[node].tobytes(), tag)
        number = self._index.setdefault(name, len(self._index))
        if number == len(self._samples):
            self._samples.append((node, row, fits))
            self._numbers.append(0)
        return number

    def count(self, numbers: Iterable[int], nodes: int) -> None:
        """
        Add nodes that could join some bins.
        """
        for number in numbers:
            if number >= 0:
                self._numbers[number] += nodes

    def samples(self) -> list[tuple[int, Ints, Bools, int]]:
        """
        List the bins with a node of each, and the most nodes they may have.
        """
        pairs = zip(self._samples, self._numbers, strict=True)
        return [(*sample, number) for sample, number in pairs]


class _Converter:
    """
    The work of one conversion.
    """

    def __init__(
        self,
        problem: Problem,
        shapes: Sequence[int],
        levels: Sequence[TopologyLevel],
        victims: Victims,
        apart: Mapping[int, int],
    ) -> None:
        self.problem = problem
        self.shapes = list(shapes)
        self.levels = levels
        self.victims = victims
        self.apart = apart
        self.allowed = problem.shapes.may_be[self.shapes]
        self.requests = problem.shapes.requests[self.shapes]
        self._contents: dict[object, _Contents] = {}
        self._rows: dict[tuple[object, ...], Ints] = {}
        self._reached: dict[tuple[int, bytes], Ints | None] = {}

    def run(self) -> Conversion:
        """
        Group nodes, enumerate choices, and number the bins.
        """
        domains, names = domains_of(self.problem, self.levels)
        groups: dict[object, list[int]] = {}
        kinds: dict[object, tuple[object, Columns, Costs]] = {}
        nodes = np.flatnonzero(self.allowed.any(axis=0) | self._linked())
        bits = [hash_row(column) for column in np.unique(self.allowed, axis=1).T]
        known = {
            column.tobytes(): bit
            for column, bit in zip(
                np.unique(self.allowed, axis=1).T.copy(), bits, strict=True
            )
        }
        columns = np.ascontiguousarray(self.allowed.T)
        room = self.problem.room
        later = room.later
        for node in nodes.tolist():
            here = _by_devices(self.victims.on_node.get(node, {}))
            accounts = tuple(account for account, _ in here)
            costs = tuple(
                tuple(sorted(thing.cost for thing in things))
                for things in here.values()
            )
            rows = tuple(
                self._row(account, things[0], node)
                for (account, _), things in here.items()
            )
            sort = (
                known[columns[node].tobytes()],
                later[node].tobytes(),
                tuple(row.tobytes() for row in rows),
                tuple(map(len, costs)),
                tuple(self.victims.accounts[a].wide >= 0 for a in accounts),
                -1 if room.parts is None else int(room.parts.sort_of[node]),
            )
            if sort not in self._contents:
                self._contents[sort] = _Contents(
                    fits=columns[node],
                    free=later[node],
                    rows=rows,
                    counts=sort[3],
                    linked=sort[4],
                    node=node,
                )
            key = (
                sort,
                (accounts, tuple(devices for _, devices in here)),
                costs,
                domains[node].tobytes(),
                self.apart.get(node, 0),
            )
            groups.setdefault(key, []).append(node)
            kinds.setdefault(key, (sort, key[1], costs))
        for contents in self._contents.values():
            self._enumerate(contents)
        return self._numbered(groups, kinds, domains, names)

    def _linked(self) -> Bools:
        """
        Tell which nodes hold a part of a gang that others of it leave with.

        Nobody may ever come where it runs (a cordoned node), and yet it must be able
        to go for the rest to go.
        """
        found = np.zeros(len(self.problem.room.later), dtype=bool)
        accounts = self.victims.accounts
        for node, here in self.victims.on_node.items():
            found[node] = any(accounts[at].wide >= 0 for at in here)
        return found

    def _enumerate(self, contents: _Contents) -> None:
        """
        List choices, all of them or as many as are worth it.
        """
        tuning, parts = self.problem.tuning.encode, self.problem.room.parts
        block = None if parts is None else parts.devices.block
        if block is not None and any(row[block].any() for row in contents.rows):
            held = np.array([row[block] for row in contents.rows]) > 0
            found = some_choices(contents.counts, held, tuning.most_choices)
            contents.choices, contents.exact = found
        else:
            _enumerate(contents, tuning)

    def _row(self, account: int, thing: Thing, node: int) -> Ints:
        """
        Write what one thing holds as a row over the room's columns.
        """
        record = self.victims.accounts[account]
        room = self.problem.room
        if thing.devices:
            return held_row(room, thing, node)
        if record.pods:
            key: tuple[object, ...] = (id(record.requests),)
            if key not in self._rows:
                self._rows[key] = room.row(dict(record.requests))
            return self._rows[key]
        leaves = tuple(pod_sets(thing.gang.tree))
        total = np.zeros(len(room.resources), dtype=np.int64)
        for leaf, _ in thing.pods:
            total += room.row(dict(leaves[leaf].requests))
        return total

    def _numbered(
        self,
        groups: Mapping[object, list[int]],
        kinds: Mapping[object, tuple[object, Columns, Costs]],
        domains: Ints,
        names: tuple[tuple[tuple[str, ...], ...], ...],
    ) -> Conversion:
        """
        Cut every choice to what can be used, drop what others dominate, number bins.
        """
        cuts = {sort: self._cut(contents) for sort, contents in self._contents.items()}
        kept = {
            sort: _undominated(self._contents[sort], cut)
            for sort, cut in cuts.items()
            if not self._contents[sort].crowded
        }
        bins = _Bins(domains, self.apart)
        found: list[NodeGroup] = []
        crowds: list[Crowd] = []
        fits: dict[object, list[Bools]] = {}
        for key, nodes in groups.items():
            sort, (accounts, devices), costs = kinds[key]
            contents, cut = self._contents[sort], cuts[sort]
            if contents.crowded:
                crowds += [
                    self._crowd(contents, cut, node, accounts, costs, bins)
                    for node in nodes
                ]
                continue
            if sort not in fits:
                frees = self._free(contents)[kept[sort]]
                fits[sort] = [self._fits(contents, free) for free in frees]
            which = list(zip(kept[sort], fits[sort], strict=True))
            options, base = _options_of(contents, cut, which, nodes[0], costs, bins)
            bins.count({base, *(option.bin for option in options)}, len(nodes))
            found.append(NodeGroup(tuple(nodes), accounts, options, base, devices))
        classes = bins_of(
            self.problem, self.shapes, self.levels, bins.samples(), (domains, names)
        )
        exact = all(contents.exact for contents in self._contents.values())
        return Conversion(tuple(found), tuple(crowds), classes, exact)

    def _crowd(
        self,
        contents: _Contents,
        cut: Ints,
        node: int,
        accounts: tuple[int, ...],
        costs: Costs,
        bins: _Bins,
    ) -> Crowd:
        """
        List the bins that a node could join, each with the least that it must have.
        """
        frees = self._free(contents)
        needs: dict[int, Ints] = {}
        base = bins.of(node, cut[0], self._fits(contents, frees[0]))
        for row, free in zip(cut, frees, strict=True):
            number = bins.of(node, row, self._fits(contents, free))
            if number not in {-1, base}:
                need = np.where(row < 0, free, row)
                known = needs.get(number)
                needs[number] = need if known is None else np.minimum(known, need)
        bins.count({base, *needs}, 1)
        return Crowd(
            node=node,
            accounts=accounts,
            rows=tuple(tuple(row.tolist()) for row in contents.rows),
            costs=costs,
            free=tuple(contents.free.tolist()),
            levels=tuple(
                Level(number, tuple(need.tolist())) for number, need in needs.items()
            ),
            base=base,
        )

    def _free(self, contents: _Contents) -> Ints:
        """
        Give what is free after each choice, one row each.
        """
        if contents.crowded:
            return np.array(contents.choices, dtype=np.int64)
        taken = np.array(contents.choices, dtype=np.int64)
        taken = taken.reshape(len(contents.choices), len(contents.rows))
        freed = np.zeros((len(taken), len(contents.free)), dtype=np.int64)
        for column, row in enumerate(contents.rows):
            freed += taken[:, [column]] * row
        parts = self.problem.room.parts
        if parts is None:
            return contents.free + freed
        return parts.left(contents.node, contents.free, contents.free + freed)

    def _cut(self, contents: _Contents) -> Ints:
        left = self._free(contents)
        free, fits, node = left.clip(min=0), contents.fits, contents.node
        some = self.requests[fits]
        cut = self._reachable(binding(free, some), some, fits)
        return with_device_states(self.problem, node, left, cut, fits, self.requests)

    def _reachable(self, cut: Ints, requests: Ints, fits: Bools) -> Ints:
        """
        Lower amounts to the largest sum of requests that does not exceed them.
        """
        result = cut.copy()
        for column in range(cut.shape[1]):
            key = (column, fits.tobytes())
            if key not in self._reached:
                self._reached[key] = _sums(
                    requests[:, column], self.problem.tuning.encode.most_sums
                )
            sums = self._reached[key]
            if sums is None:
                continue
            values = result[:, column]
            inside = (values > 0) & (values <= sums[-1])
            at = np.searchsorted(sums, values[inside], side="right") - 1
            values[inside] = sums[at]
        return result

    def _fits(self, contents: _Contents, free: Ints) -> Bools:
        asked = self.requests
        fits = ((asked <= free.clip(min=0)) | (asked == 0)).all(axis=1)
        return np.asarray(fits & contents.fits)


def _options_of(
    contents: _Contents,
    cut: Ints,
    kept: Sequence[tuple[int, Bools]],
    node: int,
    costs: Costs,
    bins: _Bins,
) -> tuple[tuple[Option, ...], int]:
    """
    List the choices worth having with their bins, and the bin of the node as it is.
    """
    works = [[0, *accumulate(work for work, _ in row)] for row in costs]
    ages = [[0, *accumulate(age for _, age in row)] for row in costs]
    options = []
    base = -1
    for at, fits in kept:
        taken = contents.choices[at]
        number = bins.of(node, cut[at], fits)
        if any(taken):
            work = sum(row[k] for row, k in zip(works, taken, strict=True))
            age = sum(row[k] for row, k in zip(ages, taken, strict=True))
            options.append(Option(taken, work, age, number))
        else:
            base = number
    return tuple(options), base


def _by_devices(
    here: Mapping[int, list[Thing]],
) -> dict[tuple[int, Devices], list[Thing]]:
    """
    Sort what may leave a node by account, and by the devices that it has there.
    """
    found: dict[tuple[int, Devices], list[Thing]] = {}
    for account in sorted(here):
        for thing in sorted(here[account], key=lambda thing: thing.devices):
            found.setdefault((account, thing.devices), []).append(thing)
    return found


def _sums(requests: Ints, most: int) -> Ints | None:
    """
    List the sums that pods can ask for, up to some length; none where there are many.
    """
    values = sorted({int(v) for v in requests if v > 0})
    if not values or values[0] == 1:
        return None
    step = int(np.gcd.reduce(values))
    small = [v // step for v in values]
    if small[0] == 1 or small[-1] > most // 8:
        return None
    reach = np.zeros(most + 1, dtype=bool)
    reach[0] = True
    for amount in range(1, most + 1):
        reach[amount] = any(amount >= v and reach[amount - v] for v in small)
    return np.flatnonzero(reach) * step


def _enumerate(contents: _Contents, tuning: Encode) -> None:
    """
    List all choices of how many things of each account leave; the empty one first.

    Of a crowded node only the amounts that may be free are listed.
    """
    total = 1
    for count in contents.counts:
        total *= count + 1
    most = tuning.most_linked if any(contents.linked) else tuning.most_choices
    if total <= most:
        ranges = [range(count + 1) for count in contents.counts]
        contents.choices = list(product(*ranges))
        return
    contents.crowded = True
    frees = {tuple(contents.free.tolist()): None}
    for row, count in zip(contents.rows, contents.counts, strict=True):
        amounts = row.tolist()
        for free in list(frees):
            for number in range(1, count + 1):
                pairs = zip(free, amounts, strict=True)
                frees.setdefault(tuple(x + number * a for x, a in pairs))
        if len(frees) > tuning.most_levels:
            contents.exact = False
            frees = dict.fromkeys(list(frees)[: tuning.most_levels])
    contents.choices = list(frees)


def _undominated(contents: _Contents, cut: Ints) -> list[int]:
    """
    Keep choices of which no other leaves as much and takes nothing more.

    What belongs to a gang on several nodes may have to go although nobody needs its
    room here, so that choices which differ in it are both kept.
    """
    linked = np.array(contents.linked, dtype=bool)
    taken = np.array(contents.choices, dtype=np.int64)
    taken = taken.reshape(len(contents.choices), len(contents.rows))
    room = np.where(cut < 0, np.iinfo(np.int64).max, cut)
    order = np.argsort(taken.sum(axis=1), kind="stable")
    taken, room = taken[order], room[order]
    dominated = np.zeros(len(order), dtype=bool)
    for at in range(len(order)):
        if dominated[at]:
            continue
        later = slice(at + 1, None)
        fewer = (taken[at] <= taken[later]).all(axis=1)
        if linked.any():
            fewer &= (taken[at][linked] == taken[later][:, linked]).all(axis=1)
        dominated[later] |= fewer & (room[at] >= room[later]).all(axis=1)
    return [int(at) for at in order[~dominated]]
