"""
Rounds that a replay skips: planning each of them gives the same.

A replay plans again when something happens, and at the next moment at which time alone
may change a plan.  Here it is played beside one that plans at every round, shown all
that it could be shown: every job must fare alike.
"""

from dataclasses import replace

import pytest

from adapters.replay.world.window import Window
from adapters.replay.world.world_sink import WorldSink
from models.policy import Policy
from tests.helpers.played import lines, played, run, some_jobs

HOLDING = {"protectAfter": "10m"}
POLICIES = {
    "default": {},
    "none": {"waiting": {"heads": 0}},
    "late": {"waiting": HOLDING | {"firmAfter": "30m"}},
    "cheap": {"waiting": HOLDING | {"outweigh": 0.0, "budget": 1.0}},
    "slip": {"waiting": HOLDING | {"outweigh": 0.1, "budget": 0.05, "slip": 1.2}},
    "lend": {
        "waiting": HOLDING | {"outweigh": 0.5, "budget": 0.1, "lend": 80},
        "evict": {"lentFor": "1h"},
    },
}


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("strategy", "seed"), [("greedy", 0), ("greedy", 1), ("greedy", 2), ("solver", 3)]
)
@pytest.mark.parametrize("evictions", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_a_replay_that_skips_rounds_is_one_that_plans_each(
    tmp_path, monkeypatch, name, evictions, strategy, seed
):
    jobs = 24 if strategy == "greedy" else 16
    assert_alike(tmp_path, monkeypatch, name, evictions, strategy, seed, jobs=jobs)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["greedy", "solver"])
@pytest.mark.parametrize("seed", range(4, 20))
@pytest.mark.parametrize("evictions", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_many_replays_that_skip_rounds_are_those_that_plan_each(
    tmp_path, monkeypatch, name, evictions, strategy, seed
):
    assert_alike(tmp_path, monkeypatch, name, evictions, strategy, seed)


def assert_alike(folder, monkeypatch, name, evictions, strategy, seed, *, jobs=24):
    made = run(
        _jobs(seed, jobs),
        "3x8",
        strategy=strategy,
        evictions=evictions,
        policy=Policy.model_validate(POLICIES[name]),
    )
    skips = _rows(folder / "skips", made)
    _plan_each(monkeypatch)
    each = _rows(folder / "each", made)

    assert skips == each
    planned = [len(lines(folder / said, "timings.jsonl")) for said in ("skips", "each")]
    assert planned[0] <= planned[1]


def _jobs(seed, count):
    jobs = some_jobs(seed, count, elastic=seed % 2 == 0)
    return jobs if seed % 3 == 0 else [replace(job, priority=0) for job in jobs]


def _rows(folder, made):
    """
    Give what became of every job; why it waits is noted in planned rounds only.
    """
    return {job: row | {"reason": ""} for job, row in played(folder, made).items()}


def _plan_each(monkeypatch):
    """
    Let a replay plan every round in which somebody waits.
    """
    clock, startable = WorldSink._next_clock, Window.startable

    def now(sink, plan):
        clock(sink, plan)
        return sink.world.now

    def always(window):
        startable(window)
        return True

    monkeypatch.setattr(WorldSink, "_next_clock", now)
    monkeypatch.setattr(Window, "startable", always)
