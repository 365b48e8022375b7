"""
What is always true of a round, on random small cases.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from random import Random

import pytest

from adapters.files import read_scenario
from adapters.files.writing.plan_writer import plan_json
from adapters.machine.threads import ThreadLanes
from benchmarks.quality import exact_vector, vector_of
from exact import check_feasible
from models.nodes import Node
from models.plan import Placement
from models.policy import Evict, Limits, Policy, Tier
from models.resources import CPU, GPU, MEMORY, PODS
from solver.problem.problem import problem_of
from solver.round import decide
from solver.tuning import Encode, Tuning
from solver.verify import verify
from tests.helpers.rounds.cases import random_snapshot
from tests.helpers.rounds.drawn import of_day
from tests.helpers.written import document_of, shuffled

CONFIRMED = range(200)
FAST = range(40)
FEW = range(40, 55)
SLOW = range(500)
CALM = Evict(preempt=False, reclaim=False, consolidate=False, stale=False)
POLICY = Policy(evict=CALM)
MINIMISED = {"disruption", "topology", "packing"}


def listed(*names):
    return Policy(evict=CALM, tiers=tuple(Tier(name=name) for name in names))


def rank(plan):
    return [
        -tier.value if tier.direction == "min" else tier.value for tier in plan.tiers
    ]


def placement_of(plan):
    return Placement(
        binds={op.pod: op.node for op in plan.operations},
        entitled=frozenset(line.name for line in plan.gangs if line.entitled),
    )


@pytest.mark.drawn
@pytest.mark.parametrize("seed", CONFIRMED)
def test_whole_vector_equals_the_exact_model(seed):
    snapshot = random_snapshot(seed)

    assert exact_vector(snapshot, POLICY) == vector_of(decide(snapshot, POLICY))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", FAST)
def test_whole_vector_equals_the_exact_model_by_way_of_the_relaxation(seed):
    snapshot = random_snapshot(seed)
    policy = Policy(evict=CALM, limits=Limits(gap=0.0))
    relaxing = Tuning(encode=Encode(most_domains=0))

    plan = decide(snapshot, policy, tuning=relaxing)

    assert exact_vector(snapshot, policy) == vector_of(plan)
    assert plan.status != "feasible"


@pytest.mark.drawn
@pytest.mark.parametrize("seed", FEW)
def test_whole_vector_equals_the_exact_model_when_two_manners_race(seed):
    snapshot = random_snapshot(seed)
    policy = Policy(evict=CALM, limits=Limits(seconds=20, workers=2, gap=0.0))

    plan = decide(snapshot, policy, clock=time.monotonic, lanes=ThreadLanes())

    assert exact_vector(snapshot, policy) == vector_of(plan)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_whole_vector_equals_the_exact_model_on_many_cases(seed):
    snapshot = random_snapshot(seed)

    assert exact_vector(snapshot, POLICY) == vector_of(decide(snapshot, POLICY))


@pytest.mark.parametrize("tiers", [("gpus",), ("gangs", "gpus"), ("pods", "packing")])
@pytest.mark.parametrize("seed", range(1000, 1006))
def test_listed_tiers_equal_the_exact_model(seed, tiers):
    snapshot = random_snapshot(seed)
    policy = listed(*tiers)

    assert exact_vector(snapshot, policy) == vector_of(decide(snapshot, policy))


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("seed", FEW)
def test_plan_is_legal_and_its_values_are_what_the_exact_model_says(seed, strategy):
    snapshot = random_snapshot(seed)
    plan = decide(snapshot, POLICY, strategy=strategy)
    shares = problem_of(snapshot, POLICY).shares
    values = check_feasible(snapshot, POLICY, shares, placement_of(plan))

    assert () == verify(snapshot, POLICY, plan)
    assert values is not None
    assert {(n, b): v for n, b, v in values if v} == vector_of(plan)


@pytest.mark.drawn
@pytest.mark.parametrize("limit", [0.0, 0.001, 4.0])
@pytest.mark.parametrize("seed", FEW)
def test_greedy_is_at_most_the_solver_and_the_solver_at_most_its_bound(seed, limit):
    snapshot = random_snapshot(seed)
    policy = Policy(evict=CALM, limits=Limits(deterministic=limit))
    greedy = decide(snapshot, policy, strategy="greedy")
    solver = decide(snapshot, policy)

    assert rank(greedy) <= rank(solver)
    for tier in (*greedy.tiers, *solver.tiers):
        if tier.direction == "min":
            assert tier.bound <= tier.value
        else:
            assert tier.value <= tier.bound


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.0, 0.0005, 0.005])
@pytest.mark.parametrize("seed", range(2000, 2200))
def test_exact_model_confirms_what_is_proven_and_every_first_bound(seed, limit):
    confirm(seed, Policy(evict=CALM, limits=Limits(deterministic=limit)))


@pytest.mark.parametrize("seed", range(2000, 2010))
def test_exact_model_confirms_what_is_proven_under_a_short_limit(seed):
    confirm(seed, Policy(evict=CALM, limits=Limits(deterministic=0.0005)))


def confirm(seed, policy):
    """
    Walk the tiers to the first that is not proven; its bound must hold too.
    """
    snapshot = random_snapshot(seed)
    exact = exact_vector(snapshot, policy)
    for tier in decide(snapshot, policy).tiers:
        best = exact.get((tier.name, tier.band), 0)
        if tier.proof == "proven":
            assert best == tier.value, tier
            continue
        sign = -1 if tier.name in MINIMISED else 1
        assert sign * best <= sign * tier.bound, tier
        return


@pytest.mark.drawn
def test_order_of_the_input_does_not_matter(tmp_path):
    for seed in range(12):
        document = document_of(random_snapshot(seed))
        first = plan_of(document, tmp_path)
        again = plan_of(shuffled(document, Random(seed)), tmp_path)

        assert first == again, seed


@pytest.mark.drawn
def test_a_case_written_and_read_again_is_planned_alike(tmp_path):
    for seed in range(12):
        snapshot = random_snapshot(seed)
        path = tmp_path / "case.json"
        path.write_text(json.dumps(document_of(snapshot)))
        read = read_scenario(str(path)).snapshot

        assert vector_of(decide(snapshot, POLICY)) == vector_of(decide(read, POLICY))


def plan_of(document, folder):
    path = folder / "case.json"
    path.write_text(json.dumps(document))
    return plan_json(decide(read_scenario(str(path)).snapshot, POLICY))


@pytest.mark.drawn
def test_two_runs_with_unlike_hash_seeds_give_the_same_bytes():
    program = (
        "from tests.helpers.rounds.cases import random_snapshot\n"
        "from adapters.files.writing.plan_writer import plan_json\n"
        "from models.policy import Policy\n"
        "from solver.round import decide\n"
        f"for seed in {of_day(range(8))}:\n"
        "    print(plan_json(decide(random_snapshot(seed), Policy())))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert 1 == len(answers)


@pytest.mark.drawn
@pytest.mark.parametrize("tier", ["gpus", "gangs"])
@pytest.mark.parametrize("seed", FEW)
def test_more_capacity_never_lowers_a_proven_tier_without_queues(seed, tier):
    before = replace(random_snapshot(seed), queues=())
    more = Node(
        name="zz",
        allocatable={CPU: 64_000, MEMORY: 2**39, GPU: 8, PODS: 110},
        labels={"kubernetes.io/hostname": "zz", "zone": "z0", "rack": "r0"},
    )
    after = replace(before, nodes=(*before.nodes, more))
    policy = listed(tier)
    old, new = decide(before, policy).tiers[0], decide(after, policy).tiers[0]

    assert ("proven", "proven") == (old.proof, new.proof)
    assert old.value <= new.value
