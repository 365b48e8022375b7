"""
What a draft leaves of GPUs that typical pods could not use.
"""

import numpy as np

from models.devices.gpu_parts import GpuPart, part_of
from solver.devices.device_fragments import Parts
from solver.place.draft import Draft
from solver.problem.node_room import Ints, Places
from solver.problem.problem import Problem


def left_over(problem: Problem, draft: Draft) -> int:
    """
    Add up over all nodes what is of no use after a draft, in twentieths of a GPU.
    """
    fragments = problem.room.fragments
    if fragments is None:
        return 0
    now = problem.room.now
    first = fragments.first(now)
    nodes, rows, parts = _taken(problem, draft)
    if not len(nodes):
        return int(first.sum())
    after = fragments.values(nodes, rows, parts)
    return int(first.sum() - first[nodes].sum() + after.sum())


def _taken(problem: Problem, draft: Draft) -> tuple[Ints, Ints, list[Parts]]:
    """
    Give the nodes that get pods, with what these leave, and the parts new on each.
    """
    now = problem.room.now
    rows: dict[int, Ints] = {}
    parts: dict[int, list[GpuPart]] = {}
    for key, places in draft.places.items():
        leaves = problem.states[key].leaves
        for at, (leaf, hosts) in enumerate(zip(leaves, places, strict=True)):
            part = part_of(leaf.pod_set.requests)
            shape = problem.shapes.of_leaf[key, at]
            for node in hosts:
                row = rows.setdefault(node, now[node].copy())
                row -= problem.shapes.requests[shape]
                parts.setdefault(node, []).extend([part] if part else [])
    nodes = sorted(rows)
    table = np.array([rows[node] for node in nodes], dtype=np.int64)
    return (
        np.array(nodes, dtype=np.int64),
        table.reshape(len(nodes), now.shape[1]),
        [tuple(sorted(parts[node])) for node in nodes],
    )


def least_left_over(problem: Problem) -> int:
    """
    Give what any draft leaves at least; exact where one pod waits and nobody else.
    """
    mine = [state for unit in problem.units for state in unit.states]
    if problem.room.fragments is None or sum(state.num_pending for state in mine) > 1:
        return 0
    found = [left_over(problem, Draft())]
    for state in mine:
        at = next(i for i, leaf in enumerate(state.leaves) if leaf.pending)
        fits = problem.shapes.fits[problem.shapes.of_leaf[state.key, at]]
        for node in np.flatnonzero(fits).tolist():
            rows = [(node,) if i == at else () for i in range(len(state.leaves))]
            draft = Draft(places={state.key: Places(tuple(rows))})
            found.append(left_over(problem, draft))
    return min(found)
