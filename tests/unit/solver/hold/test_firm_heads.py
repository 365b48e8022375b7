"""
Against whom a head holds: shares, entitlement and the length of a wait.
"""

from dataclasses import replace

from models.policy import Policy, Tier
from solver.hold.heads import head_facts, heads_of
from solver.hold.held_nodes import with_heads
from solver.place.greedy import greedy
from solver.problem.node_room import Places
from tests.helpers.build import (
    gang,
    node,
    nodes,
    queue,
    selector,
)
from tests.helpers.rounds.heads import (
    HOUR,
    LATE,
    ask,
    busy,
    keys,
    large,
    only,
    started,
    waiting,
)


def shared(policy=None, **fields):
    """
    Ask about a head of one queue, and small gangs of another with a share of 4 GPUs.
    """
    return ask(
        nodes(2),
        busy("r", "n0", "n1", queue="train"),
        large(queue="train"),
        gang("small", queue="serve", **fields),
        policy=policy,
        queues=[queue("train", quota=16), queue("serve", quota=4, weight=0)],
    )


def test_what_fits_its_own_share_elsewhere_is_not_held_back():
    assert started(shared(gpus=4)) == {"small"}


def test_what_is_larger_than_its_share_is_held_back():
    assert started(shared(minimum=2, gpus=4)) == set()


def entitled_head(policy=None, quota=16, **fields):
    """
    Ask about a head that has room in its share, and an entitled gang of another queue.
    """
    return ask(
        nodes(2),
        busy("r", "n0", "n1", queue="serve", gpus=1),
        large(queue="train", **fields),
        gang("small", queue="serve", gpus=1),
        policy=policy,
        queues=[
            queue("train", quota=quota, weight=0),
            queue("serve", quota=4, weight=0),
        ],
    )


def test_an_entitled_head_holds_against_what_is_entitled_elsewhere():
    assert started(entitled_head()) == set()
    assert started(entitled_head(policy=waiting(firm=0))) == {"small"}


def test_a_head_above_its_share_does_not():
    assert started(entitled_head(quota=15)) == {"small"}


def test_as_many_heads_as_the_policy_says_are_firm_the_longest_passed_over_first():
    pools = {pool: selector(pool=pool) for pool in "ab"}

    def ask_with(firm):
        return ask(
            [node(pool, labels={"pool": pool}) for pool in "ab"],
            busy("r", "a", "b", queue="serve", gpus=1),
            large("x", 1, queue="t", passed_over=3 * HOUR, demand=pools["a"]),
            large("y", 1, queue="u", demand=pools["b"]),
            gang("at-a", queue="serve", gpus=1, demand=pools["a"]),
            gang("at-b", queue="serve", gpus=1, demand=pools["b"]),
            policy=waiting(firm=firm),
            queues=[
                queue("t", quota=8, weight=0),
                queue("u", quota=8, weight=0),
                queue("serve", quota=4, weight=0),
            ],
        )

    assert started(ask_with(0)) == {"at-a", "at-b"}
    assert started(ask_with(1)) == {"at-b"}
    assert started(ask_with(2)) == set()


def test_a_head_above_its_share_is_firm_once_it_was_passed_over_for_long():
    def above(passed_over, **fields):
        policy = waiting(firmAfter=LATE, **fields)
        return entitled_head(quota=0, passed_over=passed_over, policy=policy)

    assert started(above(LATE - 1)) == {"small"}
    assert started(above(LATE)) == set()
    assert started(above(LATE, firm=0)) == {"small"}


def test_a_head_long_overdue_is_firm_in_its_place_in_line():
    policy = waiting(firmAfter=3 * HOUR)
    queues = [queue("t", quota=0), queue("u", quota=8), queue("serve", quota=4)]
    problem = ask(
        nodes(2),
        busy("r", "n0", "n1", queue="serve", gpus=1),
        large("owed", 1, queue="u", passed_over=LATE),
        large("overdue", 1, queue="t", passed_over=3 * HOUR),
        gang("small", queue="serve", gpus=1),
        policy=policy,
        queues=queues,
    )

    assert keys(problem) == ["overdue", "owed"]
    draft = greedy(with_heads(problem, heads_of(problem)))
    assert draft.places["default/small"] == Places(((1,),))


def test_without_entitlement_nothing_is_entitled():
    policy = Policy(tiers=(Tier(name="gangs"),))

    assert started(shared(gpus=4, policy=policy)) == set()


def test_surplus_is_held_back_whatever_its_band():
    grows = gang("grows", minimum=1, replicas=3, running=["n0"], priority=9)
    problem = ask(nodes(2), grows, large())

    assert started(problem) == set()


def test_a_head_says_what_is_held_and_when_it_starts():
    problem = ask(nodes(6), busy("r", *(f"n{i}" for i in range(6))), large(minimum=6))
    head = only(problem)
    later = replace(head, nodes=head.nodes[:2], start=90)

    assert head_facts(head, problem) == {
        "held": 6,
        "nodes": "n0, n1, n2, n3, 2 more nodes",
    }
    assert head_facts(later, problem) == {"held": 2, "nodes": "n0, n1", "expected": 90}
    assert head_facts(replace(head, nodes=()), problem) == {"held": 0}
