"""
What tells the strategies of a replay apart.
"""

from dataclasses import replace

import pytest

from adapters.replay.play import play
from adapters.traces.clusters import floor_of
from models.policy import Policy
from models.queues import Queue, QueueResource
from models.resources import GPU
from tests.helpers.played import job, lines, played, run, table

LINE = [
    job("runs", gpus=8, duration=3000),
    job("wide", submit=1, pods=2, duration=600),
    job("short", submit=2, gpus=8, duration=600),
    job("long", submit=3, gpus=8, duration=6000),
]


def starts(folder, strategy, **said):
    found = played(folder, run(LINE, strategy=strategy, **said))
    return {name: int(row["start"]) for name, row in found.items()}


def test_fifo_lets_nobody_pass(tmp_path):
    found = starts(tmp_path, "fifo")

    assert {"runs": 0, "wide": 3000, "short": 3600, "long": 3600} == found


def test_easy_lets_pass_who_ends_before_the_first_could_start(tmp_path):
    found = starts(tmp_path, "easy", estimates=1.0)

    assert {"runs": 0, "short": 300, "wide": 3000, "long": 3600} == found


def test_easy_lets_nobody_delay_the_first_who_waits_for_those_it_starts(tmp_path):
    line = [
        job("now", gpus=8, duration=100),
        job("wide", pods=2, duration=100),
        job("zeal", gpus=8, duration=9000),
    ]
    found = played(tmp_path, run(line, strategy="easy", estimates=1.0, every=0))

    assert {"now": "0", "wide": "100", "zeal": "200"} == {
        name: row["start"] for name, row in found.items()
    }


def test_easy_keeps_what_a_limit_leaves_for_the_first_who_waits(tmp_path):
    rule = QueueResource(quota=8, limit=8)
    queues = (Queue(name="q", resources={GPU: rule}),)
    floor = replace(floor_of("3x8"), queues=queues)
    line = [
        job("runs", gpus=4, duration=100, queue="q"),
        job("whole", submit=1, gpus=8, duration=100, queue="q"),
        job("zeal", submit=2, gpus=4, duration=9000, queue="q"),
        job("short", submit=3, gpus=4, duration=90, queue="q"),
    ]
    here = run(line, strategy="easy", estimates=1.0, every=0, floor=floor)

    assert {"runs": "0", "short": "3", "whole": "100", "zeal": "200"} == {
        name: row["start"] for name, row in played(tmp_path, here).items()
    }


@pytest.mark.parametrize("strategy", ["easy", "conservative", "greedy"])
def test_a_round_at_each_event_is_held_at_no_other_moment(tmp_path, strategy):
    line = [job("runs", gpus=8, duration=9000), job("wide", pods=2, submit=1)]
    here = run(line, strategy=strategy, estimates=1.0, every=0)
    play(here, tmp_path)

    assert len(lines(tmp_path, "rounds.jsonl")) < 9


@pytest.mark.drawn
def test_all_rounds_are_planned_while_somebody_runs_for_longer_than_was_said(tmp_path):
    """
    Who outruns what was said is expected to end at any moment, and keeps others off.
    """
    line = [
        job("outruns", gpus=8, duration=1000, estimate=100),
        job("exact", gpus=8, duration=300, estimate=300),
        job("pair", submit=1, pods=2, duration=100, estimate=100),
        job("after", submit=2, gpus=8, duration=150, estimate=150),
    ]
    here = run(line, strategy="conservative", estimates=1.0, every=1)
    play(here, tmp_path)

    assert len(lines(tmp_path, "rounds.jsonl")) > 900


@pytest.mark.parametrize("strategy", ["greedy", "solver", "per-pod"])
def test_pods_of_a_job_that_is_named_as_the_role_of_another_are_others(
    tmp_path, strategy
):
    other = job("a-b", pods=3, gpus=1)
    (one,) = other.roles
    several = replace(
        other, name="a", roles=(replace(one, name="b"), replace(one, name="c"))
    )
    found = played(tmp_path, run([several, other], strategy=strategy))

    assert {"a": "0", "a-b": "0"} == {name: row["start"] for name, row in found.items()}


def test_pods_by_themselves_are_counted_as_the_gangs_that_they_are_of(tmp_path):
    line = [
        job("half", pods=3, gpus=8, duration=9000),
        job("runs", submit=1, gpus=8, duration=9000),
        job("pair", submit=2, pods=2, gpus=4, duration=9000),
    ]
    play(run(line, strategy="per-pod"), tmp_path)
    (first, *_) = table(tmp_path, "series.csv")
    (queue, *_) = table(tmp_path, "queues.csv")

    assert ("3", "0", "3") == (first["waiting"], first["running"], queue["waiting"])


def test_best_fit_lets_anybody_pass(tmp_path):
    found = starts(tmp_path, "best-fit")

    assert {"runs": 0, "short": 300, "long": 900, "wide": 6900} == found


def test_greedy_holds_nodes_for_who_was_passed_over_for_an_hour(tmp_path):
    many = [
        job("wide", submit=1, pods=2),
        *(job(f"s-{at:02d}", submit=300 * at, duration=900) for at in range(60)),
    ]
    policy = Policy.model_validate({"waiting": {"budget": 1, "outweigh": 0}})
    greedy = played(tmp_path / "greedy", run(many, policy=policy))
    best = played(tmp_path / "best", run(many, strategy="best-fit"))

    assert int(greedy["wide"]["wait"]) < 6000
    assert int(best["wide"]["wait"]) > 12_000
