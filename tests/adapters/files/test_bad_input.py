"""
Mistakes in documents: each is named with its place, and all at once.
"""

import pytest

from adapters.files import read_scenario, scenario_of
from models.errors import InputRejectedError
from tests.adapters.documents import everything, gang, scenario
from tests.adapters.files.bad_documents import CASES
from tests.adapters.files.problems import LEAF, OTHER, problems, topologies


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_named_with_its_place(case):
    document, *words = CASES[case]

    found = problems(document)

    assert any(all(word in text for word in words) for text in found), found


def test_all_problems_are_reported_at_once():
    document = everything()
    document["given"]["gangs"][0]["topology"]["required"] = "zon"
    document["given"]["gangs"][1]["replica"] = 3
    document["given"]["queues"][0]["parent"] = "research"
    document["policy"]["seeds"] = 1
    document["expect"]["waits"]["tre"] = "any"

    places = [text.split(":")[0] for text in problems(document)]

    assert {
        "given.gangs[0].topology.required",
        "given.gangs[1].replica",
        "given.queues[0].parent",
        "given.queues[1].parent",
        "policy.seeds",
        "expect.waits.tre",
    } == set(places)


def test_a_record_with_a_mistake_is_judged_for_the_others():
    document = scenario(
        topologies=topologies("fabric"),
        nodes=[
            {"name": "n", "allocatable": {"cpu": -1}},
            {"name": "n", "alocatable": {}},
        ],
        queues=[
            {"name": "q", "resources": {"cpu": {"quota": "1e30", "weight": -1}}},
            {"name": "q"},
        ],
        gangs=[
            {"name": "Big", "min": 1, "topology": {"required": "rak"}},
            {"name": "g", "min": 3, "replicas": 2, "age": "1 hour"},
            {"name": "t", "groups": [LEAF | {"after": ["bb"]}, OTHER | {"min": -1}]},
        ],
    )
    document["expect"] = {"starts": {"gg": 1, "Big": 1}, "waits": {"g": "Any"}}

    places = [text.split(":")[0] for text in problems(document)]

    assert [
        "expect.starts.gg",
        "expect.waits.g",
        "given.gangs[0].name",
        "given.gangs[0].topology.required",
        "given.gangs[1].age",
        "given.gangs[1].min",
        "given.gangs[2].groups[1].min",
        "given.nodes[0].allocatable.cpu",
        "given.nodes[1].allocatable",
        "given.nodes[1].alocatable",
        "given.nodes[1].name",
        "given.queues[0].resources.cpu.quota",
        "given.queues[0].resources.cpu.weight",
        "given.queues[1].name",
    ] == places


def test_places_are_those_of_the_file_when_a_record_is_beyond_repair():
    document = scenario(
        nodes=[
            {"name": "broken"},
            {"name": "n", "allocatable": {}},
            {"name": "n", "allocatable": {}},
        ]
    )

    found = problems(document)

    assert any(text.startswith("given.nodes[2].name") for text in found)


def test_what_only_makes_a_gang_wait_is_no_problem():
    document = gang(
        queue="nowhere",
        group=["default/train", "other/missing"],
        running=[{"node": "gone"}],
    )
    document["given"]["queues"] = [{"name": "q", "parent": "missing"}]

    assert scenario_of("test", document).snapshot.gangs[0].queue == "nowhere"


def test_a_problem_names_the_line_of_a_yaml_file(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(
        "apiVersion: phalanx/v1\n"
        "kind: Scenario\n"
        "given:\n"
        "  gangs:\n"
        "    - name: a\n"
        "      min: 1\n"
        "      prority: 3\n"
    )

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    (problem,) = caught.value.problems
    assert "given.gangs[0].prority, line 7" == problem.where
    assert 'unknown field "prority"' == problem.what
    assert 'did you mean "priority"?' == problem.hint


SCENARIO = {"apiVersion": "phalanx/v1", "kind": "Snapshot"}


def test_a_field_that_stands_a_level_too_high_is_told_where_it_belongs():
    rejected = pytest.raises(InputRejectedError)
    with rejected as caught:
        scenario_of("x.yaml", {"gangs": []})

    found = {problem.where: problem.hint for problem in caught.value.problems}
    assert 'it belongs inside "given"' == found["gangs"]
    assert "write apiVersion: phalanx/v1" == found["apiVersion"]
    assert "write kind: Scenario or Snapshot" == found["kind"]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("minMember", 'here it is called "min"'),
        ("pods", 'here it is called "replicas" or "running"'),
        ("max", 'here it is called "replicas"'),
    ],
)
def test_a_field_is_told_that_other_systems_call_otherwise(word, hint):
    gang = {"name": "a", "requests": {"nvidia.com/gpu": 1}, word: 2}

    with pytest.raises(InputRejectedError) as caught:
        scenario_of("x.yaml", {**SCENARIO, "given": {"gangs": [gang]}})

    (problem,) = caught.value.problems
    assert hint == problem.hint
