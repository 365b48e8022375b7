"""
Exclusive hosts: no two pods of a gang on one node.
"""

from models.gangs import MOST_PODS
from solver.encode.capacity_rows import CapacityRow, row_of
from solver.problem.problem import Problem


def host_rows(problem: Problem, shapes: tuple[int, ...], num: int) -> list[CapacityRow]:
    """
    Keep exclusive pods of one gang on hosts of their own: at most one on each node.
    """
    tags: dict[str, list[int]] = {}
    for i, shape in enumerate(shapes):
        item = problem.shapes.items[shape]
        if item.tag:
            tags.setdefault(item.tag, []).append(i)
    rows = []
    for members in tags.values():
        alone = [i for i in members if problem.shapes.items[shapes[i]].exclusive]
        rows.append(row_of(len(shapes), dict.fromkeys(alone, 1), num, 1))
        for other in members:
            if other not in alone and num == 1:
                cap = MOST_PODS
                terms = {other: 1, **dict.fromkeys(alone, cap)}
                rows.append(row_of(len(shapes), terms, cap, cap))
    return rows
