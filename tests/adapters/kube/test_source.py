import threading

import pytest

from adapters.kube.api.connect import connect
from adapters.kube.api.errors import SnapshotRefusedError
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import NEEDED, resources_of
from adapters.kube.watch.source import ClusterSource
from models.gangs import PodPhase, pod_sets
from tests.adapters.kube.api_server import NODES, PODS, ApiServer
from tests.adapters.kube.following import QUICK, TIMEOUTS, kubeconfig
from tests.adapters.kube.raw_pods import raw_node, raw_pod
from tests.helpers.eventually import eventually

NOW = 1_793_520_000.0


@pytest.fixture
def server():
    with ApiServer(*NEEDED) as server:
        for index in range(3):
            server.put(NODES, raw_node(index, 0))
        for index in range(16):
            node = f"node-{index % 3}" if index < 8 else None
            server.put(PODS, raw_pod(index, 0, node))
        yield server


@pytest.fixture
def source(tmp_path, server):
    transport = connect(kubeconfig(tmp_path, server.url), timeouts=TIMEOUTS)
    source = ClusterSource(transport, dialects(), pace=QUICK, now=lambda: NOW)
    yield source
    source.stop()
    for reflector in source.reflectors:
        reflector.join(2.0)


def test_the_cluster_is_a_snapshot(source):
    source.start()
    assert source.wait(20)
    snapshot = source.snapshot()

    assert ["node-0", "node-1", "node-2"] == [node.name for node in snapshot.nodes]
    assert ["team-0/job-0", "team-1/job-1"] == [gang.key for gang in snapshot.gangs]
    assert {"pods", "nodes"} <= source.view.versions.keys()
    assert len(NEEDED) == len(source.reflectors) - len(source.missing())


def test_a_pod_that_we_bound_runs_in_the_next_snapshot(source, server):
    source.start()
    assert source.wait(20)
    waiting = server.kinds["/api/v1/pods"].objects["team-1/job-1-worker-0"]
    source.cache.assume("team-1/job-1-worker-0", waiting["metadata"]["uid"], "node-2")
    (leaf,) = pod_sets(source.snapshot().gangs[1].tree)
    phases = [pod.phase for pod in leaf.pods]

    assert [PodPhase.RUNNING, *[PodPhase.PENDING] * 7] == phases


def test_a_snapshot_is_refused_until_all_was_read(source, server):
    for _ in range(100):
        server.fault("list", NODES, "status", code=403)
    source.start()
    eventually(lambda: any(r.error for r in source.reflectors))
    with pytest.raises(SnapshotRefusedError, match=r"nodes were not read yet .*rule"):
        source.snapshot()


def test_nobody_waits_for_what_is_refused(source, server):
    for resource in NEEDED:
        for _ in range(100):
            server.fault("list", resource, "status", code=403)
    source.start()
    eventually(source._is_refused)

    assert not source.wait(600)


class _ReadTooLate(threading.Event):
    """
    Set just after whoever waits for it has given up.
    """

    def wait(self, timeout: float | None = None) -> bool:
        was = self.is_set()
        self.set()
        return was


def test_what_was_read_just_after_we_looked_is_not_refused(source):
    for reflector in source.reflectors:
        reflector.settled = _ReadTooLate()

    assert source.wait(20)


def test_nobody_waits_for_a_server_that_is_not_there(tmp_path):
    transport = connect(kubeconfig(tmp_path, "http://127.0.0.1:1"), timeouts=TIMEOUTS)
    source = ClusterSource(transport, dialects(), pace=QUICK)
    source.start()

    assert not source.wait(600)
    source.stop()


def test_every_kind_is_followed_once():
    resources = resources_of(dialects())
    places = [(r.group, r.version, r.plural) for r in resources]

    assert len(set(places)) == len(places)
    assert {r.plural for r in NEEDED} <= {r.plural for r in resources if r.needed}
