"""
Builders for the tests of Koordinator, ACK and scheduler-plugins.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import yaml

from adapters.kube.dialects.protocol import Claim, GroupStanding, Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.objects.pod_record import PodRecord

LABEL = "pod-group.scheduling.sigs.k8s.io"
GANG = "gang.scheduling.koordinator.sh"
QUOTA = "quota.scheduling.koordinator.sh"
PLUGIN = "scheduling.x-k8s.io/pod-group"
SIGS, X_K8S = "scheduling.sigs.k8s.io", "scheduling.x-k8s.io"
REPOSITORY = Path(__file__).parents[5]
SCENARIOS = REPOSITORY / "scenarios"
FAMILY = ("koordinator", "ack", "coscheduling")


def dialect(name):
    return next(d for d in dialects() if d.name == name)


def pod(name="p-0", labels=None, notes=None, **fields_):
    fields_.setdefault("namespace", "default")
    return PodRecord(name=name, labels=labels or {}, annotations=notes or {}, **fields_)


def noted(name="p-0", labels=None, **words):
    """
    Build a pod with annotations of gangs: words with _ for -.
    """
    notes = {f"{GANG}/{key.replace('_', '-')}": value for key, value in words.items()}
    return pod(name, labels, notes)


def group(name="g", api=SIGS, *, labels=None, notes=None, status=None, **spec):
    return {
        "apiVersion": f"{api}/v1alpha1",
        "kind": "PodGroup",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": labels or {},
            "annotations": notes or {},
        },
        "spec": spec,
        "status": status or {},
    }


def quota(name, api=SIGS, *, namespace="default", labels=None, notes=None, **spec):
    return {
        "apiVersion": f"{api}/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {f"{QUOTA}/{k}": v for k, v in (labels or {}).items()},
            "annotations": {f"{QUOTA}/{k}": v for k, v in (notes or {}).items()},
        },
        "spec": spec,
    }


def objects(*raws):
    found = {}
    for raw in raws:
        api_group = raw["apiVersion"].rpartition("/")[0]
        found.setdefault((api_group, raw["kind"]), []).append(raw)
    return Objects(by_kind={key: tuple(value) for key, value in found.items()})


def claims(reader, pods=(), raws=()):
    """
    Let one dialect read pods and objects.
    """
    members = {}
    for one in pods:
        membership = reader.membership(one)
        if membership is not None:
            members.setdefault(membership.gang, []).append(one)
    given = {key: tuple(several) for key, several in members.items()}
    return list(reader.claims(objects(*raws), given))


def claim(reader, pods=(), raws=()) -> Claim:
    """
    Give the only claim that a dialect makes.
    """
    (only,) = claims(reader, pods, raws)
    return only


def why(read: Claim) -> str:
    """
    Say why a claim is refused.
    """
    assert read.refused is not None
    return f"{read.refused.reason}: {read.refused.message}"


def standing(key="default/g", **fields_):
    counts = dict.fromkeys(
        ("minimum", "total", "running", "succeeded", "failed", "binding"), 0
    )
    return GroupStanding(**{"key": key, "state": "Waiting", **counts, **fields_})


def manifests(file: Path):
    """
    Give the objects of a scenario that is written in manifests.
    """
    scenario = yaml.safe_load(file.read_text(encoding="utf-8"))
    return scenario["given"]["manifests"]


def read_by_family(raws):
    """
    Let all three dialects read manifests; a gang is claimed once.
    """
    pods = [pod_record(raw) for raw in raws if raw["kind"] == "Pod"]
    others = [raw for raw in raws if raw["kind"] != "Pod"]
    found = [c for name in FAMILY for c in claims(dialect(name), pods, others)]
    assert len({c.key for c in found}) == len(found)
    return sorted(found, key=lambda c: c.key)


def shown(value):
    """
    Give what a record says beyond its defaults; an object by its kind alone.
    """
    if is_dataclass(value):
        said = {f.name: getattr(value, f.name) for f in fields(value)}
        return {
            f.name: "said by an object" if f.name == "source" else shown(said[f.name])
            for f in fields(value)
            if said[f.name] != _default(f)
        }
    if isinstance(value, Mapping):
        return {key: shown(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [shown(inner) for inner in value]
    return value


def _default(entry):
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return entry.default
