"""
Parts of GPUs in replays: who shares a device, what is counted, and what is written.
"""

import gzip
import json
from dataclasses import replace

import pytest

from adapters.replay.checkpoint import NAME, keep
from adapters.replay.measures.gpu_use import USES
from adapters.replay.play import bounds_for, play
from adapters.replay.results_file import write_results
from adapters.replay.world.world_source import WorldSource
from adapters.traces.fitting import fitted
from adapters.ui.replay_frames import replay_store
from models.devices.gpu_counts import in_gpus
from models.policy import Policy
from models.trace import Trace
from solver.round import decide
from tests.adapters.documents import GPU, scenario
from tests.helpers.played import (
    driven,
    files,
    job,
    lines,
    played,
    run,
    some_jobs,
    table,
)


def test_halves_share_a_gpu_and_the_next_waits_until_one_ends(tmp_path):
    jobs = [
        job("a", gpus="0.5"),
        job("b", submit=1, gpus="0.5", duration=900),
        job("c", submit=2, gpus="0.5"),
    ]
    found = played(tmp_path, run(jobs, "1x1", every=0))

    assert ["0", "1", "600"] == [found[name]["start"] for name in "abc"]
    assert {"n0/0*0.5"} == {row["nodes"] for row in found.values()}
    assert {"0.5"} == {row["gpus"] for row in found.values()}


def test_a_whole_gpu_is_not_free_while_somebody_has_a_part_of_it(tmp_path):
    jobs = [
        job("part", gpus="0.1", duration=1000),
        job("whole", submit=1, gpus=2),
        job("other", submit=2, gpus=1),
    ]
    found = played(tmp_path, run(jobs, "1x2", every=0))

    starts = {name: row["start"] for name, row in found.items()}
    assert {"part": "0", "other": "2", "whole": "1000"} == starts
    free = [line["free"] for line in lines(tmp_path, "rounds.jsonl")]
    assert [2, 1.9] == free[:2]


def test_a_part_of_each_of_two_gpus_leaves_the_rest_of_both(tmp_path):
    jobs = [job("pair", gpus="2x0.3"), job("rest", submit=1, gpus="2x0.7")]
    found = played(tmp_path, run(jobs, "1x2", every=0))

    assert "n0/0*0.3 n0/1*0.3" == found["pair"]["nodes"]
    assert ("1", "n0/0*0.7 n0/1*0.7") == (
        found["rest"]["start"],
        found["rest"]["nodes"],
    )


def test_what_devices_do_adds_up_to_all_of_them_at_any_time(tmp_path):
    played(tmp_path, run(some_jobs(3, 40, parts=True), "2x4"))

    sums = {round(sum(float(row[use]) for use in USES), 2) for row in _series(tmp_path)}
    assert {8.0} == sums
    assert any("." in row["used"] for row in _series(tmp_path))


def _series(folder):
    return table(folder, "series.csv")


@pytest.mark.parametrize("evictions", [False, True])
def test_a_killed_replay_with_parts_goes_on_and_writes_the_same_bytes(
    tmp_path, evictions
):
    made = run(some_jobs(5, 16, parts=True), "1x8", evictions=evictions)
    play(made, tmp_path / "whole")
    killed = tmp_path / "killed"

    class KilledError(Exception):
        pass

    def kill(engine):
        if engine.world.now > 3000:
            keep(engine, made.key)
            raise KilledError

    from adapters.replay import play as module

    engine = module._engine
    recorder = module.Recorder(killed)
    first = engine(made, recorder)
    recorder.open()
    with pytest.raises(KilledError):
        first.run(None, kill)
    recorder.close()
    assert (killed / NAME).exists()
    play(made, killed)

    assert files(tmp_path / "whole") == files(killed)


class _Both:
    """
    A planner that also plans for all who wait, and compares the two.
    """

    def __init__(self):
        self.hidden = 0
        self.differing = []

    def __call__(self, world, snapshot, policy):
        plan = decide(snapshot, policy, explained=False)
        shown = world.shown
        world.shown = [idx for kind in world.line.waiting() for _, _, idx in kind.line]
        self.hidden += len(world.shown) - len(shown)
        whole = decide(WorldSource(world).snapshot(), policy, explained=False)
        world.shown = shown
        for one, other in zip(plan.tiers, whole.tiers, strict=True):
            if one.name != "order" and one.value != other.value:
                self.differing.append(f"{world.now} {one} {other}")
                break
        return plan


