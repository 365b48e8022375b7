"""
Manifests wherever a scenario is read: files, folders, standard input, inside scenarios.
"""

import io
import json
import sys

import pytest
import yaml

from adapters.cli.main import run
from adapters.files import read_scenarios, scenario_of
from adapters.kube.gangs.manifests import latest
from models.errors import InputRejectedError
from tests.helpers.kube.manifests import node, obj, objects, pod

JOB = ("batch/v1", "Job", "train")
RAWS = (node("n", 2), pod("train-a", owner=JOB), pod("train-b", owner=JOB))
SCENARIO = {"apiVersion": "phalanx/v1", "kind": "Scenario"}


def a_list(*raws):
    return {"apiVersion": "v1", "kind": "List", "items": list(raws)}


def written(tmp_path, *documents, name="m.yaml"):
    path = tmp_path / name
    path.write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    return str(path)


def keys(*paths, **given):
    return [gang.key for gang in read_scenarios(paths, **given).snapshot.gangs]


def problems(*paths):
    with pytest.raises(InputRejectedError) as caught:
        read_scenarios(paths)
    return "\n".join(map(str, caught.value.problems))


@pytest.mark.parametrize("form", ["list", "documents", "kind of list", "json"])
def test_manifests_are_read_in_every_form_in_which_they_are_printed(tmp_path, form):
    path = {
        "list": lambda: written(tmp_path, a_list(*RAWS)),
        "documents": lambda: written(tmp_path, *RAWS),
        "kind of list": lambda: written(
            tmp_path,
            RAWS[0],
            {"apiVersion": "v1", "kind": "PodList", "items": list(RAWS[1:])},
        ),
        "json": lambda: str(tmp_path / "m.json"),
    }[form]()
    if form == "json":
        (tmp_path / "m.json").write_text(json.dumps(a_list(*RAWS)))

    assert ["default/train"] == keys(path)


def test_items_of_a_list_of_one_kind_need_not_repeat_it(tmp_path):
    items = [{k: v for k, v in raw.items() if k != "kind"} for raw in RAWS[1:]]
    pods = {"apiVersion": "v1", "kind": "PodList", "items": items}

    assert ["default/train"] == keys(written(tmp_path, pods))


def test_a_folder_holds_one_snapshot(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "notes.txt").write_text("not a manifest")
    for at, raw in enumerate(RAWS):
        written(tmp_path / "deep", raw, name=f"{at}.yaml")

    assert ["default/train"] == keys(str(tmp_path))
    assert 0 == run(["compare", str(tmp_path)])


def test_standard_input_gives_the_plan_of_the_file(tmp_path, monkeypatch, capfd):
    path = written(tmp_path, a_list(*RAWS))
    assert 0 == run(["plan", path, "-o", "csv"])
    expected = capfd.readouterr().out
    data = io.TextIOWrapper(io.BytesIO((tmp_path / "m.yaml").read_bytes()))
    monkeypatch.setattr(sys, "stdin", data)

    assert 0 == run(["plan", "-", "-o", "csv"])
    assert expected == capfd.readouterr().out
    assert "Bind,default/train-a,default/train,n" in expected


def test_a_plan_for_manifests_is_judged(tmp_path, capfd):
    path = written(tmp_path, *RAWS)
    run(["plan", path, "-o", "json"])
    plan = tmp_path / "plan.json"
    plan.write_text(capfd.readouterr().out)

    assert 0 == run(["verify", path, str(plan)])


def test_the_policy_may_stand_in_a_file_beside(tmp_path):
    policy = {**SCENARIO, "given": {}, "policy": {"seed": 7}}
    path = written(tmp_path, policy, name="policy.yaml")
    scenario = read_scenarios([path, written(tmp_path, *RAWS)])

    assert 7 == scenario.policy.seed
    assert 1 == len(scenario.snapshot.gangs)


def test_records_and_manifests_do_not_mix(tmp_path):
    records = {**SCENARIO, "given": {"nodes": [{"name": "x", "allocatable": {}}]}}
    path = written(tmp_path, records, name="records.yaml")
    said = problems(path, written(tmp_path, *RAWS))

    assert "given.nodes" in said
    assert "nodes cannot stand beside manifests" in said


def test_a_scenario_may_hold_manifests():
    given = {"manifests": list(RAWS), "schedulers": ["phalanx"]}
    document = {**SCENARIO, "given": given, "expect": {"starts": {"train": 2}}}

    assert ["default/train"] == [
        gang.key for gang in scenario_of("s", document).snapshot.gangs
    ]


def test_what_is_expected_of_a_gang_that_is_not_there_is_a_problem():
    given = {"manifests": list(RAWS)}
    document = {**SCENARIO, "given": given, "expect": {"starts": {"trian": 2}}}
    with pytest.raises(InputRejectedError) as caught:
        scenario_of("s", document)

    assert 'there is no gang "trian" (did you mean "train"?)' in str(
        caught.value.problems[0]
    )


def test_the_schedulers_are_said_on_the_line(tmp_path):
    other = pod("p", schedulerName="volcano")
    path = written(tmp_path, node(), other)

    assert [] == keys(path)
    assert ["default/p"] == keys(path, schedulers=["volcano"])


