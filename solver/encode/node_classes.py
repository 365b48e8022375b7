"""
Node classes: nodes that the model need not tell apart, as bins with a multiplicity.

Two nodes are one class when the same pending shapes fit them, the same amounts are
free in every resource that can bind there, and they are in the same domains as far
as anything pending asks.  When that leaves too many classes, unlike nodes are merged:
their rows add up what each member really has, so the bound stays a true bound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import gcd

import numpy as np

from models.nodes import Node
from models.topology import Domain, Topology
from solver.encode.capacity_rows import CapacityRow, resource_rows
from solver.encode.devices import device_kinds
from solver.encode.devices.device_contents import (
    ClassDevices,
    class_devices,
    device_rows,
)
from solver.encode.devices.device_kinds import hash_row
from solver.encode.exclusive_hosts import host_rows
from solver.encode.neighbours.domain_parts import parts_by_domain
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem

Level = tuple[str, str]
_WIDEST = 40
"""
The bits of each amount beyond which merging stops, however many classes there are.
"""
_FEW = 24
"""
So many nodes all stay apart where it counts what is of no use on each.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClass:
    """
    Some nodes taken as one bin: the shapes that fit, and the rows that bound them.
    """

    nodes: tuple[int, ...]
    shapes: tuple[int, ...]
    most: tuple[int, ...]
    rows: tuple[CapacityRow, ...]
    hole: int
    uniform: bool
    parts: tuple["NodeClass", ...] = ()
    domains: tuple[int, ...] = ()
    devices: ClassDevices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """
    Coarse classes with their parts by domain, and the domain of every node per level.
    """

    items: tuple[NodeClass, ...]
    levels: tuple[Level, ...]
    domain_of: Ints
    domain_names: tuple[tuple[tuple[str, ...], ...], ...]
    merged: bool
    ranks: tuple[int, ...]
    rooms: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    parents: dict[tuple[int, int], dict[int, int]] = field(default_factory=dict)
    single: dict[int, int] = field(default_factory=dict)

    def alone(self, node: int) -> int | None:
        """
        Give the class that a node is by itself.
        """
        if not self.single:
            self.single.update(
                {x.nodes[0]: at for at, x in enumerate(self.items) if len(x.nodes) == 1}
            )
        return self.single.get(node)

    def is_domain(self, level: int, cell: int) -> bool:
        """
        Tell a domain from nodes that merely lack the label.
        """
        return cell >= 0 and self.domain_names[level][cell][-1] != ""

    def outer(self, level: int, domain: int, above: int) -> int:
        """
        Give the domain of a coarser level that a domain lies in.
        """
        if level == above:
            return domain
        key = (level, above)
        if key not in self.parents:
            pairs = self.domain_of[:, [level, above]]
            self.parents[key] = {int(a): int(b) for a, b in pairs if a >= 0}
        return self.parents[key][domain]


def classes_of(
    problem: Problem,
    shapes: Sequence[int],
    levels: Sequence[Level],
    split: Mapping[int, int],
    most: int,
) -> Classes:
    """
    Gather nodes into classes, told apart by what pending shapes and levels ask of them.

    Nodes that must stay apart from others are in ``split``, with the tag of their part;
    more classes than ``most`` are merged.
    """
    domain_of, names = domains_of(problem, levels)
    fits = problem.shapes.fits[list(shapes)]
    usable = np.flatnonzero(fits.any(axis=0))
    keys, exact = _keys(problem, shapes, fits, usable, split)
    width = 0
    while len(np.unique(keys, axis=0)) > most and width < _WIDEST:
        width += 4
        keys = _blurred(exact, width)
    items = []
    for members in _groups(keys):
        nodes = usable[members]
        row = tuple(int(s) for i, s in enumerate(shapes) if fits[i, nodes[0]])
        rooms = exact[members][:, 3:]
        whole = node_class(problem, nodes, row, rooms)
        parts = tuple(
            node_class(
                problem, nodes[inner], row, rooms[inner], domain_of[nodes[inner[0]]]
            )
            for inner in (_groups(domain_of[nodes]) if levels else ())
        )
        items.append(replace(whole, parts=parts))
    return _joined(problem, items, levels, (domain_of, names), merged=width > 0)


