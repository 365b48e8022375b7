"""
When a gang starts at the latest, as far as run limits tell.
"""

from dataclasses import replace

import pytest

from models.memory.aged_gangs import older
from models.memory.start_record import DAY, ENOUGH, StartRecord, class_of
from models.neighbours import Apart, Neighbours
from models.nodes import HOSTNAME
from models.policy import Evict, Policy, WaitingPolicy
from models.resources import format_duration
from solver import when_starts
from solver.round import decide
from tests.helpers.build import RACK, gang, nodes, queue, selector, snapshot
from tests.helpers.rounds.parts import fraction, part_gang, sharing

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


def test_a_shared_gpu_is_whole_again_once_its_last_part_has_ended():
    parts = [
        part_gang(name, fraction(500), ("n0", 0), max_runtime=seconds)
        for name, seconds in (("short", 600), ("long", 3600))
    ]
    late = gang("late", gpus=2)

    assert 3600 == when(snapshot([sharing()], [*parts, late]), "late").latest


def test_a_head_has_no_sure_start_where_others_may_use_up_the_limit_of_its_queue():
    kept = Policy(evict=CALM, waiting=WaitingPolicy(outweigh=0))

    def told(limit):
        gangs = [
            gang("r", queue="q", gpus=8, running=["n0"], max_runtime=3600),
            gang("head", queue="q", gpus=8, passed_over=86400),
            gang("late", queue="q", gpus=8, age=9),
        ]
        case = snapshot(nodes(1), gangs, [queue("q", limit=limit)])
        return when(case, "head", kept)

    assert "nodes are held" in told(None).sentence
    assert "nodes are held" in told(24).sentence
    assert "nodes are held" not in told(16).sentence


def test_nobody_knows_when_what_runs_has_no_limit():
    found = when(snapshot(nodes(1), [running("r", None), gang("a", gpus=8)]), "a")

    assert found.latest is None
    assert found.sentence.startswith("unknown: nobody says when")


def test_where_nothing_runs_nothing_in_the_way_ends():
    alone = Neighbours(selected=("w",), apart=(Apart("w", RACK),))
    gangs = [gang("a", minimum=2, gpus=1, neighbours=alone)]

    found = when(snapshot(nodes(2, rack="r"), gangs), "a")

    assert "unknown: time alone does not start it" == found.sentence


def test_who_starts_now_starts_now():
    found = when(snapshot(nodes(1), [gang("a", gpus=8)]), "a")

    assert (0, "starts in this round") == (found.latest, found.sentence)


def test_who_has_places_that_others_leave_starts_then():
    gangs = [running("r", None, queue="p"), gang("a", gpus=8, queue="q")]
    case = snapshot(nodes(1), gangs, [queue("p", quota=0), queue("q", quota=8)])
    found = when(case, "a", Policy())

    assert "starts as soon as others have left" == found.sentence
    assert found.latest is None


def test_who_runs_in_part_and_ends_by_itself_before_has_no_start():
    torn = gang("a", minimum=2, replicas=2, gpus=8, running=["n1"], max_runtime=1800)
    late = when(snapshot(nodes(2), [running("r", 3600), torn]), "a")
    early = when(snapshot(nodes(2), [running("r", 1200), torn]), "a")

    assert late.latest is None
    assert (
        late.sentence == "unknown: what runs of it ends in 30m, before it could start"
    )
    assert 1200 == early.latest


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


def test_who_terminates_is_named_where_that_makes_the_room():
    old = older(gang("old", gpus=8, terminating=["n0"]), 600)
    found = when(snapshot(nodes(1), [old, gang("a", gpus=8)]), "a")
    ends = "unknown: nobody says when pods of default/old, which terminate, have ended"

    assert (None, ends) == (found.latest, found.sentence)


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