FAULTS = {
    "no kind": (
        (a_list({"apiVersion": "v1", "metadata": {"name": "x"}}),),
        'items[0], x, kind: the field "kind" is missing',
    ),
    "a number for a kind": (
        (a_list({"apiVersion": "v1", "kind": 5, "metadata": {"name": "x"}}),),
        "items[0], x, kind: 5 is not text",
    ),
    "no object": ((a_list(*RAWS), ["x"]), "document 2: a list is not an object"),
    "an object without a version": (
        (*RAWS, {"kind": "Pod", "metadata": {"name": "late"}}),
        'document 4, Pod late, apiVersion: the field "apiVersion" is missing',
    ),
    "no name": ((obj("v1", "Pod", None),), "Pod: metadata.name"),
    "a number for a name": (
        (obj("v1", "Pod", 5),),
        "m.yaml: file: Pod: metadata.name: 5 is not text",
    ),
    "metadata": (
        ({"apiVersion": "v1", "kind": "Pod", "metadata": 5},),
        "not a mapping",
    ),
    "twice": ((*RAWS, RAWS[1]), "document 4: Pod default/train-a is written twice"),
    "items": (
        ({"apiVersion": "v1", "kind": "List", "items": 5},),
        "items: 5 is not a list",
    ),
    "nothing of use": (
        (obj("v1", "ConfigMap", "c"),),
        "none of its objects is of a kind that is read",
    ),
    "an empty list": ((a_list(),), "none of its objects"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_is_no_object_is_named_with_its_place(tmp_path, case):
    documents, expected = FAULTS[case]

    assert expected in problems(written(tmp_path, *documents))


def test_kinds_that_nobody_reads_are_passed_over(tmp_path):
    config = obj("v1", "ConfigMap", "train")

    assert ["default/train"] == keys(written(tmp_path, *RAWS, config))


def test_a_second_document_of_ours_is_refused_as_before(tmp_path):
    ours = {**SCENARIO, "given": {}}

    assert "a second document starts here" in problems(written(tmp_path, ours, ours))


def test_the_time_is_the_latest_that_objects_speak_of():
    made = "2027-01-15T08:00:00Z"
    beat = {"type": "Ready", "status": "True", "lastHeartbeatTime": made}
    young = pod(meta={"creationTimestamp": "2027-01-15T07:00:00Z"})

    assert 1_800_000_000 == latest(objects(young, node(conditions=[beat])))
    assert 0 == latest(objects(pod()))


KOORDINATOR = (
    node("n", 2),
    obj(
        "scheduling.sigs.k8s.io/v1alpha1",
        "PodGroup",
        "g",
        "default",
        spec={"minMember": 2},
    ),
    pod(
        "g-0",
        labels={"pod-group.scheduling.sigs.k8s.io": "g"},
        annotations={"gang.scheduling.koordinator.sh/min-available": "1"},
    ),
)
CHOICES = {
    "none": ((), "", 1),
    "an option": (("--dialect", "koordinator=podgroup-first"), "", 2),
    "the environment": ((), "koordinator=alone koordinator=podgroup-first", 2),
    "an option before the environment": (
        ("--dialect", "koordinator=podgroup-first", "--dialect", "koordinator=alone"),
        "ack=alone",
        2,
    ),
}


@pytest.mark.parametrize("case", CHOICES)
def test_people_choose_how_words_are_read(tmp_path, case, capfd, monkeypatch):
    words, environment, minimum = CHOICES[case]
    monkeypatch.setenv("PHALANX_DIALECT", environment)
    path = written(tmp_path, *KOORDINATOR)

    assert run(["snapshot", "show", path, *words, "-o", "json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert minimum == shown["given"]["gangs"][0]["min"]
    assert run(["get", "gangs", "-f", path, *words, "-o", "json"]) == 0
    (listed,) = json.loads(capfd.readouterr().out)["items"]
    assert minimum == listed["pods"]["min"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ack",), "'ack' is not one of"),
        (("ack=alone", "koordinator=alone"), "exclude each other"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        *("plan", "verify", "compare", "snapshot show"),
        *("get gangs -f", "get queues -f", "get nodes -f"),
        *("describe gang g -f", "describe queue q -f", "describe node n -f"),
    ],
)
def test_choices_that_cannot_hold_are_wrong_use(tmp_path, words, said, command, capfd):
    path = written(tmp_path, *KOORDINATOR)
    options = [word for choice in words for word in ("--dialect", choice)]
    plan = ["-"] if command == "verify" else []

    assert run([*command.split(), path, *plan, *options]) == 2
    assert said in capfd.readouterr().err


def test_a_scenario_with_choices_that_exclude_each_other_is_rejected():
    given = {"manifests": list(RAWS), "dialects": ["ack=alone", "koordinator=alone"]}
    with pytest.raises(InputRejectedError) as caught:
        scenario_of("s", {**SCENARIO, "given": given})

    assert "exclude each other" in str(caught.value.problems[0])
