"""
`phalanx run` and parts of GPUs, on a real API server: what pods hold once bound.
"""

import json
import signal
from collections import Counter

import pytest

from adapters.kube.acting.devices.node_lock import LOCK
from adapters.kube.api.connect import connect
from adapters.kube.objects.parts.part_keys import HAMI, KOORDINATOR
from tests.cluster.beside import Beside
from tests.cluster.role import bind
from tests.cluster.stage import GROUP, Kubelet, Scheduler
from tests.helpers.eventually import eventually
from tests.helpers.rounds.shared_gpus import HALF, UUIDS, asks, device, node_of

pytestmark = pytest.mark.cluster
LOCKS = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]}]
PHASES = ("volcano.sh/bind-phase", "hami.io/bind-phase")


class Plugin(Beside):
    """
    Gives bound pods their GPUs as the plugin of a node does, in a thread.
    """

    def __init__(self, stage, space: str) -> None:
        super().__init__(connect(stage.plane.kubeconfig("admin")))
        self._space = space
        self.together: list[int] = []

    def look(self) -> None:
        path = f"/api/v1/namespaces/{self._space}/pods"
        waiting = [
            raw
            for raw in self._admin.call("GET", path)["items"]
            if raw["spec"].get("nodeName") and _seen(raw)
        ]
        self.together.append(len(waiting))
        for raw in waiting:
            body = {"metadata": {"annotations": _seen(raw)}}
            self._admin.call("PATCH", f"{path}/{raw['metadata']['name']}", body)
            unlocked = {"metadata": {"annotations": {LOCK: None}}}
            node = raw["spec"]["nodeName"]
            self._admin.call("PATCH", f"/api/v1/nodes/{node}", unlocked)


def _seen(raw: dict) -> dict[str, str]:
    """
    Say what a plugin writes on a pod that waits for its GPU.
    """
    said = raw["metadata"].get("annotations", {})
    found = {key: "success" for key in PHASES if said.get(key) == "allocating"}
    if said.get("ALIYUN_COM_GPU_MEM_ASSIGNED") == "false":
        found["ALIYUN_COM_GPU_MEM_ASSIGNED"] = "true"
    return found


@pytest.fixture(params=HALF)
def contract(request):
    return request.param


@pytest.fixture
def space(stage, contract):
    """
    A namespace beside one node of a contract, and the rights it takes.
    """
    bind(stage.admin, "phalanx-locks", "ClusterRole", LOCKS, "", subject="phalanx")
    stage.create([node_of(contract, "shared")])
    if contract == KOORDINATOR:
        stage.create([device("shared")])
    name = f"parts-{contract}"
    stage.ensure(name)
    yield name
    stage.empty(name)


def gang(stage, space: str, contract: str, name: str, number: int) -> None:
    stage.create([stage.group(space, name, number)])
    raws = [asks(f"{name}-{at}", **HALF[contract]) for at in range(number)]
    for raw in raws:
        raw["metadata"] |= {"namespace": space, "labels": {GROUP: name}}
        raw["spec"]["automountServiceAccountToken"] = False
    stage.create(raws)


def devices_of(contract: str, raw: dict) -> str:
    """
    Name the device that a pod was given.
    """
    said = raw["metadata"]["annotations"]
    match contract:
        case "gpushare":
            return said["ALIYUN_COM_GPU_MEM_IDX"]
        case "koordinator":
            key = "scheduling.koordinator.sh/device-allocated"
            (entry,) = json.loads(said[key])["gpu"]
            return str(entry["minor"])
        case "vgpu":
            card = said["volcano.sh/vgpu-ids-new"]
        case _:
            card = said["hami.io/vgpu-devices-allocated"]
    return str(UUIDS.index(card.partition(",")[0]))


def given(stage, space: str, contract: str) -> Counter[str]:
    """
    Count the bound pods on each device.
    """
    pods = stage.pods(space).values()
    return Counter(
        devices_of(contract, raw) for raw in pods if raw["spec"].get("nodeName")
    )


