"""
Claims of devices and leaders that die between two writes: nothing is left to nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.errors import ConflictError, ForbiddenError
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
from tests.helpers.kube.manifests import node, pod
from tests.helpers.rounds.devices import (
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


class Cluster:
    """
    One node of three GPUs, and a gang of pods that each claim one, or ``uses``.
    """

    def __init__(self, uses: Mapping[str, tuple[str, ...]] = EACH) -> None:
        self.api = Server()
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
        raw = node("n", 0)
        self.cache.shelf(NODES).put("n", 1, node_record(raw), "1")
        devices = node_slice("n", [gpu(i) for i in range(3)])
        self.cache.shelf(KIND["ResourceSlice"]).put("n", 1, devices, "1")
        for each in classes():
            name = each["metadata"]["name"]
            self.cache.shelf(KIND["DeviceClass"]).put(name, 1, each, "1")
        self.hear()
        deeds = Deeds(self.api, self.cache, lambda: True)
        store = IntentStore(self.api, ("ns", "intent"), "one")
        sink = ClusterSink(self.cache, deeds, store, Memory(), threads=1)
        sink.open(0.0)
        return sink

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

    def lead(self, steps: Sequence[Operation] = STEPS) -> list[str]:
        sink = self.leader()
        left = [step for step in steps if step.pod.partition("/")[2] not in self.bound]
        turn = Turn(snapshot(gangs=[gang("g", minimum=2)]), plan(*left), (), "r")
        sink.hold(turn)
        return [receipt.result for receipt in sink.execute(turn.plan)]

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
