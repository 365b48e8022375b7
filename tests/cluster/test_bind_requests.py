"""
`phalanx run` and parts of GPUs as KAI shares them, on a real API server.

Its kinds are there, and something that does what its binder does.
"""

import signal
from collections import Counter
from itertools import count

import pytest

from adapters.kube.objects.parts.kai_parts import GROUP as GPU_GROUP
from adapters.kube.objects.parts.kai_parts import groups_of
from tests.cluster.kai_binder import KaiBinder
from tests.cluster.manifests import pod
from tests.cluster.stage import GROUP, Kubelet, Scheduler
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
HALF = {"gpu-fraction": "0.5"}
_NUMBERS = count()


@pytest.fixture
def space(stage):
    """
    A namespace beside one node of two GPUs.
    """
    (name,) = stage.nodes(1)
    gpus = {"nvidia.com/gpu": "2"}
    body = {"status": {"allocatable": gpus, "capacity": gpus}}
    stage.admin.call("PATCH", f"/api/v1/nodes/{name}/status", body)
    labels = {"nvidia.com/gpu.memory": "81559"}
    stage.admin.call("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})
    space = f"kai-{next(_NUMBERS)}"
    stage.ensure(space)
    yield space
    stage.empty(space)


def gang(stage, space: str, name: str, number: int, said=None) -> None:
    stage.create([stage.group(space, name, number)])
    stage.create(
        sharing(space, f"{name}-{at}", name, said or HALF) for at in range(number)
    )


def sharing(space: str, name: str, group: str, said: dict) -> dict:
    raw = pod(space, name, gpus=0, labels={GROUP: group}, annotations=said)
    raw["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    return raw


def groups(stage, space: str) -> Counter[str]:
    """
    Count the bound pods in each group.
    """
    return Counter(
        group
        for raw in stage.pods(space).values()
        if raw["spec"].get("nodeName")
        for group in groups_of(raw["metadata"]["labels"])
    )


def test_a_gang_of_halves_is_handed_over_one_pod_of_a_group_at_a_time(
    stage, space, tmp_path
):
    with (
        Kubelet(stage),
        KaiBinder(stage) as binder,
        Scheduler(stage, folder=tmp_path) as scheduler,
    ):
        gang(stage, space, "g", 4)
        try:
            eventually(lambda: len(stage.bound(space)) == 4, 40)
            gang(stage, space, "late", 1)
            stage.gang(space, "whole", 1, 1)
            eventually(lambda: _waits(scheduler) == 2, 40)
        finally:
            print(scheduler.said()[-6000:])

    assert [2, 2] == sorted(groups(stage, space).values())
    assert {1} == set(binder.together)
    assert {"g": 4, "late": 0, "whole": 0} == stage.gangs_bound(space)
    assert scheduler.receipts().get("done", 0) >= 4


def _waits(scheduler: Scheduler) -> int:
    """
    Count the gangs that wait after the last plan.
    """
    rounds = scheduler.events("round_planned")
    return sum(rounds[-1]["waiting"].values()) if rounds else 0


def test_a_pod_of_two_devices_gets_two_groups(stage, space, tmp_path):
    with Kubelet(stage), KaiBinder(stage), Scheduler(stage, folder=tmp_path) as it:
        gang(stage, space, "g", 1, {"gpu-memory": "20000"} | _on(2))
        gang(stage, space, "h", 1, {"gpu-fraction": "0.25"} | _on(2))
        try:
            eventually(lambda: len(stage.bound(space)) == 2, 40)
        finally:
            print(it.said()[-6000:])

    assert [2, 2] == sorted(groups(stage, space).values())


def _on(number: int) -> dict[str, str]:
    return {"gpu-fraction-num-devices": str(number)}


def test_a_request_that_fails_is_taken_back_and_the_gang_tries_again(
    stage, space, tmp_path
):
    with (
        Kubelet(stage),
        KaiBinder(stage) as binder,
        Scheduler(stage, folder=tmp_path) as scheduler,
    ):
        binder.fail = {"g-1"}
        gang(stage, space, "g", 2)
        try:
            eventually(lambda: len(stage.bound(space)) == 2, 60)
        finally:
            print(scheduler.said()[-6000:])

    assert ["g-1"] == binder.failed
    assert "failed waiting for GPU reservation pod" in scheduler.said()
    assert [2] == sorted(groups(stage, space).values())


@pytest.mark.parametrize("held", ["g-1", "g-2"])
def test_who_leads_next_ends_what_was_handed_over_and_what_was_not(
    stage, space, held, tmp_path
):
    with Kubelet(stage), KaiBinder(stage) as binder:
        binder.held = {held}
        with Scheduler(stage, folder=tmp_path, threads="1") as first:
            gang(stage, space, "g", 4)
            eventually(lambda: stage.bound(space), 40)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
        assert len(stage.bound(space)) < 4
        binder.held = set()
        with Scheduler(stage, folder=tmp_path) as second:
            try:
                eventually(lambda: len(stage.bound(space)) == 4, 60)
            finally:
                print(second.said()[-6000:])

    assert [2, 2] == sorted(groups(stage, space).values())
    assert {1} == set(binder.together)


def test_a_request_of_a_dead_leader_that_failed_is_taken_back(stage, space, tmp_path):
    (raw,) = stage.create([sharing(space, "p", "g", HALF)])
    stage.create([stage.group(space, "g", 1)])
    made = {
        "apiVersion": "scheduling.run.ai/v1alpha2",
        "kind": "BindRequest",
        "metadata": {
            "name": "p",
            "namespace": space,
            "labels": {"app.kubernetes.io/managed-by": "phalanx"},
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": "p",
                    "uid": raw["metadata"]["uid"],
                }
            ],
        },
        "spec": {
            "podName": "p",
            "selectedNode": "gone",
            "selectedGPUGroups": ["0000"],
        },
    }
    stage.create([made])
    at = f"/apis/scheduling.run.ai/v1alpha2/namespaces/{space}/bindrequests/p"
    stage.admin.call("PATCH", f"{at}/status", {"status": {"phase": "Failed"}})
    with Kubelet(stage), KaiBinder(stage), Scheduler(stage, folder=tmp_path) as it:
        try:
            eventually(lambda: stage.bound(space), 60)
        finally:
            print(it.said()[-6000:])

    (bound,) = stage.pods(space).values()
    assert bound["metadata"]["labels"][GPU_GROUP] != "0000"
