"""
Frames of a replay that was played: what they show is what its tables say.
"""

import gzip
import json

import pytest

from adapters.cli.main import run
from adapters.ui.replay_frames import replay_store

JOBS = "job,submit,duration,gpus,pods,min\na,0,1h,8,1,1\nb,0,1h,2,3,2\nc,2h,1h,8,1,1\n"
CLOSED = """
{apiVersion: phalanx/v1, kind: Scenario, rule: x, expect: {}, given: {nodes: [
  {name: a, allocatable: {nvidia.com/gpu: 8}},
  {name: b, allocatable: {nvidia.com/gpu: 4}},
  {name: c, allocatable: {nvidia.com/gpu: 4}, unschedulable: true}]}}
"""


@pytest.mark.parametrize("cluster", ["1x8+1x4", "closed.yaml"])
def test_gpus_at_work_are_those_of_jobs_on_nodes_of_their_size(
    cluster, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "closed.yaml").write_text(CLOSED)
    words = ("--cluster", cluster, "--strategy", "greedy", "-O", "out")
    assert 0 == run(["replay", "jobs.csv", *words])
    store = replay_store("out")

    lines = store.lines()["rounds"]
    assert [12, 12, 12, 8] == [line["gpus"] for line in lines]
    for line in lines:
        found = json.loads(gzip.decompress(store.body(line["id"])))
        assert line["gpus"] == found["plan"]["gpus"]
        assert line["gpus"] == sum(queue["after"] for queue in found["queues"])
        for (_, _, gpus, *_), cells in zip(found["nodes"], found["cells"], strict=True):
            assert sum(held for _, held, _ in cells) <= gpus
