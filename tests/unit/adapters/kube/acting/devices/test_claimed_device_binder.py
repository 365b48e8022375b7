"""
Claims of devices and leaders that die between two writes: nothing is left to nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.errors import ConflictError, ForbiddenError
from adapters.kube.dialects.notes import moment
from adapters.kube.gangs.kinds import DEVICES
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from adapters.loop.memory.gangs import Memory
from models.plan import Operation
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.build import bind, gang, plan, snapshot
from tests.helpers.kube.kube_store import Store, pod_path
from tests.helpers.kube.manifests import NOW, node, pod
from tests.helpers.rounds.devices import (
    DRIVER,
    GPU_CLASS,
    asks,
    claim,
    claiming,
    classes,
    gpu,
    node_slice,
)

NAMES = ("g-0", "g-1")
STEPS = [bind(name, "n", uid=f"uid-{name}") for name in NAMES]
EACH = {name: (name,) for name in NAMES}
WRITES = 3 * len(NAMES)
KIND = {each.kind: each for each in DEVICES}


class DeathError(BaseException):
    """
    The end of a leader, at one of its writes.
    """


class Server(Store):
    """
    Keeps the status of an object with it, and counts writes of claims and binds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.writes = self.dies_at = self.conflicts_at = 0

    def call(self, method, path, body=None, *, rule=""):
        is_mine = "resourceclaims" in path or path.endswith("/binding")
        if is_mine and method != "GET":
            self.writes += 1
            if self.writes == self.dies_at:
                raise DeathError
            if self.writes == self.conflicts_at:
                raise ConflictError(f"patch {path}", 409, "somebody else wrote")
        return super().call(method, path.removesuffix("/status"), body, rule=rule)


def claim_path(name: str) -> str:
    return f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/{name}"


def given(name, device, user):
    """
    A claim with a device that somebody else gave it.
    """
    result = {"request": "gpu", "driver": DRIVER, "pool": "n", "device": device}
    status = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": user, "uid": user}],
    }
    return {**claim(name, asks("gpu", GPU_CLASS)), "status": status}


class Cluster:
    """
    One node of three GPUs, and a gang of pods that each claim one, or ``uses``.
    """

    def __init__(self, uses: Mapping[str, tuple[str, ...]] = EACH) -> None:
        self.api = Server()
        self.slept, self.written_after = 0.0, inf
        for name in NAMES:
            raw = claim(name, asks("gpu", GPU_CLASS))
            raw["metadata"]["uid"] = f"uid-of-{name}"
            self.api.put(claim_path(name), raw)
            said = {"meta": {"uid": f"uid-{name}"}, **claiming(*uses[name])}
            self.api.put(pod_path(name), pod(name, gpus=0, **said))

    def leader(self) -> ClusterSink:
        """
        Begin to lead, with a cache that has just been read.
        """
        self.cache = Cache([PODS, NODES, *DEVICES])
        for name in ("n", "m"):
            self.cache.shelf(NODES).put(name, 1, node_record(node(name, 0)), "1")
        devices = node_slice("n", [gpu(i) for i in range(3)])
        self.cache.shelf(KIND["ResourceSlice"]).put("n", 1, devices, "1")
        for each in classes():
            name = each["metadata"]["name"]
            self.cache.shelf(KIND["DeviceClass"]).put(name, 1, each, "1")
        self.hear()
        deeds = Deeds(
            self.api,
            self.cache,
            lambda: True,
            clock=lambda: self.slept,
            sleep=self.sleep,
            now=lambda: NOW,
        )
        store = IntentStore(self.api, ("ns", "intent"), "one")
        sink = ClusterSink(self.cache, deeds, store, Memory(), threads=1)
        sink.open(0.0)
        return sink

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.hear()
        if self.slept >= self.written_after:
            raw = given("other", "gpu-0", "other-pod")
            self.cache.shelf(KIND["ResourceClaim"]).put("default/other", 0, raw, "1")
            self.cache.shelf(KIND["ResourceClaim"]).mark(self.api.version)

    def other(self, **status) -> None:
        """
        Let another scheduler have a pod with a claim on its hands.
        """
        raw = pod("other", gpus=0, **claiming("other"), schedulerName="other")
        raw["status"] = {"phase": "Pending", **status}
        raw["metadata"]["creationTimestamp"] = "2027-01-15T07:59:30Z"
        self.cache.shelf(PODS).put("default/other", 1, pod_record(raw), "1")

    def hear(self) -> None:
        for name in NAMES:
            raw = self.api.objects.get(pod_path(name))
            if raw is not None:
                version = int(raw["metadata"]["resourceVersion"])
                shelf = self.cache.shelf(PODS)
                shelf.put(f"default/{name}", version, pod_record(raw), "1")
            raw = self.api.objects[claim_path(name)]
            version = int(raw["metadata"]["resourceVersion"])
            shelf = self.cache.shelf(KIND["ResourceClaim"])
            if shelf.number(f"default/{name}") != version:
                shelf.put(f"default/{name}", version, raw, "1")
        shelf.mark(self.api.version)

    def lead(self, steps: Sequence[Operation] = STEPS) -> list[str]:
        return self.act(self.leader(), steps)

    def act(self, sink: ClusterSink, steps: Sequence[Operation] = STEPS) -> list[str]:
        left = [step for step in steps if step.pod.partition("/")[2] not in self.bound]
        turn = Turn(snapshot(gangs=[gang("g", minimum=2)]), plan(*left), (), "r")
        sink.hold(turn)
        self.receipts = sink.execute(turn.plan)
        return [receipt.result for receipt in self.receipts]

    @property
    def bound(self) -> set[str]:
        return {
            name
            for name in NAMES
            if (raw := self.api.objects.get(pod_path(name)))
            and raw["spec"].get("nodeName")
        }

    @property
    def given(self) -> dict[str, list[str]]:
        """
        Give for whom each claim with devices is reserved.
        """
        return {
            name: [each["uid"] for each in status.get("reservedFor") or ()]
            for name in NAMES
            if (status := self.api.objects[claim_path(name)].get("status", {})).get(
                "allocation"
            )
        }


