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
    "enormous amount": (gang(requests={"cpu": "1e99"}), "requests.cpu", "too much"),
    "amount beyond any node": (
        gang(requests={"memory": "2Pi"}),
        "requests.memory",
        "at most 1024Ti",
    ),
    "bytes for GPUs": (gang(requests={GPU: "16Gi"}), GPU, "at most 1000000"),
    "very long amount": (gang(requests={"cpu": "9" * 500}), "cpu", "not a quantity"),
    "digits of another script": (gang(requests={"cpu": "٣"}), "cpu", "not a quantity"),
    "a list for an amount": (gang(requests={"cpu": [1]}), "cpu", "not a quantity"),
    "no resource's name": (gang(requests={"a gpu": 1}), "requests[a gpu]", "not the"),
    "too many resources": (
        gang(requests={f"r{i}": 1 for i in range(65)}),
        "gangs[0].requests",
        "at most 64",
    ),
    "too many resources in all": (
        scenario(
            nodes=[
                {"name": f"n{i}", "allocatable": {f"r{i}-{j}": 1 for j in range(60)}}
                for i in range(5)
            ]
        ),
        "given",
        "at most 256",
    ),
    "more than all nodes can have": (
        scenario(
            nodes=[{"name": "n", "count": 2000, "allocatable": {"memory": 2**50}}]
        ),
        "given.nodes",
        "all nodes together offer",
    ),
    "more than all pods can ask for": (
        gang(min=2000, requests={"memory": 2**50}),
        "given.gangs",
        "all pods together ask for",
    ),
    "enormous quota": (
        scenario(queues=[{"name": "q", "resources": {"cpu": {"quota": "1e30"}}}]),
        "resources.cpu.quota",
        "too much",
    ),
    "a truth for a limit": (
        scenario(queues=[{"name": "q", "resources": {"cpu": {"limit": True}}}]),
        "resources.cpu.limit",
        "not a quantity",
    ),
    "enormous duration": (gang(age="1000000h"), "gangs[0].age", "100 years"),
    "endless duration": (gang(age=float("inf")), "gangs[0].age", "100 years"),
    "enormous priority": (gang(priority=10**12), "priority", "at most 2147483647"),
    "negative number": (gang(replicas=-3), "gangs[0].replicas", "negative"),
    "enormous number": (gang(replicas=10**9), "gangs[0].replicas", "1000000"),
    "too many leaves": (
        gang(groups=[{"name": f"l{i}", "min": 1} for i in range(2001)]),
        "gangs[0]",
        "2,001 leaves",
    ),
    "very many records": (
        scenario(gangs=[{}] * 200_001),
        "given.gangs",
        "at most 200,000",
    ),
    "very many values in a record": (
        gang(nodeSelector={f"k{i}": i for i in range(200_001)}),
        "given.gangs[0]",
        "more than 200,000 values",
    ),
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
    "queues without end": (
        scenario(queues=[{"name": f"q{i}", "parent": f"q{i + 1}"} for i in range(99)]),
        "parent",
        "more than 16 queues",
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
    "reservations of more pods than exist": (
        gang(reserved=[{"node": "n0", "pods": 2}]),
        "gangs[0]",
        "are 2 pods, but only 1 exist",
    ),
    "a reservation of no pod": (
        gang(reserved=[{"node": "n0", "pods": 0}]),
        "reserved[0].pods",
        "1",
    ),
    "a budget for a gang that does not exist": (
        scenario(budgets=[{"name": "b", "gangs": ["trian"], "allowed": 1}]),
        "budgets[0].gangs[0]",
        'mean "train"',
    ),
    "a budget below nothing": (
        scenario(budgets=[{"name": "b", "gangs": ["train"], "allowed": -1}]),
        "budgets[0].allowed",
        "negative",
    ),
    "a clock that runs backwards": (
        gang(running=[{"node": "n0", "for": "-5m"}]),
        "running[0].for",
        "not a duration",
    ),
    "an eviction that lies ahead": (
        gang(evictedAgo="-1s"),
        "evictedAgo",
        "not a duration",
    ),
    "fewer than no evictions": (policy(evict={"maxPods": -1}), "maxPods", "negative"),
    "a grace below nothing": (policy(evict={"staleAfter": "-1s"}), "staleAfter", ""),
    "a switch that is no truth": (policy(evict={"reclaim": None}), "evict.reclaim", ""),
    "unknown tier": (policy(tiers=["gpu"]), "policy.tiers[0]", 'mean "gpus"'),
    "a truth for a number of the policy": (policy(seed=True), "seed", "no number"),
    "ages that fall": (
        policy(ageing=[{"after": 9, "quarters": 4}, {"after": 5, "quarters": 5}]),
        "policy",
        "do not rise",
    ),
    "gap of all": (policy(limits={"gap": 1}), "limits.gap", "less than 1"),
    "borrowing alone": (policy(tiers=["borrowing"]), "policy.tiers", "after entitled"),
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
    "manifests": ({"apiVersion": "v1", "kind": "List"}, "kind", "not read"),
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


TEXTS = {
    "empty": ("x.yaml", b"", "empty"),
    "empty json": ("x.json", b" ", "empty"),
    "only a comment": ("x.yaml", b"# nothing\n", "empty"),
    "binary": ("x.yaml", bytes(range(256)), "binary"),
    "latin": ("x.yaml", "a: é".encode("latin-1"), "not UTF-8"),
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
    "deep values": ("x.json", b'{"a": ' + b"[" * 99 + b"]" * 99 + b"}", "deeper than"),
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

    assert "larger than 32 MiB" in str(caught.value.problems[0])


def test_json_of_too_many_values_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.json"
    path.write_text("[" + "[]," * 10_000_001 + "[]]")

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "more than 20,000,000 values" in str(caught.value.problems[0])


@pytest.mark.parametrize("depth", [40, 200, 1000])
def test_groups_below_groups_without_end_are_refused(depth, tmp_path):
    leaf = '{"name": "a", "min": 1}'
    tree = '{"name": "g", "groups": [' * depth + leaf + "]}" * depth
    path = tmp_path / "deep.json"
    path.write_text(
        '{"apiVersion": "phalanx/v1", "kind": "Snapshot", '
        f'"given": {{"gangs": [{tree}]}}}}'
    )

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "nested deeper than 60 levels" == caught.value.problems[0].what


def test_of_very_many_problems_the_first_thousand_are_told():
    found = problems(scenario(gangs=[{"nam": "g"}] * 50_000))

    assert 1000 < len(found) < 10_000
    assert any("more than 1,000 problems" in text for text in found)


def test_long_lists_are_judged_as_short_ones_are():
    gangs = [{"name": f"g{i}", "min": 1} for i in range(2500)]
    gangs[2345] = {"name": "g", "mim": 1}
    document = scenario(gangs=gangs) | {"policy": {"sed": 1}}

    found = problems(document)

    assert any(text.startswith("given.gangs[2345].mim") for text in found)
    assert any(text.startswith("policy.sed") for text in found)


@pytest.mark.parametrize("word", ["na\nme", "\x1b[31mred", "\ud800", "\u202egnag"])
def test_what_moves_a_cursor_or_is_no_text_is_spelled_out(word):
    found = problems(gang(**{word: 1, "queue": word, "nodeSelector": {word: 1}}))

    assert found
    assert all(text.isprintable() for text in found), found


def test_a_very_long_word_is_cut():
    found = problems(gang(**{"x" * 10**6: 1}))

    assert all(len(text) < 2000 for text in found)


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
