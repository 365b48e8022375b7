"""
Rounds by their kind and seed, in which somebody waits for many causes.
"""

from adapters.files import scenario_of
from benchmarks.cases.victims import victim_case
from models.policy import Policy
from tests.helpers.cases import random_snapshot
from tests.helpers.odd_trees import alike_snapshot, odd_snapshot


def with_victims(seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    return scenario.snapshot, scenario.policy


def alone(make):
    return lambda seed: (make(seed), Policy())


CASES = {
    "random": alone(random_snapshot),
    "odd": alone(odd_snapshot),
    "alike": alone(alike_snapshot),
    "victims": with_victims,
}
