"""
Rounds by their kind and seed, in which somebody waits for many causes.
"""

from adapters.files import scenario_of
from benchmarks.cases.device_parts import with_parts
from benchmarks.cases.victims import victim_case
from models.policy import Evict, Policy
from tests.helpers.rounds.cases import random_snapshot
from tests.helpers.rounds.odd_trees import alike_snapshot, odd_snapshot


def with_victims(seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    return scenario.snapshot, scenario.policy


def alone(make):
    return lambda seed: (make(seed), Policy())


def with_sharers(seed):
    """
    Give a round in which some ask for parts of GPUs; in a third of them some may leave.
    """
    if seed % 3 == 0:
        snapshot, policy = with_victims(seed)
    else:
        snapshot, policy = random_snapshot(seed), Policy()
    return with_parts(snapshot, seed), policy


def without_evictions(seed):
    """
    Give a round of one of the kinds below in which nobody may be made to leave.
    """
    make = (random_snapshot, odd_snapshot, alike_snapshot)[seed % 3]
    calm = Evict(preempt=False, reclaim=False, consolidate=False)
    return make(seed), Policy(evict=calm)


def in_haste(policy):
    """
    Give a quarter of the usual limit: what is told must hold of any plan.
    """
    limits = policy.limits.model_copy(update={"deterministic": 1.0})
    return policy.model_copy(update={"limits": limits})


CASES = {
    "random": alone(random_snapshot),
    "odd": alone(odd_snapshot),
    "alike": alone(alike_snapshot),
    "victims": with_victims,
    "calm": without_evictions,
}
