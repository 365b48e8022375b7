"""
What ``phalanx verify`` judges, and what it says that it does not.
"""

import json

import pytest
import yaml

from adapters.cli.main import run
from tests.adapters.documents import scenario


@pytest.fixture
def case(tmp_path, capsys):
    """
    A snapshot in a file, and the document of its plan.
    """
    path = tmp_path / "case.yaml"
    path.write_text(yaml.safe_dump(scenario()))
    assert 0 == run(["plan", str(path), "-o", "json"])
    return str(path), json.loads(capsys.readouterr().out)


@pytest.fixture
def judged(case, tmp_path, capsys):
    """
    A function that changes the plan, judges it, and gives code, output and notes.
    """
    path, document = case

    def judge(*options, **changed):
        plan = tmp_path / "plan.json"
        plan.write_text(json.dumps({**document, **changed}))
        code = run(["verify", path, str(plan), *options])
        said = capsys.readouterr()
        return code, said.out, said.err

    return judge


def test_a_verdict_says_what_it_does_not_judge(judged):
    code, said, notes = judged()

    assert 0 == code
    assert "not judged: claims of optimality: the values and bounds of tiers" in said
    assert "" == notes


def test_a_plan_of_another_snapshot_is_doubted(judged):
    code, _, notes = judged(snapshot=f"sha256:{'0' * 64}")

    assert 0 == code
    assert notes.startswith("warning: the plan is of another snapshot: sha256:0000")


def test_a_plan_that_names_no_snapshot_is_doubted(judged):
    assert "does not say of which snapshot" in judged(snapshot="")[2]


def test_a_tier_that_nobody_knows_is_named(judged):
    tier = {"name": "karma", "value": 1, "bound": 1, "proof": "gap"}

    assert "warning: no such tier: karma\n" in judged(tiers=[tier])[2]


def test_programs_read_the_same(judged):
    code, said, notes = judged("-o", "json", snapshot="")
    verdict = json.loads(said)

    assert (0, True) == (code, verdict["holds"])
    assert ["the plan does not say of which snapshot it is"] == verdict["doubts"]
    assert verdict["notJudged"]
    assert "" == notes


@pytest.mark.parametrize("name", ["plan.yaml", "plan.json", "plan"])
def test_a_plan_written_as_yaml_is_read_whatever_its_name(name, case, tmp_path, capsys):
    path, document = case
    plan = tmp_path / name
    plan.write_text(yaml.safe_dump(document))

    assert 0 == run(["verify", path, str(plan)])


def test_a_snapshot_without_a_plan_is_wrong_use_and_named(case, capsys):
    assert 2 == run(["verify", case[0]])
    assert "case.yaml' alone is not enough: first the snapshot, then the plan" in (
        capsys.readouterr().err
    )


def test_a_plan_in_the_place_of_its_snapshot_is_named(case, tmp_path, capsys):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(case[1]))

    assert 4 == run(["verify", str(plan), case[0]])
    said = capsys.readouterr().err
    assert "file: is a plan, not what it was made for" in said
    assert "phalanx verify FILE PLAN" in said
    assert "correct the file" not in said


def test_settings_in_the_place_of_a_snapshot_are_named(tmp_path, capsys):
    path = tmp_path / "settings.yaml"
    path.write_text("{apiVersion: phalanx/v1, kind: Config, run: {interval: 20}}")

    assert 4 == run(["plan", str(path)])
    assert "phalanx config show FILE" in capsys.readouterr().err
