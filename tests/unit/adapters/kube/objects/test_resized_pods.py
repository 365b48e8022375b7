"""
A pod that is being resized counts as kube-scheduler counts it.
"""

import pytest

from adapters.kube.objects.pod_reader import pod_record
from tests.helpers.kube.manifests import obj

IN_VAIN = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
DEFERRED = {**IN_VAIN, "reason": "Deferred"}


def asked(cpu):
    return {"requests": {"cpu": str(cpu)}}


def status(cpu, actual=None):
    """
    Say how much a container was allotted, and how much is in force.
    """
    actual = cpu if actual is None else actual
    return {"allocatedResources": {"cpu": str(cpu)}, "resources": asked(actual)}


def cpus(containers, *, whole=None, conditions=(), **spec):
    """
    Count a running pod whose containers ask for this and were given that.
    """
    raw = obj("v1", "Pod", "p")
    pairs = [(f"c{at}", *pair) for at, pair in enumerate(containers)]
    listed = [{"name": name, "resources": asked(one)} for name, one, _ in pairs]
    had = [{"name": name, **given} for name, _, given in pairs]
    raw["spec"] = {"nodeName": "n", "containers": listed, **spec}
    raw["status"] = {
        "phase": "Running",
        "containerStatuses": had,
        "conditions": list(conditions),
        **(whole or {}),
    }
    record = pod_record(raw)
    assert not record.invalid
    return record.requests["cpu"] // 1000


@pytest.mark.parametrize(
    ("one", "given", "conditions", "counted"),
    [
        (2, status(2), [], 2),
        (1, status(3), [], 3),
        (1, status(1, actual=4), [], 4),
        (5, status(2), [], 5),
        (5, status(2), [DEFERRED], 5),
        (9999, status(2), [IN_VAIN], 2),
        (9999, status(2, actual=3), [IN_VAIN], 3),
        (9999, {}, [IN_VAIN], 9999),
    ],
)
def test_a_container_counts_with_the_most_that_it_may_get(
    one, given, conditions, counted
):
    assert counted == cpus([(one, given)], conditions=conditions)


def test_a_sidecar_that_was_resized_counts_too():
    sidecar = {"name": "s", "restartPolicy": "Always", "resources": asked(1)}
    had = {"initContainerStatuses": [{"name": "s", **status(3)}]}

    assert 5 == cpus([(2, status(2))], whole=had, initContainers=[sidecar])


@pytest.mark.parametrize(
    ("one", "conditions", "counted"),
    [(2, [], 6), (9, [], 9), (9999, [IN_VAIN], 6)],
)
def test_a_pod_that_is_resized_as_a_whole_counts_with_its_overhead_once(
    one, conditions, counted
):
    found = cpus(
        [(1, {})],
        whole=status(7, actual=5),
        conditions=conditions,
        resources=asked(one),
        overhead={"cpu": "1"},
    )

    assert counted + 1 == found
