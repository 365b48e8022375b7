"""
Every documented example, as it stands among the scenarios, given to a real server.

The server is its own: nothing else may be there.
"""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from adapters.files.snapshot_diff import changes
from adapters.kube.api.connect import connect
from adapters.kube.api.errors import AnswerError
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of
from adapters.kube.gangs.kinds import BIND_REQUESTS, resources_of
from adapters.kube.watch.source import ClusterSource
from tests.cluster.conftest import plural_of, root_of
from tests.cluster.test_reflector import PACE
from tests.cluster.test_snapshot import NOW, objects_of, timeless
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
FOLDER = Path(__file__).parents[2] / "scenarios"
FOLDERS = (
    *("ack", "coscheduling", "kai", "koordinator"),
    *("native", "roc", "volcano", "workloads"),
)
EXAMPLES = {
    f"{folder}/{file.stem}": file
    for folder in FOLDERS
    for file in sorted((FOLDER / folder).glob("*.yaml"))
}
IMAGE = "example.com/job:1"
LIST_IN_A_LABEL = {
    "ack/a-group-by-label-starts-whole",
    "ack/a-group-by-label-waits-whole",
}
"""
ACK documents a list in a label; no server takes one there.
"""
FOR_FILES_ONLY = {
    "kai/halves-share-gpus-beside-whole-ones",
    "workloads/pods-are-made-up-of-a-manifest",
    "workloads/volcano-job-without-a-group-starts-whole",
}
"""
In a cluster controllers make pods, and Volcano's own makes a group for each Job: so no
pods are made up there, and its Jobs are not followed.  A request to KAI's binder names
its pod by the uid, which a server gives anew.
"""
ON_A_SERVER = [n for n in EXAMPLES if n not in LIST_IN_A_LABEL | FOR_FILES_ONLY]
AT_ONCE = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
FIRST = ("PriorityClass", "Node")
DEFINES = "CustomResourceDefinition"
EVERYWHERE = {(r.group, r.kind) for r in resources_of(dialects()) if not r.namespaced}


def manifests(file):
    """
    Read the objects of a scenario, those first that others need.
    """
    given = yaml.safe_load(file.read_text(encoding="utf-8"))["given"]
    raws = [raw for raw in given["manifests"] if raw["kind"] != DEFINES]
    for raw in raws:
        complete(raw)
    return sorted(raws, key=lambda raw: raw["kind"] not in FIRST)


def with_binder(objects):
    """
    Say that the kind by which KAI's binder is asked is served, as it is there.
    """
    requests = {(BIND_REQUESTS.group, BIND_REQUESTS.kind): (), **objects.by_kind}
    return replace(objects, by_kind=requests)


def complete(raw):
    """
    Add what a server asks for and an example leaves out.
    """
    group, kind = raw["apiVersion"].rpartition("/")[0], raw["kind"]
    spec = raw.get("spec", {})
    if (group, kind) not in EVERYWHERE:
        raw["metadata"].setdefault("namespace", "default")
    if kind == "Pod":
        spec.setdefault("automountServiceAccountToken", False)
        spec.pop("priority", None)
        for container in spec.get("containers", ()):
            container.setdefault("image", IMAGE)
    elif group in {"batch", "apps"}:
        inner = {"containers": [{"name": "main", "image": IMAGE}]}
        template = {"metadata": {"labels": {"app": "a"}}, "spec": inner}
        if kind == "Job":
            inner["restartPolicy"] = "Never"
        else:
            spec["selector"] = {"matchLabels": {"app": "a"}}
        spec["template"] = template


@pytest.fixture(scope="module")
def source(fresh):
    source = ClusterSource(
        connect(fresh.plane.kubeconfig("admin")),
        dialects(),
        pace=PACE,
        now=lambda: NOW,
    )
    source.start()
    assert source.wait(30)
    yield source
    source.stop()


@pytest.mark.parametrize("name", sorted(LIST_IN_A_LABEL))
def test_no_server_takes_a_list_in_a_label(name, fresh):
    pod = next(raw for raw in manifests(EXAMPLES[name]) if raw["kind"] == "Pod")

    with pytest.raises(AnswerError, match="valid label"):
        fresh.apply(pod)


@pytest.mark.parametrize("name", ON_A_SERVER)
def test_an_example_is_read_from_a_server_as_from_its_file(name, source, fresh):
    raws = manifests(EXAMPLES[name])
    objects = with_binder(objects_of(raws))
    wanted = timeless(snapshot_of(objects, dialects(), NOW).snapshot)
    try:
        for raw in raws:
            fresh.apply(deepcopy(raw))
        differences = until_equal(wanted, source)
    finally:
        for raw in raws:
            remove(fresh.admin, raw)
        eventually(lambda: is_empty(source), 10.0)

    assert [] == differences, differences


def until_equal(wanted, source):
    found = []

    def is_equal():
        found[:] = map(str, changes(wanted, timeless(source.snapshot())))
        return not found

    try:
        eventually(is_equal, 5.0)
    except AssertionError:
        return found
    return []


def is_empty(source):
    snapshot = source.snapshot()
    return not (snapshot.gangs or snapshot.nodes or snapshot.queues)


def remove(admin, raw):
    meta = raw["metadata"]
    inside = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    own = f"{inside}/{plural_of(raw['kind'])}/{quote(meta['name'])}"
    path = f"{root_of(raw)}{own}"
    try:
        # Nobody is there who would take the finalizers away.
        admin.call("PATCH", path, {"metadata": {"finalizers": None}})
        admin.call("DELETE", path, AT_ONCE)
    except AnswerError as error:
        if error.status != 404:
            raise
