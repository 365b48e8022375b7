"""
The exact small model against brute force, which enumerates every plan.
"""

import pytest

from models.plan import Placement
from models.policy import Policy
from solver.oracle import best, check_feasible, gather
from solver.problem import problem_of
from tests.brute import Brute
from tests.build import gang, nodes, snapshot
from tests.cases import random_snapshot, tiny_snapshot


@pytest.mark.parametrize("seed", range(60))
def test_exact_model_equals_brute_force_on_tiny_cases(seed):
    case = tiny_snapshot(seed)
    policy = Policy()
    shares = problem_of(case, policy).shares

    assert Brute(case, policy, shares).best() == best(case, policy, shares)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_exact_model_equals_brute_force_on_many_tiny_cases(seed):
    case = tiny_snapshot(seed)
    policy = Policy()
    shares = problem_of(case, policy).shares

    assert Brute(case, policy, shares).best() == best(case, policy, shares)


def test_placement_that_overfills_a_node_is_not_feasible():
    case = snapshot(nodes=nodes(1), gangs=[gang("a", minimum=2, gpus=5)])
    placement = Placement(binds={"default/a-0": "n0", "default/a-1": "n0"})

    assert check_feasible(case, Policy(), {}, placement) is None


def test_placement_below_a_minimum_is_not_feasible():
    case = snapshot(nodes=nodes(1), gangs=[gang("a", minimum=2, gpus=2)])
    placement = Placement(binds={"default/a-0": "n0"})

    assert check_feasible(case, Policy(), {}, placement) is None


def test_placement_of_an_unknown_pod_is_not_feasible():
    case = snapshot(nodes=nodes(1), gangs=[gang("a", minimum=1, gpus=2)])
    placement = Placement(binds={"default/b-0": "n0"})

    assert check_feasible(case, Policy(), {}, placement) is None


def test_same_seed_makes_the_same_case():
    assert random_snapshot(7) == random_snapshot(7)


def test_cases_show_every_kind_of_gang():
    facts = [f for s in range(60) for f in gather(random_snapshot(s)).gangs.values()]

    assert any(f.needy and f.plannable for f in facts)
    assert any(f.needy and any(f.counted.values()) for f in facts)
    assert any(not f.needy and any(f.pending.values()) for f in facts)
    assert any(f.mates for f in facts)
    assert any(f.ordinary for f in facts)
