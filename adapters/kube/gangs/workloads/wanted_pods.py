"""
Workloads whose pods nobody has submitted, and those that want none.
"""

from collections.abc import Iterable, Mapping, Sequence

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import conditions, named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.workloads import IN_MANIFESTS, RESOURCES, Workload
from adapters.kube.gangs.workloads.owners import BY_OWNER, Owners
from adapters.kube.gangs.workloads.workload_trees import at_path, roles_of, sizes_of
from adapters.kube.objects.fields import FieldError, mapping, records, text
from adapters.kube.objects.pod_record import PodRecord

_WATCHED = {(each.group, each.kind) for each in (*RESOURCES, *IN_MANIFESTS)}
_ENDS = {"Complete", "Completed", "Failed", "Succeeded", "Terminated", "Aborted"}
Workloads = Mapping[tuple[str, str, str, str], tuple[Workload | None, Raw]]
"""
Owners by namespace, kind, name and API group, each with its rule and its object.
"""


def without_pods(objects: Objects, pods: Iterable[PodRecord]) -> Workloads:
    """
    Find the workloads that should have pods and have none among the objects.
    """
    wanted: dict[tuple[str, str, str, str], tuple[Workload | None, Raw]] = {
        (namespace, kind, name, group): (BY_OWNER.get((group, kind)), raw)
        for (group, kind), raws in objects.by_kind.items()
        if (group, kind) in _WATCHED
        for namespace, name, raw in named(raws)
        if wants_pods(raw, BY_OWNER.get((group, kind)))
    }
    if not wanted:
        return {}
    owners = Owners(objects)
    for pod in pods:
        identity, rule = owners.of(pod)
        for kind in (identity.kind,) if identity.kind else rule.kinds:
            wanted.pop((identity.namespace, kind, identity.name, rule.group), None)
    return dict(sorted(wanted.items()))


def _is_suspended(raw: Raw) -> bool:
    paths = ("spec", "suspend"), ("spec", "runPolicy", "suspend")
    return any(at_path(raw, path) for path in paths)


def passed_by(objects: Objects) -> Mapping[str, Sequence[str]]:
    """
    Name the workloads that want pods of nobody now: suspended ones, and empty ones.
    """
    found: dict[str, list[str]] = {"suspended": [], "of size 0": []}
    for (group, kind), raws in sorted(objects.by_kind.items()):
        for namespace, name, raw in named(raws) if (group, kind) in _WATCHED else ():
            called = f"{kind} {namespace}/{name}"
            if _is_suspended(raw):
                found["suspended"].append(called)
            elif _goes_on(raw) and _is_empty(BY_OWNER.get((group, kind)), raw):
                found["of size 0"].append(called)
    return found


def wants_pods(raw: Raw, rule: Workload | None) -> bool:
    """
    Tell a workload that is its own and neither at its end, nor held, nor empty.
    """
    return _goes_on(raw) and not _is_suspended(raw) and not _is_empty(rule, raw)


def _goes_on(raw: Raw) -> bool:
    """
    Tell a workload that is its own and not at its end.
    """
    try:
        meta, status = mapping(raw, "metadata"), mapping(raw, "status")
        if any(ref.get("controller") for ref in records(meta, "ownerReferences")):
            return False  # its pods are those of another
        held = [each for each in conditions(raw) if each.get("status") == "True"]
        ended = {text(each, "type", "status.conditions") for each in held}
        ended.add(text(mapping(status, "state"), "phase", "status.state"))
    except FieldError:
        return False
    if status.get("completionTime") or ended & _ENDS:
        return False
    # Else its pods go by another name, or have been there.
    return not (status.get("rayClusterName") or status.get("applicationState"))


def _is_empty(rule: Workload | None, raw: Raw) -> bool:
    """
    Tell whether a workload wants no pods: none at all, or none of any of its roles.
    """
    numbers = ("replicas", "parallelism", "completions")
    if any(at_path(raw, ("spec", key)) == 0 for key in numbers):
        return True
    if rule is None:
        return False
    try:
        return any(roles_of(rule, raw)) and not sizes_of(rule, [], raw)
    except FieldError:
        return False  # that is said where its pods are made
