"""
What may leave a node, choice by choice.

Of the choices that leave a node equally useful only those are kept that take nothing
more than needed.
"""

from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from solver.encode.devices.leaving_devices import some_choices
from solver.evict.victims import Victims
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem
from solver.tuning import Encode


@dataclass(slots=True)
class Contents:
    """
    One kind of node contents while its choices are worked out.
    """

    fits: Bools
    free: Ints
    rows: tuple[Ints, ...]
    counts: tuple[int, ...]
    linked: tuple[bool, ...]
    relieving: tuple[bool, ...]
    choices: list[tuple[int, ...]] = field(default_factory=list)
    node: int = -1
    crowded: bool = False
    exact: bool = True


def num_choices(victims: Victims, tuning: Encode) -> int:
    """
    Count the choices of all unlike nodes, as many of each as would be listed.
    """
    kinds = {
        tuple(sorted((at, *(t.cost for t in alike)) for at, alike in here.items()))
        for here in victims.on_node.values()
    }
    linked = {at for at, account in enumerate(victims.accounts) if account.wide >= 0}
    return sum(
        min(
            tuning.most_linked
            if linked.intersection(x[0] for x in kind)
            else tuning.most_choices,
            prod(len(alike) for alike in kind),
        )
        for kind in kinds
    )


def list_choices(contents: Contents, problem: Problem) -> None:
    """
    List what may leave such a node, all choices or as many as are worth it.
    """
    tuning, parts = problem.tuning.encode, problem.room.parts
    rows = np.array(contents.rows, dtype=np.int64)
    held = None if parts is None or not len(rows) else parts.pieces(rows) > 0
    if held is not None and held.any():
        found = some_choices(contents.counts, held, tuning.most_choices)
        contents.choices, contents.exact = found
    else:
        _list_counts(contents, tuning)


def _list_counts(contents: Contents, tuning: Encode) -> None:
    """
    List all choices of how many victims of each account leave; the empty one first.

    Of a crowded node only the amounts that may be free are listed.
    """
    total = 1
    for count in contents.counts:
        total *= count + 1
    most = tuning.most_linked if any(contents.linked) else tuning.most_choices
    if total <= most:
        ranges = [range(count + 1) for count in contents.counts]
        contents.choices = list(product(*ranges))
        return
    contents.crowded = True
    frees = {tuple(contents.free.tolist()): None}
    for row, count in zip(contents.rows, contents.counts, strict=True):
        amounts = row.tolist()
        for free in list(frees):
            for number in range(1, count + 1):
                pairs = zip(free, amounts, strict=True)
                frees.setdefault(tuple(x + number * a for x, a in pairs))
        if len(frees) > tuning.most_levels:
            contents.exact = False
            frees = dict.fromkeys(list(frees)[: tuning.most_levels])
    contents.choices = list(frees)


def undominated(contents: Contents, cut: Ints) -> list[int]:
    """
    Keep choices of which no other leaves as much and takes nothing more.

    What belongs to a gang on several nodes, or relieves a queue, may have to go where
    nobody needs its room, so that choices which differ in it are both kept.
    """
    linked = np.array([contents.linked, contents.relieving], dtype=bool).any(axis=0)
    taken = np.array(contents.choices, dtype=np.int64)
    taken = taken.reshape(len(contents.choices), len(contents.rows))
    room = np.where(cut < 0, np.iinfo(np.int64).max, cut)
    order = np.argsort(taken.sum(axis=1), kind="stable")
    taken, room = taken[order], room[order]
    dominated = np.zeros(len(order), dtype=bool)
    for at in range(len(order)):
        if dominated[at]:
            continue
        later = slice(at + 1, None)
        fewer = (taken[at] <= taken[later]).all(axis=1)
        if linked.any():
            fewer &= (taken[at][linked] == taken[later][:, linked]).all(axis=1)
        dominated[later] |= fewer & (room[at] >= room[later]).all(axis=1)
    return [int(at) for at in order[~dominated]]
