"""
What happens to jobs in a replay, one behaviour each.
"""

from dataclasses import replace

import pytest

from adapters.replay.measures.gpu_use import USES
from adapters.replay.world.world import Rules
from adapters.replay.world.world_source import WorldSource
from adapters.traces.clusters import floor_of
from models.policy import Policy
from solver.round import decide
from tests.helpers.build import queue
from tests.helpers.played import driven, job, lines, played, run, table


def test_a_job_starts_at_the_next_round_and_ends_after_its_duration(tmp_path):
    found = played(tmp_path, run([job("first"), job("late", submit=301)]))

    late = found["late"]
    assert ("600", "1200", "299") == (late["start"], late["end"], late["wait"])


def test_without_time_between_rounds_a_job_starts_when_another_ends(tmp_path):
    jobs = [job("first", pods=2), job("next", submit=10, pods=2)]
    found = played(tmp_path, run(jobs, every=0))

    assert ("0", "600", "590") == (
        found["first"]["start"],
        found["next"]["start"],
        found["next"]["wait"],
    )


def test_an_attempt_that_fails_is_lost_and_made_again(tmp_path):
    found = played(tmp_path, run([job("flaky", duration=900, failures=(100,))]))

    flaky = found["flaky"]
    assert ("2", "1", "800") == (flaky["attempts"], flaky["failures"], flaky["lost"])
    assert ("300", "1200", "0") == (flaky["start"], flaky["end"], flaky["wait"])


def test_a_gang_waits_until_all_its_pods_fit(tmp_path):
    jobs = [job("small"), job("wide", submit=1, pods=2)]
    found = played(tmp_path, run(jobs))

    assert ("600", "599") == (found["wide"]["start"], found["wide"]["wait"])


def test_an_elastic_gang_starts_with_what_it_needs(tmp_path):
    jobs = [job("small"), job("elastic", submit=1, pods=2, minimum=1)]
    found = played(tmp_path, run(jobs))

    assert ("300", "900") == (found["elastic"]["start"], found["elastic"]["end"])


def test_pods_without_gangs_hold_their_gpus_and_block_each_other(tmp_path):
    jobs = [
        job("busy", gpus=4),
        job("a", submit=1, pods=2, gpus=8),
        job("b", submit=1, pods=3, gpus=4),
    ]
    gangs = played(tmp_path / "gangs", run(jobs, strategy="best-fit"))
    found = played(tmp_path / "pods", run(jobs, strategy="per-pod", estimates=1.0))

    assert {"done"} == {row["status"] for row in gangs.values()}
    assert ("waiting", "waiting") == (found["a"]["status"], found["b"]["status"])
    assert {"n0*8", "n1*8"} == {found["a"]["nodes"], found["b"]["nodes"]}


def test_pods_of_several_roles_are_bound_one_by_one(tmp_path):
    one = job("both", pods=2, gpus=1)
    more = replace(one.roles[0], name="more", pods=1, minimum=1)
    both = replace(one, roles=(replace(one.roles[0], name="some"), more))
    found = played(tmp_path, run([both, job("next", gpus=1)], strategy="per-pod"))

    assert "3" == found["both"]["pods"]
    assert ("done", "n0*3") == (found["both"]["status"], found["both"]["nodes"])


def test_who_has_to_leave_loses_its_work_and_keeps_its_age(tmp_path):
    jobs = [
        job("low", pods=2, duration=10_000),
        job("high", submit=3000, duration=1000, priority=9),
    ]
    found = played(tmp_path, run(jobs, evictions=True))

    low, high = found["low"], found["high"]
    assert ("1", "2", "0") == (low["evictions"], low["attempts"], low["wait"])
    assert "48000" == low["lost"]
    assert int(high["end"]) <= int(low["start"])


def test_who_ran_with_some_of_its_pods_loses_the_work_of_these(tmp_path):
    jobs = [
        job("busy", gpus=3, duration=3000, priority=9),
        job("low", pods=4, minimum=1, gpus=1, duration=10_000),
        job("high", submit=1000, gpus=4, duration=1000, priority=9),
    ]
    found = played(tmp_path, run(jobs, "1x4", evictions=True))

    low = found["low"]
    assert "1" == low["evictions"]
    assert "3000" == low["lost"]


def test_a_gang_may_end_while_a_place_is_promised_to_one_of_its_pods(tmp_path):
    jobs = [
        job("first", pods=3, minimum=1, gpus=1, duration=1000),
        job("moving", submit=100, pods=2, minimum=1, gpus=1, duration=1000),
        job("whole", submit=400, gpus=4),
    ]
    found = played(tmp_path, run(jobs, "2x4", evictions=True))

    assert ("1300", "1500") == (found["moving"]["end"], found["whole"]["start"])


def test_nobody_leaves_unless_evictions_are_asked_for(tmp_path):
    jobs = [
        job("low", pods=2, duration=10_000),
        job("high", submit=3000, duration=1000, priority=9),
    ]
    found = played(tmp_path, run(jobs))

    assert ("0", "10200") == (found["low"]["evictions"], found["high"]["start"])


def test_rounds_that_need_no_plan_are_counted_and_not_planned(tmp_path):
    jobs = [job("first", pods=2, duration=3000), job("next", submit=1, pods=2)]
    found = played(tmp_path, run(jobs))

    planned = lines(tmp_path, "rounds.jsonl")
    assert "3000" == found["next"]["start"]
    assert [0, 3000] == [line["t"] for line in planned]


