"""
What queues weigh after what they used, in fractions: the judge's own arithmetic.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor

from models.policy import Policy
from models.queues import Queue

_STEP = Fraction(1, 10**6)


def weighed(queues: Sequence[Queue], policy: Policy) -> Sequence[Queue]:
    """
    Give the queues with weights of weight ÷ (1 + usage ÷ fair part), in millionths.

    The fair part is what the queue and its likes used, by their weights; alike are
    queues of one parent and priority that have a weight.
    """
    if policy.shares.half_life is None:
        return queues
    named = {name for queue in queues for name in queue.resources}
    weights = {name: _weights(queues, name) for name in named}
    return [
        replace(
            queue,
            resources={
                name: replace(queue.rule(name), weight=weights[name][queue.name])
                for name in named
            },
        )
        for queue in queues
    ]


def _weights(queues: Sequence[Queue], resource: str) -> dict[str, int]:
    used: dict[object, int] = {}
    heavy: dict[object, int] = {}
    for queue in queues:
        weight, alike = queue.rule(resource).weight, (queue.parent, queue.priority)
        if weight:
            used[alike] = used.get(alike, 0) + queue.usage.get(resource, 0)
            heavy[alike] = heavy.get(alike, 0) + weight
    found: dict[str, int] = {}
    for queue in queues:
        weight, alike = queue.rule(resource).weight, (queue.parent, queue.priority)
        fair = Fraction(used.get(alike, 0) * weight, heavy.get(alike, 1))
        over = queue.usage.get(resource, 0) / fair if fair else 0
        least = 1 if weight else 0
        found[queue.name] = max(least, floor(weight / (1 + over) / _STEP))
    return found
