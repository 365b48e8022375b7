"""
What would help: changes of a menu, each planned and judged, the cheapest first.
"""

import pytest

from models.changes import (
    AddedNodes,
    ClosedNode,
    EvictedGangs,
    GangAllows,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
    MoreMoves,
    NewAmount,
    PassedTime,
    QueueRule,
    changed,
)
from models.neighbours import Near, Neighbours
from models.nodes import HOSTNAME, Taint
from models.policy import Evict, Policy, Prices
from models.queues import QueueResource
from models.resources import GPU
from models.why.reasons import Reason, Waiting
from solver import remedies_of, why_all_wait, why_waits
from solver.problem.problem import problem_of
from solver.round import decide
from solver.why import same_rounds
from solver.why.tried_changes import menu_for
from solver.why.why_waits import cannot_start
from tests.helpers.build import (
    gang,
    node,
    nodes,
    queue,
    required,
    selector,
    snapshot,
)

CALM = Evict(preempt=False, reclaim=False, consolidate=False)


def remedies(case, name, policy=None):
    policy = policy or Policy(evict=CALM)
    plan = decide(case, policy)
    return remedies_of(
        case, policy, plan, why_waits(case, policy, plan, f"default/{name}")
    )


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


def test_more_nodes_are_offered_where_the_room_that_others_keep_decides():
    keeps = queue("keeps", resources={GPU: QueueResource(quota=8, lend=0)})
    case = snapshot(nodes(1), [gang("a", queue="q", gpus=4)], [keeps, queue("q")])
    found = remedies(case, "a")

    assert [(AddedNodes(like="n0", number=1),)] == changes(found)


def test_more_nodes_than_pods_are_offered_where_queues_keep_more_than_there_is():
    keeps = queue("keeps", resources={GPU: QueueResource(quota=24, lend=0)})
    case = snapshot(nodes(1), [gang("a", queue="q", gpus=8)], [keeps, queue("q")])
    found = remedies(case, "a")

    assert [(AddedNodes(like="n0", number=3),)] == changes(found)


def test_more_nodes_than_pods_are_offered_where_a_minimum_asks_for_them():
    claim = gang("a", gpus=1, min_resources={GPU: 40})
    found = remedies(snapshot(nodes(1), [claim]), "a")

    assert (AddedNodes(like="n0", number=4),) in changes(found)


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


@pytest.mark.parametrize("phase", ["gated", "failed"])
def test_pods_that_may_not_start_are_the_first_that_are_not_needed(phase):
    found = remedies(snapshot(nodes(1), [gang("a", minimum=3, **{phase: 2})]), "a")

    assert [(GangPods(gang="default/a", by=-2),)] == changes(found)


def test_who_has_pods_that_run_may_need_no_more_whatever_keeps_it_back():
    held = Waiting(Reason.HELD)
    for fields in ({"backoff": 30}, {"refused": held}, {"queue": "shut"}):
        torn = gang("a", minimum=2, gpus=8, running=["n0"], **fields)
        case = snapshot(nodes(1), [torn], [queue(), queue("shut", open=False)])

        assert (GangPods(gang="default/a", by=-1),) in changes(remedies(case, "a"))


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


@pytest.mark.parametrize(
    ("quota", "evict"),
    [(0, Evict(consolidate=False)), (1, CALM)],
    ids=["evict", "calm"],
)
def test_less_of_a_quota_may_help_where_more_leads_to_the_plan_of_none(quota, evict):
    """
    The smaller gang starts by right only while the larger one has no right yet.

    It does so where nobody may leave, too.
    """
    here, there = (selector(**{HOSTNAME: name}) for name in ("n0", "n1"))
    gangs = [
        gang("a", queue="q", gpus=2, demand=here),
        gang("b", queue="q", gpus=3, demand=here),
        gang("runs", queue="o", gpus=1, demand=there, running=["n1"]),
        gang("waits", queue="o", gpus=8),
    ]
    queues = [queue("q", quota=quota, weight=0), queue("o", quota=8, weight=0)]
    dear = Prices(label=99, priority=99, nodes=99, weight=99)
    policy = Policy(evict=evict, prices=dear)

    found = remedies(
        snapshot([node("n0", 4), node("n1", 8)], gangs, queues), "a", policy
    )

    (first,) = found.found[0].changes
    assert ("quota", 2 - quota) == (first.field, first.amount.by)