def test_the_series_says_what_every_gpu_did(tmp_path):
    jobs = [job("first", duration=3600), job("wide", submit=1, pods=2, duration=3600)]
    played(tmp_path, run(jobs))

    first, second, *_ = table(tmp_path, "series.csv")
    for row in (first, second):
        assert 16 == pytest.approx(sum(float(row[use]) for use in USES), abs=0.001)
    assert ("8", "1", "16") == (first["used"], first["waiting"], first["waitingGpus"])
    assert ("16", "0") == (second["used"], second["waiting"])


HOLDING = {
    "protectAfter": 0,
    "headsOf": "cluster",
    "budget": 1,
    "outweigh": 0,
    "slip": 1000,
}
LATE = [{"name": "late", "after": "90m"}, "gangs"]


@pytest.mark.parametrize(
    ("said", "rounds"),
    [
        ({"waiting": HOLDING}, [0, 1]),
        ({"waiting": HOLDING, "tiers": LATE}, [0, 1, 3]),
        ({"waiting": HOLDING | {"firmAfter": "90m"}}, [0, 1, 3]),
        ({"waiting": HOLDING, "ageing": [{"after": "90m", "quarters": 5}]}, [0, 1, 2]),
    ],
)
def test_a_quiet_cluster_is_planned_when_somebody_was_passed_over_for_long(
    tmp_path, said, rounds
):
    ageing = {"ageing": [{"after": 0, "quarters": 4}]}
    policy = Policy.model_validate({"evict": {"stale": False}} | ageing | said)
    jobs = [
        job("busy", duration=5 * 3600),
        job("wide", submit=600, pods=2),
        job("small", submit=601, gpus=1),
    ]
    planned = []

    def plan(world, snapshot, policy):
        planned.append(world.now // 3600)
        return decide(snapshot, policy, strategy="greedy")

    driven(tmp_path, run(jobs, policy=policy), plan, Rules(every=3600))

    assert rounds == [hour for hour in planned if hour < 5]


def test_a_replay_knows_when_one_more_was_passed_over_for_long(tmp_path):
    jobs = [
        job("busy", pods=2, duration=9000),
        job("first", submit=100, pods=2),
        job("next", submit=700),
    ]
    told = {}

    def plan(world, snapshot, policy):
        told[world.now] = WorldSource(world).next_late()
        return decide(snapshot, policy, strategy="greedy")

    driven(tmp_path, run(jobs), plan, Rules(evictions=True))

    late = {now: now + after for now, after in told.items() if after is not None}
    assert {300: 3900, 900: 3900, 3900: 4500} == {
        at: late[at] for at in (300, 900, 3900)
    }
    assert None is told[4500]


def test_the_queue_that_used_less_so_far_shares_more(tmp_path):
    """
    One queue has the cluster to itself for a day; then both want all of it.
    """
    floor = replace(floor_of("1x8"), queues=(queue("a"), queue("b")))
    jobs = [job("alone", duration=86400, queue="a")]
    for at in range(8):
        jobs += [
            job(f"{q}-{at}", submit=86000, duration=999, gpus=1, queue=q) for q in "ab"
        ]
    memory = Policy.model_validate({"shares": {"halfLife": "7d"}})
    first = {}
    for name, policy in (("with", memory), ("without", Policy())):
        found = played(tmp_path / name, run(jobs, floor=floor, policy=policy))
        first[name] = [
            sum(found[f"{q}-{at}"]["start"] == "86400" for at in range(8)) for q in "ab"
        ]

    assert {"with": [2, 6], "without": [4, 4]} == first


def test_the_series_tells_held_and_lent_nodes_from_what_is_freed(tmp_path):
    """
    Nodes are held for a gang after the first hour; what is short runs on one of them.
    """
    policy = Policy.model_validate(
        {"evict": {"stale": False}, "waiting": HOLDING | {"protectAfter": "1h"}}
    )
    jobs = [
        job("busy", duration=5 * 3600),
        job("wide", submit=1, pods=2),
        job("short", submit=3700, gpus=2, duration=1800),
        job("long", submit=3701, gpus=2, duration=9 * 3600),
    ]
    here = run(jobs, policy=policy, estimates=1.0, strategy="greedy")
    played(tmp_path, here)

    before, after, *_ = table(tmp_path, "series.csv")
    assert "0" == before["held"] < before["freed"]
    assert 2 * 1800 / 3600 == float(after["lent"])
    assert 2 * 3300 / 3600 == pytest.approx(float(after["held"]), abs=0.001)


def test_who_waits_longer_than_anybody_before_is_asked_why(tmp_path):
    jobs = [job("busy", duration=9 * 3600), job("wide", submit=1, pods=2)]
    jobs += [job(f"tick-{at}", submit=at * 1800, duration=60) for at in range(1, 18)]
    for strategy in ("solver", "fifo"):
        played(tmp_path / strategy, run(jobs, strategy=strategy))
    told = table(tmp_path / "solver", "waits.csv")

    assert [5400, 10800, 21600] == [int(row["t"]) for row in told]
    assert {"wide"} == {row["job"] for row in told}
    assert told[0]["why"].startswith("room: needs 16 GPUs; 8 of 16 are free")
    assert [] == table(tmp_path / "fifo", "waits.csv")