ALL_GIVEN = {name: [f"uid-{name}"] for name in NAMES}


@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_who_leads_next_ends_what_a_dead_leader_began(at):
    cluster = Cluster()
    cluster.api.dies_at = at
    with pytest.raises(DeathError):
        cluster.lead()

    assert {"done"} == set(cluster.lead())
    assert set(NAMES) == cluster.bound
    assert ALL_GIVEN == cluster.given


def test_a_claim_says_when_it_got_its_devices_as_kube_scheduler_has_it():
    cluster = Cluster()
    cluster.lead()
    raws = (cluster.api.objects[claim_path(name)] for name in NAMES)
    said = {raw["status"]["allocation"]["allocationTimestamp"] for raw in raws}

    assert {moment(NOW)} == said


@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_who_leads_next_undoes_what_he_does_not_end(at):
    cluster = Cluster()
    cluster.api.dies_at = at
    with pytest.raises(DeathError):
        cluster.lead()
    cluster.leader().remember()

    assert cluster.bound == cluster.given.keys()


@pytest.mark.parametrize("at", range(1, WRITES - 1))
def test_a_conflict_in_the_middle_is_read_and_tried_again(at):
    cluster = Cluster()
    cluster.api.conflicts_at = at

    assert ["done", "done"] == cluster.lead()
    assert ALL_GIVEN == cluster.given


@pytest.mark.parametrize("at", range(1, WRITES - 1))
def test_a_claim_that_somebody_else_has_got_stops_its_gang_and_leaves_none(at):
    cluster = Cluster()
    other = {"allocation": {"devices": {"results": []}}, "reservedFor": [{"uid": "x"}]}
    taken: list[str] = []

    def somebody(_method: str, path: str) -> None:
        if cluster.api.writes == at and "resourceclaims" in path and not taken:
            raw = cluster.api.objects[path]
            if not raw.get("status", {}).get("allocation"):
                taken.append(path)
                cluster.api.put(path, {**raw, "status": other})

    cluster.api.fault = somebody
    results = cluster.lead()
    mine = {n: users for n, users in cluster.given.items() if users != ["x"]}

    if taken:
        assert "done" not in results
        assert {} == mine
    else:
        assert ALL_GIVEN == mine


