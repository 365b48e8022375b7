"""
When a gang starts at the latest, as far as run limits tell.
"""

from models.policy import Evict, Policy, WaitingPolicy
from models.resources import format_duration
from solver import when_starts
from solver.round import decide
from tests.helpers.build import gang, nodes, queue, snapshot

CALM = Evict(preempt=False, reclaim=False, consolidate=False)


def when(case, name, policy=None):
    policy = policy or Policy(evict=CALM)
    return when_starts(case, policy, decide(case, policy), f"default/{name}")


def running(name, seconds, **fields):
    return gang(name, gpus=8, running=["n0"], max_runtime=seconds, **fields)


def test_it_starts_when_what_runs_must_have_ended():
    found = when(snapshot(nodes(1), [running("r", 3600), gang("a", gpus=8)]), "a")

    assert 3600 == found.latest
    assert "at the latest in 1h, if nobody more important comes" == found.sentence


def test_nobody_knows_when_what_runs_has_no_limit():
    found = when(snapshot(nodes(1), [running("r", None), gang("a", gpus=8)]), "a")

    assert found.latest is None
    assert found.sentence.startswith("unknown: nobody says when")


def test_who_starts_now_starts_now():
    assert 0 == when(snapshot(nodes(1), [gang("a", gpus=8)]), "a").latest


def test_others_that_wait_may_be_first():
    gangs = [running("r", 3600), gang("a", gpus=8), gang("b", gpus=8, age=99)]

    assert when(snapshot(nodes(1), gangs), "a").latest is None


def test_others_that_wait_do_not_matter_where_all_fit():
    gangs = [
        running("r", 3600),
        gang("s", gpus=8, running=["n1"], max_runtime=600),
        gang("a", gpus=8),
        gang("b", gpus=8, age=99),
    ]

    assert 3600 == when(snapshot(nodes(2), gangs), "a").latest


def test_surplus_may_take_what_ends():
    grows = gang("g", minimum=1, replicas=2, gpus=8, running=["n1"])
    case = snapshot(nodes(2), [running("r", 3600), grows, gang("a", gpus=8)])

    assert when(case, "a").latest is None


def test_for_a_head_nodes_are_held():
    gangs = [
        running("r", 3600),
        gang("a", gpus=8, passed_over=7200),
        gang("b", gpus=8),
    ]
    policy = Policy(evict=CALM, waiting=WaitingPolicy(idle="hold"))

    found = when(snapshot(nodes(1), gangs), "a", policy)

    assert 3600 == found.latest
    assert found.sentence.endswith("nodes are held for it")


def test_a_closed_queue_does_not_open_by_time():
    case = snapshot(nodes(1), [gang("a", queue="q")], [queue("q", open=False)])

    assert when(case, "a").latest is None


def test_durations_are_written_in_two_units():
    assert ["1m30s", "1d1h", "0s"] == [*map(format_duration, (90, 90061, 0))]


def test_who_needs_no_pod_starts_by_no_time():
    runs = gang("r", gpus=8, running=["n0"])
    case = snapshot(nodes(1), [runs, gang("a", minimum=0, replicas=1, gpus=8)])

    assert when(case, "a").latest is None
