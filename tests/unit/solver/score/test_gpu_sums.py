"""
GPUs added up: no choice of starts is worth more than they say, and few are worth less.
"""

from dataclasses import replace
from itertools import compress, product
from random import Random

import pytest

from models.policy import Evict, Policy
from models.resources import GPU, LARGEST_TOTAL
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.problem import Step, problem_of
from solver.problem.start_values import borrowing_value, entitled_value
from solver.score.gpu_sums import (
    StartPrices,
    gpus_at_most,
    gpus_needed,
    may_be_entitled,
    with_room_beside,
)
from solver.score.still_possible import nearer_bounds
from solver.score.tier import TierKey
from solver.score.tiers import score, tier_keys, trivial_bound
from tests.helpers.build import gang, node, queue, snapshot
from tests.helpers.rounds.cases import random_snapshot

AGES = (0, 700, 4000, 30000)
SURE = TierKey("entitled", range(1), None, "max", 0.0)
BORROWED = TierKey("borrowing", range(1), None, "max", 0.0)


def drawn(seed):
    """
    Draw a round of two queues, some gangs of several sizes and ages, and one of both.
    """
    random = Random(seed)
    owners = ("a", "b")
    queues = [queue(name, quota=random.randint(0, 8)) for name in owners]
    gangs = [
        gang(
            f"g{i}",
            queue=random.choice(owners),
            gpus=random.choice((0, 1, 1, 2, 3)),
            minimum=random.randint(1, 2),
            age=random.choice(AGES),
        )
        for i in range(random.randint(1, 7))
    ]
    both = ("default/left", "default/right")
    for name, owner in zip(("left", "right"), owners, strict=True):
        more = {"queue": owner, "gpus": 1, "minimum": 1, "mates": both}
        gangs += [gang(name, **more)] if seed % 3 == 0 else []
    busy = gang("busy", queue="a", gpus=1, minimum=1, running=["n0"])
    case = snapshot([node("n0", 4), node("n1", 4)], [busy, *gangs], queues)
    return problem_of(case, Policy())


def choices(problem, key):
    """
    Walk all choices of starts that the shares of the queues hold, with their GPUs.
    """
    units = [unit for unit in problem.units if unit.starts]
    entitled = key.name == "entitled"
    worth = entitled_value if entitled else borrowing_value
    if entitled:
        units = [unit for unit in units if may_be_entitled(problem, unit)]
    for bits in product((False, True), repeat=len(units)):
        chosen = list(compress(units, bits))
        used = dict.fromkeys(problem.queues.queues, 0)
        for state in (state for unit in chosen for state in unit.states):
            of_gang = state.leaves[0]
            asked = of_gang.pod_set.requests.get(GPU, 0) * of_gang.need
            used[state.gang.queue] += asked
        shares = problem.shares
        if entitled and any(
            amount > problem.queues.share_left(shares, name, GPU)
            for name, amount in used.items()
        ):
            continue
        gpus = sum(map(gpus_needed, chosen))
        yield gpus, sum(worth(problem, unit.states) for unit in chosen)


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.parametrize("key", [SURE, BORROWED], ids=["entitled", "borrowing"])
def test_no_choice_of_starts_is_worth_more_or_needs_fewer(seed, key):
    problem = drawn(seed)
    prices = StartPrices(problem, key, problem.units)
    found = list(choices(problem, key))

    for gpus in range(10):
        most = max(value for needs, value in found if needs <= gpus)
        assert most <= prices.most(gpus) <= trivial_bound(problem, key)
    for needs, value in found:
        assert prices.least(value) <= needs


@pytest.mark.parametrize("seed", range(40))
def test_whole_rounds_are_within_their_bounds(seed):
    problem = problem_of(random_snapshot(seed), Policy())
    keys = tier_keys(problem)
    wide = [trivial_bound(problem, key) for key in keys]
    for draft in (Draft(), greedy(problem)):
        values = score(problem, draft, keys)
        bounds = nearer_bounds(problem, keys, values, wide)
        for key, value, bound in zip(keys, values, bounds, strict=True):
            if value != bound:
                assert key.direction == "min" or value < bound
                break


def test_sizes_that_do_not_add_up_to_what_is_free_leave_the_rest_of_it():
    gangs = [gang(name, gpus=3, minimum=1) for name in "abcd"]
    problem = problem_of(snapshot([node("n", 8)], gangs), Policy())
    prices = StartPrices(problem, SURE, problem.units)

    assert prices.most(8) == prices.most(6) == 2 * prices.most(3)
    assert 0 == prices.most(2)


def test_each_queue_has_its_own_share():
    queues = (queue("a", quota=2), queue("b", quota=6))
    gangs = [gang(f"a{i}", queue="a", gpus=1, minimum=1) for i in range(5)]
    problem = problem_of(snapshot([node("n", 8)], gangs, queues), Policy())
    more = [gang(f"b{i}", queue="b", gpus=1, minimum=1) for i in range(7)]
    full = problem_of(snapshot([node("n", 8)], [*gangs, *more], queues), Policy())

    assert trivial_bound(problem, SURE) == StartPrices(
        problem, SURE, problem.units
    ).most(8)
    by_share = StartPrices(full, SURE, full.units)
    assert by_share.most(LARGEST_TOTAL) == by_share.most(8) < trivial_bound(full, SURE)


def test_no_sums_are_looked_for_of_more_gpus_than_are_worth_it(monkeypatch):
    monkeypatch.setattr("solver.score.gpu_sums._MANY", 4)
    gangs = [gang(name, gpus=3, minimum=1) for name in "abcd"]
    problem = problem_of(snapshot([node("n", 8)], gangs), Policy())
    prices = StartPrices(problem, SURE, problem.units)

    assert prices.most(6) < prices.most(8) < prices.most(9)


def borrowing(*gangs, policy=None, free=3):
    """
    Give the step of those that borrow on a node with some GPUs free.
    """
    busy = gang("busy", gpus=8 - free, minimum=1, priority=1, running=["n"])
    case = snapshot([node("n", 8)], [busy, *gangs])
    return replace(problem_of(case, policy or Policy()), step=Step.BORROWING)


def test_who_needs_more_than_is_free_is_not_tried_where_others_only_move():
    small, large = (gang("s", gpus=2, minimum=1), gang("l", gpus=4, minimum=1))
    problem = borrowing(small, large)
    found = with_room_beside(problem, Draft())

    assert found is not None
    assert ["default/s"] == [unit.key for unit in found.units]
    assert with_room_beside(borrowing(large), Draft()) is None


def test_what_may_be_preempted_is_room():
    large = gang("l", gpus=4, minimum=1, priority=2)
    problem = borrowing(large)
    calm = borrowing(large, policy=Policy(evict=Evict(preempt=False)))

    assert 8 == gpus_at_most(problem)
    assert 3 == gpus_at_most(problem, idle=True) == gpus_at_most(calm)
    assert with_room_beside(problem, Draft()) is not None
    assert with_room_beside(calm, Draft()) is None
