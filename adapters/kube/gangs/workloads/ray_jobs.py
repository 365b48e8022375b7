"""
RayClusters that are made up: what KubeRay makes of a RayJob that is submitted to it.
"""

from collections.abc import Mapping
from dataclasses import replace

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.workloads.wanted_pods import wants_pods

_JOB, _CLUSTER = ("ray.io", "RayJob"), ("ray.io", "RayCluster")
_KEPT = "namespace", "labels", "annotations", "creationTimestamp"


def with_clusters(objects: Objects) -> Objects:
    """
    Give the objects with the cluster of each RayJob that has none yet.

    It has the name of its RayJob, whose status then names it.  A RayJob for a cluster
    that is there already says nothing of one, and is left as it is.
    """
    there = {(space, name) for space, name, _ in named(objects.of(*_CLUSTER))}
    jobs: list[Raw] = []
    made: list[Raw] = []
    for space, name, raw in named(objects.of(*_JOB)):
        cluster = _cluster_of(raw, name)
        if cluster is None or (space, name) in there or not wants_pods(raw, None):
            jobs.append(raw)
            continue
        status = raw.get("status")
        known = dict(status) if isinstance(status, Mapping) else {}
        jobs.append({**raw, "status": {**known, "rayClusterName": name}})
        made.append(cluster)
    if not made:
        return objects
    clusters = (*objects.of(*_CLUSTER), *made)
    by_kind = {**objects.by_kind, _JOB: tuple(jobs), _CLUSTER: clusters}
    return replace(objects, by_kind=by_kind)


def _cluster_of(raw: Raw, name: str) -> Raw | None:
    spec, meta = raw.get("spec"), raw.get("metadata")
    inner = spec.get("rayClusterSpec") if isinstance(spec, Mapping) else None
    if not (isinstance(inner, Mapping) and isinstance(meta, Mapping)):
        return None
    own = {key: meta[key] for key in _KEPT if key in meta}
    return {
        "apiVersion": raw.get("apiVersion"),
        "kind": _CLUSTER[1],
        "metadata": {**own, "name": name},
        "spec": inner,
    }
