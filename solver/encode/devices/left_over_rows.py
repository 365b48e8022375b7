"""
What is of no use to typical pods, in the model: exact for single nodes, else a bound.

For a node by itself all that may come to it is listed, with what is of no use then.  Of
other classes it is only said that a node on which nothing comes keeps what it has.
"""

from collections.abc import Mapping
from itertools import product
from math import prod

import numpy as np

from solver.devices.device_fragments import Fragments, Parts
from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity, add_touched, take_no_more
from solver.encode.demand import Demand
from solver.encode.node_classes import NodeClass
from solver.encode.variables import Linear, Var
from solver.problem.problem import Problem

_MOST_LISTED = 1000
"""
Of a node that may get more than this only the bound is known.
"""


def left_over_sum(
    model: cp_model.CpModel, problem: Problem, capacity: Capacity, demand: Demand
) -> Linear:
    """
    Write what is of no use after the round, in twentieths of a GPU.
    """
    fragments = problem.room.fragments
    if fragments is None:
        return Linear()
    take_no_more(model, capacity, demand)
    add_touched(model, capacity)
    first = fragments.first(problem.room.now)
    total = Linear(int(first.sum()))
    for at, item in enumerate(capacity.classes.items):
        terms = capacity.class_terms(at)
        if not terms:
            continue
        values = _values(problem, fragments, item, terms)
        most = max(int(first[node]) for node in item.nodes)
        if not values:
            touched = capacity.touched[at]
            every = [count for row in terms.values() for count in row]
            model.add(touched <= cp_model.LinearExpr.sum(every))
            total.add(touched, -most, len(item.nodes))
            continue
        counts = [model.new_int_var(0, max(c), "") for c in zip(*values, strict=True)]
        for count, row in zip(counts, terms.values(), strict=False):
            model.add(count == cp_model.LinearExpr.sum(row))
        model.add_allowed_assignments(counts, values)
        total.constant -= most
        total.add(counts[-1], 1, max(row[-1] for row in values))
    return total


def _values(
    problem: Problem,
    fragments: Fragments,
    item: NodeClass,
    terms: Mapping[int, list[Var]],
) -> list[tuple[int, ...]]:
    """
    List what may come to a single node, with what is of no use then; none if too much.

    Where not all ways to deal its devices were tried, it may be nothing.
    """
    pending = problem.room.parts
    most = [item.most[item.shapes.index(shape)] for shape in terms]
    if len(item.nodes) > 1 or prod(number + 1 for number in most) > _MOST_LISTED:
        return []
    node, found = item.nodes[0], []
    now = problem.room.now[node]
    sums = sorted({*problem.room.sums, fragments.gpu})
    requests = problem.shapes.requests[list(terms)]
    for counts in product(*(range(number + 1) for number in most)):
        row = now - np.array(counts) @ requests
        if (row[sums] < np.minimum(0, now[sums])).any():
            continue
        parts: Parts = ()
        for request, count in zip(requests, counts, strict=True):
            pairs = zip(pending.parts, pending.columns, strict=True) if pending else ()
            parts += tuple(x for x, at in pairs if request[at] for _ in range(count))
        dealing = fragments.least(node, row, tuple(sorted(parts)))
        if dealing is not None:
            found.append((*counts, dealing.value * dealing.is_least))
    return found