@pytest.mark.parametrize("hook", ["after", "fault"])
@pytest.mark.parametrize("at", [None, *range(WRITES - 1)])
def test_what_we_give_is_no_change_and_what_others_write_meanwhile_is(at, hook):
    cluster = Cluster()
    sink = cluster.leader()
    labelled: list[str] = []

    def hear(method: str, path: str) -> None:
        if cluster.api.writes == at and "resourceclaims" in path and not labelled:
            labelled.append(path)
            raw = cluster.api.objects[path]
            meta = {**raw["metadata"], "labels": {"seen": "yes"}}
            cluster.api.put(path, {**raw, "metadata": meta})
        cluster.hear()

    setattr(cluster.api, hook, hear)
    turn = Turn(snapshot(gangs=[gang("g", minimum=2)]), plan(*STEPS), (), "r")
    sink.hold(turn)
    before = cluster.cache.revision
    assert ["done", "done"] == [one.result for one in sink.execute(turn.plan)]
    cluster.hear()

    assert bool(labelled) == (before < cluster.cache.revision)


APART = [bind(name, "n", gang=name[-1], uid=f"uid-{name}") for name in NAMES]


@pytest.mark.parametrize(
    "uses",
    [("g-1", "g-0"), ("g-0", "g-1")],
    ids=["refused first", "refused last"],
)
def test_nobody_is_bound_with_a_claim_that_another_gang_did_not_get(uses):
    cluster = Cluster({NAMES[0]: uses, NAMES[1]: ("g-0",)})

    def refuse(method: str, path: str) -> None:
        if method == "PATCH" and path == claim_path("g-1"):
            raise ForbiddenError(f"patch {path}", "not you", "")

    cluster.api.fault = refuse
    results = cluster.lead(APART)

    assert "done" != results[0]
    assert cluster.bound == ({"g-1"} if uses[0] == "g-0" else set())
    assert cluster.given == ({"g-0": ["uid-g-1"]} if cluster.bound else {})


def test_of_gangs_with_one_claim_on_two_nodes_the_first_is_bound():
    cluster = Cluster(dict.fromkeys(NAMES, ("g-0",)))
    steps = [APART[0], replace(APART[1], node="m")]

    assert ["done", "again"] == cluster.lead(steps)
    assert {"g-0": ["uid-g-0"]} == cluster.given
    assert {"g-0"} == cluster.bound


@pytest.mark.parametrize("later", [0.0, 1.0])
def test_a_device_that_another_scheduler_gave_meanwhile_is_left_to_it(later):
    cluster = Cluster()
    sink = cluster.leader()
    cluster.other()
    cluster.written_after = later

    assert ["again", "skipped"] == cluster.act(sink)
    (why,) = {one.message for one in cluster.receipts if one.result == "again"}
    assert "claim default/g-0: device gpu-0 of n" in why
    assert "was given to claim default/other, too" in why
    assert {} == cluster.given
    assert set() == cluster.bound

    cluster.hear()
    assert ["done", "done"] == cluster.act(sink)
    assert ALL_GIVEN == cluster.given


NOWHERE = {"type": "PodScheduled", "reason": "Unschedulable", "message": "no"}


@pytest.mark.parametrize(
    ("conditions", "longest"),
    [([], 2.1), ([NOWHERE], 0.1)],
    ids=["undecided", "placed nowhere"],
)
def test_another_scheduler_gets_some_time_for_what_it_is_about_to_write(
    conditions, longest
):
    cluster = Cluster()
    sink = cluster.leader()
    cluster.other(conditions=conditions)

    assert ["done", "done"] == cluster.act(sink)
    assert longest - 0.1 <= cluster.slept <= longest


def test_what_the_server_does_not_show_is_taken_back():
    cluster = Cluster()
    sink = cluster.leader()
    cluster.hear = lambda: None

    assert "done" not in cluster.act(sink)
    assert {} == cluster.given
    assert "has not shown" in str(cluster.receipts)


def test_what_a_dead_leader_wrote_and_another_scheduler_too_is_taken_back():
    cluster = Cluster()
    cluster.api.dies_at = WRITES - 1
    with pytest.raises(DeathError):
        cluster.lead()
    assert ALL_GIVEN == cluster.given
    cluster.api.dies_at = 0
    sink = cluster.leader()
    cluster.other()
    cluster.written_after = 0.0

    assert "done" not in cluster.act(sink)
    assert {} == cluster.given
    cluster.hear()
    assert ["done", "done"] == cluster.act(sink)
    assert ALL_GIVEN == cluster.given
