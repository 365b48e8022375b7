"""
`phalanx plan` and `verify`: formats, exit codes, and several files.
"""

import io
import json
import sys
from pathlib import Path

import pytest
import yaml

from tests.adapters.commands.command import phalanx
from tests.adapters.documents import scenario


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
