"""
The relaxation, and dealing by hand what it starts.
"""

import pytest

from models.policy import Policy
from solver.decode.place_relaxed import deal
from solver.encode.demand import levels_of
from solver.encode.without_topology import has_many_domains, without_topology
from solver.problem.problem import problem_of
from solver.round import decide
from solver.score.tiers import tier_keys
from solver.search.tier_model import Model
from solver.tuning import DEFAULT
from tests.helpers.build import gang, node, required, snapshot, topology

MOST_DOMAINS = DEFAULT.encode.most_domains


def racks(count, gpus=8):
    return tuple(node(f"n{i:02}", gpus, rack=f"r{i:02}") for i in range(count))


def confined(name, pods, gpus):
    return gang(name, minimum=pods, gpus=gpus, topology=required())


def round_of(count, *gangs, gpus=8):
    levels = topology(levels=("rack",))
    return snapshot(nodes=racks(count, gpus), gangs=gangs, topologies=(levels,))


def test_few_domains_are_solved_with_them():
    problem = problem_of(round_of(MOST_DOMAINS, confined("a", 2, 4)), Policy())

    assert not has_many_domains(problem, levels_of(problem))


def test_the_relaxation_knows_no_domains():
    problem = problem_of(round_of(MOST_DOMAINS + 1, confined("a", 2, 4)), Policy())

    assert has_many_domains(problem, levels_of(problem))
    assert levels_of(without_topology(problem)) == []


def test_of_equal_pods_those_of_the_higher_band_get_places():
    low, high = gang("a", gpus=8), gang("b", gpus=8, priority=100)
    problem = problem_of(round_of(1, low, high), Policy())
    relaxed = Model(without_topology(problem), tier_keys(problem))

    draft, failed = deal(problem, relaxed.encoding, lambda _: 1, {})

    assert {"default/b"} == set(draft.places)
    assert ["default/a"] == failed


def test_what_fits_in_racks_is_proven_by_the_relaxation():
    gangs = [confined(f"g{i:02}", 2, 4) for i in range(30)]

    plan = decide(round_of(20, *gangs), Policy())

    assert plan.status == "optimal"
    assert sum(line.state == "Starting" for line in plan.gangs) == 20


@pytest.mark.parametrize("each", [5, 7])
def test_what_fits_in_no_rack_is_left_to_the_larger_model(each):
    """
    The leftovers of racks together hold more gangs than any rack does.
    """
    gangs = [confined(f"g{i:02}", each, 1) for i in range(30)]

    plan = decide(round_of(20, *gangs), Policy())

    assert sum(line.state == "Starting" for line in plan.gangs) == 20
    assert plan.tiers[0].proof == "proven"
