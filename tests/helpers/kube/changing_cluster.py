"""
A cluster in which something happens again and again, held as a cache holds it.

Objects stay the very same until something of them changes.
"""

from copy import deepcopy
from random import Random

from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import Reducer
from tests.helpers.kube.manifests import NOW, node, obj, pod
from tests.helpers.kube.mutations import mutated

WIDE = {"Node", "Queue", "Topology", "PriorityClass", "PersistentVolume"}
NODES = ("apart-1", "apart-2", "apart-3")
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"app": "a"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}
REPELS = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"app": "a"}},
                "namespaces": ["team-b"],
                "topologyKey": "zone",
            }
        ]
    }
}
STARTED = "2027-01-15T07:00:00Z"
BORN = {"creationTimestamp": "2027-01-15T06:00:00Z"}


def extras():
    """
    Give what few scenarios have: pods of others, budgets, quotas, hosts of one's own.
    """
    running = {"phase": "Running", "startTime": STARTED}
    yield from (node(name, 8) for name in NODES)
    for at, name in enumerate(NODES):
        for space in ("team-a", "team-b"):
            yield pod(
                f"{space}-{at}",
                namespace=space,
                labels={"app": "a"},
                nodeName=name,
                status=running,
                meta=BORN,
            )
    yield pod("keeper", namespace="team-a", labels={"app": "a"}, affinity=APART)
    yield pod("far", namespace="team-a", affinity=REPELS, nodeName="apart-2")
    for at in range(3):
        yield pod(f"near-{at}", namespace="team-b", labels={"app": "a"}, meta=BORN)
    yield pod("daemon", namespace="kube-system", schedulerName="other", nodeName="n")
    yield pod("late", namespace="team-b", meta=BORN, status=running, nodeName="apart-1")
    yield obj(
        "policy/v1",
        "PodDisruptionBudget",
        "few",
        "team-a",
        spec={"maxUnavailable": 1, "selector": {"matchLabels": {"app": "a"}}},
    )
    mounts = [{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]
    for at in range(2):
        yield pod(f"mounts-{at}", namespace="team-a", volumes=mounts, meta=BORN)
    bound = {"phase": "Bound"}
    spec = {"volumeName": "pv", "accessModes": ["ReadWriteOncePod"]}
    yield obj("v1", "PersistentVolumeClaim", "disk", "team-a", spec=spec, status=bound)
    where = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["apart-1"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [where]}]}
    yield obj(
        "v1", "PersistentVolume", "pv", spec={"nodeAffinity": {"required": terms}}
    )
    for space in ("team-a", "team-b"):
        yield obj(
            "scheduling.x-k8s.io/v1alpha1",
            "ElasticQuota",
            "quota",
            space,
            spec={"min": {"nvidia.com/gpu": "8"}, "max": {"nvidia.com/gpu": "16"}},
        )


def moved(raw, space):
    """
    Give a copy of an object in another namespace, if it is in one.
    """
    if raw["kind"] in {
        "Node",
        "Queue",
        "Topology",
        "PriorityClass",
        "PersistentVolume",
    }:
        return raw
    copy = deepcopy(raw)
    copy["metadata"]["namespace"] = space
    return copy


def _named(raw, key):
    """
    Give an object the name by which a server knows it, whatever else is odd.
    """
    meta = raw.get("metadata")
    if isinstance(meta, dict):
        meta["name"] = key[2]
        if key[1]:
            meta["namespace"] = key[1]
        else:
            meta.pop("namespace", None)
    return raw


class ChangingCluster:
    """
    Some objects, of which one changes at each step; ``now`` is the time.

    What became odd has another version: 1 and true are equal, and a server tells them
    apart so.
    """

    def __init__(self, raws: list[dict], chance: Random) -> None:
        self.now = NOW
        self._chance = chance
        self._reducer = Reducer()
        self._version = 0
        self._first: dict[tuple[str, str, str], dict] = {}
        self._held: dict[tuple[str, str, str], dict] = {}
        self._read: dict[tuple[str, str, str], object] = {}
        self._extra = len(list(extras()))
        for raw in [*extras(), *raws, *(moved(raw, "copy") for raw in raws)]:
            meta = raw["metadata"]
            key = raw["kind"], meta.get("namespace", ""), meta["name"]
            if key not in self._first:
                self._first[key] = raw
                self._put(key, raw)

    def step(self) -> str:
        """
        Let something happen, and say what.
        """
        chance = self._chance
        known = list(self._first)
        key = chance.choice(known[: self._extra] if chance.random() < 0.4 else known)
        what = chance.choice(("drop", "drop", "back", "back", "odd", "new", "time"))
        if what == "drop":
            self._held.pop(key, None)
            self._read.pop(key, None)
        elif what == "time":
            self.now += chance.choice((0.3, 1, 5, 60, 4000))
        elif what == "odd":
            raw = _named(mutated(self._first[key], chance), key)
            self._version += 1
            if isinstance(raw.get("metadata"), dict):
                raw["metadata"]["resourceVersion"] = f"{self._version}"
            self._put(key, raw)
        elif what == "new" and key[0] == "Pod":
            self._put(key, self._pod_changed(key))
        else:
            self._put(key, deepcopy(self._first[key]))
        return f"{what} {key}"

    def _pod_changed(self, key: tuple[str, str, str]) -> dict:
        """
        Give a pod that was bound, ended, leaves, or says another thing.
        """
        chance, raw = self._chance, deepcopy(self._first[key])
        spec, meta = raw["spec"], raw["metadata"]
        match chance.choice(("bound", "bound", "ends", "leaves", "label", "other")):
            case "bound":
                spec["nodeName"] = chance.choice(NODES)
                raw["status"] = {"phase": "Running", "startTime": STARTED}
                meta["creationTimestamp"] = BORN["creationTimestamp"]
            case "ends":
                raw["status"] = {"phase": chance.choice(("Succeeded", "Failed"))}
            case "leaves":
                spec["nodeName"] = chance.choice(NODES)
                raw["status"] = {"phase": "Running"}
                meta["deletionTimestamp"] = "2027-01-15T08:00:30Z"
            case "label":
                meta.setdefault("labels", {})["app"] = chance.choice("ab")
            case "other":
                spec["schedulerName"] = chance.choice(("other", "phalanx"))
        return raw

    def _put(self, key: tuple[str, str, str], raw: dict) -> None:
        kind = key[0]
        try:
            record = (
                self._reducer.pod(raw)
                if kind == "Pod"
                else node_record(raw)
                if kind == "Node"
                else raw
            )
        except FieldError:
            return  # it stays as it was
        self._held[key], self._read[key] = raw, record

    @property
    def seen(self) -> tuple[list, list, Objects]:
        """
        Give the pods, the nodes, and the objects of all other kinds.
        """
        by_kind: dict[tuple[str, str], list] = {}
        for (kind, _, _), raw in self._held.items():
            if kind not in {"Pod", "Node"}:
                group = str(raw.get("apiVersion", "")).rpartition("/")[0]
                by_kind.setdefault((group, kind), []).append(raw)
        return (
            [read for key, read in self._read.items() if key[0] == "Pod"],
            [read for key, read in self._read.items() if key[0] == "Node"],
            Objects(by_kind={kind: tuple(raws) for kind, raws in by_kind.items()}),
        )
