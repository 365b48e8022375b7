import json
import os

import pytest

from adapters.files import read_scenario, scenario_of
from models.errors import InputRejectedError
from tests.adapters.documents import GPU, everything, gang, scenario

LEAF = {"name": "a", "min": 1}
OTHER = {"name": "b", "min": 1}


def problems(document) -> list[str]:
    with pytest.raises(InputRejectedError) as caught:
        scenario_of("test", document)
    return [str(problem) for problem in caught.value.problems]


def node(**fields) -> dict:
    return scenario(nodes=[{"name": "n", "allocatable": {"cpu": 1}} | fields])


def affinity(**rule) -> dict:
    terms = [{"matchExpressions": [{"key": "k"} | rule]}]
    required = {"nodeSelectorTerms": terms}
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    return gang(affinity={"nodeAffinity": {word: required}})


def topologies(*names: str) -> list[dict]:
    return [{"name": name, "levels": ["zone", "rack"]} for name in names]


def policy(**fields) -> dict:
    return scenario() | {"policy": fields}


CASES = {
    "misspelt field": (gang(requets={}), "gangs[0].requets", 'mean "requests"'),
    "misspelt field in a tree": (
        gang(min=None, groups=[LEAF | {"mn": 1}]),
        "gangs[0].groups[0].mn",
        'mean "min"',
    ),
    "wrong unit": (
        gang(requests={"memory": "16Gb"}),
        "gangs[0].requests.memory",
        "16Gb",
    ),
    "part of a GPU in requests": (gang(requests={GPU: 0.5}), GPU, "whole pieces"),
    "negative amount": (gang(requests={"cpu": -1}), "requests.cpu", "negative"),
    "enormous amount": (gang(requests={"cpu": "1e99"}), "requests.cpu", "2^60"),
    "negative number": (gang(replicas=-3), "gangs[0].replicas", "negative"),
    "enormous number": (gang(replicas=10**9), "gangs[0].replicas", "1000000"),
    "truth for a number": (gang(min=True), "gangs[0].min", "whole number"),
    "truth for an amount": (gang(requests={"cpu": True}), "requests.cpu", "True"),
    "number for a label": (node(labels={"rack": 1}), "labels.rack", "quote it"),
    "bad duration": (gang(age="1 hour"), "gangs[0].age", "1 hour"),
    "bad name": (gang(name="Train_1"), "gangs[0].name", "not a valid name"),
    "too many pods in all": (
        scenario(gangs=[{"name": "g", "count": 10**6, "min": 10**6}]),
        "given.gangs",
        "at most",
    ),
    "node twice": (
        scenario(
            nodes=[
                {"name": "n", "count": 2, "allocatable": {}},
                {"name": "n-1", "allocatable": {}},
            ]
        ),
        "given.nodes[1].name",
        "exists twice",
    ),
    "gang twice": (
        scenario(
            gangs=[{"name": "g", "count": 2, "min": 1}, {"name": "g-0", "min": 1}]
        ),
        "given.gangs[1].name",
        "exists twice",
    ),
    "queue twice": (
        scenario(queues=[{"name": "q"}, {"name": "q"}]),
        "queues[1].name",
        "exists twice",
    ),
    "topology twice": (scenario(topologies=topologies("t", "t")), "[1].name", "twice"),
    "leaf twice": (gang(min=None, groups=[LEAF, LEAF]), "groups[1].name", "twice"),
    "pod name twice": (
        scenario(gangs=[{"name": "g", "groups": [LEAF]}, {"name": "g-a", "min": 1}]),
        "gangs[1].name",
        "default/g-a-0",
    ),
    "queues in a circle": (
        scenario(queues=[{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}]),
        "queues[0].parent",
        "a → b → a",
    ),
    "leaves in a circle": (
        gang(groups=[LEAF | {"after": ["b"]}, OTHER | {"after": ["a"]}]),
        "groups[0].after",
        "comes after itself",
    ),
    "minimum above replicas": (
        gang(min=3, replicas=2),
        "gangs[0].min",
        "replicas is 2",
    ),
    "more groups than there are": (
        gang(minGroups=3, groups=[LEAF, OTHER]),
        "gangs[0].minGroups",
        "there are 2",
    ),
    "more pods than there are": (
        gang(minPods=3, groups=[{"name": "a", "replicas": 2}]),
        "gangs[0].minPods",
        "2 below",
    ),
    "replicas left out below minPods": (
        gang(minPods=1, groups=[LEAF]),
        "gangs[0].groups[0]",
        "replicas is needed",
    ),
    "neither min nor replicas": (
        scenario(gangs=[{"name": "g"}]),
        "given.gangs[0]",
        "one of min and replicas",
    ),
    "created above replicas": (gang(created=2), "gangs[0].created", "replicas is 1"),
    "more phases than pods": (
        gang(running=[{"node": "n0", "pods": 2}]),
        "gangs[0]",
        "only 1 exist",
    ),
    "leaf fields beside groups": (
        gang(groups=[LEAF], requests={"cpu": 1}),
        "gangs[0].requests",
        "belongs to a leaf",
    ),
    "no groups": (gang(groups=[]), "gangs[0].groups", "empty"),
    "minGroups without groups": (gang(minGroups=1), "minGroups", '"groups" beside'),
    "unknown leaf": (
        gang(groups=[{"name": "driver", "min": 1}, OTHER | {"after": ["drivr"]}]),
        "groups[1].after[0]",
        'mean "driver"',
    ),
    "unknown topology": (
        scenario(
            topologies=topologies("fabric"),
            gangs=[{"name": "g", "min": 1, "topology": {"name": "fabrik"}}],
        ),
        "gangs[0].topology.name",
        'mean "fabric"',
    ),
    "unknown level": (
        scenario(
            topologies=topologies("fabric"),
            gangs=[{"name": "g", "min": 1, "topology": {"required": "rak"}}],
        ),
        "gangs[0].topology.required",
        'mean "rack"',
    ),
    "topology name left out": (
        scenario(
            topologies=topologies("x", "y"),
            gangs=[{"name": "g", "min": 1, "topology": {"required": "rack"}}],
        ),
        "gangs[0].topology",
        "x, y",
    ),
    "two topologies in one gang": (
        scenario(
            topologies=topologies("x", "y"),
            gangs=[
                {
                    "name": "g",
                    "topology": {"name": "x", "required": "zone"},
                    "groups": [LEAF | {"topology": {"name": "y", "required": "rack"}}],
                }
            ],
        ),
        "groups[0].topology",
        "2 topologies",
    ),
    "unknown operator": (
        affinity(operator="Inn", values=["x"]),
        "matchExpressions[0].operator",
        'mean "In"',
    ),
    "operator without values": (affinity(operator="In"), "values", "needs values"),
    "operator with text": (
        affinity(operator="Gt", values=["many"]),
        "values",
        "whole number",
    ),
    "mate without namespace": (gang(group=["train"]), "group[0]", "namespace/name"),
    "part of a GPU": (gang(gpu={"fraction": 0.5}), "gangs[0].gpu", "not planned yet"),
    "reservation": (gang(reserved=[{"node": "n0"}]), "reserved", "not planned yet"),
    "eviction": (policy(evict={"reclaim": True}), "evict.reclaim", "do not exist yet"),
    "unknown tier": (policy(tiers=["gpu"]), "policy.tiers[0]", 'mean "gpus"'),
    "tier twice": (policy(tiers=["gpus", "gpus"]), "policy", "twice"),
    "negative limit": (policy(limits={"seconds": -1}), "limits.seconds", "negative"),
    "expected gang": (
        scenario() | {"expect": {"starts": {"trian": 1}}},
        "expect.starts.trian",
        'mean "train"',
    ),
    "expected reason": (
        scenario() | {"expect": {"waits": {"train": "Fragmentd"}}},
        "expect.waits.train",
        'mean "Fragmented"',
    ),
    "policy in a snapshot": (policy() | {"kind": "Snapshot"}, "policy", "no policy"),
    "manifests": ({"apiVersion": "v1", "kind": "List"}, "kind", "not read yet"),
    "a list": ([], "file", "not a mapping"),
    "nothing": (None, "file", "holds nothing"),
}


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


