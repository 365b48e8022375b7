"""
Small gangs of one pod each that must be near each other, and who can start by trying.

A pod comes where others are whom it looks for, or first of its like where none is at
that moment: one after the other, in any order.
"""

from itertools import combinations, product
from random import Random

from models.neighbours import Near, Neighbours
from models.resources import GPU
from tests.helpers.build import gang, node, snapshot

NAMES = ("x", "y", "z")
KEYS = (("zone",), ("rack",), ("zone", "rack"))
CHANCES = {"selected": 0.45, "near": 0.85, "label": 0.85, "runs": 0.15}


def ring_case(seed):
    """
    Draw a few nodes and gangs of one pod, most of which look for each other.
    """
    rnd = Random(f"ring-{seed}")

    def label(values):
        return rnd.choice(values) if rnd.random() < CHANCES["label"] else None

    nodes = [
        node(f"n{i}", rnd.choice((1, 2, 4)), zone=label("ab"), rack=label("rst"))
        for i in range(rnd.choice((1, 2, 3)))
    ]
    gangs = [
        gang(
            f"g{i}",
            requests={GPU: 1},
            neighbours=_drawn(rnd),
            running=[f"n{rnd.randrange(len(nodes))}"]
            if rnd.random() < CHANCES["runs"]
            else [],
        )
        for i in range(rnd.choice((3, 4, 5)))
    ]
    return snapshot(nodes, gangs)


def _drawn(rnd):
    chosen = tuple(name for name in NAMES if rnd.random() < CHANCES["selected"])
    near = Near(rnd.choice(NAMES), rnd.choice(KEYS))
    return Neighbours(
        selected=chosen, near=near if rnd.random() < CHANCES["near"] else None
    )


def most_starts(given):
    """
    Count the gangs that can start at most, trying all places and all orders.
    """
    return max(map(len, legal_places(given)))


def legal_places(given):
    """
    Walk the places of waiting gangs that can be taken in some order.
    """
    nodes = {one.name: one for one in given.nodes}
    waits = [one for one in given.gangs if one.tree.pods[0].node is None]
    for chosen in product([None, *sorted(nodes)], repeat=len(waits)):
        places = {g.key: n for g, n in zip(waits, chosen, strict=True) if n}
        if _has_room(given, nodes, places) and in_some_order(given, places):
            yield places


def _has_room(given, nodes, places):
    runs = [one.tree.pods[0].node for one in given.gangs if one.tree.pods[0].node]
    held = [*runs, *places.values()]
    return all(held.count(x) <= nodes[x].allocatable[GPU] for x in places.values())


def in_some_order(given, places):
    """
    Tell whether pods can come one by one, each near to those it looks for.
    """
    nodes = {one.name: one for one in given.nodes}
    gangs = {one.key: one.tree.neighbours for one in given.gangs}
    there = [
        (one.tree.neighbours, nodes[one.tree.pods[0].node])
        for one in given.gangs
        if one.tree.pods[0].node
    ]
    reached = {frozenset()}
    for size in range(len(places)):
        for done in [x for x in reached if len(x) == size]:
            here = [*there, *((gangs[k], nodes[places[k]]) for k in done)]
            for key in places.keys() - done:
                if _may_come(gangs[key], nodes[places[key]], here):
                    reached.add(done | {key})
    return frozenset(places) in reached


def _may_come(said, where, here):
    near = said.near
    if near is None:
        return True
    if not all(key in where.labels for key in near.keys):
        return False
    alike = [one for other, one in here if near.pods in other.selected]
    found = [one for one in alike if any(key in one.labels for key in near.keys)]
    if not found:
        return near.pods in said.selected
    return all(
        any(one.labels.get(key) == where.labels[key] for one in found)
        for key in near.keys
    )


def some_places(given, seed, most=12):
    """
    Draw some places of waiting gangs that have room, whether or not they are legal.
    """
    rnd = Random(f"places-{seed}")
    nodes = {one.name: one for one in given.nodes}
    waits = [one.key for one in given.gangs if one.tree.pods[0].node is None]
    drawn = [
        dict(zip(team, (rnd.choice(sorted(nodes)) for _ in team), strict=True))
        for size in range(1, len(waits) + 1)
        for team in combinations(waits, size)
    ]
    fitting = [places for places in drawn if _has_room(given, nodes, places)]
    return rnd.sample(fitting, min(most, len(fitting)))
