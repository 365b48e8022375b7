"""
Crowded nodes: what comes to them has the room of whoever leaves.

Per resource Σ requests of what comes ≤ what is free + Σ what those hold who leave.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity
from solver.encode.conversion.options import CrowdedNode
from solver.encode.devices.each_device import Held, add_each_device
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Linear, Var
from solver.problem.node_room import Ints
from solver.problem.problem import Problem


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
    rows = _RoomRows(model, problem)
    for at, crowded in enumerate(nodes):
        terms = capacity.class_terms(crowded.base) if crowded.base >= 0 else {}
        if not terms:
            continue
        literals = [leaving.crowded[at, k] for k in range(len(crowded.accounts))]
        left = _left(model, problem, crowded, literals)
        held = rows.add(crowded.node, left, terms)
        if some := counts.get(crowded.base):
            free = [Linear(int(amount)) for amount in first.now[crowded.node]]
            rows.add(crowded.node, free, some, held)


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


def _left(
    model: cp_model.CpModel,
    problem: Problem,
    crowded: CrowdedNode,
    literals: Sequence[Sequence[Var]],
) -> list[Linear]:
    """
    Write what each column of a node comes to, with pieces that nobody is tied to.
    """
    left = [Linear(int(amount)) for amount in crowded.free]
    for row, alike in zip(crowded.rows, literals, strict=True):
        for total, amount in zip(left, row.tolist(), strict=True):
            for literal in alike:
                total.add(literal, amount, 1)
    parts = problem.room.parts
    if parts is None:
        return left
    for piece, held in enumerate(parts.tied.held[crowded.node]):
        tied = left[parts.tied.first + piece]
        if tied.constant < 0 <= tied.most and held.any():
            free = model.new_bool_var("")
            for leaves in tied.variables:
                model.add_implication(free, leaves)
            for total, amount in zip(left, held.tolist(), strict=False):
                total.add(free, amount, 1)
    return left


class _RoomRows:
    """
    The rows of single nodes: what is left there holds what comes.
    """

    def __init__(self, model: cp_model.CpModel, problem: Problem) -> None:
        self.model = model
        self.problem = problem
        parts = problem.room.parts
        columns = {*problem.room.sums}
        self.has_devices = parts is not None and parts.devices.number > 0
        if parts is not None:
            columns |= parts.tied.columns - {parts.gpu if self.has_devices else -1}
        self.columns = sorted(columns)

    def add(
        self,
        node: int,
        left: Sequence[Linear],
        terms: Mapping[int, Sequence[Var]],
        beside: Held | None = None,
    ) -> Held:
        """
        Ensure that a node holds pods where so much of each column is left.
        """
        for column in self.columns:
            self._add_sum(terms, column, left[column])
        if not self.has_devices:
            return {}
        pods = {shape: cp_model.LinearExpr.sum(row) for shape, row in terms.items()}
        return add_each_device(self.model, self.problem, node, left, pods, beside)

    def _add_sum(
        self, terms: Mapping[int, Sequence[Var]], column: int, left: Linear
    ) -> None:
        """
        Ensure that what comes finds so much of a resource; nothing where it is short.
        """
        taken = Linear()
        for shape, counts in terms.items():
            amount = int(self.problem.shapes.requests[shape, column])
            for count in counts:
                taken.add(count, amount, 1)
        if not taken.variables:
            return
        row = self.model.add(taken.expression <= left.expression)
        if left.constant < 0:
            comes = self.model.new_bool_var("")
            row.only_enforce_if(comes)
            for count in taken.variables:
                self.model.add(count == 0).only_enforce_if(~comes)
