"""
Binds of pods that get parts of GPUs: what is written with them, and whose turn it is.
"""

import json

import pytest

from adapters.kube.acting.devices.node_lock import LOCK
from adapters.kube.acting.operations import Deeds
from adapters.kube.api.errors import UnreachableError
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.parts.node_devices import DEVICES
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from models.devices.gpu_parts import GpuDevice
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.build import bind
from tests.helpers.kube.kube_store import Store, pod_path
from tests.helpers.kube.manifests import GPU
from tests.helpers.rounds.shared_gpus import HALF, asks, device, given, node_of

NOW = 1_800_000_000.25
NODE = "/api/v1/nodes/n"


class Stage:
    """
    One node of a contract, and pods that ask for half of its GPUs.
    """

    def __init__(self, contract):
        self.contract, self.time, self.api = contract, 0.0, Store()
        self.cache = Cache([PODS, NODES, DEVICES], clock=lambda: self.time)
        node = node_of(contract)
        self.api.put(NODE, node)
        self.cache.shelf(NODES).put("n", 1, node_record(node), "1")
        if contract == "koordinator":
            self.cache.shelf(DEVICES).put("n", 1, device(), "1")
        self.deeds = Deeds(
            self.api,
            self.cache,
            lambda: True,
            clock=lambda: self.time,
            sleep=self.pause,
        )
        self.deeds.devices.now = lambda: NOW

    def pause(self, seconds):
        self.time += seconds

    def pod(self, name, *containers, said=None, on=None, uid="", **limits):
        raw = asks(name, *containers, said=said, on=on, **(limits or self.half))
        raw["metadata"]["uid"] = uid or raw["metadata"]["uid"]
        self.api.put(pod_path(name), raw)
        self.cache.shelf(PODS).put(f"default/{name}", 1, pod_record(raw), "1")

    @property
    def half(self):
        return HALF[self.contract]

    def bound(self, name, *numbers):
        step = bind(
            name, "n", uid=f"uid-{name}", devices=tuple(map(GpuDevice, numbers))
        )
        return self.deeds.bind(step)

    def told(self, name):
        """
        Give the annotations of the Binding of a pod.
        """
        path = f"{pod_path(name)}/binding"
        (body,) = [body for _, asked, body in self.api.calls if asked == path]
        return body["metadata"].get("annotations")

    def lock(self):
        return self.api.objects[NODE]["metadata"].get("annotations", {}).get(LOCK)


@pytest.mark.parametrize("contract", HALF)
def test_the_binding_carries_what_the_contract_wants(contract):
    stage = Stage(contract)
    stage.pod("p")

    assert "done" == stage.bound("p", 1).result
    told = stage.told("p")
    second = given(contract, 1)
    match contract:
        case "koordinator":
            (entry,) = json.loads(told.pop(next(iter(second))))["gpu"]
            assert {
                "minor": 1,
                "id": "GPU-1",
                "resources": {
                    "koordinator.sh/gpu-core": "50",
                    "koordinator.sh/gpu-memory": str(40 * 2**30),
                    "koordinator.sh/gpu-memory-ratio": "50",
                },
            } == entry
            times = {"scheduling.koordinator.sh/bind-timestamp": str(int(NOW * 10**9))}
            assert times == told
        case "gpushare":
            assert {
                "ALIYUN_COM_GPU_MEM_IDX": "1",
                "ALIYUN_COM_GPU_MEM_POD": "40",
                "ALIYUN_COM_GPU_MEM_DEV": "80",
                "ALIYUN_COM_GPU_MEM_ASSUME_TIME": str(int(NOW * 10**9)),
                "ALIYUN_COM_GPU_MEM_ASSIGNED": "false",
            } == told
        case "vgpu":
            cards = "GPU-aa-1,NVIDIA,40960,0:"
            assert {
                "volcano.sh/vgpu-node": "n",
                "volcano.sh/vgpu-time": "1800000000",
                "volcano.sh/vgpu-ids-new": cards,
                "volcano.sh/devices-to-allocate": cards,
                "volcano.sh/bind-phase": "allocating",
                "volcano.sh/bind-time": "1800000000",
            } == told
        case "hami":
            assert {
                "hami.io/vgpu-node": "n",
                "hami.io/vgpu-time": "1800000000",
                "hami.io/vgpu-devices-to-allocate": "GPU-aa-1,NVIDIA,40960,50:;",
                "hami.io/vgpu-devices-allocated": "GPU-aa-1,NVIDIA,40960,50:;",
                "hami.io/bind-phase": "allocating",
                "hami.io/bind-time": "1800000000",
            } == told


