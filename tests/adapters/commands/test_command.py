"""
The command itself: wrong use, help, settings, interrupts and what is written.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.cli.main import main
from tests.adapters.commands.command import phalanx
from tests.adapters.documents import scenario

REPOSITORY = Path(__file__).parents[3]


def shell(*words: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "adapters.cli.main", *map(str, words)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "x", "--with", "y"],
        ["plan", "x", "--context", "y"],
        ["plan", "x", "--nope"],
        ["plan", "x", "-o", "jsn"],
        ["plan", "x", "--seconds", "-1"],
        ["plan", "x", "--seconds", "nan"],
        ["plan", "x", "--strategy", "magic"],
        ["plan", "x", "--diff", "magic"],
        ["verify", "x"],
        ["verify", "x", "y", "-o", "csv"],
        ["plam"],
        ["scenario", "dance"],
        ["scenario"],
        [],
    ],
)
def test_wrong_use_exits_2_and_prints_no_data(words, capsys):
    assert 2 == phalanx(*words)
    said = capsys.readouterr()
    assert "" == said.out
    assert said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("words", [["-h"], ["plan", "-h"], ["scenario", "run", "-h"]])
def test_help_is_everywhere(words, capsys):
    assert 0 == phalanx(*words)
    assert "Usage: phalanx" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["plan"], ["verify"], ["compare"], ["config", "show"], ["scenario", "lint"]],
)
def test_rejected_input_exits_4_with_what_where_and_what_to_do(words, tmp_path, capsys):
    path = tmp_path / "bad.yaml"
    path.write_text("apiVersion: phalanx/v1\nkind: Scenario\ngivn: {}\n")
    files = [path, path] if words == ["verify"] else [path]

    assert 4 == phalanx(*words, *files)
    said = capsys.readouterr()
    assert 'unknown field "givn" (did you mean "given"?)' in said.out + said.err
    assert "line 3" in said.out + said.err
    assert "Traceback" not in said.err


def test_a_missing_file_exits_4(capsys):
    assert 4 == phalanx("plan", "nowhere.yaml")
    said = capsys.readouterr().err
    assert "No such file" in said
    assert "do: name another file" in said


def test_debug_adds_the_traceback(capsys):
    assert 4 == phalanx("plan", "nowhere.yaml", "--debug")
    assert "Traceback" in capsys.readouterr().err


def test_an_unexpected_error_exits_1_without_a_traceback(small, capsys, monkeypatch):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("adapters.loop.plan_round.decide_or_fall_back", broken)

    assert 1 == phalanx("plan", small)
    said = capsys.readouterr().err
    assert "unexpected ZeroDivisionError: a bug" in said
    assert 3 == len(said.strip().splitlines())
    assert "Traceback" not in said


def test_an_interrupt_exits_130(small, capsys, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("adapters.loop.plan_round.decide_or_fall_back", interrupted)

    assert 130 == phalanx("plan", small)
    shown = capsys.readouterr()
    assert ("", "interrupted; nothing was written") == (shown.out, shown.err.strip())


@pytest.mark.parametrize(("word", "code"), [("--seed=x", 2), ("none.yaml", 4)])
def test_an_error_that_nobody_reads_has_its_code(word, code):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "adapters.cli.main", "plan", word]
    done = subprocess.run(command, cwd=REPOSITORY, stderr=write, check=False)
    os.close(write)

    assert code == done.returncode


@pytest.mark.drawn
def test_a_closed_pipe_is_silent(small):
    words = [
        sys.executable,
        "-m",
        "adapters.cli.main",
        "plan",
        str(small),
        "-o",
        "json",
    ]
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(
        words, cwd=REPOSITORY, stdout=write, stderr=subprocess.PIPE
    ) as process:
        os.close(write)
        _, said = process.communicate(timeout=60)

    assert b"" == said
    assert process.returncode in {0, -signal.SIGPIPE}


def test_config_names_the_origin_of_each_value(tmp_path, capsys, monkeypatch):
    path = tmp_path / "x.json"
    document = scenario() | {
        "policy": {"seed": 3, "limits": {"gap": 0.5, "workers": 2}}
    }
    path.write_text(json.dumps(document))
    monkeypatch.setenv("PHALANX_GAP", "0.25")

    assert 0 == phalanx("config", "show", path, "--seed", "4", "-o", "json")
    shown = json.loads(capsys.readouterr().out)

    assert {
        "limits.gap": "env PHALANX_GAP",
        "limits.workers": "file",
        "seed": "flag --seed",
    } == shown["origins"]
    assert (4, 0.25, 2) == (
        shown["policy"]["seed"],
        shown["policy"]["limits"]["gap"],
        shown["policy"]["limits"]["workers"],
    )


def test_config_writes_values_with_their_units(capsys):
    assert 0 == phalanx("config", "show", "--seconds", "2")
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}

    assert "0s" in rows["evict.again"]
    assert "1h" in rows["waiting.protectAfter"]
    assert "2 s" in rows["limits.seconds"]
    assert "units of work" in rows["limits.deterministic"]
    assert "4 from 0s, 5 from 10m, 6 from 1h, 8 from 6h" in rows["ageing"]
    assert "not set" in rows["bands"]
    assert "0.02 of the GPU time of the window" in rows["waiting.budget"]
    assert "1d" in rows["waiting.window"]
    assert "1 a GPU, CPU or GiB" in rows["prices.quota"]
    assert "60 s" in rows["run.watch"]
    assert "8 threads" in rows["run.threads"]
    assert "not set" in rows["run.pause"]
    assert not any("{" in row or "null" in row for row in rows.values())
    bare = [name for name, row in rows.items() if re.search(r" [0-9.]+ +default$", row)]
    assert ["seed"] == bare


def test_a_bad_environment_value_is_wrong_use(capsys, monkeypatch):
    monkeypatch.setenv("PHALANX_SEED", "many")

    assert 2 == phalanx("config", "show")
    assert "env PHALANX_SEED" in capsys.readouterr().err


def test_an_unknown_row_of_the_bench_is_wrong_use(capsys):
    assert 2 == phalanx("bench", "rounds/2k")
    assert "no row 'rounds/2k', only days, days-even" in capsys.readouterr().err


def test_version_is_an_option_too(capsys):
    assert 0 == phalanx("--version")
    asked = capsys.readouterr().out
    phalanx("version")

    assert capsys.readouterr().out == asked


@pytest.mark.drawn
def test_a_terminal_without_utf_8_is_served(small):
    done = shell("plan", small, env={**os.environ, "PYTHONIOENCODING": "ascii"})

    assert 0 == done.returncode
    assert "1 gang starts" in done.stdout


def test_version_names_tool_libraries_and_schema(capsys):
    assert 0 == phalanx("version", "-o", "json")
    shown = json.loads(capsys.readouterr().out)

    assert {"phalanx", "ortools", "kubernetes", "python", "schema"} <= shown.keys()


@pytest.mark.parametrize("words", [["--help"], ["version"], ["plan", "nowhere"]])
def test_ortools_is_not_imported_before_a_round(words):
    code = (
        "import sys; from adapters.cli.main import run; "
        f"run({words!r}); sys.exit('ortools' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert 0 == done.returncode


@pytest.mark.drawn
def test_the_same_bytes_whatever_the_hash_seed(small):
    said = {
        shell(
            "plan",
            small,
            "-o",
            "json",
            "--diff",
            "greedy",
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }

    assert 1 == len(said)
    assert json.loads(said.pop())["operations"]


@pytest.mark.parametrize(
    ("called", "name"),
    [("/usr/bin/kubectl-gang", "kubectl gang"), (".venv/bin/phalanx", "phalanx")],
)
def test_it_says_how_it_was_called(called, name, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [called, "get", "gangs", "--help"])
    with pytest.raises(SystemExit) as ended:
        main()

    assert 0 == ended.value.code
    assert f"Usage: {name} get gangs" in capsys.readouterr().out


def test_an_interrupt_while_the_command_is_loaded_is_no_traceback():
    code = (
        "import sys\n"
        "from adapters.cli import main\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'adapters.cli.app':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "sys.argv = ['phalanx', 'plan', 'x']\n"
        "main.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert 130 == done.returncode
    assert "interrupted; nothing was written\n" == done.stderr


def test_nothing_large_is_loaded_before_an_interrupt_can_be_told():
    code = "import sys, adapters.cli.main; print('typer' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "False\n" == done.stdout
