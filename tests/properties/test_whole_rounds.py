"""
What is proven by one model of a whole round, of which it leaves rows out.

Neither shared GPUs nor neighbours are rows of it beyond those of its steps: that
loosens bounds only, so no outcome is better than what is proven by them.
"""

from dataclasses import replace

import pytest

from adapters.files import scenario_of
from benchmarks.cases.beside import with_neighbours
from benchmarks.cases.part_victims import part_victim_case
from benchmarks.cases.victims import victim_case
from benchmarks.planned import decide_alone
from tests.helpers.rounds.renamed import aged
from tests.helpers.truth.proofs import check_best

FEW, MANY = range(10_000, 10_016), range(10_016, 10_240)


def with_parts(seed):
    return scenario_of("case", aged(part_victim_case(seed)))


def beside_others(seed):
    scenario = scenario_of("case", aged(victim_case(seed, tiny=True)))
    gangs = with_neighbours(f"case-{seed}", scenario.snapshot.gangs, 1.0)
    snapshot = replace(scenario.snapshot, gangs=tuple(gangs))
    return replace(scenario, snapshot=snapshot)


def check(scenario):
    plan = decide_alone(scenario.snapshot, scenario.policy)

    assert plan.fallback is None
    check_best(scenario.snapshot, scenario.policy, plan)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", FEW)
def test_no_outcome_is_better_than_what_is_proven_beside_others(seed):
    check(beside_others(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_no_outcome_is_better_than_what_is_proven_beside_others_in_many_cases(seed):
    check(beside_others(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY[:40])
def test_no_outcome_is_better_than_what_is_proven_with_parts_of_gpus(seed):
    check(with_parts(seed))