def test_hami_reads_devices_by_the_place_of_their_container():
    stage = Stage("hami")
    stage.pod("p", {"cpu": 1}, stage.half)
    stage.bound("p", 0)

    said = stage.told("p")["hami.io/vgpu-devices-allocated"]
    assert ";GPU-aa-0,NVIDIA,40960,50:;" == said


def test_a_whole_gpu_of_hami_is_named_for_each_container():
    stage = Stage("hami")
    stage.pod("half", said=given("hami", 1), on="n")
    stage.pod("p", {"cpu": 1}, {GPU: 1})
    step = bind("p", "n", uid="uid-p")
    stage.deeds.devices.whole.turn([step])

    assert "done" == stage.deeds.bind(step).result
    told = stage.told("p")
    assert ";GPU-aa-0,NVIDIA,81920,0:;" == told["hami.io/vgpu-devices-allocated"]
    assert "allocating" == told["hami.io/bind-phase"]
    assert "2027-01-15T08:00:00Z,default,p" == stage.lock()


def test_whole_gpus_of_koordinator_are_those_that_the_plan_leaves():
    stage = Stage("koordinator")
    stage.pod("half")
    stage.pod("p", **{GPU: 1})
    steps = [
        bind("half", "n", uid="uid-half", devices=(GpuDevice(1),)),
        bind("p", "n", uid="uid-p"),
    ]
    stage.deeds.devices.whole.turn(steps)

    assert ["done"] * 2 == [stage.deeds.bind(step).result for step in steps]
    said = stage.told("p")["scheduling.koordinator.sh/device-allocated"]
    (entry,) = json.loads(said)["gpu"]
    assert 0 == entry["minor"]
    assert {
        "koordinator.sh/gpu-core": "100",
        "koordinator.sh/gpu-memory": str(80 * 2**30),
        "koordinator.sh/gpu-memory-ratio": "100",
    } == entry["resources"]


@pytest.mark.parametrize("contract", ["gpushare", "vgpu"])
def test_who_takes_no_names_of_whole_gpus_is_told_none(contract):
    stage = Stage(contract)
    stage.pod("p", **{GPU: 1})
    step = bind("p", "n", uid="uid-p")
    stage.deeds.devices.whole.turn([step])

    assert "done" == stage.deeds.bind(step).result
    assert stage.told("p") is None


def test_whole_gpus_are_not_named_where_nobody_knows_who_has_what():
    stage = Stage("koordinator")
    stage.pod("lost", on="n")
    stage.pod("p", **{GPU: 1})
    step = bind("p", "n", uid="uid-p")
    stage.deeds.devices.whole.turn([step])

    assert "done" == stage.deeds.bind(step).result
    assert stage.told("p") is None


def linked_stage(policy):
    """
    A node of eight H100, whose GPUs are linked in pairs and fours.
    """
    stage = Stage("koordinator")
    raw = node_of("koordinator")
    raw["metadata"]["labels"] |= {
        "node.koordinator.sh/gpu-model": "H100",
        "node.koordinator.sh/gpu-partition-policy": policy,
    }
    stage.cache.shelf(NODES).put("n", 2, node_record(raw), "2")
    stage.cache.shelf(DEVICES).put("n", 2, device(minors=tuple(range(8))), "2")
    return stage