@pytest.mark.parametrize("quota", [0, 8])
def test_a_head_is_promised_nothing_that_another_queue_is_entitled_to(quota):
    """
    Whoever is entitled in another queue may use what is held for a head that is not.
    """
    gangs = [
        running("r", 3600, queue="theirs"),
        gang("a", queue="mine", gpus=8, passed_over=7200),
        gang("b", queue="theirs", gpus=8),
    ]
    queues = [queue("mine", quota=quota), queue("theirs", quota=8 - quota)]
    policy = Policy(evict=CALM, waiting=WaitingPolicy(idle="hold"))

    found = when(snapshot(nodes(1), gangs, queues), "a", policy)

    assert (3600 if quota else None) == found.latest


def test_a_head_that_could_start_now_and_does_not_is_not_said_to():
    gangs = [
        gang("a", queue="mine", gpus=8, passed_over=7200),
        gang("b", queue="theirs", gpus=8),
    ]
    queues = [queue("mine", quota=0), queue("theirs", quota=8)]

    assert when(snapshot(nodes(1), gangs, queues), "a").latest is None


def test_a_closed_queue_does_not_open_by_time():
    case = snapshot(nodes(1), [gang("a", queue="q")], [queue("q", open=False)])

    assert when(case, "a").latest is None


def test_durations_are_written_in_two_units():
    assert ["1m30s", "1d1h", "0s"] == [*map(format_duration, (90, 90061, 0))]


def test_who_needs_no_pod_starts_by_no_time():
    runs = gang("r", gpus=8, running=["n0"])
    case = snapshot(nodes(1), [runs, gang("a", minimum=0, replicas=1, gpus=8)])

    assert when(case, "a").latest is None


def recorded(number, **fields):
    """
    Remember gangs of 8 GPUs that started at one to two hours, as was expected of one.
    """
    record = StartRecord(**({"gpus": {"default": 8 * 24}, "seconds": DAY} | fields))
    for at in range(number):
        waited = 3600 + 3600 * at // number
        record = record.having(class_of(8, 3600), 3600, waited)
    return record


def told(record, limit=None):
    case = snapshot(nodes(1), [running("r", limit), gang("a", gpus=8)])
    return when(replace(case, starts=record), "a")


def test_without_a_limit_the_record_says_when_such_gangs_started():
    found = told(recorded(200))

    assert found.latest is None
    assert 200 == found.about.like
    assert 5000 < found.about.half < found.about.most < found.about.nearly < 7800
    assert found.sentence.startswith("about, in 8 of 10 cases, in 1h4")
    assert "at the latest unknown: nobody says when" in found.sentence


def test_what_is_likely_is_never_later_than_what_is_sure():
    found = told(recorded(200), limit=5000)

    assert 5000 == found.latest
    assert 5000 == found.about.most
    assert "if nobody more important comes; about, in 8 of" in found.sentence


def test_of_too_few_on_record_the_number_is_said():
    found = told(recorded(ENOUGH - 1))

    assert found.about is None
    assert f"{ENOUGH - 1} starts like it are on record, {ENOUGH} tell" in found.sentence


def test_where_nothing_of_its_queue_started_no_pace_is_known():
    found = told(recorded(200, gpus={"other": 9}))

    assert found.about is None
    assert "no start of its queue default is on record" in found.sentence


def test_who_backs_off_waits_as_well_and_may_be_first():
    gangs = [running("r", 3600), gang("a", gpus=8), gang("b", gpus=8, backoff=30)]

    assert when(snapshot(nodes(1), gangs), "a").latest is None


def test_who_backs_off_and_has_room_starts_once_it_is_tried_again():
    found = when(snapshot(nodes(1), [gang("a", gpus=8, backoff=90)]), "a")

    assert 90 == found.latest
    assert "at the latest in 1m30s, if nobody more important comes" == found.sentence


def test_who_backs_off_and_lacks_room_starts_when_both_are_over():
    short = [running("r", 3600), gang("a", gpus=8, backoff=90)]
    long = [running("r", 3600), gang("a", gpus=8, backoff=7200)]
    never = [running("r", None), gang("a", gpus=8, backoff=90)]

    assert 3600 == when(snapshot(nodes(1), short), "a").latest
    assert 7200 == when(snapshot(nodes(1), long), "a").latest
    assert when(snapshot(nodes(1), never), "a").sentence.startswith("unknown: nobody")


