"""
Measures of replays that left jobs are not compared with those that did not.
"""

import pytest

from adapters.cli.views.replay_view import lines_of, part
from adapters.replay.measures.paired_measures import METRICS, is_comparable, paired

ALL = {"jobs": {"done": 200, "running": 0, "waiting": 0}}
SOME = {"jobs": {"done": 15, "running": 5, "waiting": 180}}


@pytest.mark.parametrize("path", [metric.path for metric in METRICS])
def test_where_all_jobs_ended_everything_is_compared(path):
    assert is_comparable(path, ALL, ALL, cut=False)


@pytest.mark.parametrize(
    ("path", "stuck", "cut"),
    [
        ("wait.mean", False, True),
        ("starved.longest", False, True),
        ("fairness.worstWait", False, True),
        ("jct.mean", False, False),
        ("slowdown.mean", False, False),
        ("makespan", False, False),
        ("gpus.used", True, True),
        ("jobs.done", True, True),
        ("lost.gpuHours", True, True),
    ],
)
@pytest.mark.parametrize("pair", [(ALL, SOME), (SOME, ALL), (SOME, SOME)])
def test_where_jobs_are_left_measures_of_others_are_not(path, stuck, cut, pair):
    assert stuck == is_comparable(path, *pair, cut=False)
    assert cut == is_comparable(path, *pair, cut=True)


def run(jobs, wait, used=0.5):
    return {**jobs, "wait": {"mean": wait}, "gpus": {"used": used}}


def test_the_table_names_no_better_one_and_says_who_left_jobs():
    runs = {("fifo", 0): run(ALL, 900), ("per-pod", 0): run(SOME, 100)}
    rows = paired(runs, {0: {}}, ["fifo", "per-pod"], [0])
    metrics = {
        name: {**found, "rounds": {"proven": None}} for (name, _), found in runs.items()
    }
    text = "\n".join(
        lines_of(
            {
                "trace": {"name": "t", "jobs": 200, "gpuHours": 1, "span": 60},
                "cluster": {
                    "name": "c",
                    "nodes": 1,
                    "gpus": 8,
                    "load": None,
                    "queues": [],
                },
                "settings": {"every": 300},
                "regime": "rounds",
                "seeds": [0],
                "strategies": ["fifo", "per-pod"],
                "baseline": "fifo",
                "paired": rows,
                "runs": [
                    {"strategy": name, "metrics": found}
                    for name, found in metrics.items()
                ],
            }
        )
    )

    (waits,) = [line for line in text.splitlines() if line.startswith("mean wait")]
    assert waits.endswith("not comparable")
    assert "not comparable: not all jobs ended (per-pod left 185)" in text


def test_a_difference_that_is_not_seen_is_none():
    runs = {("a", 0): run(ALL, 9, 0.6660), ("b", 0): run(ALL, 9, 0.6664)}
    rows = paired(runs, {0: {}}, ["a", "b"], [0])
    from adapters.cli.views.replay_view import _better

    (used,) = [row for row in rows if row["metric"] == "gpus.used"]
    assert "about equal" == _better(used, "a", "b")


@pytest.mark.parametrize("value", [-0.0001, 0.0001, 0.0])
def test_no_change_has_no_sign(value):
    assert "0 %" == part(value)
