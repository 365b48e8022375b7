"""
Raw objects with defaults; a test names only what it is about.
"""

from adapters.kube.dialects.protocol import Claim, Membership, Objects, Part
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of

NOW = 1_800_000_000.0
GPU = "nvidia.com/gpu"


def pod(name="p-0", *, gpus=1, namespace="default", **fields):
    """
    ``labels``, ``annotations``, ``owner``, ``meta``, ``status``; the rest is the spec.
    """
    meta = {"name": name, "namespace": namespace, **fields.pop("meta", {})}
    for word in ("labels", "annotations"):
        if word in fields:
            meta[word] = fields.pop(word)
    if "owner" in fields:
        version, kind, owner = fields.pop("owner")
        reference = {"apiVersion": version, "kind": kind, "name": owner, "uid": "u"}
        meta["ownerReferences"] = [{**reference, "controller": True}]
    status = fields.pop("status", {})
    container = {"name": "main", "resources": {"requests": {GPU: str(gpus)}}}
    spec = {"schedulerName": "phalanx", "containers": [container], **fields}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": spec,
        "status": status,
    }


def node(name="n", gpus=8, *, labels=None, conditions=None, **spec):
    status = {"allocatable": {"cpu": "64", "memory": "256Gi", GPU: str(gpus)}}
    if conditions is not None:
        status["conditions"] = conditions
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": status,
    }


def obj(version, kind, name, namespace=None, meta=None, **rest):
    metadata = {"name": name, **(meta or {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def pod_group(name, minimum, namespace="default", **spec):
    return obj(
        "scheduling.x-k8s.io/v1alpha1",
        "PodGroup",
        name,
        namespace,
        spec={"minMember": minimum, **spec},
    )


def in_group(name):
    return {"scheduling.x-k8s.io/pod-group": name}


def objects(*raws):
    by_kind = {}
    for raw in raws:
        group = raw["apiVersion"].rpartition("/")[0]
        by_kind.setdefault((group, raw["kind"]), []).append(raw)
    return Objects(by_kind={kind: tuple(raws) for kind, raws in by_kind.items()})


def assembled(*raws, schedulers=("phalanx",), words=None, now=NOW):
    heard = dialects() if words is None else words
    return snapshot_of(objects(*raws), heard, now, schedulers)


def gang_of(*raws, **given):
    """
    Give the only gang.
    """
    (gang,) = assembled(*raws, **given).snapshot.gangs
    return gang


def refusal(*raws, **given):
    """
    Give the reason of the only gang and its detail, or nothing.
    """
    refused = gang_of(*raws, **given).refused
    return refused and (str(refused.reason), str(refused.facts.get("detail", "")))


class Words:
    """
    A dialect that reads one label; it claims every gang that the label names.
    """

    resources = ()

    def __init__(self, name, label, claims=True, **claim):
        self.name = name
        self._label = label
        self._claims = claims
        self._claim = claim

    def membership(self, pod):
        said = pod.labels.get(self._label)
        if not said:
            return None
        gang, _, leaf = said.partition(".")
        return Membership(f"{pod.namespace}/{gang}", leaf)

    def claims(self, objects, members):
        if self._claims:
            for key in members:
                yield Claim(key=key, dialect=self.name, **self._claim)

    def queues(self, objects, warnings):
        return ()

    def topologies(self, objects, warnings):
        return ()

    def answer(self, claim, standing):
        return ()


__all__ = ["Part", "Words"]
