"""
Gangs handed over to KAI's binder: one pod of a group at a time, failures, late ones.
"""

import pytest

from adapters.kube.acting.devices.bind_request_binder import WITHIN
from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.errors import answer_error
from adapters.kube.gangs.kinds import BIND_REQUESTS
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from adapters.loop.memory.gangs import Memory
from models.devices.gpu_parts import GpuDevice
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.build import bind, gang, plan, snapshot
from tests.helpers.kube.kube_store import Store, pod_path
from tests.helpers.kube.manifests import node, pod

ROOT = "/apis/scheduling.run.ai/v1alpha2/namespaces/default/bindrequests"
STEPS = [
    bind(f"g-{i}", "n", uid=f"uid-g-{i}", devices=(GpuDevice(i // 2),))
    for i in range(4)
]


class Stage:
    """
    A gang of four halves on two GPUs.
    """

    def __init__(self) -> None:
        self.api, self.time = Store(), 0.0
        kinds = [PODS, NODES, BIND_REQUESTS]
        self.cache = Cache(kinds, clock=lambda: self.time)
        deeds = Deeds(self.api, self.cache, lambda: True, clock=lambda: self.time)
        store = IntentStore(self.api, ("ns", "intent"), "one")
        self.sink = ClusterSink(self.cache, deeds, store, Memory())
        self.sink.open(0.0)
        raw = node("n", 2, labels={"nvidia.com/gpu.memory": "81559"})
        self.cache.shelf(NODES).put("n", 1, node_record(raw), "1")
        for i in range(4):
            self.pod(i)

    def pod(self, i: int, **spec: str) -> None:
        said = {"gpu-fraction": "0.5"}
        raw = pod(
            f"g-{i}", gpus=0, annotations=said, meta={"uid": f"uid-g-{i}"}, **spec
        )
        self.api.put(pod_path(f"g-{i}"), raw)
        version = int(
            self.api.objects[pod_path(f"g-{i}")]["metadata"]["resourceVersion"]
        )
        shelf = self.cache.shelf(PODS)
        shelf.put(f"default/g-{i}", version, pod_record(raw), str(version))

    def whole(self, i: int) -> None:
        """
        Make a pod of the gang that asks for a whole GPU.
        """
        raw = pod(f"g-{i}", gpus=1, meta={"uid": f"uid-g-{i}"})
        self.api.put(pod_path(f"g-{i}"), raw)
        self.cache.shelf(PODS).put(f"default/g-{i}", 99, pod_record(raw), "99")

    def hear(self, **phases: str) -> None:
        """
        Let the cache hear of all requests, with what the binder said of some.
        """
        shelf = self.cache.shelf(BIND_REQUESTS)
        there = {}
        for path, raw in self.api.objects.items():
            if path.startswith(ROOT):
                name = raw["metadata"]["name"]
                phase = phases.get(name.replace("-", "_"))
                raw["status"] = {"phase": phase, "reason": "no GPU"} if phase else {}
                number = int(raw["metadata"]["resourceVersion"])
                there[f"default/{name}"] = number, dict(raw)
        shelf.replace(there, "1")

    def take(self, before: "Stage") -> None:
        """
        Take over the requests that somebody else left, as the cache heard of them.
        """
        for path, raw in before.api.objects.items():
            if path.startswith(ROOT):
                self.api.objects[path] = raw
                key = f"default/{raw['metadata']['name']}"
                self.cache.shelf(BIND_REQUESTS).put(key, 1, raw, "1")

    def begin(self) -> list[str]:
        turn = Turn(snapshot(gangs=[gang("g", minimum=4)]), plan(*STEPS), (), "r")
        self.sink.hold(turn)
        return self.results(turn)

    def results(self, turn: Turn) -> list[str]:
        self.receipts = self.sink.execute(turn.plan)
        return [receipt.result for receipt in self.receipts]

    @property
    def asked(self) -> dict[str, list[str]]:
        """
        Give the groups of all requests there are.
        """
        return {
            raw["metadata"]["name"]: raw["spec"]["selectedGPUGroups"]
            for path, raw in self.api.objects.items()
            if path.startswith(ROOT)
        }


@pytest.fixture
def stage():
    return Stage()


def test_the_first_of_each_group_is_asked_for_and_the_gang_is_held(stage):
    assert ["held"] * 4 == stage.begin()
    assert {"g-0", "g-2"} == stage.asked.keys()

    raw = stage.api.objects[f"{ROOT}/g-0"]
    assert "n" == raw["spec"]["selectedNode"]
    assert "Fraction" == raw["spec"]["receivedResourceType"]
    assert {"count": 1, "portion": "0.5"} == raw["spec"]["receivedGPU"]
    assert "uid-g-0" == raw["metadata"]["ownerReferences"][0]["uid"]


def test_the_next_of_a_group_comes_when_the_one_before_is_bound(stage):
    stage.begin()
    stage.hear()
    assert stage.sink.due() is None
    assert {"g-0", "g-2"} == stage.asked.keys()

    stage.pod(0, nodeName="n")
    assert stage.sink.due() is None
    asked = stage.asked
    assert {"g-0", "g-1", "g-2"} == asked.keys()
    assert asked["g-0"] == asked["g-1"] != asked["g-2"]


def test_the_gang_is_done_when_all_are_bound(stage):
    stage.begin()
    for i in range(4):
        stage.pod(i, nodeName="n")
        stage.hear()
    turn = stage.sink.due()

    assert ["done"] * 4 == stage.results(turn)
    assert stage.sink.due() is None


def test_a_request_that_failed_gives_the_gang_up_and_takes_back_the_others(stage):
    stage.begin()
    stage.pod(0, nodeName="n")
    stage.hear(g_2="Failed")

    assert ["done", "refused", "refused", "refused"] == stage.results(stage.sink.due())
    assert "KAI's binder failed: no GPU" == stage.receipts[1].message
    assert {"g-0"} == stage.asked.keys()


def test_a_binder_that_takes_too_long_is_not_waited_for(stage):
    stage.begin()
    stage.hear()
    stage.time = WITHIN + 1.0

    assert ["refused"] * 4 == stage.results(stage.sink.due())
    assert {} == stage.asked


def test_a_server_that_refuses_a_request_stops_the_gang(stage):
    def fault(method: str, path: str) -> None:
        if method == "POST" and path == ROOT:
            raise answer_error(f"post {path}", 403, "not yours")

    stage.api.fault = fault
    results = stage.begin()

    assert "held" not in results
    assert stage.sink.due() is None


def test_a_request_that_is_there_already_and_says_the_same_is_left(stage):
    stage.begin()
    other = Stage()
    other.take(stage)

    assert ["held"] * 4 == other.begin()
    assert other.asked == stage.asked


def test_what_a_leader_before_us_asked_for_and_failed_is_taken_back(stage):
    stage.begin()
    stage.hear(g_0="Failed")
    other = Stage()
    other.take(stage)
    other.sink.remember()

    assert {"g-2"} == other.asked.keys()


def test_old_requests_that_say_something_else_are_taken_back_at_once(stage):
    stage.begin()
    stage.pod(0, nodeName="n")
    stage.pod(2, nodeName="n")
    stage.hear()
    stage.sink.due()  # the other two of their groups are asked for as well
    other = Stage()
    other.take(stage)
    for raw in other.api.objects.values():
        if raw["metadata"]["name"] in stage.asked and "selectedNode" in raw["spec"]:
            raw["spec"]["selectedNode"] = "elsewhere"

    assert "held" not in other.begin()
    assert {} == other.asked
    other.hear()
    assert ["held"] * 4 == other.begin()


@pytest.mark.parametrize("bound", [(), (0,)])
def test_a_node_that_takes_nothing_more_ends_the_wait(stage, bound):
    stage.begin()
    for i in bound:
        stage.pod(i, nodeName="n")
    raw = node("n", 2, unschedulable=True)
    stage.cache.shelf(NODES).put("n", 9, node_record(raw), "9")
    stage.hear()

    done = len(bound)
    results = stage.results(stage.sink.due())
    assert ["done"] * done + ["again"] * (4 - done) == results
    assert {f"g-{i}" for i in bound} == stage.asked.keys()


@pytest.mark.parametrize("is_begun", [True, False])
def test_a_gang_that_needs_more_is_given_up_unless_the_binder_has_begun(
    stage, is_begun
):
    stage.begin()
    stage.hear()
    if is_begun:
        stage.pod(0, nodeName="n")
    more = gang("g", minimum=5, running=["n"] * 4)
    stage.sink.looked(snapshot(gangs=[more]), None)
    ended = stage.sink.due()

    assert is_begun is (ended is None)
    if ended is not None:
        assert ["again"] * 4 == stage.results(ended)
        assert {} == stage.asked


@pytest.mark.parametrize("fails", [True, False])
def test_what_shares_no_gpu_waits_for_its_gang_that_is_handed_over(stage, fails):
    stage.begin()
    stage.hear()
    stage.whole(4)
    step = bind("g-4", "n", uid="uid-g-4")
    turn = Turn(snapshot(gangs=[gang("g", minimum=4)]), plan(step), (), "s")
    stage.sink.hold(turn)
    grown = stage.results(turn)
    if fails:
        stage.hear(g_0="Failed")
    else:
        for i in range(4):
            stage.pod(i, nodeName="n")
    ends = [stage.results(stage.sink.due()) for _ in range(2)]

    assert ["held"] == grown
    assert [["refused" if fails else "done"] * n for n in (4, 1)] == ends
