"""
What would help: changes of a menu, each planned and judged, the cheapest first.
"""

import pytest

from models.changes import (
    AddedNodes,
    ClosedNode,
    EvictedGangs,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
    NewAmount,
    QueueRule,
    changed,
)
from models.nodes import Taint
from models.policy import Evict, Policy, Prices
from models.resources import GPU
from solver import remedies_of
from solver.round import decide
from tests.helpers.build import gang, node, nodes, queue, required, snapshot

CALM = Evict(preempt=False, reclaim=False, consolidate=False)


def remedies(case, name, policy=None):
    policy = policy or Policy(evict=CALM)
    return remedies_of(case, policy, decide(case, policy), f"default/{name}")


def changes(found):
    return [one.changes for one in found.found]


def test_the_least_amount_of_a_limit_is_offered():
    running = gang("runs", queue="q", gpus=4, running=["n0"])
    claim = gang("a", queue="q", gpus=4)
    found = remedies(snapshot(nodes(2), [running, claim], [queue("q", limit=6)]), "a")

    first = found.found[0]
    more = NewAmount(by=2)
    rule = QueueRule(field="limit", queue="q", resource=GPU, amount=more)
    assert (rule,) == first.changes
    assert 2 == first.price


def test_the_least_number_of_nodes_is_offered():
    found = remedies(snapshot(nodes(1), [gang("a", minimum=3, gpus=8)]), "a")

    assert (AddedNodes(like="n0", number=2),) in changes(found)


def test_a_drained_node_may_be_opened_and_a_taint_tolerated():
    kept = node("n0", taints=(Taint(key="team", value="x"),))
    closed = node("n1", unschedulable=True)
    found = remedies(snapshot([kept, closed], [gang("a", gpus=8)]), "a")

    assert (ClosedNode(node="n1", how="open"),) in changes(found)
    assert (GangTolerates(gang="default/a", key="team"),) in changes(found)


def test_the_next_wider_level_is_offered_before_none():
    racks = [node(f"n{i}", rack=f"r{i}", zone="z") for i in range(2)]
    case = snapshot(racks, [gang("a", minimum=2, gpus=8, topology=required())])
    found = remedies(case, "a")

    assert (GangLevel(gang="default/a", level="rack", to="zone"),) in changes(found)


def test_fewer_pods_are_offered_as_few_as_help():
    found = remedies(snapshot(nodes(1), [gang("a", minimum=4, gpus=4)]), "a")

    assert (GangPods(gang="default/a", by=-2),) in changes(found)


def test_a_priority_is_offered_with_who_no_longer_starts():
    first = gang("first", gpus=6, priority=5)
    found = remedies(snapshot(nodes(1), [first, gang("late", gpus=4)]), "late")

    (by_rank,) = (
        one for one in found.found if isinstance(one.changes[0], GangPriority)
    )
    assert ("default/first",) == by_rank.waits


def test_an_eviction_is_offered_with_who_leaves():
    running = gang("runs", gpus=6, priority=-1, running=["n0"])
    found = remedies(snapshot(nodes(1), [running, gang("a", gpus=4)]), "a")

    (out,) = (one for one in found.found if isinstance(one.changes[0], EvictedGangs))
    assert ("default/runs",) == out.leaves


def test_two_changes_are_tried_where_no_single_one_helps():
    running = gang("runs", queue="q", gpus=8, preemptible=False, running=["n0"])
    claim = gang("a", queue="q", gpus=8)
    found = remedies(snapshot(nodes(1), [running, claim], [queue("q", limit=8)]), "a")

    assert 1 <= len(found.found)
    pairs = [one for one in found.found if len(one.changes) == 2]
    singles = [one for one in found.found if len(one.changes) == 1]
    assert pairs or all(isinstance(x.changes[0], EvictedGangs) for x in singles)


def test_nothing_helps_a_pod_larger_than_any_node():
    found = remedies(snapshot(nodes(2), [gang("a", gpus=9)]), "a")

    assert () == found.found
    assert 0 == found.untried


def test_prices_of_the_policy_decide_what_comes_first():
    case = snapshot(nodes(1), [gang("a", minimum=2, gpus=8)])
    policy = Policy(evict=CALM, prices=Prices(nodes=0, pods=9))

    found = remedies(case, "a", policy)

    assert [AddedNodes, GangPods] == [type(one.changes[0]) for one in found.found]
    assert [0, 9] == [one.price for one in found.found]


@pytest.mark.parametrize("seed", range(3))
def test_the_round_with_a_remedy_starts_the_gang(seed):
    running = [gang(f"r{i}", gpus=3 + seed, running=[f"n{i}"]) for i in range(2)]
    case = snapshot(nodes(2), [*running, gang("a", minimum=2, gpus=8)])
    policy = Policy(evict=CALM)

    found = remedies(case, "a", policy)

    assert found.found
    for one in found.found:
        plan = decide(changed(case, one.changes), policy)
        states = {line.name: line.state for line in plan.gangs}
        assert states["default/a"] in {"Starting", "Reserved"}
