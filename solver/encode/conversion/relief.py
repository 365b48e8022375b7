"""
Relief: queues for which it counts that some leave them, whoever could use their room.

Below a limit, or in the share of a queue above others, what leaves makes room for
starts on any node.
"""

from collections import Counter

from solver.problem.problem import Problem


def relieved_queues(problem: Problem) -> frozenset[str]:
    """
    Name the queues whose limit or share may be too small for all that could start.
    """
    queues = problem.queues
    asked: Counter[tuple[str, str]] = Counter()
    for unit in problem.units:
        for state in unit.states if unit.starts else ():
            for leaf in state.leaves:
                for resource in queues.named & leaf.pod_set.requests.keys():
                    amount = leaf.pod_set.requests[resource] * len(leaf.pending)
                    asked[state.gang.queue, resource] += amount
    below: Counter[tuple[str, str]] = Counter()
    for (queue, resource), amount in asked.items():
        for above in queues.path(queue):
            below[above, resource] += amount
    return frozenset(
        queue
        for (queue, resource), amount in below.items()
        if amount > _left(problem, queue, resource)
    )


def _left(problem: Problem, queue: str, resource: str) -> float:
    """
    Say how much more a queue may hold before somebody has to leave it.
    """
    queues = problem.queues
    limit = queues.limit_left_later(queue, resource)
    left = float("inf") if limit is None else limit
    if queue in queues.parents:
        left = min(left, queues.claim_left(problem.shares, queue, resource))
    return left
