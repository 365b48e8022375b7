"""
Studies: grids, targets, what is enough, and replays that are not played twice.
"""

import json

import pytest

from adapters.study import run_cases as conducting
from adapters.study.case import Case, played
from adapters.study.grid import (
    StudyError,
    Variant,
    cases,
    clusters,
    kind_of,
    numbers,
    variants,
)
from adapters.study.least_nodes import enough, frontier, interval, target_of
from adapters.study.run_cases import conduct, write_tables
from adapters.study.search import fewest
from models.policy import Policy

TRACE = "submit,duration,gpus,queue\n" + "".join(
    f"{at * 100},{600 + at * 10},{(1, 2, 8)[at % 3]},{'ab'[at % 2]}\n"
    for at in range(30)
)


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(TRACE)
    return Case(
        trace=str(path),
        digest="sha256:1",
        form=None,
        cluster="2x8",
        cluster_digest="",
        quotas=None,
        label="as given",
        policy=Policy().model_dump_json(by_alias=True),
        strategy="greedy",
        seed=0,
        every=300,
        evictions=False,
        estimates=None,
        until=None,
    )


def grid(base, *counts, **said):
    words = clusters(base.cluster, counts)
    known = {
        "quotas": [None],
        "variants": [Variant("as given", Policy())],
        "strategies": ["greedy"],
        "seeds": 1,
    }
    return cases(base, clusters=dict.fromkeys(words, ""), **(known | said))


@pytest.mark.parametrize(
    ("text", "found"),
    [("4", [4]), ("5,4,4", [4, 5]), ("4..8:2", [4, 6, 8]), ("9,4..5", [4, 5, 9])],
)
def test_numbers_are_lists_and_ranges(text, found):
    assert found == numbers(text)


@pytest.mark.parametrize(
    ("cluster", "kind"),
    [
        ("60x8", "Nx8"),
        ("10x8+20x4", "Nx8+20x4"),
        ("a/list.csv", "a/list.csv@N"),
        ("a/list.csv.gz@96", "a/list.csv.gz@N"),
        ("snapshot.yaml", "snapshot.yaml"),
    ],
)
def test_clusters_of_one_kind_differ_in_how_many_nodes_they_have(cluster, kind):
    assert kind == kind_of(cluster)


@pytest.mark.parametrize("text", ["", "x", "8..4", "4..8:0", "-1", "1e3", "99999999"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(StudyError):
        numbers(text)


def test_settings_are_combined_and_laid_over_the_policy():
    found = variants(Policy(), ["waiting.heads=0,2", "waiting.idle=hold"])

    assert [(0, "hold"), (2, "hold")] == [
        (made.policy.waiting.heads, made.policy.waiting.idle) for made in found
    ]
    assert "waiting.heads=0 waiting.idle=hold" == found[0].label


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("waiting.heds=1", "no 'heds'"),
        ("queues.a=1", "no 'queues'"),
        ("waiting.heads=-1", "greater than or equal to 0"),
        ("waiting.heads", "is not a setting"),
    ],
)
def test_settings_that_no_policy_has_are_refused(text, what):
    with pytest.raises(StudyError, match=what):
        variants(Policy(), [text])


def test_a_result_is_the_same_wherever_it_is_played(base, tmp_path):
    (case,) = grid(base, 2)
    one = played(case)
    (other,) = conduct([case], tmp_path / "out", workers=1)

    assert one["metrics"] == other["metrics"]
    assert one["bounds"]["meanWait"] <= one["metrics"]["wait"]["mean"]


def test_a_study_that_was_killed_goes_on_where_it_was(base, tmp_path, monkeypatch):
    made = grid(base, 2, 3, 4)
    folder = tmp_path / "out"
    count = []

    def dying(case):
        if len(count) == 2:
            raise KeyboardInterrupt
        count.append(case.key)
        return played(case)

    monkeypatch.setattr(conducting, "played", dying)
    with pytest.raises(KeyboardInterrupt):
        conduct(made, folder, workers=1)
    monkeypatch.setattr(
        conducting, "played", lambda c: count.append(c.key) or played(c)
    )
    results = conduct(made, folder, workers=1)

    assert [case.key for case in made] == count == [found["key"] for found in results]


def test_a_changed_file_is_another_case(base):
    other = Case(**{n: getattr(base, n) for n in base.__slots__} | {"digest": "x"})

    assert base.key != other.key


def test_tables_have_one_row_for_each_replay(base, tmp_path):
    results = conduct(grid(base, 2, 3), tmp_path, workers=1)
    written = write_tables(results, tmp_path)

    rows = [json.loads(line) for line in written[0].read_text().splitlines()]
    assert ["2x8", "3x8"] == [row["cluster"] for row in rows]
    assert rows[0]["wait.mean"] > rows[1]["wait.mean"]
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason="Parquet needs the extra `traces`"
    )
    table = parquet.read_table(tmp_path / "results.parquet").to_pylist()
    assert [row["wait.mean"] for row in rows] == [row["wait.mean"] for row in table]


def test_the_frontier_says_what_is_enough_and_what_never_is(base, tmp_path):
    target = target_of("wait.mean<=12m")
    results = conduct(grid(base, 1, 2, 4), tmp_path, workers=1)
    rows = frontier(results, target, "2x8")

    assert [0, 0, 1] == [row["target"]["met"] for row in rows]
    assert [1, 0, 0] == [row["target"]["outOfReach"] for row in rows]
    (way,) = enough(rows)
    assert (4, 1) == (way["enough"], way["never"])
    change = rows[2]["metrics"]["wait.mean"]["change"]["mean"]
    waits = [row["metrics"]["wait.mean"]["mean"] for row in rows]
    assert change == pytest.approx(waits[2] - waits[1])


@pytest.mark.parametrize(
    "text",
    [
        "wait.p99",
        "wait.p98<=1h",
        "wait.p99<=soon",
        "wait.p99=1h",
        "wait.p99<=inf",
        "gpus.used>=nan",
    ],
)
def test_a_target_that_is_none_is_refused(text):
    with pytest.raises(StudyError, match="--target"):
        target_of(text)


def test_a_target_may_want_more_instead_of_less():
    target = target_of("gpus.used>=0.8")

    assert target.is_met(0.8)
    assert not target.is_met(0.79)
    assert target.is_out_of_reach({"used": 0.7})
    assert not target.is_out_of_reach({"used": 0.9})


def test_times_of_jobs_that_are_left_keep_to_no_target():
    target = target_of("jct.mean<=1h")
    ended = {"jobs": {"running": 0, "waiting": 0}, "jct": {"mean": 60.0}}

    assert target.is_kept(ended)
    assert not target.is_kept(ended | {"jobs": {"running": 1, "waiting": 0}})


def test_the_search_asks_for_few_counts_and_for_none_twice():
    asked = []

    def meets(count):
        asked.append(count)
        return count >= 37

    assert 37 == fewest(range(1, 101), meets)
    assert len(asked) == len(set(asked)) <= 9
    assert fewest(range(1, 30), meets) is None


def test_an_interval_needs_three_values_and_holds_their_mean():
    found = interval([1.0, 2.0, 6.0])

    assert found["low"] <= found["mean"] == 3.0 <= found["high"]
    assert interval([1.0, 2.0])["low"] is None
    assert interval([])["mean"] is None
