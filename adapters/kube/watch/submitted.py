"""
A cluster as it would be with some manifests submitted to it: would they start.

Nothing is written.  What the cluster has already stays as it is there; pods of a
workload that is new are made up of its template, as for manifests alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.workloads.made_up import made_up
from adapters.kube.gangs.workloads.made_up_groups import with_groups
from adapters.kube.gangs.workloads.ray_jobs import with_clusters
from adapters.kube.objects.fields import FieldError, mapping
from adapters.kube.objects.node_record import NodeRecord, node_record
from adapters.kube.objects.object_names import described
from adapters.kube.objects.pod_reader import Reducer, named
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.cache import View

_POD, _NODE = ("", "Pod"), ("", "Node")
_MOST_NAMED = 3


def submitted(view: View, manifests: Objects, warnings: list[str]) -> View:
    """
    Give the cluster with what manifests would add to it.

    ``warnings`` takes what is there already, what is made up, and what cannot be read.
    """
    new, there = _parted(view, manifests)
    if there:
        left = len(there) - _MOST_NAMED
        more = f" and {left:,} more" if left > 0 else ""
        warnings.append(
            f"in the cluster already, and planned as they are there: "
            f"{', '.join(there[:_MOST_NAMED])}{more}"
        )
    pods = list(_pods(new.by_kind.get(_POD, ()), warnings))
    new = with_clusters(new)
    made = made_up(new, pods)
    pods += _pods(made.pods, warnings)
    warnings += made.warnings
    return replace(
        view,
        pods=(*view.pods, *pods),
        nodes=(*view.nodes, *_nodes(new.by_kind.get(_NODE, ()), warnings)),
        objects=_together(view.objects, with_groups(new, made.groups)),
    )


def _parted(view: View, manifests: Objects) -> tuple[Objects, list[str]]:
    """
    Part what is new from what the cluster has, which is named.
    """
    held = {
        _POD: {pod.key for pod in view.pods},
        _NODE: {record.node.name for record in view.nodes},
    }
    new: dict[tuple[str, str], tuple[Raw, ...]] = {}
    there: list[str] = []
    for kind, raws in manifests.by_kind.items():
        known = held.get(kind)
        if known is None:
            known = {_key(kind, raw) for raw in view.objects.of(*kind)}
        new[kind] = tuple(raw for raw in raws if _key(kind, raw) not in known)
        keys = (_key(kind, raw) for raw in raws)
        there += [f"{kind[1]} {key}" for key in keys if key in known]
    return replace(manifests, by_kind=new), sorted(there)


def _key(kind: tuple[str, str], raw: Raw) -> str:
    """
    Name an object; one of no namespace is in ``default`` on both sides.
    """
    name, namespace = named(mapping(raw, "metadata"))
    return name if kind == _NODE else f"{namespace}/{name}"


def _pods(raws: Iterable[Raw], warnings: list[str]) -> Iterator[PodRecord]:
    reducer = Reducer()
    for raw in raws:
        try:
            yield reducer.pod(raw)
        except FieldError as error:
            warnings.append(f"{described(raw)} is left out: {error}")


def _nodes(raws: Iterable[Raw], warnings: list[str]) -> Iterator[NodeRecord]:
    for raw in raws:
        try:
            yield node_record(raw)
        except FieldError as error:
            warnings.append(f"{described(raw)} is left out: {error}")


def _together(here: Objects, new: Objects) -> Objects:
    """
    Give the objects of both, those of the cluster first.
    """
    more = {kind: raws for kind, raws in new.by_kind.items() if raws}
    both = {
        kind: (*here.of(*kind), *more.get(kind, ()))
        for kind in {**here.by_kind, **more}
        if kind not in {_POD, _NODE}
    }
    return Objects(by_kind=both, unread=new.unread)
