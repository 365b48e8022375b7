"""
Until when heads stay as they are, nothing changing but the time: not a second less.
"""

from dataclasses import replace
from random import Random

import pytest

from models.policy import Evict, Policy, WaitingPolicy
from models.snapshot import Snapshot
from solver.hold.ends import ends_of
from solver.hold.heads import heads_of, line_of
from solver.hold.held_nodes import next_loan
from solver.problem.problem import Problem, problem_of
from tests.helpers.build import gang, nodes, snapshot
from tests.helpers.rounds.heads import HOUR, busy, large, since

CALM = {"outweigh": 0.0, "budget": 1.0}


def later(
    seen: Snapshot, policy: Policy, seconds: int, *, held: bool = False
) -> Problem:
    """
    Give the problem so many seconds later, in which nothing happened.

    Who is new does not wait for long then, either.  With ``held`` nodes are held
    meanwhile for all for whom they were before.
    """
    gangs = []
    for one in seen.gangs:
        pods = [pod for pod in one.tree.pods if pod.node]
        if pods:
            gangs.append(since(one, pods[0].seconds + seconds))
            continue
        spent = seconds if held and one.held_first is not None else 0
        gangs.append(
            replace(
                one,
                passed_over=one.passed_over and one.passed_over + seconds,
                held_for=one.held_for + spent,
            )
        )
    unchanged = (seen.unchanged_for or 0) + seconds
    return problem_of(
        replace(seen, gangs=tuple(gangs), unchanged_for=unchanged), policy
    )


def of_heads(problem: Problem) -> list[tuple[str, tuple[int, ...], bool]]:
    return [(head.key, head.nodes, head.slipped) for head in heads_of(problem)]


def assert_changes_at(
    seen: Snapshot, policy: Policy, told: int | None, *, held: bool = False
) -> None:
    first = of_heads(later(seen, policy, 0))

    assert told is not None
    assert first == of_heads(later(seen, policy, told - 1, held=held))
    assert first != of_heads(later(seen, policy, told, held=held))


def test_a_forecast_of_ends_stands_while_nothing_changes():
    runs = [busy("old", "n0", ran=5 * HOUR, gpus=8), busy("new", "n1", ran=60, gpus=8)]
    seen = snapshot(nodes(2), runs)
    policy = Policy()
    found = [
        ends_of(later(seen, policy, seconds), seconds).times.tolist()
        for seconds in (0, 1, 700, HOUR, 9 * HOUR)
    ]

    assert [found[0]] * 5 == found


def test_what_began_after_the_last_change_ends_later_than_that():
    seen = snapshot(nodes(1), [busy("new", "n0", ran=60, gpus=8)])

    assert [160 + 600] == ends_of(later(seen, Policy(), 0), 220).times.tolist()


def test_what_is_late_by_a_guess_comes_soon():
    seen = snapshot(nodes(1), [busy("full", "n0", ran=HOUR, gpus=8), large(minimum=1)])
    policy = Policy(waiting=WaitingPolicy(**CALM, slip=1000))
    (first,), (last,) = (
        heads_of(later(seen, policy, seconds)) for seconds in (0, 9 * HOUR)
    )

    assert (HOUR, 600) == (first.likely, last.likely)


def test_a_head_has_its_turn_no_longer_as_what_runs_grows_older():
    small = [gang(f"s-{i:02}", minimum=1, gpus=1) for i in range(90)]
    runs = busy("full", "n0", gpus=8, ran=HOUR)
    seen = snapshot(nodes(4), [runs, large(passed_over=43 * HOUR), *small])
    policy = Policy(waiting=WaitingPolicy(outweigh=0.5, budget=1.0))

    assert_changes_at(seen, policy, line_of(later(seen, policy, 0)).turn)


def _idles() -> Snapshot:
    """
    Let eight GPUs idle till eight others fall free, while work waits that fits there.
    """
    small = [gang(f"s-{i}", minimum=1, gpus=1) for i in range(8)]
    runs = busy("full", "n0", gpus=8, ran=HOUR)
    return snapshot(nodes(2), [runs, large(), *small])


