"""
What is always true of a round between two with one plan: the same gangs start in it.

Every amount of a limit or quota is planned, also where the certificate leaves it out.
"""

from itertools import combinations
from random import Random

import pytest

from models.changes import NewAmount, QueueRule, changed
from models.resources import CPU, GPU_SHARE, MEMORY, SHARES_PER_GPU
from solver.problem.problem import problem_of
from solver.round import decide
from solver.why.same_rounds import is_between, is_same
from tests.helpers.rounds.waiting_cases import CASES

KINDS = ("victims", "random", "victims", "calm")
AMOUNTS = range(7)
STEPS = {CPU: 4000, MEMORY: 16 * 2**30, GPU_SHARE: SHARES_PER_GPU}


def planned(seed):
    """
    Plan a random round with each amount of one rule of one of its queues.
    """
    snapshot, policy = CASES[KINDS[seed % len(KINDS)]](seed)
    chance = Random(f"between-{seed}")
    used = {gang.queue for gang in snapshot.gangs}
    ruled = [x for x in snapshot.queues if x.resources and x.name in used]
    if not ruled:
        return
    queue, field = chance.choice(ruled), chance.choice(("limit", "quota"))
    resource = chance.choice(sorted(queue.resources))
    for amount in AMOUNTS:
        value = NewAmount(value=amount * STEPS.get(resource, 1))
        rule = QueueRule(field=field, queue=queue.name, resource=resource, amount=value)
        then = changed(snapshot, [rule])
        yield problem_of(then, policy), decide(then, policy, explained=False)


def wrong(seed):
    """
    List the rounds between two with one plan in which gangs fare otherwise.
    """
    rounds = [*planned(seed)]
    states = [[(x.name, x.state) for x in plan.gangs] for _, plan in rounds]
    return [
        (low, middle, high)
        for low, middle, high in combinations(range(len(rounds)), 3)
        if states[middle] != states[low] and is_same(rounds[low][1], rounds[high][1])
        if is_between(*(rounds[at][0] for at in (low, middle, high)))
    ]


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(2000, 2040))
def test_between_two_rounds_with_one_plan_the_same_gangs_start(seed):
    assert [] == wrong(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2040, 2300))
def test_between_many_rounds_with_one_plan_the_same_gangs_start(seed):
    assert [] == wrong(seed)