def test_who_waits_for_one_that_backs_off_starts_with_it():
    both = ["a", "b"]
    gangs = [gang("a", mates=both, backoff=60), gang("b", mates=both)]

    assert 60 == when(snapshot(nodes(1), gangs), "b").latest


def test_nobody_knows_when_what_outlives_its_limit_ends():
    gangs = [older(running("r", 3600), 7200), gang("a", gpus=8)]
    head = [gangs[0], gang("a", gpus=8, passed_over=7200)]
    hold = Policy(evict=CALM, waiting=WaitingPolicy(idle="hold"))

    for found in (
        when(snapshot(nodes(1), gangs), "a"),
        when(snapshot(nodes(1), head), "a", hold),
    ):
        assert found.latest is None
        assert "unknown: nobody says when what is in its way ends" == found.sentence


def test_time_may_start_who_waits_for_those_around_it():
    alone = Neighbours(apart=(Apart("w", HOSTNAME),))
    around = Neighbours(selected=("w",))
    runs = running("r", 3600, preemptible=False, neighbours=around)
    case = snapshot(nodes(1), [runs, gang("a", gpus=0, neighbours=alone)])

    assert "unknown: nobody foresees who is around it then" == when(case, "a").sentence


def test_who_starts_now_ends_by_its_limit_too():
    gangs = [gang("s", gpus=8, age=9, max_runtime=3600), gang("a", gpus=8)]

    assert 3600 == when(snapshot(nodes(1), gangs), "a").latest


MINE, THEIRS = queue("mine", quota=8), queue("theirs", reclaim_min_runtime=3600)


def young(name, ran=600, node="n0", **fields):
    fields = {"queue": "theirs"} | fields
    return older(gang(name, gpus=8, running=[node], **fields), ran)


def reclaimed_by(*gangs, queues=(MINE, THEIRS), number=1):
    waits = gang("a", queue="mine", gpus=8)
    return when(snapshot(nodes(number), [*gangs, waits], queues), "a", Policy())


def test_it_starts_once_who_is_in_its_way_may_be_evicted():
    found = reclaimed_by(young("r"))

    said = "at the latest in 50m, once others may be evicted for it, if nobody more"
    assert 3000 == found.latest
    assert found.sentence.startswith(said)


def test_who_ends_before_it_may_be_evicted_leaves_its_room_then():
    assert 1000 == reclaimed_by(young("r", max_runtime=1600)).latest


def test_what_may_never_leave_gives_no_start():
    assert reclaimed_by(young("r", preemptible=False)).latest is None


def test_nobody_need_leave_a_queue_that_may_be_within_its_share_by_then():
    """
    One node of two is theirs for sure; which one is free by then nobody knows.
    """
    theirs = queue("theirs", quota=8, reclaim_min_runtime=3600)
    one, two = young("r"), young("s", node="n1")
    near = gang("a", queue="mine", gpus=8, demand=selector(**{HOSTNAME: "n0"}))
    case = snapshot(nodes(2), [one, two, near], [MINE, theirs])

    assert when(case, "a", Policy()).latest is None


def test_who_else_waits_may_take_what_is_left_first():
    other = gang("b", queue="theirs", gpus=4)

    assert reclaimed_by(young("r"), other).latest is None
    assert 3000 == reclaimed_by(young("r"), number=1).latest


def test_preempted_are_who_matters_less_in_its_queue_once_they_may_be():
    mine = queue("mine", preempt_min_runtime=900)
    low = older(gang("r", queue="mine", gpus=8, running=["n0"]), 300)
    high = gang("a", queue="mine", gpus=8, priority=9)

    assert 600 == when(snapshot(nodes(1), [low, high], [mine]), "a", Policy()).latest
