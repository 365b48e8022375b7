import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from adapters.cli.main import main, run
from tests.adapters.documents import scenario

REPOSITORY = Path(__file__).parents[2]


def phalanx(*words: object) -> int:
    return run([str(word) for word in words])


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


def test_plan_exits_0_also_when_gangs_wait(small, capsys):
    assert 0 == phalanx("plan", small)
    shown = capsys.readouterr().out
    assert "default/train" in shown
    assert "NoFittingNode" in shown


def test_plan_as_json_has_every_key(small, capsys):
    assert 0 == phalanx("plan", small, "-o", "json")
    document = json.loads(capsys.readouterr().out)

    assert [
        "apiVersion",
        "kind",
        "strategy",
        "status",
        "deterministic",
        "snapshot",
        "seed",
        "versions",
        "tiers",
        "gangs",
        "operations",
        "model",
        "seconds",
        "fallback",
        "cut",
        "held",
        "holds",
    ] == list(document)
    assert document["seconds"] is None
    assert document["fallback"] is None
    assert ["default/train-0", "default/train-1"] == [
        step["pod"] for step in document["operations"]
    ]


def test_timings_fill_every_phase(small, capsys):
    assert 0 == phalanx("plan", small, "-o", "json", "--timings")
    seconds = json.loads(capsys.readouterr().out)["seconds"]

    assert [
        "read",
        "problem",
        "greedy",
        "build",
        "search",
        "decode",
        "verify",
        "total",
    ] == list(seconds)
    assert seconds["read"] > 0
    assert seconds["total"] > 0


