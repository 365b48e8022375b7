"""
Packing: putting a class's counts onto its nodes, by fit first and exactly if need be.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from solver.effort.budget import Budget
from solver.effort.cp_sat import PlainModel, cp_model
from solver.encode.devices.device_contents import add_devices, class_devices
from solver.encode.limited import limited_solver
from solver.problem.node_room import Ints, NodeRoom, num_fitting
from solver.problem.problem import Problem
from solver.tuning import Decode

Pool = str


@dataclass(frozen=True, slots=True)
class PackedPods:
    """
    Some pods of one shape for a class; ``nodes`` are the positions that may hold them.
    """

    pool: Pool
    shape: int
    count: int
    nodes: tuple[int, ...] | None = None


@dataclass(slots=True)
class Packing:
    """
    How many of each item lie on each node position, and what did not fit.
    """

    slots: dict[tuple[int, int], int] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)


def pack(
    problem: Problem,
    nodes: Sequence[int],
    items: Sequence[PackedPods],
    most_touched: int | None,
    budget: Budget,
) -> tuple[Packing, bool]:
    """
    Pack items onto nodes; say also whether everything fits as the model believes.

    What does not fit at once is packed exactly, as far as the budget goes.
    """
    best = _by_fit(problem, nodes, items)
    if _is_done(best, most_touched):
        return best, True
    if len(nodes) * len(items) <= problem.tuning.decode.exact_cells:
        if budget.left <= 0:
            budget.cut.add("packing")
            return best, False
        exact = _exactly(problem, nodes, items, most_touched, budget)
        if exact is not None:
            return exact, True
    return best, False


def _is_done(packing: Packing, most_touched: int | None) -> bool:
    if packing.left:
        return False
    touched = {node for _, node in packing.slots}
    return most_touched is None or len(touched) <= most_touched


def _by_fit(
    problem: Problem, nodes: Sequence[int], items: Sequence[PackedPods]
) -> Packing:
    """
    Put the largest items first, each onto the fullest nodes that take it.
    """
    room = NodeRoom(problem.room.now[list(nodes)], problem.room.parts_of(nodes))
    scale = np.maximum(room.rows.max(axis=0, initial=1), 1)
    requests = problem.shapes.requests
    sizes = [float((requests[item.shape] / scale).max()) for item in items]
    order = sorted(
        range(len(items)), key=lambda i: (-sizes[i], items[i].nodes is None, i)
    )
    packing = Packing()
    hosts: dict[str, dict[int, bool]] = {}
    for i in order:
        left = _put(problem, items[i], i, room, packing, hosts)
        if left:
            packing.left[i] = left
    return packing


def _put(
    problem: Problem,
    item: PackedPods,
    index: int,
    room: NodeRoom,
    packing: Packing,
    hosts: dict[str, dict[int, bool]],
) -> int:
    """
    Put one item, parts of GPUs on the fullest open ones first; say how many are left.
    """
    shape = problem.shapes.items[item.shape]
    request = problem.shapes.requests[item.shape]
    scale = np.maximum(problem.room.empty.max(axis=0, initial=1), 1)
    left = item.count
    while left:
        places = _places(problem, item, room, hosts)
        here = room.on_open_devices(request, places)
        able = np.flatnonzero(places if here is None else here)
        tight = (room.rows[able].clip(min=0) / scale).sum(axis=1)
        for at in able[np.argsort(tight, kind="stable")].tolist():
            step = min(left, int(places[at] if here is None else here[at]))
            room.take_one(request, at, step)
            had = packing.slots.get((index, at), 0)
            packing.slots[index, at] = had + step
            if shape.tag:
                hosts.setdefault(shape.tag, {})[at] = shape.exclusive
            left -= step
            if not left:
                break
        if here is None:
            break
    return left


def _places(
    problem: Problem,
    item: PackedPods,
    room: NodeRoom,
    hosts: dict[str, dict[int, bool]],
) -> Ints:
    """
    Count how many pods of an item each position would take beside those of its gang.
    """
    shape = problem.shapes.items[item.shape]
    places = room.places(problem.shapes.requests[item.shape])
    if item.nodes is not None:
        mask = np.zeros(len(places), dtype=bool)
        mask[list(item.nodes)] = True
        places = np.where(mask, places, 0)
    if shape.tag:
        if shape.exclusive:
            places = np.minimum(places, 1)
        for node, alone in hosts.get(shape.tag, {}).items():
            if alone or shape.exclusive:
                places[node] = 0
    return places


def _exactly(
    problem: Problem,
    nodes: Sequence[int],
    items: Sequence[PackedPods],
    most_touched: int | None,
    budget: Budget,
) -> Packing | None:
    """
    Ask a small exact model for a packing of everything; none when there is none.
    """
    model = PlainModel()
    free = problem.room.now[list(nodes)]
    requests = problem.shapes.requests
    counts: dict[tuple[int, int], cp_model.IntVar] = {}
    for i, item in enumerate(items):
        room = num_fitting(free, requests[item.shape])
        allowed = range(len(nodes)) if item.nodes is None else item.nodes
        row = []
        for at in allowed:
            upper = min(int(room[at]), item.count)
            if upper:
                counts[i, at] = model.new_int_var(0, upper, "")
                row.append(counts[i, at])
        model.add(cp_model.LinearExpr.sum(row) == item.count)
    _add_nodes(model, problem, nodes, items, counts)
    if most_touched is not None:
        touched = [model.new_bool_var("") for _ in nodes]
        for (i, at), count in counts.items():
            model.add(count <= items[i].count * touched[at])
        model.add(cp_model.LinearExpr.sum(touched) <= most_touched)
    return _solved(model, counts, budget, problem.tuning.decode)


def _solved(
    model: cp_model.CpModel,
    counts: dict[tuple[int, int], cp_model.IntVar],
    budget: Budget,
    tuning: Decode,
) -> Packing | None:
    solver = limited_solver(budget, tuning.exact_limit)
    status = solver.solve(model)
    budget.charge(solver.deterministic_time)
    if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
        return None
    packing = Packing()
    for key, count in counts.items():
        if solver.value(count):
            packing.slots[key] = solver.value(count)
    return packing


def _add_nodes(
    model: cp_model.CpModel,
    problem: Problem,
    nodes: Sequence[int],
    items: Sequence[PackedPods],
    counts: dict[tuple[int, int], cp_model.IntVar],
) -> None:
    free = problem.room.now[list(nodes)]
    requests = problem.shapes.requests
    for at in range(len(nodes)):
        here = [i for i in range(len(items)) if (i, at) in counts]
        for r in range(free.shape[1]):
            terms = [counts[i, at] for i in here]
            weights = [int(requests[items[i].shape, r]) for i in here]
            if any(weights):
                body = cp_model.LinearExpr.weighted_sum(terms, weights)
                model.add(body <= int(max(0, free[at, r])))
        shapes = [items[i].shape for i in here]
        devices = class_devices(problem, shapes, [nodes[at]]) if here else None
        if devices is not None:
            add_devices(model, devices, {j: counts[i, at] for j, i in enumerate(here)})
        _keep_hosts_apart(model, problem, items, counts, here, at)


def _keep_hosts_apart(
    model: cp_model.CpModel,
    problem: Problem,
    items: Sequence[PackedPods],
    counts: dict[tuple[int, int], cp_model.IntVar],
    here: Sequence[int],
    at: int,
) -> None:
    tags: dict[str, list[int]] = {}
    for i in here:
        shape = problem.shapes.items[items[i].shape]
        if shape.tag:
            tags.setdefault(shape.tag, []).append(i)
    for members in tags.values():
        alone = [
            counts[i, at]
            for i in members
            if problem.shapes.items[items[i].shape].exclusive
        ]
        if not alone:
            continue
        single = model.new_bool_var("")
        model.add(cp_model.LinearExpr.sum(alone) == single)
        for i in members:
            if not problem.shapes.items[items[i].shape].exclusive:
                model.add(counts[i, at] == 0).only_enforce_if(single)
