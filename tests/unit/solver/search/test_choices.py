"""
Choices: what is proven holds for every equally good way to evict.
"""

from dataclasses import replace

import pytest

from benchmarks.cases.victims import victim_case
from models.policy import Evict, Policy
from solver.round import decide
from solver.tuning import DEFAULT, Search
from tests.helpers.build import gang, node, queue, snapshot
from tests.odd.rounds import read

QUEUES = (queue("guest", quota=0), queue("owner", quota=8))


def planned(*more, hole="b"):
    """
    Plan for a gang that gets a full node; another one has room for a third of it.
    """
    nodes = [node("a"), node(hole, 2)]
    hog = gang("hog", queue="guest", gpus=8, minimum=1, running=["a"])
    claim = gang("claim", queue="owner", gpus=2, minimum=3, replicas=3)
    case = snapshot(nodes, [hog, claim, *more], QUEUES)
    return decide(case, Policy())


def proofs(*more, hole="b"):
    return {tier.name: tier.proof for tier in planned(*more, hole=hole).tiers}


def borrower(gpus=2):
    return gang("borrower", queue="guest", gpus=gpus, minimum=1)


def test_what_arithmetic_bounds_is_proven_whoever_leaves():
    assert {"proven"} == set(proofs().values())


def test_who_is_evicted_and_what_it_costs_is_proven_by_the_step():
    found = proofs(borrower())

    assert ("proven", "proven") == (found["entitled"], found["disruption"])


@pytest.mark.parametrize("hole", ["b", "0"])
def test_nothing_is_proven_that_another_choice_could_better(hole, monkeypatch):
    small = replace(DEFAULT, search=Search(most_open_cells=0))
    monkeypatch.setattr("solver.problem.problem.DEFAULT", small)
    found = proofs(borrower(3), hole=hole)

    assert "conditional" == found["borrowing"]


def test_a_round_that_cannot_be_built_in_time_is_left_to_its_steps(monkeypatch):
    slow = replace(DEFAULT, search=Search(choices_per_unit=1.0))
    monkeypatch.setattr("solver.problem.problem.DEFAULT", slow)

    assert "conditional" == proofs(borrower(3))["borrowing"]


@pytest.mark.parametrize("hole", ["b", "0"])
def test_the_whole_round_proves_that_no_other_choice_is_better(hole):
    assert {"proven"} == set(proofs(borrower(3), hole=hole).values())


@pytest.mark.parametrize("hole", ["b", "0"])
def test_the_choice_that_leaves_most_to_later_tiers_is_made(hole):
    plan = planned(borrower(), hole=hole)

    assert {hole} == {op.node for op in plan.operations if op.op == "Bind"}
    assert {"proven"} == {tier.proof for tier in plan.tiers}


@pytest.mark.parametrize("seed", [42, 222])
def test_idle_room_alone_is_proven_without_a_model_of_the_whole_round(
    seed, monkeypatch
):
    """
    Somebody could leave, and nobody does in any plan that loses as little.
    """
    small = replace(DEFAULT, search=Search(most_open_cells=0))
    monkeypatch.setattr("solver.problem.problem.DEFAULT", small)
    given = read(victim_case(seed, tiny=True))
    plan = decide(given.snapshot, given.policy)

    assert any(op.op == "Bind" for op in plan.operations)
    assert {"proven"} == {tier.proof for tier in plan.tiers}


def test_who_starts_beside_a_mate_that_is_evicted_is_no_better_choice():
    """
    Whoever of the two goes, its mate waits, and neither mate asks for anything.
    """
    nodes = [node("a", 2), node("b", 2), node("c", 1), node("d", 1)]
    groups = {name: (f"default/{name}", f"default/beside-{name}") for name in "ab"}
    gangs = [
        gang(name, queue="guest", gpus=2, minimum=1, running=[name], mates=groups[name])
        for name in "ab"
    ]
    gangs += [
        gang(f"beside-{name}", queue="guest", gpus=1, minimum=1, mates=groups[name])
        for name in "ab"
    ]
    claim = gang("claim", queue="owner", gpus=2, minimum=1)
    queues = (queue("guest", quota=0), queue("owner", quota=4))
    still = Policy(evict=Evict(consolidate=False))
    plan = decide(snapshot(nodes, [*gangs, claim], queues), still)

    assert 1 == sum(op.op == "Bind" for op in plan.operations)
    assert {"proven"} == {tier.proof for tier in plan.tiers}


def full(*more):
    """
    Plan for a gang that gets all GPUs of a full cluster, without asking all at once.
    """
    hog = gang("hog", queue="guest", gpus=8, minimum=1, running=["a"])
    claim = gang("claim", queue="owner", gpus=8, minimum=1)
    case = snapshot([node("a")], [hog, claim, *more], QUEUES)
    return {tier.name: tier.proof for tier in decide(case, Policy()).tiers}


def test_nobody_borrows_gpus_that_are_not_there_whoever_leaves(monkeypatch):
    small = replace(DEFAULT, search=Search(most_open_cells=0))
    monkeypatch.setattr("solver.problem.problem.DEFAULT", small)

    assert {"proven"} == set(full(borrower()).values())


def test_who_was_evicted_before_changes_no_proof_where_all_entitled_start(monkeypatch):
    small = replace(DEFAULT, search=Search(most_open_cells=0))
    monkeypatch.setattr("solver.problem.problem.DEFAULT", small)
    gone = gang("gone", queue="guest", gpus=2, minimum=1, evicted_ago=60)

    assert {"proven"} == set(full(gone).values())


def short_of(*more, evict):
    """
    Plan for two gangs of which one has room: the other needs the GPUs of who runs long.
    """
    hog = gang("hog", queue="guest", gpus=8, minimum=1, running=["a"])
    pods = tuple(replace(pod, seconds=36_000) for pod in hog.tree.pods)
    hog = replace(hog, tree=replace(hog.tree, pods=pods))
    large = gang("large", queue="owner", gpus=6, minimum=1)
    small = gang("small", queue="owner", gpus=2, minimum=1)
    nodes = [node("a"), node("b", 3)]
    case = snapshot(nodes, [hog, large, small, *more], QUEUES)
    return {tier.name: tier.proof for tier in decide(case, Policy(evict=evict)).tiers}


def test_a_bound_on_what_is_lost_leaves_no_proof_out(monkeypatch):
    small = replace(DEFAULT, search=Search(most_open_cells=0))
    monkeypatch.setattr("solver.problem.problem.DEFAULT", small)

    assert {"proven"} == set(short_of(evict=Evict(maxLostPerGpu=60)).values())


@pytest.mark.parametrize(("gpus", "proof"), [(3, "conditional"), (4, "proven")])
def test_who_was_evicted_before_and_has_no_room_follows_no_step(
    gpus, proof, monkeypatch
):
    small = replace(DEFAULT, search=Search(most_open_cells=0))
    monkeypatch.setattr("solver.problem.problem.DEFAULT", small)
    gone = gang("gone", queue="owner", gpus=gpus, minimum=1, evicted_ago=60)

    assert proof == short_of(gone, evict=Evict(maxLostPerGpu=60))["entitled"]
