"""
What the health check and the metrics of `phalanx run` are made of.
"""

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.api.client import Timeouts, Transport
from adapters.kube.dialects.registry import dialects
from adapters.kube.watch.source import ClusterSource
from adapters.machine.backoff import Backoff
from adapters.machine.supervised import SupervisedThread
from adapters.service.reporting import Own, Reporting
from adapters.service.run_settings import running
from tests.helpers.eventually import eventually
from tests.helpers.kube.kube_store import Store


def breaks() -> None:
    raise RecursionError("one odd object")


@pytest.fixture
def thread():
    return SupervisedThread("lease", breaks, backoff=Backoff(first=0.01, longest=0.01))


@pytest.fixture
def reporting(tmp_path, thread):
    settings = running(None, {"listen": "none", "folder": str(tmp_path)}, {})
    transport = Transport("here", None, dict, Timeouts())
    source = ClusterSource(transport, dialects())
    store = IntentStore(Store(), ("ns", "phalanx-default-intent"), "me")
    return Reporting(settings, source, transport, Own("me", [thread], store))


def test_a_thread_that_cannot_be_kept_alive_fails_the_health_check(reporting, thread):
    before = list(reporting._unhealthy())
    thread.start()
    eventually(lambda: thread.restarts > 2)
    young = list(reporting._unhealthy())
    thread._failing_since -= 121
    (said,) = reporting._unhealthy()
    thread.stop()

    assert ([], []) == (before, young)
    assert said.startswith("the thread lease broke")
    assert said.endswith("last by RecursionError: one odd object")
    restarts = reporting.metrics.registry.get_sample_value(
        "phalanx_thread_restarts_total", {"thread": "lease"}
    )
    assert restarts > 2


def test_a_loop_that_stands_still_fails_the_health_check(reporting):
    reporting.metrics.ticked()
    well = list(reporting._unhealthy())
    reporting.metrics.ticked_at -= 3600
    (said,) = reporting._unhealthy()

    assert [] == well
    assert said.startswith("the loop has not looked at the cluster for 3600 s")


def test_every_thread_that_follows_or_tells_is_watched(reporting):
    names = {thread.name for thread in reporting._threads}

    assert {"lease", "status", "record", "reflect-pods", "reflect-nodes"} <= names
