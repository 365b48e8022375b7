"""
Crowded nodes: what comes to them has the room of whoever leaves.

Per resource Σ requests of what comes ≤ what is free + Σ what those hold who leave.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from solver.devices.part_room import PartRoom
from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity
from solver.encode.conversion.options import CrowdedNode
from solver.encode.devices.each_device import Held, add_each_device
from solver.encode.leaving.variables import Leaving
from solver.encode.queue_rows import add_room
from solver.encode.variables import Linear, Var
from solver.problem.node_room import Ints
from solver.problem.problem import Problem

Pods = list[tuple[Ints, Linear]]
"""
What pods ask for, and how many of them there are.
"""


@dataclass(frozen=True, slots=True)
class MustFitNow:
    """
    How many ``pods`` of each shape must have room where there is some ``now``.

    That counts as so on all nodes ``elsewhere``, or on none that is not crowded.
    """

    pods: Mapping[int, Linear]
    now: Ints
    elsewhere: bool


def add_crowded_nodes(
    model: cp_model.CpModel,
    problem: Problem,
    capacity: Capacity,
    leaving: Leaving,
    first: MustFitNow,
) -> None:
    """
    Ensure that crowded nodes hold what comes to them, with what leaves them.
    """
    nodes = leaving.conversion.crowded_nodes
    only = None if first.elsewhere else {crowded.base for crowded in nodes}
    counts = _first(model, capacity, first.pods, only)
    requests = problem.shapes.requests
    for at, crowded in enumerate(nodes):
        terms = capacity.class_terms(crowded.base) if crowded.base >= 0 else {}
        if not terms:
            continue
        literals = [leaving.crowded[at, k] for k in range(len(crowded.accounts))]
        left, pods = _left(crowded, literals), pods_of(requests, terms)
        held = add_node_room(model, problem, crowded.node, left, pods)
        if some := counts.get(crowded.base):
            free = [Linear(int(amount)) for amount in first.now[crowded.node]]
            pods = pods_of(requests, some)
            add_node_room(model, problem, crowded.node, free, pods, held)


def pods_of(requests: Ints, terms: Mapping[int, Sequence[Var]]) -> Pods:
    """
    Count what is placed on a node.
    """
    found: Pods = []
    for shape, counts in terms.items():
        found.append((requests[shape], Linear()))
        for count in counts:
            found[-1][1].add(count, 1, 1)
    return found


def _first(
    model: cp_model.CpModel,
    capacity: Capacity,
    entitled: Mapping[int, Linear],
    only: Collection[int] | None,
) -> dict[int, dict[int, list[Var]]]:
    """
    Count the pods in some classes that must have room now, so many of each shape.
    """
    found: dict[int, dict[int, list[Var]]] = {}
    every: dict[int, list[Var]] = {shape: [] for shape in entitled}
    for at, item in enumerate(capacity.classes.items):
        for shape, row in capacity.class_terms(at).items():
            if shape in every and (only is None or at in only):
                most = item.most[item.shapes.index(shape)]
                count = model.new_int_var(0, most, "")
                model.add(count <= cp_model.LinearExpr.sum(row))
                found.setdefault(at, {})[shape] = [count]
                capacity.first[shape, at] = count
                every[shape].append(count)
    for shape, counts in every.items():
        model.add(cp_model.LinearExpr.sum(counts) >= entitled[shape].expression)
    return found


def _left(crowded: CrowdedNode, literals: Sequence[Sequence[Var]]) -> list[Linear]:
    """
    Write what each column of a node comes to.
    """
    left = [Linear(int(amount)) for amount in crowded.free]
    for row, alike in zip(crowded.rows, literals, strict=True):
        for total, amount in zip(left, row.tolist(), strict=True):
            for literal in alike:
                total.add(literal, amount, 1)
    return left


def _free_pieces(
    model: cp_model.CpModel, parts: PartRoom, node: int, left: Sequence[Linear]
) -> None:
    """
    Add to what is left on a node the pieces that nobody is tied to any more.
    """
    for piece, held in enumerate(parts.tied.held[node]):
        tied = left[parts.tied.first + piece]
        if tied.constant < 0 <= tied.most and held.any():
            free = model.new_bool_var("")
            model.add(tied.expression >= 0).only_enforce_if(free)
            for total, amount in zip(left, held.tolist(), strict=False):
                total.add(free, amount, 1)


def add_node_room(
    model: cp_model.CpModel,
    problem: Problem,
    node: int,
    left: Sequence[Linear],
    pods: Pods,
    beside: Held | None = None,
) -> Held:
    """
    Ensure that a node holds pods where so much of each column is ``left``.

    They are some of those ``beside``; which devices they have is given.
    """
    parts = problem.room.parts
    columns, has_devices = {*problem.room.sums}, False
    if parts is not None:
        _free_pieces(model, parts, node, left)
        has_devices = parts.devices.number > 0
        columns |= parts.tied.columns - {parts.gpu if has_devices else -1}
    for column in sorted(columns):
        taken, leaves = Linear(), Linear()
        for row, number in pods:
            if row[column]:
                taken.extend(number, int(row[column]))
        if taken.variables:
            leaves.extend(left[column])
            leaves.constant = 0
            add_room(model, taken, left[column].constant, leaves)
    if not has_devices:
        return {}
    rows = [(row, number.expression) for row, number in pods]
    return add_each_device(model, problem, node, left, rows, beside)
