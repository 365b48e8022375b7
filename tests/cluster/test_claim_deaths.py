"""
Claims of devices on a real API server: leaders that die between two writes, conflicts.

A leader is the sink of `phalanx run`; it dies at a write by an error that nobody
catches.  Who leads next ends what was begun, or undoes it: in the end each claim has
devices exactly if a pod with a node has it.
"""

import itertools
from contextlib import contextmanager

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.connect import connect
from adapters.kube.dialects.registry import dialects
from adapters.kube.watch.source import ClusterSource
from adapters.loop.interfaces import Turn
from adapters.loop.memory.gangs import Memory
from models.policy import Policy
from solver import decide
from tests.cluster.manifests import pod
from tests.cluster.stage import GROUP, SPACE
from tests.helpers.eventually import eventually
from tests.helpers.rounds.devices import (
    API,
    GPU_CLASS,
    asks,
    claim,
    claiming,
    classes,
    node_slice,
)
from tests.helpers.rounds.devices import gpu as device

pytestmark = pytest.mark.cluster
PODS = 2
WRITES = 3 * PODS
"""
Of each claim its finalizer and its status, and the bind of its pod.
"""
_NUMBERS = itertools.count()


class Death(BaseException):
    """
    The end of a leader.
    """


class Mortal:
    """
    A transport that dies before its write of some number, or lets somebody else write.
    """

    def __init__(self, transport) -> None:
        self._transport = transport
        self.writes = 0
        self.dies_at = 0
        self.disturbed_at = 0
        self.disturb = lambda _path: None

    def call(self, method, path, body=None, *, rule=""):
        if "resourceclaims" in path or path.endswith("/binding"):
            self.writes += method != "GET"
            if method != "GET" and self.writes == self.dies_at:
                raise Death
            if method != "GET" and self.writes == self.disturbed_at:
                self.disturb(path)
        return self._transport.call(method, path, body, rule=rule)


class Leaders:
    """
    Leaders one after the other, who see one cluster.
    """

    def __init__(self, stage) -> None:
        self.admin = stage.admin
        self.source = ClusterSource(
            connect(stage.plane.kubeconfig("admin")), dialects()
        )
        self.source.start()
        assert self.source.wait(30)

    def lead(self, space: str, rounds: int = 1, **says) -> Mortal:
        """
        Lead for some rounds, about one namespace.
        """
        transport = Mortal(self.admin)
        for word, value in says.items():
            setattr(transport, word, value)
        deeds = Deeds(transport, self.source.cache, lambda: True)
        store = IntentStore(transport, (SPACE, f"deaths-{space}"[:60]), "one")
        memory = Memory()
        sink = ClusterSink(self.source.cache, deeds, store, memory, threads=1)
        sink.open(0.0)
        for _ in range(rounds):
            snapshot = memory.applied(self.source.snapshot(), 0.0)
            plan = decide(snapshot, Policy())
            sink.hold(Turn(snapshot, plan, (), "r"))
            sink.execute(plan)
            sink.remember()
        return transport


@pytest.fixture(scope="module")
def leaders(whole_stage):
    found = Leaders(whole_stage)
    yield found
    found.source.stop()


@pytest.fixture
def space(stage):
    """
    A namespace beside one node of three GPUs, on a server without other devices.
    """
    for plural in ("resourceslices", "deviceclasses"):
        for raw in stage.admin.call("GET", f"/apis/{API}/{plural}")["items"]:
            stage.delete(f"/apis/{API}/{plural}/{raw['metadata']['name']}")
    for raw in stage.admin.call("GET", f"/apis/{API}/resourceclaims")["items"]:
        meta = raw["metadata"]
        with_nothing(stage, meta["namespace"], meta["name"], raw)
    stage.clear()
    (name,) = stage.nodes(1)
    stage.create([*classes(), node_slice(name, [device(i) for i in range(3)])])
    space = f"deaths-{next(_NUMBERS)}"
    stage.ensure(space)
    yield space
    stage.empty(space)
    for key, raw in claims(stage, space).items():
        with_nothing(stage, space, key, raw)


def with_nothing(stage, space: str, name: str, raw: dict) -> None:
    at = f"/apis/{API}/namespaces/{space}/resourceclaims/{name}"
    if raw.get("status", {}).get("allocation"):
        none = {"status": {"allocation": None, "reservedFor": None}}
        stage.admin.call("PATCH", f"{at}/status", none)
    stage.admin.call("PATCH", at, {"metadata": {"finalizers": None}})
    stage.delete(at)


def claims(stage, space: str) -> dict[str, dict]:
    listed = stage.admin.call("GET", f"/apis/{API}/namespaces/{space}/resourceclaims")
    return {raw["metadata"]["name"]: raw for raw in listed["items"]}


