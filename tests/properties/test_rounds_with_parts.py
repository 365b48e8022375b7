"""
What is always true of rounds with parts of GPUs: their plans break no rule.
"""

from dataclasses import replace
from random import Random

import pytest

from benchmarks.cases.device_parts import with_parts
from benchmarks.quality import exact_vector, vector_of
from benchmarks.victims_quality import case_of
from exact import best_round, first_worse
from models.policy import Evict, Limits, Policy
from models.resources import GPU_SHARE, SHARES_PER_GPU
from solver import decide
from solver.problem.problem import problem_of
from solver.problem.when_empty.shared_out import shared_out
from solver.score.tiers import tier_keys
from solver.verify import verify
from tests.helpers.build import snapshot
from tests.helpers.rounds.cases import random_snapshot
from tests.helpers.rounds.parts import fraction, part_gang, sharing
from tests.helpers.rounds.waiting_cases import with_sharers
from tests.helpers.truth.proofs import first_lost

WAITING = (500, 700, 200, 500)
SEEDS = (*range(8), 17, 42, 58)
"""
In 17 others are promised what whole GPUs leave, in 42 a node has too many choices, in
58 an entitled start waits for an instance while some leave for others.
"""


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["greedy", "solver"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_with_parts_is_planned_as_it_is_asked(seed, strategy):
    snapshot, policy = with_sharers(seed)

    assert decide(snapshot, policy, strategy=strategy).fallback is None


def test_a_round_goes_on_where_no_gpu_is_left_for_a_pod_that_moves():
    given = snapshot(
        [sharing(gpus=3)],
        [
            part_gang("g0", fraction(200), ("n0", 1)),
            part_gang("g1", fraction(600), ("n0", 2)),
            part_gang("g2", fraction(500), ("n0", 1)),
            *(part_gang(f"w{at}", fraction(x)) for at, x in enumerate(WAITING)),
        ],
    )

    plan = decide(given, Policy())

    assert not verify(given, Policy(), plan)
    assert {"w0", "w1", "w2"} == {
        step.gang.partition("/")[2]
        for step in plan.operations
        if step.op in {"Bind", "Reserve"}
    }


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(6, 12))
def test_greedy_is_no_better_in_the_first_tier_that_differs(seed):
    """
    In 8 the lasting plan of greedy starts more where the solver's tier keeps a gap.
    """
    snapshot, policy = with_sharers(seed)
    plan = decide(snapshot, policy)
    greedy = decide(snapshot, policy, strategy="greedy")

    keys = tier_keys(problem_of(snapshot, policy))
    assert first_lost(plan, greedy, keys) is None


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [1, 2, 10, 14, 22, 46])
def test_queues_with_parts_of_gpus_are_planned_as_by_the_exact_model(seed):
    calm = Policy(evict=Evict(preempt=False, reclaim=False, consolidate=False))
    snapshot = _saying_parts(with_parts(random_snapshot(seed), seed, share=0.4), seed)
    plan = decide(snapshot, calm)

    assert plan.fallback is None
    assert exact_vector(snapshot, calm) == vector_of(plan)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [770_000, 770_002, 770_004, 770_013, 770_020, 770_029])
def test_a_full_round_with_parts_is_the_best_and_known_to_be(seed):
    """
    In none of these was it known before the whole round saw what each device holds.
    """
    snapshot, policy = case_of(seed, Limits(), parts=True)
    plan = decide(snapshot, policy)
    shares = shared_out(snapshot, policy, devices=False).shares

    assert plan.status == "optimal"
    assert first_worse(vector_of(plan), best_round(snapshot, policy, shares, 8)) is None


def _saying_parts(snapshot, seed):
    """
    Let quotas and limits of GPUs be some quarters more or less.
    """
    rnd = Random(f"quotas-{seed}")

    def other(amount):
        more = rnd.choice((-3, -2, -1, 1, 2, 3)) * SHARES_PER_GPU // 4
        return None if amount is None else max(0, amount + more)

    def of(queue):
        rule = queue.rule(GPU_SHARE)
        rule = replace(rule, quota=other(rule.quota), limit=other(rule.limit))
        return replace(queue, resources={**queue.resources, GPU_SHARE: rule})

    return replace(snapshot, queues=tuple(map(of, snapshot.queues)))
