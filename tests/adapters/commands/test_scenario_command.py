"""
`phalanx scenario`: run, new, lint and the schema.
"""

import json

import pytest

from tests.adapters.commands.command import phalanx
from tests.adapters.documents import scenario


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


@pytest.mark.parametrize("command", ["run", "lint"])
def test_a_folder_without_a_scenario_is_rejected(command, tmp_path, capsys):
    (tmp_path / "README.md").write_text("# Words\n")

    assert 4 == phalanx("scenario", command, tmp_path)
    assert "the folder holds no scenarios" in capsys.readouterr().err


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