@pytest.mark.drawn
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_parts_nobody_who_could_start_is_hidden(tmp_path, seed):
    jobs = [
        replace(each, priority=0)
        for each in some_jobs(seed, 90, elastic=False, parts=True)
    ]
    both = _Both()
    still = {"preempt": False, "reclaim": False, "consolidate": False}
    policy = Policy.model_validate({"evict": still, "waiting": {"heads": 0}})
    driven(tmp_path, run(jobs, "2x8", policy=policy), both)

    assert both.hidden > 0
    assert [] == both.differing


def test_the_page_shows_parts_as_cells_of_their_devices(tmp_path):
    made = run([job("a", gpus="0.47"), job("b", gpus="0.5"), job("c", gpus=1)], "1x2")
    play(made, tmp_path / made.folder)
    write_results([made], tmp_path)

    frame = json.loads(gzip.decompress(replay_store(str(tmp_path)).body(0) or b""))

    names = [gang["name"] for gang in frame["gangs"]]
    parts = {
        (names[gang], device, size) for gang, device, size, _ in frame["parts"]["0"]
    }
    (device,) = {device for _, device, _ in parts}
    assert {("a", device, 470), ("b", device, 500)} == parts
    assert {("a", 0), ("b", 0), ("c", 1)} == {
        (names[gang], gpus) for gang, gpus, _ in frame["cells"][0]
    }
    assert 1.97 == frame["plan"]["gpus"]


def test_work_of_parts_is_counted_to_the_thousandth():
    jobs = tuple(job(f"j{at}", gpus="0.1", duration=1) for at in range(3))

    assert 0.3 == Trace(name="x", form="own", jobs=jobs).gpu_seconds
    assert 0.1 == jobs[0].gpus == in_gpus(jobs[0].shares)


TWO_SIZES = {
    "nodes": [
        {"name": "l", "allocatable": {GPU: 1}, "gpuMemory": "80Gi"},
        {"name": "s", "allocatable": {GPU: 1}, "gpuMemory": "40Gi"},
    ],
    "gangs": [],
}


@pytest.mark.parametrize("strategy", ["greedy", "per-pod"])
def test_memory_takes_of_a_larger_gpu_what_it_is_of_that_one(tmp_path, strategy):
    path = tmp_path / "two.yaml"
    path.write_text(json.dumps(scenario(**TWO_SIZES)), encoding="utf-8")
    jobs = [job("a", pods=6, gpus="20Gi"), job("b", submit=700, gpus=1)]
    here = run(jobs, str(path), every=0, strategy=strategy)
    summary = play(here, tmp_path)
    bounds = bounds_for(here, [summary["metrics"]])

    assert {} == fitted(here.trace, here.floor).left_out
    assert {"0", "700"} == {row["start"] for row in table(tmp_path, "jobs.csv")}
    assert 0.857143 == summary["metrics"]["gpus"]["used"]
    assert all(share >= 0 for share in summary["metrics"]["gpus"].values())
    assert 1300 == bounds["makespan"] == summary["metrics"]["makespan"]


def test_a_gang_that_needs_one_of_its_pods_passes_no_bound(tmp_path):
    here = run([job(name, pods=4, minimum=1, gpus=1) for name in "ab"], "1x2", every=0)
    metrics = play(here, tmp_path)["metrics"]

    assert 600 == bounds_for(here, [metrics])["makespan"] == metrics["makespan"]


def test_a_gpu_of_which_parts_count_more_than_all_is_never_idle_below_nothing(tmp_path):
    jobs = [
        job("compute", gpus="0.7/0.1"),
        job("memory", gpus="0.3/0.9"),
        job("waits", submit=600, gpus=1),
    ]
    metrics = play(run(jobs, "1x1", every=0), tmp_path)["metrics"]

    assert 1 == metrics["gpus"]["used"]
    assert all(share >= 0 for share in metrics["gpus"].values())