def gang(stage, space: str, leaders: Leaders) -> None:
    """
    Create a gang of pods that each claim a GPU, and wait until a round starts it.
    """
    names = [f"g-{at}" for at in range(PODS)]
    stage.create(claim(name, asks("gpu", GPU_CLASS), space=space) for name in names)
    stage.create([stage.group(space, "g", PODS)])
    stage.create(
        pod(space, name, gpus=0, labels={GROUP: "g"}, **claiming(name))
        for name in names
    )
    eventually(lambda: is_heard(stage, space, leaders) and starts(leaders))


def starts(leaders: Leaders) -> bool:
    """
    Tell whether all that the gang needs is heard of: its group, the node, the devices.
    """
    return bool(decide(leaders.source.snapshot(), Policy()).operations)


def is_heard(stage, space: str, leaders: Leaders) -> bool:
    """
    Tell whether the cache shows pods and claims as the server has them.
    """
    cache = leaders.source.cache
    shown = {
        pod.name: pod.node
        for pod in cache.pods_that(lambda pod: pod.namespace == space)
        if pod.key not in cache._assumed
    }
    there = {
        name: raw["spec"].get("nodeName") for name, raw in stage.pods(space).items()
    }
    (resource,) = (
        each.resource
        for each in leaders.source.reflectors
        if each.resource.kind == "ResourceClaim"
    )
    held = {
        key: raw["metadata"]["resourceVersion"]
        for key, raw in cache.shelf(resource).records.items()
        if key.startswith(f"{space}/")
    }
    versions = {
        f"{space}/{name}": raw["metadata"]["resourceVersion"]
        for name, raw in claims(stage, space).items()
    }
    return shown == there and held == versions


def forget(stage, space: str, leaders: Leaders) -> None:
    """
    Let what a dead leader assumed be over, as it is for who was not there.
    """
    for name in stage.pods(space):
        leaders.source.cache.forget(f"{space}/{name}")
    eventually(lambda: is_heard(stage, space, leaders))


def holders(stage, space: str) -> dict[str, bool]:
    """
    Say of each claim with devices whether a pod with a node has it.
    """
    bound = {
        raw["metadata"]["uid"]
        for raw in stage.pods(space).values()
        if raw["spec"].get("nodeName")
    }
    return {
        name: any(each["uid"] in bound for each in raw["status"]["reservedFor"])
        for name, raw in claims(stage, space).items()
        if raw.get("status", {}).get("allocation")
    }


@contextmanager
def dying():
    with pytest.raises(Death):
        yield


@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_who_leads_next_ends_what_a_dead_leader_began(stage, space, leaders, at):
    gang(stage, space, leaders)
    with dying():
        leaders.lead(space, dies_at=at)
    forget(stage, space, leaders)
    leaders.lead(space, rounds=1)

    assert len(stage.bound(space)) == PODS
    assert {"g-0": True, "g-1": True} == holders(stage, space)


@pytest.mark.parametrize("at", range(1, WRITES - 1))
def test_who_leads_next_undoes_what_cannot_be_ended(stage, space, leaders, at):
    gang(stage, space, leaders)
    with dying():
        leaders.lead(space, dies_at=at)
    gone = max(stage.pods(space))  # whose claim the controller of claims takes back
    if not stage.bound(space):
        stage.delete(f"/api/v1/namespaces/{space}/pods/{gone}")
    forget(stage, space, leaders)
    leaders.lead(space, rounds=1)

    assert all(holders(stage, space).values())


@pytest.mark.parametrize("at", range(1, WRITES - 1))
def test_a_conflict_in_the_middle_leaves_no_claim_to_nobody(stage, space, leaders, at):
    def disturb(path: str) -> None:
        own = path.removesuffix("/status")
        if "resourceclaims" in own:
            body = {"metadata": {"annotations": {"somebody": "else"}}}
            stage.admin.call("PATCH", own, body)

    gang(stage, space, leaders)
    found = leaders.lead(space, disturbed_at=at, disturb=disturb)

    assert found.writes > WRITES
    assert len(stage.bound(space)) == PODS
    assert {"g-0": True, "g-1": True} == holders(stage, space)


@pytest.mark.parametrize("at", range(1, WRITES - 1))
def test_a_claim_that_somebody_else_takes_meanwhile_stops_its_gang(
    stage, space, leaders, at
):
    taken: list[str] = []

    def disturb(path: str) -> None:
        own = path.removesuffix("/status")
        (name,) = (n for n in claims(stage, space) if own.endswith(n))
        other = {"request": "gpu", "driver": "gpu.nvidia.com", "pool": "gpu-0"}
        given = {"devices": {"results": [other | {"device": "gpu-2"}]}}
        user = {"resource": "pods", "name": "somebody", "uid": "else"}
        body = {"status": {"allocation": given, "reservedFor": [user]}}
        try:
            stage.admin.call("PATCH", f"{own}/status", body)
            taken.append(name)
        except Exception:  # noqa: BLE001 - it has devices already
            return

    gang(stage, space, leaders)
    leaders.lead(space, disturbed_at=at, disturb=disturb)

    mine = holders(stage, space)
    assert all(had for name, had in mine.items() if name not in taken)
    if taken:
        assert {} == stage.bound(space)