def test_plan_reads_standard_input(small, capsys, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(small.read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)

    assert 0 == phalanx("plan", "-", "-o", "name")
    assert "default/train\n" == capsys.readouterr().out


@pytest.mark.parametrize("form", ["table", "wide", "json", "yaml", "name", "csv"])
def test_every_format_of_plan_is_written(form, small, capsys):
    assert 0 == phalanx("plan", small, "-o", form, "--diff", "greedy")
    assert "train" in capsys.readouterr().out


def test_yaml_and_json_say_the_same(small, capsys):
    phalanx("plan", small, "-o", "json")
    as_json = json.loads(capsys.readouterr().out)
    phalanx("plan", small, "-o", "yaml")

    assert as_json == yaml.safe_load(capsys.readouterr().out)


def test_detailed_exit_code_says_that_something_is_done(small):
    assert 3 == phalanx("plan", small, "-o", "name", "--detailed-exitcode")


def test_output_in_a_pipe_has_no_colour(small, capsys):
    phalanx("plan", small)

    assert "\033" not in capsys.readouterr().out


def test_seconds_use_the_clock_and_say_so(small, capsys):
    assert 0 == phalanx("plan", small, "-o", "json", "--seconds", "0.5")

    assert json.loads(capsys.readouterr().out)["deterministic"] is False


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


def test_a_rejected_plan_exits_1(small, capsys, monkeypatch):
    from models.errors import PlanRejectedError

    def broken(*_args, **_kwargs):
        raise PlanRejectedError(["node-capacity: n0: 9 of 8"])

    monkeypatch.setattr("adapters.loop.plan_round.decide_or_fall_back", broken)

    assert 1 == phalanx("plan", small)
    assert "node-capacity" in capsys.readouterr().err


def test_a_round_that_was_planned_again_exits_0_with_a_warning(
    small, capsys, monkeypatch
):
    from solver.strategies import STRATEGIES

    def raising(_problem, _watch):
        raise ZeroDivisionError("in a strategy")

    monkeypatch.setitem(STRATEGIES, "solver", raising)

    assert 0 == phalanx("plan", small, "-o", "json")
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert "greedy" == document["fallback"]["way"]
    assert "ZeroDivisionError: in a strategy" in shown.err
    assert "this plan was judged" in shown.err
    assert "do: report it" in shown.err
    assert "Traceback" not in shown.err
    assert 0 == phalanx("plan", small, "--debug")
    shown = capsys.readouterr()
    assert "Planned again by greedy, without evictions" in shown.out
    assert "Traceback" in shown.err
    assert ", in raising" in shown.err


def test_an_interrupt_exits_130(small, capsys, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("adapters.loop.plan_round.decide_or_fall_back", interrupted)

    assert 130 == phalanx("plan", small)
    shown = capsys.readouterr()
    assert ("", "interrupted; nothing was written") == (shown.out, shown.err.strip())


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


def test_verify_holds_for_our_own_plan(small, tmp_path, capsys):
    phalanx("plan", small, "-o", "json")
    plan = tmp_path / "plan.json"
    plan.write_text(capsys.readouterr().out)

    assert 0 == phalanx("verify", small, plan)
    assert "holds" in capsys.readouterr().out


def test_verify_exits_3_and_names_what_is_broken(small, tmp_path, capsys):
    phalanx("plan", small, "-o", "json")
    document = json.loads(capsys.readouterr().out)
    document["operations"][0]["node"] = "nowhere"
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(document))

    assert 3 == phalanx("verify", small, plan)
    assert "nowhere" in capsys.readouterr().out
    assert 3 == phalanx("verify", small, plan, "-o", "json")
    assert json.loads(capsys.readouterr().out)["holds"] is False


def test_scenario_run_exits_0_3_and_4(small, tmp_path, capsys):
    assert 0 == phalanx("scenario", "run", small)
    assert "1 scenario, 2 rounds: all as expected\n" == capsys.readouterr().out

    document = json.loads(small.read_text())
    document["expect"]["starts"]["train"] = 1
    small.write_text(json.dumps(document))

    assert 3 == phalanx("scenario", "run", small)
    assert (
        "[greedy] starts: default/train 2 pods, expected 1" in capsys.readouterr().out
    )

    (tmp_path / "bad.yaml").write_text("kind: Scenario\n")

    assert 4 == phalanx("scenario", "run", tmp_path)


def test_scenario_run_passes_over_what_is_no_scenario(small, tmp_path, capsys):
    (tmp_path / "perf").mkdir()
    (tmp_path / "perf" / "rounds.yaml").write_text("kind: Scenario\nnonsense: 1\n")
    (tmp_path / "plan.json").write_text('{"apiVersion": "phalanx/v1", "kind": "Plan"}')
    (tmp_path / "pods.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    (tmp_path / "README.md").write_text("# Words\n")

    assert 0 == phalanx("scenario", "run", tmp_path)
    assert "1 scenario," in capsys.readouterr().out


def test_scenario_new_makes_one_that_holds(tmp_path, capsys):
    path = tmp_path / "new.yaml"

    assert 0 == phalanx("scenario", "new", path)
    assert 0 == phalanx("scenario", "lint", path)
    assert 0 == phalanx("scenario", "run", path)
    capsys.readouterr()
    assert 2 == phalanx("scenario", "new", path)
    said = capsys.readouterr().err
    assert "File exists" in said
    assert "do: name another path" in said


def test_scenario_run_counts_what_failed_and_what_was_rejected(small, tmp_path, capsys):
    document = json.loads(small.read_text())
    document["expect"]["starts"]["train"] = 1
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    (tmp_path / "bad.yaml").write_text("kind: Scenario\n")

    assert 4 == phalanx("scenario", "run", tmp_path)
    last = capsys.readouterr().out.splitlines()[-1]
    assert (
        "3 scenarios, 4 rounds: 2 as expected, 2 not as expected, 1 file rejected"
        == last
    )


def test_scenario_lint_wants_a_rule(small, capsys):
    document = json.loads(small.read_text())
    del document["rule"]
    small.write_text(json.dumps(document))

    assert 4 == phalanx("scenario", "lint", small)
    assert "begins with the rule" in capsys.readouterr().out


def test_scenario_schema_is_a_json_schema(capsys):
    assert 0 == phalanx("scenario", "schema")
    schema = json.loads(capsys.readouterr().out)

    assert {"apiVersion", "kind", "given"} == set(schema["required"])
    assert "minGroups" in schema["$defs"]["GangSpec"]["properties"]


def part_of_schema(schema: dict, name: str, field: str) -> dict:
    return schema["$defs"][name]["properties"][field]


def test_schema_takes_durations_and_tiers_as_files_write_them(capsys):
    phalanx("scenario", "schema")
    schema = json.loads(capsys.readouterr().out)
    durations = [
        part_of_schema(schema, *place)
        for place in (
            ("GangSpec", "age"),
            ("Evict", "again"),
            ("WaitingPolicy", "protectAfter"),
            ("AgeStep", "after"),
        )
    ]
    tier = part_of_schema(schema, "Policy", "tiers")["items"]["anyOf"]

    for duration in durations:
        assert {"string", "number"} <= {kind["type"] for kind in duration["anyOf"]}
    assert "entitled" in tier[0]["enum"]
    assert {"$ref": "#/$defs/Tier"} == tier[1]


def test_policy_fields_have_one_spelling(tmp_path, capsys):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(scenario() | {"policy": {"evict": {"max_pods": 1}}}))

    assert 4 == phalanx("plan", path)
    assert 'did you mean "maxPods"?' in capsys.readouterr().err


@pytest.fixture
def parts(tmp_path) -> list[Path]:
    """
    Cut one snapshot into nodes, gangs and a policy, a file each.
    """
    whole = scenario(
        gangs=[
            {"name": "sweep", "min": 3, "requests": {"nvidia.com/gpu": 2}},
            {"name": "train", "min": 1, "requests": {"nvidia.com/gpu": 8}},
        ]
    )
    given = whole.pop("given")
    files = {
        "nodes": {"given": {"nodes": given["nodes"]}},
        "gangs": {"given": {"gangs": given["gangs"]}},
        "policy": {"given": {}, "policy": {"tiers": ["pods"], "seed": 7}},
    }
    for name, document in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(whole | document))
    return [tmp_path / f"{name}.json" for name in files]