DomainTable = tuple[Ints, tuple[tuple[tuple[str, ...], ...], ...]]
"""
The domain of every node per level, and the names of the domains.
"""


def bins_of(
    problem: Problem,
    shapes: Sequence[int],
    levels: Sequence[Level],
    samples: Sequence[tuple[int, Ints, Bools, int]],
    domains: DomainTable,
) -> Classes:
    """
    Make a class of one node for each bin; how many nodes it has is decided later.

    ``samples`` are per bin a node, what can be used on it, which shapes fit, and the
    most nodes of it; rows are those of a single node.
    """
    items = []
    for node, room, fits, number in samples:
        row = tuple(int(s) for s, fit in zip(shapes, fits, strict=True) if fit)
        nodes = np.array([node])
        state = device_kinds.device_state(problem, room)
        whole = node_class(problem, nodes, row, room[None], devices=state)
        where = [domains[0][node]] if levels else []
        own = (node_class(problem, nodes, row, room[None], x, state) for x in where)
        parts = tuple(_times(part, number) for part in own)
        items.append(replace(_times(whole, number), parts=parts))
    return _joined(problem, items, levels, domains, merged=False)


def _joined(
    problem: Problem,
    items: Sequence[NodeClass],
    levels: Sequence[Level],
    domains: DomainTable,
    *,
    merged: bool,
) -> Classes:
    """
    Put classes beside the domains that their nodes are in.
    """
    return Classes(
        items=tuple(items),
        levels=tuple(levels),
        domain_of=domains[0],
        domain_names=domains[1],
        merged=merged,
        ranks=tuple(problem.topologies[t].levels.index(v) for t, v in levels),
    )


def _times(item: NodeClass, number: int) -> NodeClass:
    """
    Let a class stand for several nodes, with the rows of one of them.
    """
    devices = item.devices and replace(item.devices, nodes=number)
    most = tuple(most * number for most in item.most)
    return replace(item, most=most, devices=devices)


def _groups(keys: Ints) -> list[Ints]:
    """
    Split rows into equal ones, in order of their first appearance.
    """
    if not len(keys):
        return []
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    order = np.argsort(inverse, kind="stable")
    bounds = np.flatnonzero(np.diff(inverse[order])) + 1
    groups = np.split(order, bounds)
    return [groups[i] for i in np.argsort(first, kind="stable")]


def domains_of(problem: Problem, levels: Sequence[Level]) -> DomainTable:
    """
    Give every domain of each level a number; -1 is outside every domain.

    Nodes inside a coarser domain that lack a label of this level form a cell of
    their own, named with an empty end: it is no domain, but lies in the coarser one.
    """
    nodes = problem.room.nodes
    table = np.full((len(nodes), len(levels)), -1, dtype=np.int64)
    names = []
    for column, (topology, level) in enumerate(levels):
        tree = problem.topologies[topology]
        found = [_cell(tree, level, node) for node in nodes]
        ordered = sorted({d for d in found if d is not None})
        index = {domain: at for at, domain in enumerate(ordered)}
        table[:, column] = [-1 if x is None else index[x] for x in found]
        names.append(tuple(ordered))
    return table, tuple(names)


def _cell(tree: Topology, level: str, node: Node) -> Domain | None:
    whole = tree.domain(node.labels, level)
    if whole is not None:
        return whole
    prefix = tuple(takewhile(bool, (node.labels.get(name, "") for name in tree.levels)))
    return (*prefix, "") if prefix else None


