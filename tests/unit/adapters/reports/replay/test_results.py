"""
The folder of a replay, read back: what is refused, what is only left out.
"""

import json

import pytest

from adapters.reports.replay.results import ResultsRejectedError, load
from adapters.reports.replay.tables import (
    TableError,
    read_jobs,
    read_queues,
    read_series,
)
from tests.helpers.replays import write_replay


@pytest.fixture
def folder(tmp_path):
    return write_replay(tmp_path, num_jobs=20, num_nodes=2, days=2)


def changed(folder, **changes):
    path = folder / "results.json"
    document = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(document))
    return str(folder)


def problems(path):
    with pytest.raises(ResultsRejectedError) as caught:
        load(str(path))
    return "\n".join(map(str, caught.value.problems))


def test_metric_is_found_by_the_name_it_has_in_the_reference(folder):
    run = load(str(folder)).run("solver")

    assert 700_000 == run.get("makespan")
    assert 0.83 == run.get("fairness.jain")
    assert run.get("fairness.nothing") is None
    rows = run.metrics["wait"]["bySize"]
    assert next(r["p99"] for r in rows if r["size"] == "8+") == run.get(
        "wait.bySize.8+.p99"
    )
    assert run.get("wait.bySize.9+.p99") is None
    assert run.get("fairness.jain.deeper") is None


def test_number_that_is_none_is_nothing(folder):
    text = (folder / "results.json").read_text()
    text = text.replace('"jain": 0.83', '"jain": NaN').replace("700000", "1e999")
    (folder / "results.json").write_text(text)

    read = load(str(folder))

    assert read.run("solver").get("fairness.jain") is None
    assert read.run("solver").get("makespan") is None
    assert "NaN" not in json.dumps(read.document)


def test_unknown_fields_are_left_alone(folder):
    assert load(changed(folder, future={"a": 1})).document["future"] == {"a": 1}


def test_unfinished_replay_says_how_it_goes_on(folder):
    (folder / "results.json").unlink()
    (folder / "runs/solver/seed-0/checkpoint.json").write_text("{}")

    assert "run it again with the same options" in problems(folder)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is not JSON"),
        ("[1]", "is not an object"),
        ('{"kind": "Replay"', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"kind": "Study"}', "kind is 'Study'"),
        ('{"kind": "Replay"}', "trace: Field required"),
        ("\ud800".encode("utf-8", "surrogatepass"), "is not JSON"),
    ],
)
def test_file_that_holds_no_results_is_refused(folder, text, what):
    (folder / "results.json").write_bytes(
        text if isinstance(text, bytes) else text.encode()
    )

    assert what in problems(folder)


@pytest.mark.parametrize("where", ["../../etc", "/etc", "runs/../../..", "a\0b"])
def test_run_outside_of_the_folder_is_refused(folder, where):
    runs = [{"strategy": "greedy", "folder": where}]

    assert "is outside of the folder" in problems(
        changed(folder, runs=runs, strategies=["greedy"])
    )


def test_strategy_that_nobody_played_is_refused(folder):
    assert "'magic' has no run" in problems(changed(folder, strategies=["magic"]))


def test_results_without_a_strategy_are_refused(folder):
    assert "nothing was played" in problems(changed(folder, strategies=[], runs=[]))


def test_every_wrong_field_is_named(folder):
    found = problems(changed(folder, seeds=["x"], cluster={"nodes": "many"}))

    assert "seeds.0" in found
    assert "cluster.nodes" in found


def test_lone_surrogate_in_a_name_can_be_written(folder):
    text = (folder / "results.json").read_text()
    (folder / "results.json").write_text(text.replace("made-up.csv", "\\ud800.csv"))

    read = load(str(folder))

    assert "\\ud800.csv" == read.results.trace.name
    json.dumps(read.document, ensure_ascii=False).encode()


# --- tables ----------------------------------------------------------------------


def test_parts_of_a_series_add_up_to_the_cluster(folder):
    series = read_series(folder / "runs/solver/seed-0/series.csv")

    sums = [sum(values) for values in zip(*series.parts.values(), strict=True)]
    assert [16.0] * len(sums) == pytest.approx(sums)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "is missing"),
        ("", "has no column t, used"),
        ("t,used\n1,2\n", "has no column lent"),
    ],
)
def test_table_that_is_missing_or_damaged_is_named(folder, text, what):
    path = folder / "runs/solver/seed-0/series.csv"
    path.unlink()
    if text is not None:
        path.write_text(text)

    with pytest.raises(TableError, match=what):
        read_series(path)


def test_series_whose_moments_do_not_grow_is_refused(folder):
    path = folder / "runs/solver/seed-0/series.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1]]))

    with pytest.raises(TableError, match="do not grow"):
        read_series(path)


def test_cells_that_are_no_numbers_count_as_nothing(folder):
    path = folder / "runs/solver/seed-0/queues.csv"
    path.write_text(
        "t,queue,used,share,waiting\n0,<b>,NaN,1e300,x\n0,b,1,2,3\n0,short\n"
    )

    rows = read_queues(path).by_moment[0.0]
    assert [("<b>", 0.0, 0.0, 0.0), ("b", 1.0, 2.0, 3.0)] == rows


def test_jobs_are_read_alike_from_csv_and_parquet(folder):
    pyarrow_csv = pytest.importorskip(
        "pyarrow.csv", reason="needs the extra `traces`: pip install 'phalanx[traces]'"
    )
    from pyarrow import parquet

    run = folder / "runs/solver/seed-0"
    plain = list(read_jobs(run))
    parquet.write_table(pyarrow_csv.read_csv(run / "jobs.csv"), run / "jobs.parquet")
    (run / "jobs.csv").unlink()

    assert 20 == len(plain)
    assert plain == list(read_jobs(run))
