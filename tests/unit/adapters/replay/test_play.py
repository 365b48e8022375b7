"""
What is true of every replay, whatever the trace and whoever decides.
"""

import json
from dataclasses import replace

import pytest

from adapters.replay import play as playing
from adapters.replay.checkpoint import NAME, keep
from adapters.replay.engine import Engine
from adapters.replay.measures.gpu_use import USES
from adapters.replay.measures.lower_bounds import bounds_of
from adapters.replay.measures.replay_measures import metrics_of
from adapters.replay.play import bounds_for, jobs_of, play
from adapters.replay.players import STRATEGIES
from adapters.traces.clusters import floor_of
from models.policy import Policy
from tests.helpers.played import files, job, played, rows, run, some_jobs, table

GANGS = [name for name, how in STRATEGIES.items() if not how.pieces]


def made(strategy, seed=1, *, jobs=40, elastic=True, **said):
    known = {"estimates": 1.0} if STRATEGIES[strategy].needs_estimates else {}
    return run(
        some_jobs(seed, jobs, elastic=elastic),
        "3x8",
        strategy=strategy,
        **(known | said),
    )


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", GANGS)
@pytest.mark.parametrize("seed", [1])
def test_all_jobs_end_and_no_node_ever_holds_too_much(tmp_path, strategy, seed):
    here = made(strategy, seed, elastic=False)
    play(here, tmp_path)

    found = rows(tmp_path)
    assert {"done"} == {row["status"] for row in found.values()}
    assert_nodes_hold(found)
    for each in here.trace.jobs:
        row = found[each.name]
        assert each.duration == int(row["end"]) - int(row["start"])
        assert int(row["wait"]) >= 0


def assert_nodes_hold(found):
    """
    Add up what the last attempts hold on each node, at the moment each begins.
    """
    for row in found.values():
        at = int(row["start"])
        held = {}
        for other in found.values():
            if int(other["start"]) <= at < int(other["end"]):
                for place in other["nodes"].split():
                    node, _, gpus = place.partition("*")
                    held[node] = held.get(node, 0) + int(gpus)
        assert max(held.values(), default=0) <= 8


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", [*STRATEGIES])
def test_no_schedule_passes_the_bounds(tmp_path, strategy):
    here = made(strategy)
    summary = play(here, tmp_path)
    bounds = bounds_of(jobs_of(here), here.floor.gpus, here.every)

    metrics = summary["metrics"]
    if metrics["jobs"]["done"] == len(here.trace.jobs):
        assert bounds.mean_wait <= metrics["wait"]["mean"]
        assert bounds.median_wait <= metrics["wait"]["median"]
        assert bounds.mean_jct <= metrics["jct"]["mean"]
        assert bounds.makespan <= metrics["makespan"]
    assert metrics["gpus"]["used"] <= bounds.used + 1e-6


def test_attempts_that_fail_use_gpus_and_make_no_wait(tmp_path):
    line = [
        job("fails", duration=100, gpus=8, failures=(100, 100, 100)),
        job("last", submit=400, duration=1, gpus=0),
    ]
    here = run(line, cluster="1x8", every=0)
    metrics = play(here, tmp_path)["metrics"]
    (bounds,) = [bounds_for(here, [metrics])]

    assert 1.0 == metrics["gpus"]["used"] == bounds["used"]
    assert 0.0 == metrics["wait"]["mean"] == bounds["meanWait"]


def test_an_attempt_that_fails_loses_what_earlier_ones_saved(tmp_path):
    line = [
        job("low", duration=14_400, gpus=8, failures=(7200,)),
        job("high", submit=5400, duration=3600, gpus=8, priority=9),
    ]
    found = played(
        tmp_path, run(line, cluster="1x8", every=0, evictions=True, saves=3600)
    )

    assert ("1", "1", "3") == tuple(
        found["low"][name] for name in ("evictions", "failures", "attempts")
    )
    assert 8 * (1800 + 7200) == int(found["low"]["lost"])


def test_the_gpus_of_an_attempt_that_failed_are_wanted(tmp_path):
    line = [job("fails", duration=50, gpus=8, failures=(100,)), job("last", submit=600)]
    play(run(line, cluster="1x8"), tmp_path)
    (row, *_) = table(tmp_path, "series.csv")

    assert 8 * 200 == pytest.approx(float(row["freed"]) * 1200, abs=1)


def test_fair_shares_are_those_of_rounds_that_need_no_plan_too(tmp_path):
    line = [
        job("runs", duration=40_000, gpus=8, queue="a"),
        job("waits", submit=4000, duration=40_000, gpus=8, queue="b"),
        job("last", submit=80_000, duration=1, gpus=0, queue="b"),
    ]
    metrics = play(run(line, cluster="1x8"), tmp_path)["metrics"]
    shares = {
        int(row["t"]): float(row["share"])
        for row in table(tmp_path, "queues.csv")
        if row["queue"] == "b"
    }

    assert {0: 0, 3600: 4, 7200: 4, 36_000: 4, 43_200: 8} == {
        at: shares[at] for at in (0, 3600, 7200, 36_000, 43_200)
    }
    assert metrics["fairness"]["jain"] < 0.8


def test_a_queue_that_waits_without_a_share_counts_in_fairness(tmp_path):
    here = run([job("one"), job("last", submit=3600)])
    play(here, tmp_path)
    queues = "t,queue,used,share,waiting\n0,a,4,4,0\n0,b,0,0,1\n"
    (tmp_path / "queues.csv").write_text(queues)
    found = metrics_of(tmp_path, {}, {}, here.floor)

    assert 0.5 == found["fairness"]["jain"]


