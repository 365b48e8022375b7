"""
``phalanx replay``, as a person uses it.
"""

import json

import pytest

from adapters.cli.main import run
from adapters.cli.terminal.bar import Bar, clock
from adapters.machine.folder_lock import alone_in
from tests.helpers.played import files

TRACE = """\
job,submit,duration,gpus,pods,queue
a,0,3600,8,1,red
b,10,5000,4,3,blue
c,20,3600,8,1,red
d,30,50,1,1,blue
e,40,1000,8,2,red
"""


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(TRACE)
    return path


def replay(trace, *words, cluster="2x8"):
    known = ("--strategy", "greedy", "--strategy", "solver", "--workers", "1")
    return run(["replay", str(trace), "--cluster", cluster, *(words or known)])


def test_two_strategies_are_played_and_compared(trace, tmp_path, capsys):
    folder = tmp_path / "out"
    words = ("--strategy", "solver", "--strategy", "greedy", "--workers", "1")

    assert 0 == replay(trace, *words, "-O", str(folder))
    shown = capsys.readouterr()
    document = json.loads((folder / "results.json").read_text())
    assert ["greedy", "solver"] == document["strategies"]
    assert ("rounds", "greedy") == (document["regime"], document["baseline"])
    assert {"wait.mean", "makespan"} <= {row["metric"] for row in document["paired"]}
    assert 5 == document["runs"][0]["metrics"]["jobs"]["done"]
    assert "mean wait" in shown.out
    assert str(folder) in shown.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--strategy", "greedy"], True),
        (["--strategy", "greedy", "--estimates", "1"], False),
        (["--strategy", "fifo"], False),
    ],
)
def test_a_replay_says_what_holding_nodes_costs_without_run_times(
    trace, tmp_path, capsys, words, said
):
    assert 0 == replay(trace, *words, "-O", str(tmp_path / "out"))
    assert said == ("note: no run times are known" in capsys.readouterr().err)


def test_the_same_command_writes_the_same_bytes(trace, tmp_path, capsys):
    words = ("--strategy", "greedy", "--strategy", "fifo", "--workers", "1")
    for name in ("one", "two"):
        assert 0 == replay(trace, *words, "-O", str(tmp_path / name))

    capsys.readouterr()
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_folder_into_which_another_process_writes_is_refused(trace, tmp_path, capsys):
    folder = tmp_path / "out"
    with alone_in(folder):
        assert 1 == replay(trace, "--strategy", "greedy", "-O", str(folder))
    said = capsys.readouterr().err
    assert "another process writes into" in said
    assert "Traceback" not in said

    assert 0 == replay(trace, "--strategy", "greedy", "-O", str(folder))


def test_a_gap_of_a_thousand_years_is_played_at_once_and_noted(tmp_path, capsys):
    path = tmp_path / "gap.csv"
    path.write_text("job,submit,duration,gpus\na,1970-01-01,5h,1\nb,2999-01-01,3h,1\n")
    folder = tmp_path / "out"

    assert 0 == replay(path, "--strategy", "greedy", "-O", str(folder))
    assert "is a time wrong?" in capsys.readouterr().err
    rows = (folder / "runs/greedy/seed-0/series.csv").read_text().splitlines()
    assert len(rows) < 20
    assert (
        2
        == json.loads((folder / "results.json").read_text())["runs"][0]["metrics"][
            "jobs"
        ]["done"]
    )


def test_a_second_call_plays_nothing_again(trace, tmp_path, capsys):
    words = ("--strategy", "greedy", "--workers", "1", "-O", str(tmp_path / "out"))
    replay(trace, *words)
    capsys.readouterr()

    assert 0 == replay(trace, *words)
    assert "1 of 1 were played before" in capsys.readouterr().err


