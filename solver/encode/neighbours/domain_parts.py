"""
Parts: nodes in the same domains of all keys by which pods must be near or apart.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from solver.problem.neighbours.spread_counts import REACHED
from solver.problem.node_room import Ints
from solver.problem.problem import Problem


def parts_by_domain(problem: Problem, shapes: Sequence[int]) -> Ints:
    """
    Part the nodes by their domains of all keys that some shapes ask for, or prefer.

    So too by whether they count where shapes are spread by these.  Keys of which there
    are many domains, as of hosts, part nothing.
    """
    around = problem.around or problem.preferred
    none = np.zeros(len(problem.room.nodes), dtype=np.int64)
    keys = parting_keys(problem, shapes)
    if around is None or not keys:
        return none
    few = [around.domains.of(key) for key in keys]
    spread = [] if problem.around is None else [problem.around.spread]
    items = [problem.shapes.items[shape] for shape in shapes]
    kinds = {(item.neighbours.spread, item.demand): item for item in items}
    for among, item in product(spread, kinds.values()):
        for rule in item.neighbours.spread:
            if rule.key in keys:
                few.append(none.copy())
                few[-1][among.counting(item.neighbours, rule, item.demand)] = 1
    parts = np.unique(np.stack(few, axis=1), axis=0, return_inverse=True)[1]
    return np.asarray(parts.reshape(-1))


def parting_keys(problem: Problem, shapes: Sequence[int]) -> list[str]:
    """
    List the keys that some shapes ask for, or prefer, of which there are few domains.
    """
    around = problem.around or problem.preferred
    if around is None:
        return []
    said = [problem.shapes.items[shape].neighbours for shape in shapes]
    selected = {name for one in said for name in one.selected}
    keys = {key for one in said for key in one.topology_keys()}
    if any(one.takes_volumes for one in said):
        keys.add(REACHED)
    if problem.around is not None:
        keys |= {key for pods, key in problem.around.apart if pods in selected}
    most = problem.tuning.encode.most_parts
    domains = around.domains
    return [k for k in sorted(keys) if int(domains.of(k).max(initial=-1)) < most]
