"""
What `phalanx run` says in a real cluster: conditions, group status, events, health.

It runs as the restricted user, so nothing is said with more rights than `deploy/` has.
"""

import json
import urllib.request

import pytest

from tests.adapters.kube.status_cases import CASES, manifests
from tests.cluster.conftest import plural_of, root_of
from tests.cluster.stage import Kubelet, Scheduler
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
SPACE = "team"
FAILURES = {"status_forbidden", "status_refused", "status_failed", "report_failed"}
SAID_OF_ONE_THAT_STARTED = {
    "kai": lambda raw: "schedulingConditions" not in raw.get("status", {}),
    "coscheduling": lambda raw: "annotations" not in raw["metadata"],
    "koordinator": lambda raw: raw.get("status", {}).get("phase") == "Running",
    "native": lambda raw: condition(raw, "PodGroupInitiallyScheduled") == "True",
}


def condition(raw, kind):
    found = raw.get("status", {}).get("conditions", [])
    return next((c["status"] for c in found if c["type"] == kind), None)


def started(case, raw):
    """
    Tell whether a group says, in its own words, that it started.
    """
    said = SAID_OF_ONE_THAT_STARTED.get(case)
    if said is not None:
        return said(raw)
    status = raw.get("status", {})
    counts = status.get("running"), status.get("phase")
    return condition(raw, "Scheduled") == "True" and counts == (2, "Running")


def words(raw):
    """
    Give all that a group says in sentences.
    """
    return json.dumps([raw.get("status"), raw["metadata"].get("annotations")])


def asked(scheduler, path):
    (event,) = scheduler.events("listening")
    url = f"http://127.0.0.1:{event['port']}{path}"
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def written(scheduler):
    """
    Count the requests that said something.
    """
    lines = asked(scheduler, "/metrics").splitlines()
    name = "phalanx_status_writes_total{"
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


@pytest.fixture
def play(stage):
    stage.ensure(SPACE)

    def played(case):
        raws = [
            raw | {"status": None} for raw in manifests(case) if "Pod" != raw["kind"]
        ]
        raws = [
            {word: part for word, part in raw.items() if part is not None}
            if raw["kind"] != "Node"
            else next(m for m in manifests(case) if m["kind"] == "Node")
            for raw in raws
        ]
        stage.create(raws)
        stage.create(raw for raw in manifests(case) if raw["kind"] == "Pod")

    return played


@pytest.mark.parametrize("case", CASES)
def test_every_dialect_is_told_in_its_own_words(stage, play, case, tmp_path):
    play(case)
    group = next((raw for raw in manifests(case) if raw["kind"] == "PodGroup"), None)

    def groups():
        path = f"{root_of(group)}/namespaces/{SPACE}/{plural_of('PodGroup')}"
        found = stage.admin.call("GET", path)["items"]
        version = {"apiVersion": group["apiVersion"]}
        return {raw["metadata"]["name"]: version | raw for raw in found}

    def events():
        path = f"/apis/events.k8s.io/v1/namespaces/{SPACE}/events"
        found = stage.admin.call("GET", path)["items"]
        return {raw["regarding"]["name"] for raw in found}

    with Kubelet(stage), Scheduler(stage, folder=tmp_path) as scheduler:
        eventually(lambda: set(stage.bound(SPACE)) == {"fits-0", "fits-1"}, 120)
        if group is not None:
            eventually(lambda: started(case, groups()["fits"]), 30)
            eventually(lambda: "16" in words(groups()["waits"]) or case == "kai", 30)
            eventually(lambda: "3" in words(groups()["short"]), 30)
        eventually(lambda: condition(stage.pods(SPACE)["waits-1"], "PodScheduled"), 30)
        eventually(lambda: events() & {"waits", "waits-0"}, 30)
        said = {
            name: next(
                (c["reason"], c["message"].partition(":")[0])
                for c in raw["status"]["conditions"]
                if c["type"] == "PodScheduled"
            )
            for name, raw in stage.pods(SPACE).items()
            if not raw["spec"].get("nodeName") and "silent" not in name
        }
        unmarked = [
            raw["metadata"]["name"]
            for raw in stage.pods(SPACE).values()
            if "silent" in raw["metadata"]["name"] and "conditions" in raw["status"]
        ]
        failures = [e for e in scheduler.events() if e["event"] in FAILURES]

    assert {"Unschedulable"} == {reason for reason, _ in said.values()}
    assert "WaitingForPods" == said["short-0"][1]
    assert [] == unmarked
    assert [] == failures


def test_nothing_is_written_when_nothing_changes(stage, play, tmp_path):
    play("volcano")
    with Kubelet(stage), Scheduler(stage, folder=tmp_path) as scheduler:
        eventually(lambda: set(stage.bound(SPACE)) == {"fits-0", "fits-1"}, 120)
        eventually(lambda: condition(stage.pods(SPACE)["waits-1"], "PodScheduled"), 30)
        seen = []

        def is_silent():
            seen.append(written(scheduler))
            return len(seen) > 30 and len(set(seen[-30:])) == 1

        eventually(is_silent, 30)
        before = written(scheduler)
        # A round for something else, in which all gangs stand as before.
        rounds = len(scheduler.events("round_planned"))
        stage.create([manifest for manifest in [node_like(stage)] if manifest])
        eventually(lambda: len(scheduler.events("round_planned")) > rounds, 30)
        eventually(is_silent, 30)

    assert before > 0
    assert before == seen[-1]


def node_like(stage):
    """
    Write a node that nobody may use.
    """
    (raw,) = (m for m in manifests("volcano") if m["kind"] == "Node")
    meta = {"name": "closed", "labels": {}}
    return raw | {"metadata": meta, "spec": {"unschedulable": True}}


def test_health_readiness_and_metrics_are_served(stage, play, tmp_path):
    play("volcano")
    with Kubelet(stage), Scheduler(stage, folder=tmp_path) as scheduler:
        eventually(lambda: set(stage.bound(SPACE)) == {"fits-0", "fits-1"}, 120)
        eventually(lambda: scheduler.events("round_finished"))
        health = asked(scheduler, "/healthz"), asked(scheduler, "/readyz")
        metrics = asked(scheduler, "/metrics")

    assert ("ok\n", "ok\n") == health
    assert "phalanx_leader 1.0" in metrics
    assert 'phalanx_binds_total{result="done"} 2.0' in metrics
    assert 'phalanx_gangs_waiting{reason="WaitingForPods"}' in metrics
    assert 'phalanx_source_staleness_seconds{resource="pods"}' in metrics