def test_the_time_of_a_replay_adds_up_over_its_processes(trace, tmp_path, capsys):
    folder = tmp_path / "out"
    words = ("--strategy", "greedy", "--workers", "1", "-O", str(folder))
    replay(trace, *words)
    capsys.readouterr()
    lines = folder / "runs/greedy/seed-0/timings.jsonl"
    *rounds, end = map(json.loads, lines.read_text().splitlines())
    halves = [{**rounds[0], "elapsed": 20.5}, {**rounds[1], "elapsed": 1.0}]
    whole = [*halves, {**end, "elapsed": 2.25}]
    lines.write_text("".join(json.dumps(line) + "\n" for line in whole))

    assert 0 == replay(trace, *words)
    seconds = json.loads((folder / "timings.json").read_text())["runs"][0]["seconds"]
    assert 22.75 == seconds["total"]
    assert seconds["total"] > seconds["turns"] >= seconds["decisions"] > 0


@pytest.mark.drawn
def test_processes_find_what_one_process_finds(trace, tmp_path, capsys):
    words = ("--strategy", "greedy", "--strategy", "best-fit")
    for count in ("1", "2"):
        folder = str(tmp_path / count)
        assert 0 == replay(trace, *words, "--workers", count, "-O", folder)

    capsys.readouterr()
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_intervals_come_with_three_traces(trace, tmp_path, capsys):
    words = ("--strategy", "greedy", "--strategy", "best-fit", "--workers", "1")
    folder = tmp_path / "out"

    assert 0 == replay(trace, *words, "--seeds", "3", "-O", str(folder))
    document = json.loads((folder / "results.json").read_text())
    mean = next(row for row in document["paired"] if row["metric"] == "wait.mean")
    difference = mean["difference"]
    assert 3 == mean["pairs"]
    assert difference["low"] <= difference["mean"] <= difference["high"]
    assert "95 % INTERVAL" in capsys.readouterr().out


def test_rounds_of_all_traces_are_counted_where_they_are_called_proven(
    trace, tmp_path, capsys
):
    folder = tmp_path / "out"
    words = ("--strategy", "solver", "--workers", "1", "--seeds", "2")

    assert 0 == replay(trace, *words, "-O", str(folder))
    runs = json.loads((folder / "results.json").read_text())["runs"]
    rounds = [run["metrics"]["rounds"] for run in runs]
    proven, planned = (sum(one[x] for one in rounds) for x in ("proven", "planned"))
    assert 2 == len(runs)
    assert 0 < proven <= planned
    assert (
        f"solver: {proven:,} of {planned:,} planned rounds of all traces proven"
        in capsys.readouterr().out
    )


def test_jobs_that_never_fit_are_counted_and_left_out(trace, tmp_path, capsys):
    words = ("--strategy", "greedy", "--workers", "1", "-O", str(tmp_path / "out"))

    assert 0 == replay(trace, *words, cluster="1x8")
    shown = capsys.readouterr().err
    assert "left out: 2 jobs: the whole empty cluster does not hold it" in shown


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--strategy", "magic"), "none of solver, greedy, fifo"),
        (("--strategy", "easy"), "add --estimates 1"),
        (("--strategy", "conservative"), "add --estimates 1"),
        (("--estimates", "good"), "'good' is not drawn, or from 0.001 to 1000"),
        (("--estimates", "0"), "'0' is not drawn, or from 0.001 to 1000"),
        (("--every", "soon"), "is not a duration such as"),
        (("--quotas", "fair"), "is not gpu-hours or none"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(trace, capsys, words, what):
    assert 2 == replay(trace, *words)
    assert what in capsys.readouterr().err


@pytest.mark.parametrize("cluster", ["0x8", "8x", "9999999x8", "nowhere.csv"])
def test_a_cluster_that_is_none_is_refused(trace, capsys, cluster):
    assert 4 == replay(trace, "--strategy", "greedy", cluster=cluster)
    assert cluster in capsys.readouterr().err


def test_the_bar_foretells_the_time_that_is_left():
    bar = Bar("12 replays", lambda: 0.25)

    assert "12 replays 25 % in 1 min 00 s, 3 min 00 s left" == bar.line(0.25, 60)
    assert "12 replays 0 % in 5 s" == bar.line(0.0, 5)
    assert "1 h 01 min" == clock(3661)
