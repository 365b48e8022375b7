"""
A policy of a study that is better than the one played is named on the page.
"""

import json

import pytest

from adapters.reports.replay.found_better import found_better
from adapters.reports.replay.results import StudyRejectedError, load
from tests.helpers.replays import write_replay

LARGE = "wait.bySize.8+.p99"


@pytest.fixture
def replay(tmp_path):
    return load(str(write_replay(tmp_path / "results")))


def study(tmp_path, replay, **others):
    """
    Write a study: the solver's own row, and others with parts of its waits.
    """
    run = next(run for run in replay.results.runs if run.strategy == "solver")

    def row(label, mean, large):
        parts = {"wait.mean": mean, LARGE: large}
        return {
            "cluster": "12x8",
            "quotas": None,
            "label": label,
            "strategy": "solver",
            "metrics": {
                path: {"mean": None if run.get(path) is None else run.get(path) * part}
                for path, part in parts.items()
            },
        }

    rows = [row("as given", 1, 1), *(row(label, *p) for label, p in others.items())]
    tmp_path.joinpath("study.json").write_text(json.dumps({"frontier": rows}))
    return str(tmp_path)


def about_solver(replay, where):
    _, line = found_better(replay, where)
    return line


def test_a_policy_with_shorter_waits_is_named(tmp_path, replay):
    where = study(tmp_path, replay, late=(0.9, 1.0), better=(0.8, 0.5))

    line = about_solver(replay, where)
    assert line.startswith(f"Worse than better of {where}: that gives solver a mean")
    assert "(−20" in line
    assert "(−50" in line


def test_what_is_better_by_little_or_pays_with_the_tail_is_not_named(tmp_path, replay):
    where = study(tmp_path, replay, alike=(0.99, 0.99), dear=(0.5, 1.1))

    line = about_solver(replay, where)
    assert f"No policy of {where} is better for solver than the one played." == line


def test_where_no_job_is_large_only_the_mean_counts(tmp_path, replay):
    for run in replay.results.runs:
        sizes = run.metrics["wait"]["bySize"]
        sizes[:] = [row for row in sizes if row["size"] != "8+"]
    where = study(tmp_path, replay, better=(0.8, None))

    line = about_solver(replay, where)
    assert line.startswith(f"Worse than better of {where}: that gives solver a mean")
    assert "99th" not in line


def test_a_study_of_something_else_says_so(tmp_path, replay):
    where = study(tmp_path, replay)

    first, _ = found_better(replay, where)
    assert first.startswith(f"{where} has no row with the waits of greedy")


def test_without_a_study_nothing_is_said(replay):
    assert [] == found_better(replay, None)


def test_a_folder_without_a_study_is_refused(tmp_path, replay):
    with pytest.raises(StudyRejectedError):
        found_better(replay, str(tmp_path / "nothing"))
