"""
``phalanx trace``, as a person uses it.
"""

import json

import pytest

from adapters.cli.main import run

GOOD = "job,submit,duration,gpus,queue\na,0,60,8,red\nb,10,600,1,blue\n"
ODD = GOOD + "c,20,-5,1,blue\nd,5,5,1,blue\n"


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(ODD)
    return str(path)


def test_check_lists_what_was_repaired_and_left_out(trace, capsys):
    assert 3 == run(["trace", "check", trace])
    shown = capsys.readouterr().out
    assert "negative-duration" in shown
    assert "line 4: '-5'" in shown
    assert "4 rows in form own: 3 jobs, 1 repair, 1 row left out" in shown


def test_check_writes_the_same_as_data(trace, capsys):
    assert 3 == run(["trace", "check", trace, "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    assert {"negative-duration": 1} == document["leftOut"]
    assert {"unsorted": 1} == document["repaired"]


def test_check_of_a_good_file_exits_with_0(tmp_path, capsys):
    path = tmp_path / "good.csv"
    path.write_text(GOOD)

    assert 0 == run(["trace", "check", str(path)])
    assert "2 rows in form own: 2 jobs, 0 repairs, 0 rows left out\n" == (
        capsys.readouterr().out
    )


def test_describe_adds_up_by_size_and_by_queue(trace, capsys):
    assert 0 == run(["trace", "describe", trace, "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    sizes = {row["name"]: row["jobs"] for row in document["bySize"]}
    queues = {row["name"]: row["part"] for row in document["byQueue"]}
    assert {"1": 2, "8-15": 1} == sizes
    assert pytest.approx(1) == sum(queues.values())


def test_convert_writes_a_new_file_that_reads_the_same(trace, tmp_path, capsys):
    out = tmp_path / "out.csv"

    assert 0 == run(["trace", "convert", trace, "--to", str(out)])
    assert 0 == run(["trace", "check", str(out)])
    assert 2 == run(["trace", "convert", trace, "--to", str(out)])
    assert 2 == run(["trace", "convert", trace, "--to", str(tmp_path / "out.xls")])
    assert "exists already" in capsys.readouterr().err


def test_a_file_that_is_none_is_refused(tmp_path, capsys):
    path = tmp_path / "odd.csv"
    path.write_text("when,long,gpus\n1,2,3\n")

    assert 4 == run(["trace", "describe", str(path)])
    shown = capsys.readouterr().err
    assert "has no column submit, duration" in shown
    assert "docs/reference/traces.md" in shown


LENDERS = "job,submit,duration,gpus,pods,cpu,memory\nx,0,9,1,1,4,8Gi\ny,0,9,8,1,64,\n"


@pytest.mark.drawn
def test_a_composite_workload_says_so_from_the_file_to_the_page(tmp_path, capsys):
    jobs, lender, made = (tmp_path / name for name in ("jobs.csv", "l.csv", "made.csv"))
    jobs.write_text(GOOD)
    lender.write_text(LENDERS)
    convert = ["trace", "convert", str(jobs), "--composite", str(lender)]

    assert 0 == run([*convert, "--priorities", "9=1,0=3", "--to", str(made)])
    assert 0 == run([*convert, "--priorities", "9=1,0=3", "--to", f"{made}.csv"])
    assert made.read_bytes() == (tmp_path / "made.csv.csv").read_bytes()
    capsys.readouterr()

    assert 0 == run(["trace", "describe", str(made)])
    assert 3 == capsys.readouterr().out.count("composite workload: ")

    folder = tmp_path / "played"
    play = ["replay", str(made), "--cluster", "2x8", "--strategy", "greedy"]
    assert 0 == run([*play, "--strategy", "best-fit", "-O", str(folder)])
    document = json.loads((folder / "results.json").read_text())
    assert 3 == len(document["trace"]["composite"])
    assert "priorities: drawn, 9 for 25 %" in document["trace"]["composite"][2]
    capsys.readouterr()

    assert 0 == run(["report", str(folder)])
    assert "A composite workload, not a recorded one" in capsys.readouterr().out
    pytest.importorskip("altair", reason="needs the extra report")
    assert 0 == run(["report", str(folder), "--html", str(tmp_path / "page.html")])
    assert "A composite workload, not a recorded one" in (
        (tmp_path / "page.html").read_text()
    )


@pytest.mark.parametrize(
    "flags",
    [
        ["--seed", "1"],
        ["--priorities", "high=1"],
        ["--priorities", "1=1,1=2"],
        ["--priorities", "1=0"],
        ["--priorities", ""],
    ],
)
def test_a_draw_that_makes_no_sense_is_refused(trace, tmp_path, flags, capsys):
    out = tmp_path / "out.csv"

    assert 2 == run(["trace", "convert", trace, "--to", str(out), *flags])
    assert flags[0] in capsys.readouterr().err
    assert not out.exists()