def test_of_two_changes_no_fewer_nodes_are_enough():
    """
    What helps beside the most nodes that are cheaper than another pair needs fewer.
    """
    first = gang("first", queue="q", minimum=3, gpus=4, priority=3)
    claim = gang("a", queue="q", minimum=4, gpus=4)
    case = snapshot(nodes(3, gpus=4), [first, claim], [queue("q", quota=16, limit=16)])

    (found,) = remedies(case, "a", Policy(evict=CALM, prices=Prices(pods=500))).found

    added, priority = found.changes
    assert isinstance(priority, GangPriority)
    assert (1, 20 * 4 + 6) == (added.number, found.price)


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


def test_another_value_of_a_label_may_be_allowed_such_as_another_kind_of_gpu():
    new = node("n0", labels={"gpu": "h200"})
    old = node("n1", labels={"gpu": "h100"}, used={GPU: 8})
    claim = gang("a", gpus=8, demand=selector(gpu="h100"))
    found = remedies(snapshot([new, old], [claim]), "a")

    allowed = GangAllows(gang="default/a", key="gpu", value="h200")
    assert (allowed,) in changes(found)


def test_waiting_helps_where_a_run_limit_ends_what_is_in_the_way():
    running = gang("runs", gpus=8, running=["n0"], max_runtime=7200)
    found = remedies(snapshot(nodes(1), [running, gang("a", gpus=8)]), "a")

    (late,) = (one for one in found.found if isinstance(one.changes[0], PassedTime))
    assert (PassedTime(seconds=7200),) == late.changes
    assert 2 == late.price


def test_more_moves_help_where_room_is_in_pieces():
    parts = [gang(f"runs-{i}", gpus=4, running=[f"n{i}"]) for i in range(2)]
    policy = Policy(evict=Evict(preempt=False, reclaim=False, maxMoves=0))
    found = remedies(snapshot(nodes(2), [*parts, gang("a", gpus=8)]), "a", policy)

    assert (MoreMoves(pods=1),) in changes(found)


def test_a_weight_helps_where_the_share_decides():
    queues = [queue("rich", quota=0, weight=3), queue("poor", quota=0, weight=1)]
    gangs = [
        *(gang(name, queue="rich", gpus=2, age=100) for name in ("one", "two")),
        gang("a", queue="poor", gpus=2),
    ]
    found = remedies(snapshot(nodes(1, gpus=4), gangs, queues), "a")

    offers = [one.changes[0] for one in found.found]
    assert any(isinstance(x, QueueRule) and x.field == "weight" for x in offers)


def test_that_nothing_helps_is_proven_where_all_was_tried():
    large = gang("a", minimum=1, gpus=8, demand=selector(gpu="h100"))
    case = snapshot([node("n0", labels={"gpu": "h100"}, gpus=4)], [large])
    found = remedies(case, "a")

    assert () == found.found
    assert found.proven


def test_in_a_large_cluster_the_round_after_this_one_is_planned():
    fill = [gang(f"runs-{i}", gpus=8, running=[f"n{i}"]) for i in range(400)]
    case = snapshot(nodes(401), [*fill, gang("b", gpus=8, age=9), gang("a", gpus=8)])
    found = remedies(case, "a")

    assert found.later
    assert (AddedNodes(like="n0", number=1),) in changes(found)


