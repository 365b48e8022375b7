"""
A folder of manifests may hold other files too; they are passed over and named.
"""

import json

import pytest
import yaml

from adapters.cli.main import run
from tests.helpers.kube.manifests import node, pod

FOREIGN = {
    "values.yaml": yaml.safe_dump({"image": {"tag": "1"}}),
    "results.json": json.dumps({"apiVersion": "phalanx/v1", "kind": "Replay"}),
    "list.json": "[1, 2]",
    "notes.yaml": "- 1\n",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all([node(), pod()]))
    for name, text in FOREIGN.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("command", ["plan", "snapshot show"])
def test_what_is_not_read_in_a_folder_is_passed_over_and_named(command, folder, capsys):
    assert 0 == run([*command.split(), str(folder)])
    said = capsys.readouterr()

    assert "p-0" in said.out
    assert "warning: passed over, since nothing in them is read: " in said.err
    assert "values.yaml" in said.err or "and 1 more" in said.err


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_named_must_hold_something(name, folder, capsys):
    assert 4 == run(["plan", str(folder / name)])


def test_a_folder_with_nothing_that_is_read_is_rejected(folder, capsys):
    (folder / "all.yaml").unlink()

    assert 4 == run(["plan", str(folder)])
    assert "nothing in the folder is read" in capsys.readouterr().err


def test_a_manifest_that_is_broken_is_still_refused(folder, capsys):
    (folder / "broken.yaml").write_text("kind: [Pod\n")

    assert 4 == run(["plan", str(folder)])
    assert "broken.yaml" in capsys.readouterr().err


def test_raw_objects_of_a_folder_are_saved_without_the_rest(folder, tmp_path, capsys):
    path = tmp_path / "saved.json"

    assert 0 == run(["snapshot", "save", str(folder), "--raw", "--to", str(path)])
    assert {"Node", "Pod"} == {o["kind"] for o in json.loads(path.read_text())["items"]}


def test_a_comparison_passes_over_what_is_no_scenario(tmp_path, capsys):
    words = {"apiVersion": "phalanx/v1", "kind": "Snapshot"}
    given = {"nodes": [{"name": "n", "allocatable": {"nvidia.com/gpu": 8}}]}
    (tmp_path / "one.yaml").write_text(yaml.safe_dump({**words, "given": given}))
    for name, text in FOREIGN.items():
        (tmp_path / name).write_text(text)

    assert 0 == run(["compare", str(tmp_path)])
    assert "1 input" in capsys.readouterr().out


def test_a_scenario_with_a_mistake_is_not_passed_over(tmp_path, capsys):
    (tmp_path / "one.yaml").write_text("given: {nodes: []}\nkindd: Scenario\n")

    assert 4 == run(["compare", str(tmp_path)])
    assert "kindd" in capsys.readouterr().err
