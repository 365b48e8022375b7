"""
Parts: nodes in the same domains of all keys by which pods must be near or apart.
"""

from collections.abc import Sequence

import numpy as np

from solver.problem.node_room import Ints
from solver.problem.problem import Problem


def parts_by_domain(problem: Problem, shapes: Sequence[int]) -> Ints:
    """
    Part the nodes by their domains of all keys that some shapes ask for, or prefer.

    Keys of which there are many domains, as of hosts, part nothing.
    """
    around = problem.around or problem.preferred
    none = np.zeros(len(problem.room.nodes), dtype=np.int64)
    if around is None:
        return none
    said = [problem.shapes.items[shape].neighbours for shape in shapes]
    selected = {name for one in said for name in one.selected}
    keys = {key for one in said for key in one.topology_keys()}
    if problem.around is not None:
        keys |= {key for pods, key in problem.around.apart if pods in selected}
    rows = [around.domains.of(key) for key in sorted(keys)]
    most = problem.tuning.encode.most_parts
    few = [row for row in rows if int(row.max(initial=-1)) < most]
    if not few:
        return none
    parts = np.unique(np.stack(few, axis=1), axis=0, return_inverse=True)[1]
    return np.asarray(parts.reshape(-1))