def minors_of(stage, name):
    said = stage.told(name)["scheduling.koordinator.sh/device-allocated"]
    return [entry["minor"] for entry in json.loads(said)["gpu"]]


@pytest.mark.parametrize("policy", ["Honor", "Prefer"])
def test_whole_gpus_of_koordinator_are_linked_ones_and_largest_sets_come_first(policy):
    stage = linked_stage(policy)
    stage.pod("there", said=given("koordinator", 1), on="n")
    stage.pod("pair", **{GPU: 2})
    stage.pod("four", **{"koordinator.sh/gpu": 400})
    steps = [
        bind("pair", "n", uid="uid-pair"),
        bind("four", "n", uid="uid-four", devices=tuple(map(GpuDevice, (2, 3, 4, 5)))),
    ]
    stage.deeds.devices.whole.turn(steps)

    assert ["done"] * 2 == [stage.deeds.bind(step).result for step in steps]
    assert [2, 3] == minors_of(stage, "pair")
    assert [4, 5, 6, 7] == minors_of(stage, "four"), "those of the plan are not linked"


@pytest.mark.parametrize(("policy", "result"), [("Honor", "again"), ("Prefer", "done")])
def test_gpus_that_are_not_linked_are_given_only_where_they_may_be(policy, result):
    stage = linked_stage(policy)
    stage.pod("three", **{GPU: 3})
    step = bind("three", "n", uid="uid-three")
    stage.deeds.devices.whole.turn([step])
    receipt = stage.deeds.bind(step)

    assert result == receipt.result
    if result == "done":
        assert [5, 6, 7] == minors_of(stage, "three")
    else:
        assert "node n has no free GPUs that are linked" in receipt.message


def test_who_still_waits_keeps_the_names_that_were_chosen():
    stage = Stage("koordinator")
    for name in ("p", "q"):
        stage.pod(name, **{GPU: 1})
    first, second = (bind(name, "n", uid=f"uid-{name}") for name in ("p", "q"))
    stage.deeds.devices.whole.turn([first])
    notes = stage.deeds.devices.notes_now(first)
    stage.cache.assume("default/p", "uid-p", "n", notes=notes)
    stage.deeds.devices.whole.turn([second])

    both = [stage.deeds.devices.whole.of(step) for step in (first, second)]
    assert [(1,), (0,)] == both


def test_a_pod_without_parts_is_told_nothing():
    stage = Stage("gpushare")
    stage.pod("p", {"cpu": 1})

    assert "done" == stage.bound("p").result
    assert stage.told("p") is None


def test_gpushare_takes_one_pod_of_an_amount_after_the_other():
    stage = Stage("gpushare")
    waiting = given("gpushare", 0) | {"ALIYUN_COM_GPU_MEM_ASSIGNED": "false"}
    stage.pod("first", said=waiting, on="n")
    stage.pod("second")
    stage.pod("other", **{"aliyun.com/gpu-mem": 30})

    refused = stage.bound("second", 1)
    assert "again" == refused.result
    assert "pod default/first waits there for the same amount" in refused.message
    assert "done" == stage.bound("other", 1).result
    seen = waiting | {"ALIYUN_COM_GPU_MEM_ASSIGNED": "true"}
    stage.pod("first", said=seen, on="n")
    assert "done" == stage.bound("second", 1).result


def test_vgpu_takes_one_pod_after_the_other():
    stage = Stage("vgpu")
    stage.pod("first", said={"volcano.sh/bind-phase": "allocating"}, on="n")
    stage.pod("second")

    assert "still being given its GPU" in stage.bound("second", 1).message
    stage.pod("first", said={"volcano.sh/bind-phase": "success"}, on="n")
    assert "done" == stage.bound("second", 1).result