TEXTS = {
    "empty": ("x.yaml", b"", "empty"),
    "empty json": ("x.json", b" ", "empty"),
    "only a comment": ("x.yaml", b"# nothing\n", "empty"),
    "binary": ("x.yaml", bytes(range(256)), "not UTF-8"),
    "zeros": ("x.yaml", b"\0" * 100, "binary"),
    "two documents": ("x.yaml", b"a: 1\n---\nb: 2\n", "second document"),
    "key twice": ("x.yaml", b"a: 1\na: 2\n", "line 2: the key 'a' is written twice"),
    "key twice in json": ("x.json", b'{"a": 1, "a": 2}', "written twice"),
    "not yaml": ("x.yaml", b"a: [1\nb: }", "not YAML"),
    "not json": ("x.json", b'{"a": ', "not JSON"),
    "not a number": ("x.json", b'{"a": NaN}', "not a number"),
    "infinite": ("x.yaml", b"a: .inf", "not a number"),
    "word of YAML 1.1": ("x.yaml", b"a: yes\n", "means different things"),
    "octal number": ("x.yaml", b"a: 0777\n", "means different things"),
    "sexagesimal number": ("x.yaml", b"a: 1:30\n", "means different things"),
    "tag": ("x.yaml", b"a: !!python/object:os.system {}\n", "is not read"),
    "unknown alias": ("x.yaml", b"a: *b\n", "no anchor"),
    "alias of itself": ("x.yaml", b"a: &a [*a]\n", "no anchor"),
    "deep": ("x.yaml", b"a: " + b"[" * 5000, "deeper than"),
    "deep json": ("x.json", b"[" * 100_000, "deeper than"),
    "long number": ("x.json", b'{"a": ' + b"9" * 10_000 + b"}", "not JSON"),
    "key that is a list": ("x.yaml", b"? [a]\n: 1\n", "plain text"),
    "just a word": ("x.yaml", b"hello\n", "not a mapping"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_bad_text_is_refused_in_a_sentence(case, tmp_path):
    name, data, word = TEXTS[case]
    (tmp_path / name).write_bytes(data)

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(tmp_path / name))

    assert word in "; ".join(map(str, caught.value.problems))


def test_a_bomb_of_aliases_is_refused(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for i in range(1, 10):
        items = ", ".join([f"*a{i - 1}"] * 10)
        lines.append(f"a{i}: &a{i} [{items}]")
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "aliases repeat" in str(caught.value.problems[0])


def test_a_yaml_file_of_100_mb_is_refused_unread(tmp_path):
    path = tmp_path / "large.yaml"
    path.touch()
    os.truncate(path, 100_000_000)

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "larger than 64 MiB" in str(caught.value.problems[0])


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