def test_nodes_are_held_once_the_budget_has_room_for_what_idles_yet():
    seen, policy = _idles(), Policy(waiting=WaitingPolicy(outweigh=0.0, budget=0.005))
    at, looks = 0, 0
    while not of_heads(problem := later(seen, policy, at)):
        at, looks = at + (line_of(problem).turn or 1), looks + 1

    assert HOUR - 0.005 * 86400 * 16 / 8 == at
    assert looks < 20


def test_gpus_that_idle_use_up_what_is_left_of_the_budget():
    policy = Policy(waiting=WaitingPolicy(outweigh=0.0, budget=0.03))
    line = line_of(later(_idles(), policy, 0))

    assert HOUR - 600 == line.turn == line.next_turn(held=8)
    assert (0.03 * 86400 * 16 - 8 * HOUR) // 8 + 1 == line.next_turn(held=16)


@pytest.mark.parametrize(
    ("runtime", "told"), [(HOUR, 1), (HOUR - 60, 61), (None, None)]
)
def test_held_nodes_are_lent_for_less_as_the_start_comes_nearer(runtime, told):
    runs = busy("full", "n0", gpus=8, max_runtime=2 * HOUR, ran=HOUR)
    small = gang("small", minimum=1, gpus=1, max_runtime=runtime)
    seen = snapshot(nodes(2), [runs, large(), small])
    problem = later(seen, Policy(waiting=WaitingPolicy(**CALM)), 0)

    assert told == next_loan(problem, heads_of(problem))


def test_held_nodes_are_lent_to_who_leaves_again_once_the_start_is_near():
    runs = busy("full", "n0", gpus=8, max_runtime=3 * HOUR, ran=HOUR)
    seen = snapshot(nodes(2), [runs, large(), gang("small", minimum=1, gpus=1)])
    evict = Evict(lentFor=HOUR)
    policy = Policy(waiting=WaitingPolicy(**CALM), evict=evict)
    problem = later(seen, policy, 0)

    assert HOUR == next_loan(problem, heads_of(problem))


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(60))
def test_heads_are_the_same_until_the_moment_that_is_told(seed):
    random = Random(seed)
    seen, policy = _drawn(random)
    line = line_of(later(seen, policy, 0))
    far = 40 * HOUR if line.turn is None else line.turn - 1
    for seconds in {far, random.randrange(far + 1), random.randrange(far + 1)}:
        then = later(seen, policy, seconds, held=True)

        assert of_heads(later(seen, policy, 0)) == of_heads(then)


def _drawn(random: Random) -> tuple[Snapshot, Policy]:
    """
    Draw a full cluster of three nodes with one or two heads, and a policy.
    """
    runs = [
        busy(
            f"r-{i}",
            f"n{i % 3}",
            gpus=random.choice((2, 4)),
            ran=random.randrange(1, random.choice((900, 9000, 90000))),
            max_runtime=random.choice((None, None, 100_000)),
        )
        for i in range(random.randrange(1, 7))
    ]
    small = [
        gang(f"s-{i:02}", minimum=1, gpus=random.choice((1, 2)))
        for i in range(random.randrange(1, 60))
    ]
    wide = [
        large(
            f"w-{i}",
            passed_over=random.randrange(HOUR, 60 * HOUR),
            minimum=random.randrange(1, 4),
        )
        for i in range(random.randrange(1, 3))
    ]
    quiet = random.choice((0, 0, random.randrange(5000)))
    seen = replace(snapshot(nodes(3), [*runs, *wide, *small]), unchanged_for=quiet)
    some = {
        "outweigh": random.choice((0.0, 0.1, 1.0)),
        "budget": random.choice((0.02, 0.1, 1.0)),
        "slip": random.choice((1.2, 2.0)),
        "heads": 2,
    }
    policy = Policy(waiting=WaitingPolicy(**some))
    return _with_holds(random, seen, policy), policy


def _with_holds(random: Random, seen: Snapshot, policy: Policy) -> Snapshot:
    """
    Let nodes have been held for some of the heads for some time.
    """
    first = {head.key: head.likely for head in heads_of(problem_of(seen, policy))}
    gangs = tuple(
        replace(one, held_for=random.randrange(3000), held_first=first[one.key])
        if one.key in first and random.random() < 0.5
        else one
        for one in seen.gangs
    )
    return replace(seen, gangs=gangs)