def test_who_was_bound_a_moment_ago_and_is_not_shown_yet_has_its_turn():
    stage = Stage("vgpu")
    stage.pod("first")
    stage.pod("second")

    assert "done" == stage.bound("first", 0).result
    assert "pod default/first is being bound" in stage.bound("second", 1).message


@pytest.mark.parametrize("contract", sorted(HALF))
def test_who_was_bound_and_is_made_anew_keeps_nobody_waiting(contract):
    stage = Stage(contract)
    stage.pod("p")
    first = stage.bound("p", 0)
    stage.pod("p", uid="another")  # evicted, and made anew by its owner
    stage.pod("q")
    stage.api.objects[NODE]["metadata"]["annotations"] = {}  # its plugin has seen p

    assert ["done", "done"] == [first.result, stage.bound("q", 1).result]


def test_a_server_that_is_away_while_a_node_is_locked_refuses_nobody():
    stage = Stage("hami")
    stage.pod("p")

    def fault(method, path):
        if path == NODE:
            raise UnreachableError(f"{method} {path}", "the line is dead")

    stage.api.fault = fault
    receipt = stage.bound("p", 0)

    assert "again" == receipt.result
    assert "the line is dead" in receipt.message


def test_a_node_of_hami_is_locked_around_the_bind():
    stage = Stage("hami")
    stage.pod("p")
    stage.bound("p", 0)

    assert "2027-01-15T08:00:00Z,default,p" == stage.lock()
    methods = [(method, path) for method, path, _ in stage.api.calls]
    patched = methods.index(("PATCH", NODE))
    assert patched < methods.index(("POST", f"{pod_path('p')}/binding"))


@pytest.mark.parametrize(
    ("lock", "result"),
    [
        ("2027-01-15T07:59:00Z,default,other", "again"),
        ("2027-01-15T07:59:00Z", "again"),
        ("2027-01-15T07:50:00Z,default,other", "done"),
        ("2027-01-15T07:59:00Z,default,p", "done"),
        ("2027-01-15T07:59:00Z,default,left", "done"),
        ("rubbish", "again"),
    ],
)
def test_a_lock_is_waited_for_unless_its_owner_is_gone(lock, result):
    stage = Stage("hami")
    stage.pod("p")
    stage.pod("left")  # killed between its lock and its bind
    stage.api.objects[NODE]["metadata"]["annotations"] = {LOCK: lock}

    assert result == stage.bound("p", 0).result


def test_a_lock_is_given_back_where_the_pod_is_not_bound():
    stage = Stage("hami")
    stage.pod("p")
    del stage.api.objects[pod_path("p")]

    assert "refused" == stage.bound("p", 0).result
    assert stage.lock() is None


def test_a_node_that_no_longer_says_its_gpus_gets_nothing():
    stage = Stage("gpushare")
    stage.pod("p")
    plain = {"metadata": {"name": "n"}}
    stage.cache.shelf(NODES).put("n", 2, node_record(plain), "2")

    receipt = stage.bound("p", 0)
    assert "again" == receipt.result
    assert "nobody knows the GPUs of node n any more" in receipt.message


def test_a_pod_that_is_gone_is_said_to_be():
    stage = Stage("koordinator")
    stage.pod("p")
    stage.cache.shelf(PODS).drop("default/p", "9")

    assert "pod default/p is gone" == stage.bound("p", 0).message


def test_a_pod_that_is_taken_for_bound_has_its_devices():
    stage = Stage("gpushare")
    stage.pod("p")
    step = bind("p", "n", uid="uid-p", devices=(GpuDevice(1),))
    notes = stage.deeds.devices.notes_now(step)
    stage.cache.assume("default/p", "uid-p", "n", notes=notes)

    (shown,) = stage.cache.view([]).pods
    assert "1" == shown.annotations["ALIYUN_COM_GPU_MEM_IDX"]
    assert shown.shared is not None
