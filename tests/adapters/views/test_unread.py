"""
What is known and not read is named: in plans of files, in checks, in the log.
"""

import json
import logging

import pytest
import yaml

from adapters.cli.main import run
from adapters.observe.log import LogReporter
from models.snapshot import Snapshot
from tests.helpers.kube.manifests import assembled, node, obj, pod

KUEUE = "kueue.x-k8s.io/v1beta1"
OBJECTS = [
    node(),
    obj(KUEUE, "ClusterQueue", "cq"),
    obj(KUEUE, "LocalQueue", "a", "default"),
    obj(KUEUE, "LocalQueue", "b", "default"),
    obj(KUEUE, "Topology", "t"),
    obj("scheduling.k8s.io/v1alpha1", "Workload", "w", "default"),
    *(pod(f"p-{i}", annotations={"yunikorn.apache.org/queue": "q"}) for i in range(3)),
]
SAID = (
    "not read: 1 ClusterQueue, 2 LocalQueues, 1 Topology of kueue.x-k8s.io/v1beta1, "
    "1 Workload of scheduling.k8s.io/v1alpha1, 3 pods with yunikorn.apache.org/queue"
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all(OBJECTS))
    return str(path)


def test_a_plan_names_kinds_and_words_that_are_not_read(file, capsys):
    run(["plan", file])

    assert f"warning: {SAID}\n" in capsys.readouterr().err


def test_a_check_names_them_too(file, capsys):
    run(["snapshot", "check", file])

    assert f"warning: {SAID}\n" in capsys.readouterr().out


def test_a_file_of_such_kinds_alone_names_them(tmp_path, capsys):
    path = tmp_path / "quotas.yaml"
    path.write_text(yaml.safe_dump_all(OBJECTS[1:3]))

    assert 4 == run(["plan", str(path)])
    assert "not read: 1 ClusterQueue, 1 LocalQueue" in capsys.readouterr().err


def test_pods_of_other_schedulers_are_not_counted():
    pods = [
        pod(annotations={"fluence.pod-group": "g"}),
        pod("q", annotations={"fluence.pod-group": "g"}, schedulerName="other"),
    ]

    assert "not read: 1 pod with fluence.pod-group" in warned(*pods)


def test_a_pod_of_grove_waits_unless_kai_has_put_it_into_a_group():
    labels = {"grove.io/podgang": "g"}
    alone = pod(labels=labels)
    grouped = pod("q", labels=labels, annotations={"pod-group-name": "g"})
    made = assembled(alone, grouped).snapshot
    refused = {gang.key: gang.refused is not None for gang in made.gangs}

    assert refused["default/p-0"]
    assert "not read: 1 pod with grove.io/podgang" in made.warnings


def warned(*raws):
    return assembled(*raws).snapshot.warnings


# --- the log ------------------------------------------------------------------


class Turn:
    """
    As much of a round as its warnings need.
    """

    def __init__(self, *warnings):
        self.name = "r1"
        self.seconds = {}
        self.snapshot = Snapshot(warnings=warnings)
        said = {"operations": (), "gangs": (), "status": "idle", "held": 0}
        self.plan = type("Plan", (), said)


def test_the_log_says_each_new_warning_once(caplog):
    log = LogReporter()
    with caplog.at_level(logging.INFO, "adapters"):
        for turn in (Turn("a"), Turn("a", "b"), Turn("b"), Turn("a")):
            log.planned(turn)
    said = [r.fields["warning"] for r in caplog.records if hasattr(r, "fields")
            and "warning" in r.fields]  # fmt: skip

    assert ["a", "b", "a"] == said
    assert json.dumps(said)


# --- owners -------------------------------------------------------------------

REPLICA_SET = ("apps/v1", "ReplicaSet", "web-abc")


def controlled(kind, name, by, **spec):
    version, above, title = by
    reference = {"apiVersion": version, "kind": above, "name": title}
    meta = {"ownerReferences": [{**reference, "controller": True}]}
    return obj("apps/v1", kind, name, "default", meta, spec=spec)


def names(*raws):
    return [gang.key for gang in assembled(*raws).snapshot.gangs]


def test_a_deployment_is_found_through_its_replica_set():
    web = obj("apps/v1", "Deployment", "web", "default", spec={"replicas": 2})
    middle = controlled("ReplicaSet", "web-abc", ("apps/v1", "Deployment", "web"))
    pods = [pod(f"web-abc-{i}", owner=REPLICA_SET) for i in (0, 1)]

    assert ["default/web"] == names(web, middle, *pods)
    assert not [text for text in warned(web, middle, *pods) if "no pods" in text]


@pytest.mark.parametrize("references", [3, [3], [{"controller": True, "kind": []}]])
def test_a_replica_set_that_cannot_be_read_stands_for_itself(references):
    middle = obj("apps/v1", "ReplicaSet", "web-abc", "default")
    middle["metadata"]["ownerReferences"] = references

    assert ["default/web-abc"] == names(middle, pod(owner=REPLICA_SET))


def test_a_job_whose_object_is_missing_says_what_was_taken_for_its_size():
    pods = [pod(f"j-{i}", owner=("batch/v1", "Job", "j")) for i in (0, 1)]

    (only,) = warned(*pods)
    assert only == (
        "Job default/j is not among the objects, so its gang is taken to be as large "
        "as the pods that are there"
    )


def test_many_missing_owners_are_one_warning():
    pods = [pod(f"j-{i}", owner=("batch/v1", "Job", f"j-{i}")) for i in range(9)]

    (only,) = warned(*pods)
    assert only.startswith(
        "Job default/j-0, Job default/j-1, Job default/j-2 and 6 more"
    )


@pytest.mark.parametrize(
    "said",
    [
        {"owner": ("apps/v1", "StatefulSet", "s")},
        {"owner": ("batch/v1", "Job", "j"), "labels": {"phalanx/min-available": "1"}},
        {"owner": ("example.com/v1", "Crew", "c")},
        {},
    ],
)
def test_nothing_is_said_where_the_owner_would_change_nothing(said):
    assert not warned(pod(**said))