def test_who_waits_is_counted_with_its_queue_where_queues_have_no_rules(tmp_path):
    line = [
        job("runs", duration=5000, gpus=8, queue="a"),
        job("waits", submit=60, gpus=8, queue="b"),
    ]
    play(replace(run(line, cluster="1x8"), floor=floor_of("1x8")), tmp_path)
    first = [row for row in table(tmp_path, "queues.csv") if row["t"] == "0"]

    assert [("a", "0"), ("b", "1")] == [(x["queue"], x["waiting"]) for x in first]


def test_who_is_evicted_has_had_its_first_start(tmp_path):
    line = [
        job("low", duration=1000, gpus=8, priority=0),
        job("high", submit=1, duration=100, gpus=8, priority=9),
        job("last", submit=900, duration=1, gpus=0),
    ]
    here = run(line, cluster="1x8", every=0, evictions=True)
    metrics = play(here, tmp_path)["metrics"]
    bounds = bounds_for(here, [metrics])

    assert 1 == metrics["lost"]["evictions"]
    assert bounds["meanWait"] <= metrics["wait"]["mean"] < 1
    assert metrics["gpus"]["used"] <= bounds["used"]


@pytest.mark.parametrize("until", [None, 10_000, 10**7])
def test_bounds_are_told_only_where_all_jobs_have_ended(tmp_path, until):
    here = made("greedy", until=until)
    metrics = play(here, tmp_path)["metrics"]
    found = bounds_for(here, [metrics])
    known = bounds_of(jobs_of(here), here.floor.gpus, here.every).document(here.seed)
    dead = {**metrics, "jobs": {**metrics["jobs"], "done": 39, "waiting": 1}}
    stuck = bounds_for(here, [metrics, dead])

    assert found == (dict.fromkeys(known) | {"seed": 0} if until == 10_000 else known)
    assert {"seed"} | ({"used"} if until is None else set()) == {
        name for name, bound in stuck.items() if bound is not None
    }


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", [*STRATEGIES])
def test_the_uses_of_all_gpus_add_up_at_all_times(tmp_path, strategy):
    play(made(strategy, until=30_000), tmp_path)

    for row in table(tmp_path, "series.csv"):
        assert 24 == pytest.approx(sum(float(row[use]) for use in USES), abs=0.001)


@pytest.fixture(
    scope="module",
    params=[("solver", True), ("greedy", False), ("easy", False), ("fifo", False)],
    ids=lambda said: f"{said[0]}-{said[1]}",
)
def whole(request, tmp_path_factory):
    """
    Play a run that remembers what was used, and give it with what it writes.
    """
    strategy, evictions = request.param
    policy = Policy.model_validate({"shares": {"halfLife": "1h"}})
    here = made(strategy, jobs=16, evictions=evictions, policy=policy)
    folder = tmp_path_factory.mktemp("whole")
    play(here, folder)
    return here, files(folder)


@pytest.mark.drawn
def test_the_same_run_writes_the_same_bytes(tmp_path, whole):
    here, written = whole
    play(here, tmp_path)

    assert written == files(tmp_path)


class Killed(BaseException):
    pass


def test_a_killed_replay_goes_on_and_writes_the_same_bytes(
    tmp_path, monkeypatch, whole
):
    here, written = whole
    killed = tmp_path / "killed"

    def run_and_die(self, until, beat):
        def deadly(engine):
            beat(engine)
            if engine.world.now > 3000 and not (killed / NAME).exists():
                keep(engine, here.key)
            if engine.world.now > 5000:
                raise Killed

        normal(self, until, deadly)

    normal = Engine.run
    monkeypatch.setattr(Engine, "run", run_and_die)
    with pytest.raises(Killed):
        play(here, killed)
    monkeypatch.setattr(Engine, "run", normal)
    begun = []
    restored = playing.restore
    monkeypatch.setattr(
        playing, "restore", lambda *said: (begun.append(1), restored(*said))
    )
    play(here, killed)

    assert ([1], written) == (begun, files(killed))


def test_a_checkpoint_of_another_replay_is_not_used(tmp_path):
    (tmp_path / NAME).write_text(json.dumps({"key": "another"}))
    here = made("greedy")
    play(here, tmp_path)
    play(here, tmp_path / "fresh")

    fresh = files(tmp_path / "fresh")
    assert fresh == {name: files(tmp_path)[name] for name in fresh}


def test_a_run_that_was_played_is_not_played_again(tmp_path, monkeypatch):
    here = made("greedy")
    first = play(here, tmp_path)
    monkeypatch.setattr(Engine, "run", None)

    assert first == play(here, tmp_path)


def test_another_seed_draws_other_weeks_with_the_same_jobs_inside(tmp_path):
    here = made("greedy", seed=1)
    one = jobs_of(here)
    other = jobs_of(replace(here, seed=3))

    assert one == here.trace.jobs
    assert other != one
    known = [(job.roles, job.duration) for job in one]
    assert all((job.roles, job.duration) in known for job in other)


def test_how_far_a_replay_is_counts_the_jobs_that_have_ended(tmp_path):
    here = made("greedy")
    at_once = tuple(replace(job, submit=0) for job in here.trace.jobs)
    told = []
    play(replace(here, trace=replace(here.trace, jobs=at_once)), tmp_path, told.append)

    assert told == sorted(told)
    assert 0 == told[0]
    assert 1 > told[len(told) // 2] > 0
