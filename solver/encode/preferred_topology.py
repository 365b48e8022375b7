"""
Preferred topology: which domains of a level the pods below a tree node open.
"""

from solver.effort.cp_sat import cp_model
from solver.encode.node_classes import Classes
from solver.encode.required_topology import pods_inside
from solver.encode.variables import ChoiceVars
from solver.problem.domains import OUTSIDE
from solver.problem.problem import Problem
from solver.problem.running_domains import running_domains


def add_preferred_domains(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    vars_: ChoiceVars,
    at: int,
) -> None:
    """
    Ensure that a preferred domain counts as used once it holds a pod of the node.
    """
    demand = vars_.state.nodes[at].topology
    here = vars_.active.get(at)
    if demand is None or demand.preferred is None or here is None:
        return
    level = classes.levels.index((demand.topology, demand.preferred))
    names = classes.domain_names[level]
    node = vars_.state.nodes[at]
    running = running_domains(problem, vars_.state, node, demand.preferred)
    known = {-1 if d == OUTSIDE else names.index(d) for d in running}
    opened = []
    for domain, pods in pods_inside(classes, vars_, at, level).items():
        if domain in known:
            continue
        used = model.new_bool_var("")
        vars_.used[at, domain] = used
        opened.append(used)
        model.add(pods.expression <= pods.most * used)
    if not known and here.variable is not None:
        model.add(cp_model.LinearExpr.sum(opened) >= here.variable)