def test_who_waits_for_one_of_its_group_is_helped_by_what_helps_that_one():
    both = ["large", "mate"]
    large = gang("large", minimum=2, gpus=8, mates=both)
    mate = gang("mate", gpus=1, mates=both)

    found = remedies(snapshot(nodes(1), [large, mate]), "mate")

    assert (AddedNodes(like="n0", number=2),) in changes(found)


def test_nothing_helps_who_waits_for_one_of_its_group_that_is_missing():
    found = remedies(snapshot(nodes(1), [gang("a", mates=["a", "gone"])]), "a")

    assert found.proven
    assert () == found.found


def test_who_must_be_near_another_that_waits_is_helped_where_both_start():
    large = gang("large", gpus=2, age=100)
    mate = gang("mate", gpus=1, neighbours=Neighbours(selected=("x",)))
    near = Near(pods="x", keys=("rack",))
    a = gang("a", gpus=1, neighbours=Neighbours(near=near))
    case = snapshot([node("n0", labels={"rack": "r"}, gpus=2)], [large, mate, a])
    found = remedies(case, "a")

    assert (GangPriority(gang="default/a", priority=1),) in changes(found)


@pytest.mark.parametrize("count", [1, 601])
def test_nothing_is_tried_for_a_gang_that_starts(count):
    case, policy = snapshot(nodes(count), [gang("a", gpus=8)]), Policy()
    plan = decide(case, policy, strategy="greedy")
    why = why_waits(case, policy, plan, "default/a")

    assert 0 == remedies_of(case, policy, plan, why).tried


@pytest.mark.parametrize("units", [0.0, 1.0])
def test_changes_are_tried_in_the_next_round_where_rounds_take_long(units, monkeypatch):
    monkeypatch.setattr(same_rounds, "UNITS_OF_CHARGE", units)
    waits = [gang(name, gpus=8, age=age) for name, age in (("a", 9), ("b", 60))]
    case = snapshot(nodes(2), [gang("r", gpus=8, running=["n0"]), *waits])
    found = remedies(case, "a", Policy())
    summary = why_all_wait(case, Policy(), decide(case, Policy()))

    assert (units > 0) is found.later
    assert (AddedNodes(like="n0", number=1),) in changes(found)
    assert (AddedNodes(like="n0", number=1),) == summary.best.changes


def test_of_running_gangs_those_are_offered_first_whose_room_is_enough():
    few = [gang(f"few-{i}", gpus=1, running=["n0"]) for i in range(8)]
    much = [gang(f"much-{i}", gpus=4, running=[f"n{i}"]) for i in range(1, 5)]
    case = snapshot(nodes(5), [*few, *much, gang("a", gpus=8)])
    problem = problem_of(case, Policy(evict=CALM))
    found = menu_for(problem, decide(case, Policy(evict=CALM)), "default/a")

    offered = [(x.change(1), x.left_out) for x in found]
    evicted = [(*x.gangs, more) for x, more in offered if isinstance(x, EvictedGangs)]
    names = [f"default/{name}" for name in ("much-1", "much-2", "much-3", "much-4")]
    assert sorted((name, 0) for name in names) == sorted(evicted[2:])
    assert [("default/few-0", 0), ("default/few-1", 6)] == evicted[:2]


@pytest.mark.parametrize("may_leave", [True, False])
def test_no_round_is_planned_where_it_could_not_start_if_all_left_that_might(may_leave):
    rack = [node(f"n{i}", rack="r", zone="z") for i in range(2)]
    low = gang("low", gpus=8, running=["n0"])
    other = gang("other", gpus=8, running=["n1"], preemptible=may_leave)
    high = gang("high", gpus=8, priority=10, age=100)
    mine = gang("a", minimum=2, gpus=8, topology=required(), priority=10)

    problem = problem_of(snapshot(rack, [low, other, high, mine]), Policy())

    assert "default/a" not in problem.blocked
    assert may_leave != cannot_start(problem, "default/a")
