"""
Patterns: weights that no device exceeds, and nodes filled together.
"""

from random import Random

import pytest

from benchmarks.planned import decide
from models.policy import Policy
from models.resources import CPU
from solver.devices.packing_items import DeviceShare, SharedBin
from solver.effort.linear_program import LinearProgram
from solver.encode.devices.device_contents import contents_of
from solver.patterns.content_weights import Amounts
from solver.patterns.filled_node import FilledNode, columns_of, equal_nodes, holds
from solver.problem.problem import problem_of
from solver.score.tiers import tier_keys
from solver.search.tier_model import Model
from tests.helpers.build import gang, snapshot
from tests.helpers.rounds.parts import asking, fraction, sharing

SIZES = (50, 110, 140, 160, 220, 230, 320, 370, 460, 470, 550, 590, 650, 810)


def crowded(seed: int, nodes: int, pods: int):
    """
    Let pods of many sizes wait for a few more GPUs than there are.
    """
    rnd = Random(seed)
    waiting = []
    for at in range(pods):
        size = rnd.choice(SIZES)
        requests = asking(fraction(size)) | {CPU: rnd.choice((1, 4, 9)) * 1000}
        waiting.append(gang(f"g{at:03}", requests=requests))
    offered = [sharing(f"n{at:02}", 4) for at in range(nodes)]
    return snapshot(nodes=offered, gangs=waiting)


def encoded(waiting):
    problem = problem_of(waiting, Policy())
    keys = tier_keys(problem)
    encoding = Model(problem, keys).encoding
    sums = (encoding.tier(key) for key in keys)
    return encoding, next(row for row in sums if row.variables)


@pytest.mark.parametrize("seed", range(20))
def test_no_content_weighs_more_than_a_knapsack_says(seed):
    rnd = Random(seed)
    sizes = tuple(sorted(rnd.sample(range(20, 80), 4)))
    items = tuple(DeviceShare(10 * size, 0) for size in sizes)
    amounts = Amounts(items=items, steps=sizes, bins=(70,), fresh=100)
    worth = [rnd.randrange(1, 100) for _ in sizes]

    best = amounts.knapsack(worth)

    for room in (70, 100):
        contents = contents_of(SharedBin(10 * room, 0), items)
        weights = (
            sum(one * number for one, number in zip(worth, content, strict=True))
            for content in contents
        )
        assert max(weights) == best[room]

    held = zip(worth, amounts.content(worth), strict=True)
    assert best[100] == sum(one * number for one, number in held)


def test_prices_say_which_column_is_missing():
    program = LinearProgram()
    room = program.row(10.0)
    first = program.column(1.0, [(room, 4.0)])

    assert program.solve()
    assert pytest.approx(0.25) == program.price(room)

    second = program.column(1.0, [(room, 3.0)])

    assert program.solve()
    assert pytest.approx(10 / 3) == program.amount(second)
    assert 0 == program.amount(first)


@pytest.mark.parametrize("seed", range(5))
def test_a_filled_node_holds_what_its_pattern_says(seed):
    encoding, _ = encoded(crowded(seed, nodes=2, pods=40))
    problem = encoding.problem
    shapes = [*range(len(problem.shapes.items))]
    Random(seed).shuffle(shapes)
    item = encoding.classes.items[0]
    columns = columns_of(problem, shapes)
    (equal,) = equal_nodes(problem, columns, item)

    pattern = FilledNode(equal).fill(shapes, [40] * len(shapes))

    assert pattern
    assert holds(equal, pattern)


def test_nine_halves_do_not_lie_on_four_gpus():
    waiting = [gang(f"g{at}", requests=asking(fraction(500))) for at in range(9)]
    encoding, _ = encoded(snapshot(nodes=[sharing("n0", 4)], gangs=waiting))
    problem = encoding.problem
    columns = columns_of(problem, [0])
    (equal,) = equal_nodes(problem, columns, encoding.classes.items[0])

    assert holds(equal, ((0, 8),))
    assert not holds(equal, ((0, 9),))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [0, 2])
def test_parts_of_many_sizes_are_packed_to_their_bound(seed):
    waiting = crowded(seed, nodes=8, pods=80)

    plan = decide(waiting, Policy())

    first = next(tier for tier in plan.tiers if tier.value)
    assert first.bound == first.value
