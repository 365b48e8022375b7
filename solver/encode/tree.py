"""
Trees with choice: the pods of each leaf, and the rules that hold over them.
"""

from solver.effort.cp_sat import cp_model
from solver.encode.demand import Demand, cell_level
from solver.encode.k_of_n import add_minimums, add_no_surplus
from solver.encode.node_classes import Classes
from solver.encode.preferred_topology import add_preferred_domains
from solver.encode.required_topology import add_required_domain
from solver.encode.roles import add_role_order
from solver.encode.variables import ChoiceVars, Count, Linear
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem, Step


def add_choice(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    state: Standing,
    root: Count | None,
) -> ChoiceVars:
    """
    Ensure that a gang's tree gets pods only where all its minimums hold afterwards.
    """
    vars_ = ChoiceVars(state=state)
    for at, node in enumerate(state.nodes):
        pending = sum(len(state.leaves[i].pending) for i in node.leaves)
        if at == 0 and root is not None:
            vars_.active[at] = root
        elif pending:
            vars_.active[at] = Count(model.new_bool_var(""), 1)
    _add_leaves(model, problem, classes, demand, vars_)
    totals = {i: Linear() for i in range(len(state.leaves))}
    for (i, _), count in vars_.counts.items():
        totals[i].add(count.variable, 1, count.upper)
    add_minimums(model, state, vars_.active, totals)
    add_role_order(model, state, vars_.active)
    if problem.step is not Step.IDLE:
        add_no_surplus(model, state, vars_.active, totals)
    for at in range(len(state.nodes)):
        add_required_domain(model, problem, classes, vars_, at)
        add_preferred_domains(model, problem, classes, vars_, at)
    return vars_


def _add_leaves(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    vars_: ChoiceVars,
) -> None:
    state = vars_.state
    for i, leaf in enumerate(state.leaves):
        asked = cell_level(problem, state, i)
        level = -1 if asked is None else classes.levels.index(asked)
        vars_.level[i] = level
        if not leaf.pending:
            continue
        shape = problem.shapes.of_leaf[state.key, i]
        cells: list[int | None] = [None]
        if level >= 0:
            cells = [*range(len(classes.domain_names[level])), -1]
        for cell in cells:
            upper = len(leaf.pending)
            count = Count(model.new_int_var(0, upper, ""), upper)
            vars_.counts[i, cell] = count
            demand.add(shape, (level, cell), count, 1)
