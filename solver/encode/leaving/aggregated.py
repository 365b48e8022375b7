"""
The coarse model of a step: as if all nodes that are alike to pods were one.

What leaves an account frees its amounts somewhere, and a node holds no more pods than
it would if everybody left who may.  Its bounds hold for the step, and it stays small
where the number of nodes does not.
"""

from dataclasses import dataclass, replace

import numpy as np

from solver.effort.cp_sat import PlainModel, cp_model
from solver.encode.activation import add_footprints, add_type, gang_types
from solver.encode.capacity import add_class_rows
from solver.encode.conversion.options import Conversion
from solver.encode.demand import Demand, pending_shapes
from solver.encode.devices.device_contents import UNLIKE
from solver.encode.leaving.step_rules import add_queue_rules, add_rights, released_by
from solver.encode.leaving.variables import Leaving
from solver.encode.leaving.who_leaves import add_leaving
from solver.encode.node_classes import Classes, node_class
from solver.encode.tier_rows import tier_sum
from solver.encode.variables import Linear, TypeVars, Var
from solver.encode.without_topology import without_topology
from solver.evict.rights.may_leave import Rights
from solver.evict.victims import Victims
from solver.problem.node_room import Ints
from solver.problem.problem import Problem
from solver.problem.running_gangs import asked_by
from solver.score.tier import TierKey


@dataclass(slots=True)
class Coarse:
    """
    The model and its types.
    """

    problem: Problem
    model: cp_model.CpModel
    types: list[TypeVars]

    def tier(self, key: TierKey) -> Linear:
        """
        Write a tier's value.
        """
        return tier_sum(self.problem, self.types, key)


def encode_coarsely(problem: Problem, victims: Victims, vacated: Ints) -> Coarse:
    """
    Build the coarse model of a step.

    The ``problem`` has the room there will be later; ``vacated`` is that of each node
    if everybody left who may leave or be moved.
    """
    problem = without_topology(problem)
    model = PlainModel()
    demand = Demand()
    classes = _classes(problem, vacated)
    types = [
        add_type(model, problem, classes, demand, units)
        for units in gang_types(problem)
    ]
    add_footprints(model, demand)
    leaving = _leaving(model, _unmoved(victims), classes)
    _add_room(model, problem, classes, demand, leaving)
    gone = released_by(problem, leaving)
    add_queue_rules(model, problem, leaving, types, gone)
    add_rights(model, problem, leaving, types)
    return Coarse(problem, model, types)


def _classes(problem: Problem, vacated: Ints) -> Classes:
    """
    Gather the nodes that the same shapes may use, with the rows of vacated nodes.
    """
    shapes = pending_shapes(problem)
    allowed = problem.shapes.allowed[shapes]
    usable = np.flatnonzero(allowed.any(axis=0))
    columns, inverse = np.unique(allowed[:, usable], axis=1, return_inverse=True)
    items = []
    for at in range(columns.shape[1]):
        nodes = usable[inverse.reshape(-1) == at]
        row = tuple(s for s, fit in zip(shapes, columns[:, at], strict=True) if fit)
        rooms = vacated[nodes].clip(min=0)
        items.append(node_class(problem, nodes, row, rooms, devices=UNLIKE))
    return Classes(
        items=tuple(items),
        levels=(),
        domain_of=np.empty((len(problem.room.nodes), 0), dtype=np.int64),
        domain_names=(),
        merged=True,
        ranks=(),
    )


def _unmoved(victims: Victims) -> Victims:
    """
    Leave moves out: what is moved takes as much room as it leaves.
    """
    return replace(
        victims,
        accounts=[replace(a, rights=_stay(a.rights)) for a in victims.accounts],
        wide=[replace(w, rights=_stay(w.rights)) for w in victims.wide],
    )


def _stay(rights: Rights) -> Rights:
    return Rights(rights.reclaim, rights.preempt)


def _leaving(model: cp_model.CpModel, victims: Victims, classes: Classes) -> Leaving:
    """
    Count what leaves of each account, wherever it is.
    """
    numbers = victims.numbers()
    counts = [Linear() for _ in victims.accounts]
    for at, (total, record) in enumerate(zip(counts, victims.accounts, strict=True)):
        if numbers[at] and record.rights:
            total.add(model.new_int_var(0, numbers[at], ""), 1, numbers[at])
    return add_leaving(model, victims, Conversion((), (), classes), counts)


def _add_room(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    leaving: Leaving,
) -> None:
    """
    Ensure that places are wanted nowhere twice, and that all of them have room.
    """
    held: dict[int, list[Var]] = {}
    for item in classes.items:
        terms: dict[int, list[Var]] = {}
        for shape, most in zip(item.shapes, item.most, strict=True):
            if most > 0 and (shape, (-1, None)) in demand.sums:
                terms[shape] = [model.new_int_var(0, most, "")]
                held.setdefault(shape, []).extend(terms[shape])
        add_class_rows(model, item, terms)
    for (shape, _), wanted in demand.sums.items():
        counts = cp_model.LinearExpr.sum(held.get(shape, []))
        model.add(counts >= wanted.expression)
    nodes = sorted({node for item in classes.items for node in item.nodes})
    later = problem.room.later[nodes].clip(min=0).sum(axis=0)
    for column in problem.room.sums:
        row = Linear(-int(later[column]))
        for shape, variables in held.items():
            amount = int(problem.shapes.requests[shape, column])
            for variable in variables:
                row.add(variable, amount, 1)
        _free(problem, leaving, row, column)
        if row.variables:
            model.add(row.expression <= 0)


def _free(problem: Problem, leaving: Leaving, row: Linear, column: int) -> None:
    """
    Take from a row what evicted pods held of a resource.
    """
    name = problem.room.resources[column]
    for at, account in enumerate(leaving.victims.accounts):
        wide = account.wide
        if leaving.victims.goes_whole(at):
            gang = leaving.victims.wide[wide]
            held = asked_by(gang.gang, gang.pods).get(name, 0)
            row.add(leaving.gone_whole[wide], -held, 1)
        else:
            amount = account.requests.get(name, 0)
            gone = leaving.gone[at]
            for variable, times in zip(gone.variables, gone.coefficients, strict=True):
                row.add(variable, -amount * times, 1)
