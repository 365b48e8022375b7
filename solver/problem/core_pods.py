"""
The core: of the pods a gang gets, few that satisfy its tree; the others are surplus.
"""

from bisect import bisect_left
from collections.abc import Mapping

from models.resources import CPU, num_gpus
from solver.problem.gang_state import Standing, satisfied_after
from solver.problem.node_room import Places

GPU_COST = 1_000_000


def least_core(state: Standing, places: Places) -> dict[int, int]:
    """
    Drop pods while the tree stays satisfied, the dearest parts first.
    """
    core = places.counts
    if len(state.nodes) == 1:
        return {0: min(core[0], max(1, state.leaves[0].need))} if core else {}
    if state.rigid:
        return {i: min(core[i], leaf.need) for i, leaf in enumerate(state.leaves)}
    cost = [pod_cost(state, i) for i in range(len(state.leaves))]
    parts = [node.leaves for node in state.nodes[1:]]
    for part in sorted(parts, key=lambda p: -sum(core[i] * cost[i] for i in p)):
        without = core | dict.fromkeys(part, 0)
        if without != core and is_core(state, without):
            core = without
    for i in sorted(core, key=lambda i: -cost[i]):
        core[i] = _fewest(state, core, i)
    return core


def pod_cost(state: Standing, leaf: int) -> int:
    """
    Weigh a pod of a leaf: its GPUs, then its processors.
    """
    requests = state.leaves[leaf].pod_set.requests
    return num_gpus(requests) * GPU_COST + requests.get(CPU, 0)


def _fewest(state: Standing, core: Mapping[int, int], leaf: int) -> int:
    """
    Find the least count of a leaf that will do; with more pods the tree stays whole.
    """
    low = min(max(1, state.leaves[leaf].need), core[leaf])
    if low == core[leaf]:
        return low
    steps = range(low, core[leaf] + 1)
    return low + bisect_left(
        steps, 1, key=lambda count: is_core(state, {**core, leaf: count})
    )


def is_core(state: Standing, counts: Mapping[int, int]) -> bool:
    """
    Tell whether counts per leaf satisfy the tree, and every part of it that has any.
    """
    after = satisfied_after(state, dict(counts))
    if not after[0]:
        return False
    for at, node in enumerate(state.nodes):
        if any(counts.get(i, 0) for i in node.leaves) and not after[at]:
            return False
    return all(
        state.leaves[first].counted + counts.get(first, 0)
        >= state.leaves[first].minimum
        for i, leaf in enumerate(state.leaves)
        if counts.get(i, 0)
        for first in leaf.after
    )