def _keys(
    problem: Problem,
    shapes: Sequence[int],
    fits: np.ndarray,
    usable: Ints,
    split: Mapping[int, int],
) -> tuple[Ints, Ints]:
    """
    Write each usable node as (fitting shapes, split, hole, amounts that can bind).
    """
    requests = problem.shapes.requests[list(shapes)]
    free = problem.room.now[usable].clip(min=0)
    bits = np.array([hash_row(fits[:, n]) for n in usable], dtype=np.int64).reshape(-1)
    amounts = np.empty_like(free)
    for kind in np.unique(bits):
        rows = np.flatnonzero(bits == kind)
        some = fits[:, usable[rows[0]]]
        amounts[rows] = binding(free[rows], requests[some])
    tags = np.array([split.get(int(n), 0) for n in usable], dtype=np.int64)
    if problem.room.fragments is not None and len(usable) <= _FEW:
        tags = usable + 1
    parts = parts_by_domain(problem, shapes)
    tags = tags * (int(parts.max(initial=0)) + 1) + parts[usable]
    tags = device_kinds.told_apart(problem, requests, fits[:, usable], usable, tags)
    holes = problem.room.holes[usable] * problem.policy.has("packing")
    keys = np.column_stack([bits, tags, holes, amounts])
    return keys, keys


def binding(free: Ints, requests: Ints) -> Ints:
    """
    Keep what can bind: unreachable remainders are cut, dominated resources are -1.

    A resource is dominated when any set of pods that respects another one respects
    it too; dropping its row changes nothing.
    """
    result = np.full_like(free, -1)
    asked = requests > 0
    number = asked.sum(axis=0)
    active = [int(r) for r in np.argsort(number, kind="stable") if number[r]]
    kept = np.zeros(free.shape, dtype=bool)
    kept[:, active] = True
    for r in active:
        those = requests[asked[:, r]]
        with np.errstate(divide="ignore"):
            ratio = (those[:, [r]] / those).max(axis=0)
        for other in active:
            if other == r or not np.isfinite(ratio[other]):
                continue
            worse = kept[:, other] & kept[:, r]
            slack = free[:, r] >= ratio[other] * free[:, other] * (1 + 1e-12)
            kept[:, r] &= ~(worse & slack)
    for r in active:
        step = 0
        for value in requests[:, r]:
            step = gcd(step, int(value))
        cut = free[:, r] // max(1, step) * max(1, step)
        result[:, r] = np.where(kept[:, r], cut, -1)
    return result


def _blurred(exact: Ints, width: int) -> Ints:
    """
    Round amounts to steps that grow with the amount, so that unlike nodes merge.
    """
    keys = exact.copy()
    amounts = keys[:, 3:]
    ratio = 1.0 + width / 100
    logs = np.floor(np.log(np.maximum(amounts, 1)) / np.log(ratio)).astype(np.int64)
    keys[:, 3:] = np.where(amounts > 0, logs, amounts)
    return keys


def node_class(
    problem: Problem,
    nodes: Ints,
    shapes: tuple[int, ...],
    rooms: Ints,
    domains: Ints | None = None,
    devices: tuple[int, int] | None = None,
) -> NodeClass:
    """
    Take nodes as one bin, each with its row of what can be used.
    """
    requests = problem.shapes.requests[list(shapes)]
    kinds, counts = np.unique(rooms, axis=0, return_counts=True)
    found = class_devices(problem, shapes, nodes, devices)
    rows = [
        *resource_rows(requests, kinds, counts),
        *host_rows(problem, shapes, len(nodes)),
        *(() if found is None else device_rows(found)),
    ]
    most = [
        min(
            (row.total // row.coefficients[i] for row in rows if row.coefficients[i]),
            default=2**31,
        )
        for i in range(len(shapes))
    ]
    return NodeClass(
        nodes=tuple(int(n) for n in nodes),
        shapes=shapes,
        most=tuple(most),
        rows=tuple(rows),
        hole=int(problem.room.holes[nodes[0]]),
        uniform=len(kinds) == 1,
        domains=() if domains is None else tuple(int(d) for d in domains),
        devices=found,
    )
