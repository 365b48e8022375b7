"""
The mean wait for each GPU: a gang of eight counts eight times.
"""

import pytest

from adapters.replay.measures.replay_measures import metrics_of
from models.trace import Floor

HEAD = (
    "job,queue,priority,pods,gpus,duration,submit,start,end,wait,"
    "attempts,failures,evictions,lost,status,reason,nodes\n"
)


def waits_of(folder, *jobs):
    """
    Measure a run of which the GPUs and the wait of each job are known.
    """
    rows = (
        f"j{at},q,0,1,{gpus},60,0,{wait},{wait + 60},{wait},1,0,0,0,done,,\n"
        for at, (gpus, wait) in enumerate(jobs)
    )
    (folder / "jobs.csv").write_text(HEAD + "".join(rows))
    (folder / "queues.csv").write_text("t,queue,used,share,waiting\n")
    (folder / "rounds.jsonl").write_text("")
    floor = Floor(name="1x8", nodes=())
    return metrics_of(folder, {}, {}, floor)["wait"]


def test_a_gang_of_eight_counts_eight_times(tmp_path):
    found = waits_of(tmp_path, (8, 900), (1, 0), (1, 0))

    assert found["mean"] == 300
    assert found["perGpu"] == 720


@pytest.mark.parametrize("jobs", [(), ((0, 60),)], ids=["nobody", "no GPUs"])
def test_without_gpus_there_is_none(tmp_path, jobs):
    assert waits_of(tmp_path, *jobs)["perGpu"] is None
