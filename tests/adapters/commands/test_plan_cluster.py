"""
`phalanx plan` on a cluster as it is, and as it would be with manifests submitted.
"""

import json

import pytest

from adapters.cli.main import run
from adapters.kube.dialects.workloads import RESOURCES
from adapters.kube.gangs.kinds import NEEDED
from tests.adapters.kube.api_server import NODES, PODS, ApiServer
from tests.adapters.kube.following import kubeconfig

GPU = "nvidia.com/gpu"
JOBS = next(each for each in RESOURCES if each.kind == "Job")
NAMESPACES = next(each for each in NEEDED if each.kind == "Namespace")


@pytest.fixture
def server(tmp_path, monkeypatch):
    """
    A cluster with one node of 8 GPUs and a pod of 4 that waits.
    """
    with ApiServer(*NEEDED, JOBS) as server:
        server.put(NODES, node("n-0"))
        server.put(PODS, pod("first-0", 4))
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, server.url))
        yield server


def node(name):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {GPU: "8", "cpu": "64", "pods": "110"}},
    }


def spec(gpus):
    limits = {GPU: str(gpus)}
    return {
        "schedulerName": "phalanx",
        "containers": [{"name": "main", "resources": {"limits": limits}}],
    }


def pod(name, gpus):
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec(gpus)}


def job(name, pods, gpus):
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"parallelism": pods, "template": {"spec": spec(gpus)}},
    }


def planned(capfd, *words):
    """
    Plan, and give who starts and what was warned of.
    """
    assert 0 == run(["plan", *map(str, words), "-o", "json"])
    said = capfd.readouterr()
    gangs = json.loads(said.out)["gangs"]
    return {each["name"]: each["state"] for each in gangs}, said.err


def wrote(folder, *objects):
    path = folder / "submitted.yaml"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return path


def test_without_a_file_the_cluster_is_planned_and_nothing_is_written(server, capfd):
    states, _ = planned(capfd)

    assert {"default/first-0": "Starting"} == states
    assert {"list", "watch"} >= {verb for verb, _, _ in server.requests}


def test_a_job_without_pods_is_planned_where_it_would_be_submitted(
    server, capfd, tmp_path
):
    small, notes = planned(capfd, "--with", wrote(tmp_path, job("train", 2, 2)))
    large, _ = planned(capfd, "--with", wrote(tmp_path, job("train", 3, 2)))

    assert "Starting" == small["default/train"]
    assert "made up: 2 pods of Job default/train" in notes
    assert "Waiting" in {large["default/train"], large["default/first-0"]}


def test_what_the_cluster_has_already_is_planned_as_it_is_there(
    server, capfd, tmp_path
):
    files = wrote(tmp_path, pod("first-0", 64), node("n-0"), node("n-1"))
    states, notes = planned(capfd, "--with", files)

    assert {"default/first-0": "Starting"} == states
    assert "in the cluster already" in notes
    assert "Node n-0, Pod default/first-0" in notes
    assert "n-1" not in notes


def test_a_workload_of_the_cluster_gets_no_pods_made_up(server, capfd, tmp_path):
    server.put(JOBS, job("there", 1, 1))
    states, notes = planned(capfd, "--with", wrote(tmp_path, job("train", 1, 1)))

    assert {"default/first-0", "default/train"} == states.keys()
    assert "no pods are there of Job default/there" in notes


def test_the_policy_of_the_settings_holds_in_a_cluster(
    server, capfd, tmp_path, monkeypatch
):
    path = tmp_path / "settings.yaml"
    path.write_text("apiVersion: phalanx/v1\nkind: Config\npolicy: {seed: 7}\n")
    monkeypatch.setenv("PHALANX_CONFIG", str(path))

    assert 0 == run(["plan", "-o", "json"])
    assert 7 == json.loads(capfd.readouterr().out)["seed"]


def test_a_cluster_that_is_not_there_exits_5(tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, "http://127.0.0.1:1"))

    assert 5 == run(["plan"])
    assert capfd.readouterr().err.startswith("error: no snapshot: ")


def test_what_if_asks_about_the_cluster_and_writes_nothing(server, tmp_path, capfd):
    path = wrote(tmp_path, job("second", 2, 8))
    words = ["what-if", "--submit", str(path), "--add-nodes", "n-0=2", "-o", "json"]

    assert 0 == run(words)
    answer = json.loads(capfd.readouterr().out)

    gangs = {each["name"]: each["became"] for each in answer["gangs"]}
    assert ["starts"] == list(gangs.values())
    assert [8, 24] == [
        answer[when]["totals"]["clusterGpus"] for when in ("before", "after")
    ]
    assert {"list", "watch"} >= {verb for verb, _, _ in server.requests}


def test_a_plan_and_why_say_that_the_scheduler_is_paused(server, capfd, tmp_path):
    notes = {
        "phalanx.dev/pause": "a new\u202e fabric",
        "phalanx.dev/paused-by": "alice",
        "phalanx.dev/paused-since": "2026-11-29T11:00:00Z",
    }
    meta = {"name": "phalanx-system", "annotations": notes}
    server.put(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    said = [
        planned(capfd)[1],
        planned(capfd, "--with", wrote(tmp_path, job("train", 1, 1)))[1],
    ]
    assert 0 == run(["why", "gang", "first-0"])
    said.append(capfd.readouterr().err)

    whole = "paused by alice since 2026-11-29T11:00:00Z: a new\\u202e fabric; nothing"
    assert [1, 1, 1] == [note.count(whole) for note in said], said
