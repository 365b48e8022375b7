"""
`phalanx run`, all its parts as they are put together, beside a server on loopback.

What it does beside a real API server is tested in ``tests/cluster``.
"""

import json
import urllib.request

import pytest

from tests.adapters.kube.api_server import NODES, PODS
from tests.adapters.kube.run_server import LEASES, MAPS, RunServer, scheduling
from tests.helpers.eventually import eventually
from tests.helpers.kube.manifests import node, pod


@pytest.fixture
def server():
    with RunServer() as server:
        yield server


def asked(scheduler, path: str) -> str:
    port = scheduler.reporting.port
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.read().decode()


def place_of(server, name: str) -> str | None:
    return server.object(PODS, f"default/{name}")["spec"].get("nodeName")


def test_it_binds_says_that_it_is_well_and_remembers(server, tmp_path):
    server.put(NODES, node("n"))
    server.put(PODS, pod("p", gpus=4, meta={"uid": "u"}))
    with scheduling(server, tmp_path) as scheduler:
        eventually(lambda: place_of(server, "p") == "n")
        health, ready = asked(scheduler, "/healthz"), asked(scheduler, "/readyz")
        eventually(
            lambda: 'binds_total{result="done"} 1' in asked(scheduler, "/metrics")
        )
        metrics = asked(scheduler, "/metrics")

    assert ("ok\n", "ok\n") == (health, ready)
    assert 'phalanx_thread_restarts_total{thread="lease"} 0.0' in metrics
    assert "phalanx_intent_left_out 0.0" in metrics
    kept = server.object(MAPS, "phalanx-system/phalanx-default-intent")
    assert {"intent", "memory"} == set(kept["binaryData"])
    lease = server.object(LEASES, "phalanx-system/phalanx-default")
    assert "" == lease["spec"]["holderIdentity"]


def reclaimed(server) -> bool:
    return "default/runs" not in server.kinds["/api/v1/pods"].objects


@pytest.mark.parametrize("after", [0, 600])
def test_nobody_leaves_in_the_first_minutes_unless_that_is_said(
    server, tmp_path, caplog, after
):
    caplog.set_level("INFO")
    server.put(NODES, node("n"))
    low = {"priority": 1, "nodeName": "n", "status": {"phase": "Running"}}
    server.put(PODS, pod("runs", gpus=8, meta={"uid": "r"}, **low))
    server.put(PODS, pod("waits", gpus=8, meta={"uid": "w"}, priority=2))
    with scheduling(server, tmp_path, evictAfter=after) as scheduler:
        if after == 0:
            eventually(lambda: place_of(server, "waits") == "n")
        else:
            eventually(
                lambda: (
                    'outcome="idle"} 1' in asked(scheduler, "/metrics")
                    or 'outcome="skipped"} 1' in asked(scheduler, "/metrics")
                )
            )
    lines = {
        record.message: record.fields
        for record in caplog.records
        if hasattr(record, "fields")
    }

    assert (after == 0) == reclaimed(server)
    assert after == lines["led_for_the_first_time"]["seconds_without_evictions"]
    if after == 0:
        said = lines["pod_evicted"]
        assert ("default/runs", ["default/waits"], "preempt") == (
            said["pod"],
            said["for"],
            said["rule"],
        )
        assert json.dumps(said)
