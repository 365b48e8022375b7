"""
Activation: which gangs start, with all that each of them needs or nothing.
"""

from collections.abc import Iterable, Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.demand import Demand
from solver.encode.node_classes import Classes
from solver.encode.required_topology import pinned
from solver.encode.tree import add_choice
from solver.encode.variables import (
    Count,
    Footprint,
    Linear,
    RigidVars,
    StateVars,
    TypeVars,
)
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem, Unit
from solver.problem.unit_kind import gang_kind
from solver.score.tiers import worth


def gang_types(problem: Problem) -> list[tuple[Unit, ...]]:
    """
    Gather units that the model cannot tell apart, oldest first.
    """
    kinds: dict[object, list[Unit]] = {}
    for unit in problem.units:
        kinds.setdefault(_kind(problem, unit), []).append(unit)
    return [
        tuple(sorted(units, key=lambda u: problem.positions.get(u.key, 0)))
        for units in kinds.values()
    ]


def _kind(problem: Problem, unit: Unit) -> object:
    """
    Name a unit's type: its kind, and what its start is worth.
    """
    state = unit.states[0]
    if len(unit.states) > 1 or not state.rigid or any(x.running for x in state.leaves):
        return unit.key
    if not unit.starts or not is_simple(problem, state):
        return unit.key
    return gang_kind(problem.shapes, state), *worth(problem, unit)


def is_simple(problem: Problem, state: Standing) -> bool:
    """
    Tell whether a gang's only topology demand is one required level at its root.
    """
    if any(node.topology is not None for node in state.nodes[1:]):
        return False
    demand = state.nodes[0].topology
    if demand is None:
        return True
    if demand.required is None:
        return False
    if state.satisfied and not any(leaf.running for leaf in state.leaves):
        return False
    if demand.preferred is None:
        return True
    levels = problem.topologies[demand.topology].levels
    return levels.index(demand.preferred) <= levels.index(demand.required)


def add_types(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    kinds: Iterable[Sequence[Unit]],
) -> list[TypeVars]:
    """
    Ensure for each of some types what ``add_type`` does.
    """
    return [add_type(model, problem, classes, demand, units) for units in kinds]


def add_type(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    units: Sequence[Unit],
) -> TypeVars:
    """
    Ensure that each unit of a type starts with all it needs or with nothing.
    """
    sample = units[0]
    count = len(units)
    starts = (
        Count(model.new_int_var(0, count, ""), count)
        if sample.starts
        else Count(None, count)
    )
    states: list[StateVars] = []
    for state in sample.states:
        if state.rigid and is_simple(problem, state):
            states.append(_add_rigid(model, problem, classes, demand, state, starts))
        else:
            root = starts if sample.starts else None
            states.append(add_choice(model, problem, classes, demand, state, root))
    return TypeVars(
        units=tuple(units), starts=starts, entitled=Count(None, 0), states=states
    )


def _add_rigid(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    state: Standing,
    starts: Count,
) -> RigidVars:
    """
    Ensure that core pods are need × starts, and surplus ≤ (pending − need) × starts.
    """
    vars_ = RigidVars(state=state, core=tuple(leaf.need for leaf in state.leaves))
    required = state.nodes[0].topology
    if required is None:
        _add_pods(model, problem, demand, vars_, starts, None)
        return vars_
    assert required.required is not None
    vars_.level = classes.levels.index((required.topology, required.required))
    cells = _open_cells(problem, classes, vars_)
    if starts.variable is not None and not any(x.running for x in state.leaves):
        _join_footprint(model, problem, demand, vars_, starts, cells)
        return vars_
    for cell in cells:
        if starts.variable is None:
            active = starts
        else:
            active = Count(model.new_int_var(0, starts.upper, ""), starts.upper)
        vars_.active[cell] = active
        _add_pods(model, problem, demand, vars_, active, cell)
    if starts.variable is not None:
        chosen = [c.variable for c in vars_.active.values() if c.variable is not None]
        model.add(cp_model.LinearExpr.sum(chosen) == starts.variable)
    return vars_


