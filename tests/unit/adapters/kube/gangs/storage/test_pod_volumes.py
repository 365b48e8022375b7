"""
Claims that one pod alone may use at a time.
"""

import pytest

from models.gangs import PodPhase, pod_sets
from tests.helpers.kube.manifests import assembled, node, obj, pod

VOLUME = obj("v1", "PersistentVolume", "v")
MOUNTED = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]


def claim(*modes):
    spec = {"volumeName": "v", "accessModes": list(modes)}
    return obj("v1", "PersistentVolumeClaim", "c", "default", spec=spec)


def mounting(name, created="2026-01-01T00:00:00Z", **fields):
    meta = {"creationTimestamp": created}
    return pod(name, volumes=MOUNTED, meta=meta, **fields)


def refused(*pods, mode="ReadWriteOncePod"):
    snapshot = assembled(node(), VOLUME, claim(mode), *pods).snapshot
    return {
        gang.name: str(gang.refused.facts["detail"])
        for gang in snapshot.gangs
        if gang.refused is not None
    }


def test_of_two_pods_with_one_such_claim_the_older_may_start():
    found = refused(mounting("a", "2026-01-02T00:00:00Z"), mounting("b"))

    assert ["a"] == list(found)
    assert "only one pod can use it: pod default/b asks for it too" in found["a"]


def test_who_has_the_claim_keeps_it():
    there = mounting("z", "2026-02-01T00:00:00Z", nodeName="n", schedulerName="other")

    found = refused(there, mounting("a"))

    assert ["a"] == list(found)
    assert "only one pod can use it: pod default/z has it" in found["a"]


def test_who_has_ended_has_no_claim():
    done = mounting("z", nodeName="n", status={"phase": "Succeeded"})

    assert not refused(done, mounting("a", "2026-02-01T00:00:00Z"))


@pytest.mark.parametrize("mode", ["ReadWriteOnce", "ReadWriteMany"])
def test_other_claims_are_for_many(mode):
    assert not refused(mounting("a"), mounting("b"), mode=mode)


def test_of_a_deployment_one_pod_starts_and_the_other_is_held_back():
    owner = ("apps/v1", "Deployment", "web")
    found = assembled(
        node(),
        VOLUME,
        claim("ReadWriteOncePod"),
        *(mounting(name, owner=owner) for name in ("web-0", "web-1")),
    ).snapshot

    (gang,) = found.gangs
    (leaf,) = pod_sets(gang.tree)
    assert gang.refused is None
    assert [PodPhase.PENDING, PodPhase.GATED] == [pod.phase for pod in leaf.pods]
    assert any("pod default/web-1 cannot start" in text for text in found.warnings)


def test_a_gang_that_needs_both_waits_with_the_field():
    owner = ("batch/v1", "Job", "two")
    job = obj("batch/v1", "Job", "two", "default", spec={"parallelism": 2})
    pods = [mounting(name, owner=owner) for name in ("two-0", "two-1")]

    assert "pod default/two-0 asks for it too" in refused(job, *pods)["two"]