def test_several_files_are_one_snapshot_and_one_holds_the_policy(parts, capsys):
    assert 0 == phalanx("plan", *parts, "-o", "json")
    document = json.loads(capsys.readouterr().out)

    assert 7 == document["seed"]
    assert ["pods", "order"] == [tier["name"] for tier in document["tiers"]]
    assert 3 == len(document["operations"])


def test_the_plan_of_several_files_can_be_judged(parts, tmp_path, capsys):
    phalanx("plan", *parts, "-o", "json")
    plan = tmp_path / "plan.json"
    plan.write_text(capsys.readouterr().out)

    assert 0 == phalanx("verify", *parts, plan)
    assert "holds: 3 operations, no rule broken\n" in capsys.readouterr().out
    assert 3 == phalanx("verify", parts[0], plan)
    assert capsys.readouterr().out.splitlines()[-1].startswith("broken: ")


def test_two_policies_are_one_too_many(parts, capsys):
    assert 4 == phalanx("plan", *parts, parts[-1])
    assert "2 of these files hold a policy" in capsys.readouterr().err


def test_compare_pairs_both_strategies(small, capsys):
    assert 0 == phalanx("compare", small, "-o", "json")
    document = json.loads(capsys.readouterr().out)

    (item,) = document["items"]
    assert {"gpus": 4, "pods": 2, "gangs": 1} == {
        word: item["solver"][word] for word in ("gpus", "pods", "gangs")
    }
    assert 1 == document["summary"]["pairs"]
    assert 0.0 == item["gap"]


def test_compare_says_what_each_column_counts_and_who_is_better(small, capsys):
    assert 0 == phalanx("compare", small)
    groups, head, row, _, first, second = capsys.readouterr().out.splitlines()

    assert ["GPUS", "PODS", "GANGS", "SECONDS"] == groups.split()
    assert head.index("GREEDY") == groups.index("GPUS")
    assert "small.json" in row
    assert row.endswith("equal")
    assert first.startswith("1 input, each planned twice with one policy and seed")
    assert "4 with greedy, 4 with the solver (+0, +0.0 %)" in second


def test_compare_as_csv_names_every_column(small, capsys):
    assert 0 == phalanx("compare", small, "-o", "csv")
    head, row = capsys.readouterr().out.splitlines()

    names = head.split(",")
    assert len(set(names)) == len(names) == len(row.split(","))
    assert {"greedy_gpus", "solver_gpus", "better", "tier"} <= set(names)


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
    assert not any("{" in row or "null" in row for row in rows.values())


def test_a_bad_environment_value_is_wrong_use(capsys, monkeypatch):
    monkeypatch.setenv("PHALANX_SEED", "many")

    assert 2 == phalanx("config", "show")
    assert "env PHALANX_SEED" in capsys.readouterr().err


def test_an_unknown_row_of_the_bench_is_wrong_use(capsys):
    assert 2 == phalanx("bench", "rounds/2k")
    assert "no row 'rounds/2k', only days, evict/defrag" in capsys.readouterr().err


def test_version_is_an_option_too(capsys):
    assert 0 == phalanx("--version")
    asked = capsys.readouterr().out
    phalanx("version")

    assert capsys.readouterr().out == asked


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
