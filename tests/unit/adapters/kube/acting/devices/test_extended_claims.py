"""
Extended resources by class: claims are made, told and taken back, whoever dies between.
"""

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.errors import ConflictError
from adapters.kube.gangs.kinds import DEVICES
from adapters.kube.objects.extended_asks import EXTENDED
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from adapters.loop.memory.gangs import Memory
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.build import bind, gang, plan, snapshot
from tests.helpers.kube.kube_store import Store, pod_path
from tests.helpers.kube.manifests import node, pod
from tests.helpers.rounds.devices import GPU_CLASS, device_class, gpu, node_slice

GPUS = "example.com/gpu"
NAMES = ("g-0", "g-1")
STEPS = [bind(name, "n", uid=f"uid-{name}") for name in NAMES]
WRITES = 4 * len(NAMES)
"""
Of each pod its claim made and given devices, what it is told of that, and its bind.
"""
KIND = {each.kind: each for each in DEVICES}
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/"


class DeathError(BaseException):
    """
    The end of a leader, at one of its writes.
    """


class Server(Store):
    """
    Keeps the status of an object with it, and counts writes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.writes = self.dies_at = self.conflicts_at = 0
        self.made = 0

    def call(self, method, path, body=None, *, rule=""):
        is_mine = "resourceclaims" in path or "/pods/" in path
        if is_mine and method != "GET":
            self.writes += 1
            if self.writes == self.dies_at:
                raise DeathError
            if self.writes == self.conflicts_at:
                raise ConflictError(f"patch {path}", 409, "somebody else wrote")
        return super().call(method, path.removesuffix("/status"), body, rule=rule)

    def _post(self, path, body):
        answer = super()._post(path, body)
        if path.endswith("resourceclaims"):
            self.made += 1
            answer["metadata"]["uid"] = f"uid-of-claim-{self.made}"
        return answer


class Cluster:
    """
    One node of three GPUs, and a gang of pods that each ask for one.
    """

    def __init__(self) -> None:
        self.api = Server()
        self.offered: dict[str, str] = {}
        for name in NAMES:
            meta = {"uid": f"uid-{name}"}
            raw = pod(name, gpus=0, meta=meta)
            raw["spec"]["containers"][0]["resources"] = {"requests": {GPUS: "1"}}
            self.api.put(pod_path(name), raw)

    def leader(self) -> ClusterSink:
        """
        Begin to lead, with a cache that has just been read.
        """
        cache = Cache([PODS, NODES, *DEVICES])
        raw = node("n", 0)
        raw["status"]["allocatable"] |= self.offered
        cache.shelf(NODES).put("n", 1, node_record(raw), "1")
        devices = node_slice("n", [gpu(i) for i in range(3)])
        cache.shelf(KIND["ResourceSlice"]).put("n", 1, devices, "1")
        by_type = "device.attributes['gpu.nvidia.com'].type == 'gpu'"
        mine = device_class(GPU_CLASS, by_type, extendedResourceName=GPUS)
        cache.shelf(KIND["DeviceClass"]).put(GPU_CLASS, 1, mine, "1")
        self.cache = cache
        self.hear()
        deeds = Deeds(self.api, cache, lambda: True, sleep=lambda _: self.hear())
        store = IntentStore(self.api, ("ns", "intent"), "one")
        sink = ClusterSink(cache, deeds, store, Memory(), threads=1)
        sink.open(0.0)
        return sink

    def hear(self) -> None:
        """
        Read the pods and claims that there are now.
        """
        cache = self.cache
        for path, raw in self.api.objects.items():
            version = raw["metadata"]["resourceVersion"]
            key = f"default/{raw['metadata'].get('name')}"
            if "/pods/" in path:
                cache.shelf(PODS).put(key, int(version), pod_record(raw), version)
            elif "resourceclaims" in path:
                shelf = cache.shelf(KIND["ResourceClaim"])
                shelf.put(key, int(version), raw, version)
        cache.shelf(KIND["ResourceClaim"]).mark(self.api.version)

    def lead(self) -> list[str]:
        sink = self.leader()
        left = [step for step in STEPS if step.pod.partition("/")[2] not in self.bound]
        turn = Turn(snapshot(gangs=[gang("g", minimum=2)]), plan(*left), (), "r")
        sink.hold(turn)
        return [receipt.result for receipt in sink.execute(turn.plan)]

    @property
    def bound(self) -> set[str]:
        pods = {name: self.api.objects[pod_path(name)] for name in NAMES}
        return {name for name, raw in pods.items() if raw["spec"].get("nodeName")}

    @property
    def claims(self) -> dict[str, dict]:
        """
        Give the claims that were made, by their pods.
        """
        found = {p: raw for p, raw in self.api.objects.items() if p.startswith(CLAIMS)}
        return {
            raw["metadata"]["ownerReferences"][0]["name"]: raw for raw in found.values()
        }

    def check(self) -> None:
        """
        See that each bound pod has a device of its own, and was told of its claim.
        """
        claims = self.claims
        assert self.bound == claims.keys()
        assert len(claims) == len([p for p in self.api.objects if p.startswith(CLAIMS)])
        had = []
        for name, raw in claims.items():
            (result,) = raw["status"]["allocation"]["devices"]["results"]
            had.append(result["device"])
            assert [f"uid-{name}"] == [u["uid"] for u in raw["status"]["reservedFor"]]
            assert {EXTENDED: "true"} == raw["metadata"]["annotations"]
            told = self.api.objects[pod_path(name)]["status"]
            assert {
                "resourceClaimName": raw["metadata"]["name"],
                "requestMappings": [
                    {
                        "containerName": "main",
                        "resourceName": GPUS,
                        "requestName": result["request"],
                    }
                ],
            } == told["extendedResourceClaimStatus"]
        assert len(had) == len(set(had))


def test_a_claim_is_made_given_devices_and_told_before_the_bind():
    cluster = Cluster()

    assert ["done", "done"] == cluster.lead()
    assert set(NAMES) == cluster.bound
    assert cluster.api.writes == WRITES
    cluster.check()


@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_who_leads_next_ends_what_a_dead_leader_began(at):
    cluster = Cluster()
    cluster.api.dies_at = at
    with pytest.raises(DeathError):
        cluster.lead()

    assert {"done"} == set(cluster.lead())
    assert set(NAMES) == cluster.bound
    cluster.check()


@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_who_leads_next_undoes_what_he_does_not_end(at):
    cluster = Cluster()
    cluster.api.dies_at = at
    with pytest.raises(DeathError):
        cluster.lead()
    cluster.leader().remember()

    cluster.check()


@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_a_conflict_in_the_middle_leaves_no_devices_to_nobody(at):
    cluster = Cluster()
    cluster.api.conflicts_at = at
    cluster.lead()
    cluster.leader().remember()

    cluster.check()


def test_a_pod_that_is_gone_gets_no_claim_of_its_successor():
    cluster = Cluster()
    raw = cluster.api.objects[pod_path("g-0")]
    sink = cluster.leader()
    raw["metadata"]["uid"] = "another"
    turn = Turn(snapshot(gangs=[gang("g", minimum=2)]), plan(*STEPS), (), "r")
    sink.hold(turn)
    results = [receipt.result for receipt in sink.execute(turn.plan)]
    cluster.leader().remember()

    assert "done" not in results[:1]
    assert "g-0" not in cluster.claims


def test_a_pod_on_a_node_that_offers_the_resource_itself_needs_no_claim():
    cluster = Cluster()
    cluster.offered = {GPUS: "8"}

    assert ["done", "done"] == cluster.lead()
    assert set(NAMES) == cluster.bound
    assert {} == cluster.claims
