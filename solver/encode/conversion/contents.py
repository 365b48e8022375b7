"""
What may leave a node, choice by choice.

Of the choices that leave a node equally useful only those are kept that take nothing
more than needed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

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


def num_choices(problem: Problem, victims: Victims) -> int:
    """
    Count the choices of all unlike nodes, and the victims on each crowded one.
    """
    total, kinds = 0, set()
    tuning = problem.tuning.encode
    linked = {at for at, account in enumerate(victims.accounts) if account.wide >= 0}
    for here in victims.on_node.values():
        counts = [len(alike) for alike in here.values()]
        told_apart = problem.room.parts is not None and any(
            victim.pieces for alike in here.values() for victim in alike
        )
        if told_apart or _are_many(counts, tuning, linked=not linked.isdisjoint(here)):
            total += sum(counts)
            continue
        kind = sorted((at, *(t.cost for t in alike)) for at, alike in here.items())
        if tuple(kind) not in kinds:
            kinds.add(tuple(kind))
            total += prod(counts)
    return total


def _are_many(counts: Iterable[int], tuning: Encode, *, linked: bool) -> bool:
    """
    Tell whether there are too many ways to let so many victims leave a node.
    """
    most = tuning.most_linked if linked else tuning.most_choices
    return prod(count + 1 for count in counts) > most


def list_choices(contents: Contents, problem: Problem, *, singly: bool) -> None:
    """
    List all choices of how many victims of each account leave; the empty one first.

    Of a crowded node, or one that all leave ``singly``, it is only said that nobody
    leaves, or everybody.
    """
    rows, parts = np.array(contents.rows, dtype=np.int64), problem.room.parts
    tuning, linked = problem.tuning.encode, any(contents.linked)
    told_apart = parts is not None and len(rows) and (parts.pieces(rows) > 0).any()
    if singly or told_apart or _are_many(contents.counts, tuning, linked=linked):
        contents.crowded = True
        contents.choices = [(0,) * len(contents.counts), contents.counts]
        return
    contents.choices = [*product(*(range(count + 1) for count in contents.counts))]


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