def _join_footprint(
    model: cp_model.CpModel,
    problem: Problem,
    demand: Demand,
    vars_: RigidVars,
    starts: Count,
    cells: list[int],
) -> None:
    """
    Count a type among all that want the same pods in one domain of the same level.
    """
    leaves = vars_.state.leaves
    shapes = tuple(
        problem.shapes.of_leaf[vars_.state.key, i] for i in range(len(leaves))
    )
    pending = tuple(len(leaf.pending) for leaf in leaves)
    key = (vars_.level, shapes, vars_.core, pending)
    if key not in demand.footprints:
        demand.footprints[key] = Footprint(
            level=vars_.level,
            core=vars_.core,
            pending=pending,
            shapes=shapes,
            cells=tuple(cells),
        )
    vars_.footprint = footprint = demand.footprints[key]
    footprint.starts.add(starts.variable, 1, starts.upper)
    for i, need in enumerate(vars_.core):
        extra = pending[i] - need
        if extra <= 0:
            continue
        more = Count(
            model.new_int_var(0, extra * starts.upper, ""), extra * starts.upper
        )
        model.add(more.chosen <= extra * starts.chosen)
        vars_.surplus[i, None] = more
        footprint.extra.setdefault(i, Linear()).add(more.variable, 1, more.upper)


def add_footprints(model: cp_model.CpModel, demand: Demand) -> None:
    """
    Ensure that the starts of a footprint, and their surplus, are dealt to its domains.
    """
    for footprint in demand.footprints.values():
        upper = footprint.starts.most
        for cell in footprint.cells:
            active = Count(model.new_int_var(0, upper, ""), upper)
            footprint.active[cell] = active
            for i, shape in enumerate(footprint.shapes):
                place = (footprint.level, cell)
                demand.add(shape, place, active, footprint.core[i])
                extra = footprint.pending[i] - footprint.core[i]
                if extra > 0:
                    more = Count(model.new_int_var(0, extra * upper, ""), extra * upper)
                    model.add(more.chosen <= extra * active.chosen)
                    footprint.surplus[i, cell] = more
                    demand.add(shape, place, more, 1)
        chosen = [count.variable for count in footprint.active.values()]
        model.add(cp_model.LinearExpr.sum(chosen) == footprint.starts.expression)
        for i, wanted in footprint.extra.items():
            given = [c.variable for (at, _), c in footprint.surplus.items() if at == i]
            model.add(cp_model.LinearExpr.sum(given) == wanted.expression)


def _open_cells(problem: Problem, classes: Classes, vars_: RigidVars) -> list[int]:
    """
    List the domains that may hold the gang: where it runs, else all that have room.
    """
    state = vars_.state
    names = classes.domain_names[vars_.level]
    used = pinned(problem, classes, state, 0, vars_.level)
    if used is not None:
        return list(used)
    if state.satisfied and not any(vars_.core):
        return list(range(len(names))) if len(names) == 1 else []
    room = domain_room(problem, classes, state, vars_.level)
    return [
        cell
        for cell in range(len(names))
        if classes.is_domain(vars_.level, cell)
        and all(room[i][cell] >= need for i, need in enumerate(vars_.core))
    ]


def domain_room(
    problem: Problem, classes: Classes, state: Standing, level: int
) -> list[list[int]]:
    """
    Count per leaf and domain how many of its pods would fit, each leaf by itself.
    """
    result = []
    for i in range(len(state.leaves)):
        shape = problem.shapes.of_leaf[state.key, i]
        result.append(_shape_room(classes, shape, level))
    return result


def _shape_room(classes: Classes, shape: int, level: int) -> list[int]:
    key = (shape, level)
    if key not in classes.rooms:
        totals = [0] * len(classes.domain_names[level])
        for item in classes.items:
            if shape not in item.shapes:
                continue
            at = item.shapes.index(shape)
            for part in item.parts:
                if part.domains[level] >= 0:
                    totals[part.domains[level]] += part.most[at]
        classes.rooms[key] = totals
    return classes.rooms[key]


def _add_pods(
    model: cp_model.CpModel,
    problem: Problem,
    demand: Demand,
    vars_: RigidVars,
    active: Count,
    cell: int | None,
) -> None:
    state = vars_.state
    for i, leaf in enumerate(state.leaves):
        shape = problem.shapes.of_leaf[state.key, i]
        place = (vars_.level, cell)
        demand.add(shape, place, active, leaf.need)
        extra = len(leaf.pending) - leaf.need
        if extra <= 0:
            continue
        upper = extra * active.upper
        more = Count(model.new_int_var(0, upper, ""), upper)
        if active.variable is not None:
            model.add(more.chosen <= extra * active.chosen)
        vars_.surplus[i, cell] = more
        demand.add(shape, place, more, 1)
