"""
Required topology: all pods below a tree node in one domain of a level.
"""

from solver.effort.cp_sat import cp_model
from solver.encode.node_classes import Classes
from solver.encode.variables import ChoiceVars, Linear
from solver.problem.domains import OUTSIDE
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem
from solver.problem.running_domains import running_domains


def add_required_domain(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    vars_: ChoiceVars,
    at: int,
) -> None:
    """
    Ensure that all pods below a node are in one domain: the one where it runs, if any.
    """
    demand = vars_.state.nodes[at].topology
    here = vars_.active.get(at)
    if demand is None or demand.required is None or here is None:
        return
    level = classes.levels.index((demand.topology, demand.required))
    allowed = pinned(problem, classes, vars_.state, at, level)
    chosen = []
    for domain, pods in pods_inside(classes, vars_, at, level).items():
        if domain < 0 or (allowed is not None and domain not in allowed):
            model.add(pods.expression == 0)
            continue
        pick = model.new_bool_var("")
        chosen.append(pick)
        model.add(pods.expression <= pods.most * pick)
    if here.variable is not None:
        model.add(cp_model.LinearExpr.sum(chosen) == here.variable)
    elif chosen:
        model.add_at_most_one(chosen)


def pinned(
    problem: Problem, classes: Classes, state: Standing, at: int, level: int
) -> set[int] | None:
    """
    Give the domain to which running pods pin a node; no domain where that is torn.

    None where nothing of it runs.
    """
    _, required = classes.levels[level]
    used = running_domains(problem, state, state.nodes[at], required)
    if not used:
        return None
    if len(used) > 1 or OUTSIDE in used:
        return set()
    return {classes.domain_names[level].index(next(iter(used)))}


def pods_inside(
    classes: Classes, vars_: ChoiceVars, at: int, level: int
) -> dict[int, Linear]:
    """
    Add up a node's pods per domain of a level, from the finer cells of its leaves.
    """
    sums: dict[int, Linear] = {}
    for (i, cell), count in vars_.counts.items():
        if i not in vars_.state.nodes[at].leaves or cell is None:
            continue
        outer = -1
        if cell >= 0:
            outer = classes.outer(vars_.level[i], cell, level)
            outer = outer if classes.is_domain(level, outer) else -1
        sums.setdefault(outer, Linear()).add(count.variable, 1, count.upper)
    return sums