def test_a_gang_of_halves_gets_two_per_gpu_in_the_write_that_binds(
    stage, space, contract, tmp_path
):
    with (
        Kubelet(stage),
        Plugin(stage, space) as plugin,
        Scheduler(stage, folder=tmp_path) as scheduler,
    ):
        gang(stage, space, contract, "g", 3)
        gang(stage, space, contract, "h", 2)
        try:
            eventually(lambda: len(stage.bound(space)) == 3, 40)
            gang(stage, space, contract, "i", 1)
            eventually(lambda: len(stage.bound(space)) == 4, 40)
        finally:
            print(scheduler.said()[-6000:])

    assert Counter({"0": 2, "1": 2}) == given(stage, space, contract)
    assert {"g": 3, "h": 0, "i": 1} == stage.gangs_bound(space)
    if contract != KOORDINATOR:
        assert max(plugin.together) == 1  # no plugin had to guess whose GPU it is


def test_who_leads_next_ends_a_gang_of_which_the_leader_was_killed(
    stage, space, contract, tmp_path
):
    with Kubelet(stage), Plugin(stage, space):
        with Scheduler(stage, folder=tmp_path, threads="1") as first:
            gang(stage, space, contract, "g", 4)
            eventually(lambda: stage.bound(space), 40)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
        if contract == HAMI and len(stage.bound(space)) < 4:
            # Killed between the lock and the bind, of a pod that is not bound.
            left = min(stage.pods(space).keys() - stage.bound(space).keys())
            lock = {LOCK: f"2099-01-01T00:00:00Z,{space},{left}"}
            stage.admin.call(
                "PATCH", "/api/v1/nodes/shared", {"metadata": {"annotations": lock}}
            )
        with Scheduler(stage, folder=tmp_path) as second:
            try:
                eventually(lambda: len(stage.bound(space)) == 4, 40)
            finally:
                print(second.said()[-6000:])

    assert Counter({"0": 2, "1": 2}) == given(stage, space, contract)


def minors_of(raw: dict) -> tuple[int, ...]:
    key = "scheduling.koordinator.sh/device-allocated"
    return tuple(
        x["minor"] for x in json.loads(raw["metadata"]["annotations"][key])["gpu"]
    )


def test_whole_gpus_are_linked_where_koordinator_honours_its_partitions(
    stage, tmp_path
):
    labels = {
        "node.koordinator.sh/gpu-model": "H100",
        "node.koordinator.sh/gpu-partition-policy": "Honor",
    }
    node = node_of(KOORDINATOR, "linked", **labels)
    node["status"]["allocatable"] |= {
        f"koordinator.sh/{word}": "800"
        for word in ("gpu-core", "gpu-memory-ratio", "gpu.shared")
    }
    stage.create([node, device("linked", minors=tuple(range(8)))])
    space = "linked"
    stage.ensure(space)

    def comes(name: str, gpus: int) -> None:
        stage.create([stage.group(space, name, 1)])
        raw = asks(name, **{"koordinator.sh/gpu": 100 * gpus})
        raw["metadata"] |= {"namespace": space, "labels": {GROUP: name}}
        raw["spec"]["automountServiceAccountToken"] = False
        stage.create([raw])

    with Kubelet(stage), Scheduler(stage, folder=tmp_path) as scheduler:
        try:
            comes("pair", 2)
            eventually(lambda: len(stage.bound(space)) == 1, 40)
            for name, gpus in (("three", 3), ("four", 4), ("one", 1)):
                comes(name, gpus)
            eventually(lambda: len(stage.bound(space)) == 3, 40)
        finally:
            print(scheduler.said()[-6000:])
            pods = stage.pods(space)
            stage.empty(space)

    bound = {name: raw for name, raw in pods.items() if raw["spec"].get("nodeName")}
    assert {"pair", "four", "one"} == bound.keys()
    assert (6, 7) == minors_of(bound["pair"])
    assert (0, 1, 2, 3) == minors_of(bound["four"])
    assert minors_of(bound["one"]) in {(4,), (5,)}
