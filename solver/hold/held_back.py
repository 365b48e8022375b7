"""
Held back: what idles only since it is held, counted when a round is decided.
"""

from collections.abc import Sequence
from dataclasses import replace

from solver.hold.heads import Head
from solver.place.complete import loaded
from solver.place.draft import Draft
from solver.place.greedy import in_queue_order
from solver.problem.lateness import unit_gpus
from solver.problem.pod_shapes import Shapes, refitted
from solver.problem.problem import Problem


def held_gpus(
    problem: Problem, draft: Draft, heads: Sequence[Head], open_to_all: Shapes
) -> int:
    """
    Count the GPUs that gangs would start on, by hand, if no node were held.

    The ``problem`` is as it was decided, with what is held; ``open_to_all`` are the
    shapes before anybody was kept off held nodes.
    """
    holding = {head.key for head in heads if head.nodes}
    waiting = holding - draft.places.keys()
    if not waiting:
        return 0
    free = replace(problem, shapes=refitted(open_to_all, problem.room.now))
    work = loaded(free, draft)
    units = [
        unit
        for unit in problem.units
        if unit.starts and unit.key not in work.placed and unit.key not in waiting
    ]
    in_queue_order(work, units)
    return sum(unit_gpus(unit) for unit in units if unit.key in work.placed)
