"""
Files that cannot be read, and several that do not go together.
"""

import json

import pytest

from adapters.files import read_scenario
from models.errors import InputRejectedError
from tests.adapters.documents import scenario
from tests.adapters.files.problems import policy


def test_no_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(InputRejectedError, match="1 problem"):
            read_scenario(str(path))


def test_two_files_may_not_both_hold_a_policy(tmp_path):
    from adapters.files import read_scenarios

    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(json.dumps(policy(seed=1)))

    with pytest.raises(InputRejectedError) as caught:
        read_scenarios(list(map(str, paths)))

    assert "2 of these files hold a policy" in str(caught.value.problems[0])


def test_problems_of_several_files_name_the_file_and_the_place_in_it(tmp_path):
    from adapters.files import read_scenarios

    head = "apiVersion: phalanx/v1\nkind: Snapshot\ngiven:\n  gangs:\n"
    nodes, gangs = tmp_path / "nodes.yaml", tmp_path / "gangs.yaml"
    nodes.write_text(f"{head}    - {{name: a, min: 1}}\n")
    gangs.write_text(f"{head}    - {{name: b, min: 1}}\n    - {{name: a, min: 1}}\n")

    with pytest.raises(InputRejectedError) as caught:
        read_scenarios([str(nodes), str(gangs)])

    (problem,) = caught.value.problems
    assert f"{gangs}: given.gangs[1].name, line 6" == problem.where


def test_problems_of_what_is_expected_name_the_file_too(tmp_path):
    from adapters.files import read_scenarios

    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    paths[0].write_text(json.dumps(scenario(gangs=[]) | {"kind": "Scenario"}))
    expect = {"same": [{"gang": "gone", "level": "rack"}]}
    paths[1].write_text(json.dumps(scenario(nodes=[]) | {"expect": expect}))

    with pytest.raises(InputRejectedError) as caught:
        read_scenarios([str(path) for path in paths])

    (problem,) = caught.value.problems
    assert f"{paths[1]}: expect.same[0].gang" == problem.where


def test_every_file_that_cannot_be_read_is_told(tmp_path):
    from adapters.files import read_scenarios

    paths = [str(tmp_path / name) for name in ("a.yaml", "b.yaml")]

    with pytest.raises(InputRejectedError) as caught:
        read_scenarios(paths)

    assert paths == [p.where.partition(": ")[0] for p in caught.value.problems]


@pytest.mark.parametrize("text", ["\n" * 4096, " " * 4096, ",{" * 2048])
def test_odd_files_in_a_folder_are_looked_at_quickly(text, tmp_path):
    from adapters.files.folders import scenario_files

    path = tmp_path / "odd.yaml"
    path.write_text(text)

    assert [str(path)] == scenario_files([str(tmp_path)], frozenset({"Scenario"}))
