"""
Rounds by their kind and seed, in which somebody waits for many causes.
"""

from dataclasses import replace

from adapters.files import scenario_of
from benchmarks.cases.beside import with_neighbours
from benchmarks.cases.device_parts import with_parts
from benchmarks.cases.reached import with_shared_claims, with_volumes
from benchmarks.cases.victims import victim_case
from models.policy import Evict, Policy
from tests.helpers.rounds.cases import random_snapshot
from tests.helpers.rounds.odd_trees import alike_snapshot, odd_snapshot

_BOUNDS = {
    "max_pods": (0, 1, 2),
    "max_gangs": (0, 1),
    "max_lost_per_gpu": (0, 600, 7200),
}


def with_victims(seed):
    scenario = scenario_of(f"case-{seed}", victim_case(seed))
    return scenario.snapshot, scenario.policy


def alone(make):
    return lambda seed: (make(seed), Policy())


def with_sharers(seed):
    """
    Give a round in which some ask for parts of GPUs; in a third of them some may leave.
    """
    snapshot, policy = _now_and_then_with_victims(seed)
    return with_parts(snapshot, seed), policy


def beside_others(seed):
    """
    Give a round with pods that ask for others; in a third of them some may leave.
    """
    snapshot, policy = _now_and_then_with_victims(seed)
    gangs = with_neighbours(f"case-{seed}", snapshot.gangs, 1.0)
    return replace(snapshot, gangs=tuple(gangs)), policy


def with_claims(seed):
    """
    Give a round with pods that need free volumes, in half of them some share these.
    """
    snapshot, policy = _now_and_then_with_victims(seed)
    made = with_volumes if seed % 2 else with_shared_claims
    return made(f"case-{seed}", snapshot), policy


def _now_and_then_with_victims(seed):
    if seed % 3 == 0:
        return with_victims(seed)
    return random_snapshot(seed), Policy()


def without_evictions(seed):
    """
    Give a round of one of the kinds below in which nobody may be made to leave.
    """
    make = (random_snapshot, odd_snapshot, alike_snapshot)[seed % 3]
    calm = Evict(preempt=False, reclaim=False, consolidate=False)
    return make(seed), Policy(evict=calm)


def with_bounds(seed):
    """
    Give a round of a policy that bounds what leaves.
    """
    snapshot, policy = with_victims(seed)
    word, bounds = [*_BOUNDS.items()][seed % len(_BOUNDS)]
    bound = {word: bounds[seed // len(_BOUNDS) % len(bounds)]}
    evict = policy.evict.model_copy(update=bound)
    return snapshot, policy.model_copy(update={"evict": evict})


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
    "bounded": with_bounds,
    "calm": without_evictions,
    "beside": beside_others,
    "claims": with_claims,
}
