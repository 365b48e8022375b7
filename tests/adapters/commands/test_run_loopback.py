"""
`phalanx run`, all its parts as they are put together, beside a server on loopback.

What it does beside a real API server is tested in ``tests/cluster``.
"""

import json
import threading
import urllib.request
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from adapters.kube.api.api_resources import Resource
from adapters.kube.gangs.kinds import NEEDED
from adapters.service.run_settings import running
from adapters.service.scheduler import Scheduler
from tests.adapters.kube.api_server import NODES, PODS
from tests.adapters.kube.following import kubeconfig
from tests.adapters.kube.writing_server import WritingServer, _WritingHandler
from tests.helpers.eventually import eventually
from tests.helpers.kube.manifests import node, pod

EVENTS = Resource(group="events.k8s.io", version="v1", plural="events", kind="Event")
MAPS = Resource(group="", version="v1", plural="configmaps", kind="ConfigMap")
LEASES = Resource(
    group="coordination.k8s.io", version="v1", plural="leases", kind="Lease"
)


class RunServer(WritingServer):
    """
    A server that a scheduler may lead, bind and evict at.
    """

    def __init__(self) -> None:
        super().__init__(*NEEDED, EVENTS, MAPS, LEASES)
        self._http.RequestHandlerClass = _RunHandler


class _RunHandler(_WritingHandler):
    def do_PUT(self) -> None:  # noqa: N802 - the base class calls it so
        api: RunServer = self.server.api
        body = self._noted("PUT")
        kind, key, _ = api.find(urlsplit(self.path).path)
        with api.changed:
            raw = kind.objects.get(key)
            if raw is None:
                self._say(404, f"{key} not found")
                return
            wanted = body["metadata"].get("resourceVersion")
            if wanted not in {None, raw["metadata"]["resourceVersion"]}:
                self._say(409, "it has been modified")
                return
            self._answer(200, api.put(kind.resource, body))

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        api: RunServer = self.server.api
        path = urlsplit(self.path).path
        if path.endswith("selfsubjectaccessreviews"):
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(201, {"status": {"allowed": True}})
            return
        kind, key, sub = api.find(path)
        if sub not in {"binding", "eviction"}:
            super().do_POST()
            return
        body = self._noted("POST")
        if body is None:
            return
        if sub == "eviction":
            api.delete(kind.resource, key)
        else:
            raw = kind.objects[key]
            spec = raw["spec"] | {"nodeName": body["target"]["name"]}
            api.put(kind.resource, raw | {"spec": spec})
        self._answer(201, {"kind": "Status"})


@pytest.fixture
def server():
    with RunServer() as server:
        yield server


@contextmanager
def scheduling(server, folder, **more):
    settings = running(
        None,
        {
            "kubeconfig": kubeconfig(folder, server.url),
            "listen": "127.0.0.1:0",
            "folder": str(folder),
            "interval": 0.5,
            "leaseRetry": 0.2,
            **more,
        },
        {"seconds": 0.5, "workers": 1},
    )
    with Scheduler(settings) as scheduler:
        thread = threading.Thread(target=scheduler.loop.run)
        thread.start()
        try:
            yield scheduler
        finally:
            scheduler.loop.stop()
            thread.join(20)
    assert not thread.is_alive()


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
