"""
PodGroups that are made up: what Volcano makes of a Job that is submitted to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.workloads import Workload
from adapters.kube.gangs.workloads.workload_trees import number_at
from adapters.kube.objects.fields import FieldError, Json, mapping, records, text

GROUP = "scheduling.volcano.sh", "PodGroup"
NAMED_BY = "scheduling.k8s.io/group-name"
GROUP_OF_JOBS = "batch.volcano.sh"
_OF_JOB = ("minMember", "minTaskMember", "priorityClassName")
_LATER = ("partitionPolicy", "dependsOn")


def as_admitted(rule: Workload, owner: Raw) -> Raw:
    """
    Give a Job of Volcano with what its webhook fills in; others as they are.

    A task without a name is called by its place, one that says no number has no pods,
    and the Job needs what its tasks need, each all its pods where it says nothing.
    """
    if rule.group != GROUP_OF_JOBS:
        return owner
    spec = mapping(owner, "spec")
    tasks = [
        {
            **task,
            "name": text(task, "name", "spec.tasks") or f"default{number}",
            "replicas": number_at(task, ("replicas",)) or 0,
        }
        for number, task in enumerate(records(spec, "tasks", "spec"))
    ]
    minimum = number_at(spec, ("minAvailable",)) or sum(_needed(tasks).values())
    return {**owner, "spec": {**spec, "tasks": tasks, "minAvailable": minimum}}


def group_of(rule: Workload, owner: Raw) -> Raw | None:
    """
    Make the PodGroup of a Job of Volcano that is admitted; none of others.

    Raises
    ------
    FieldError
        When it asks for partitions, which need labels that only Volcano gives, or for
        tasks whose pods come once others run.
    """
    if rule.group != GROUP_OF_JOBS:
        return None
    spec = mapping(owner, "spec")
    tasks = records(spec, "tasks", "spec")
    for number, task in enumerate(tasks):
        for word in _LATER:
            if task.get(word):
                where = f"spec.tasks[{number}].{word}"
                raise FieldError(where, "is read once Volcano has made pods of it")
    said = any(task.get("minAvailable") is not None for task in tasks)
    given = {
        "minMember": spec["minAvailable"],
        "minTaskMember": _needed(tasks) if said else {},
        "networkTopology": spec.get("networkTopology"),
        "queue": spec.get("queue"),
        "priorityClassName": spec.get("priorityClassName"),
    }
    return {
        "apiVersion": f"{GROUP[0]}/v1beta1",
        "kind": GROUP[1],
        "metadata": owner["metadata"],
        "spec": {key: value for key, value in given.items() if value},
    }


def _needed(tasks: Sequence[Json]) -> Mapping[str, int]:
    """
    Give how many pods of each task are needed: as many as it says, else all.
    """
    least = [number_at(task, ("minAvailable",)) for task in tasks]
    return {
        task["name"]: task["replicas"] if said is None else said
        for task, said in zip(tasks, least, strict=True)
    }


def with_groups(objects: Objects, groups: tuple[Raw, ...]) -> Objects:
    """
    Give the objects with groups that are made up.

    Where a PodGroup has the name of a Job, Volcano writes into it what the Job says.
    """
    if not groups:
        return objects
    made = {(namespace, name): raw for namespace, name, raw in named(groups)}
    there = [
        _told(raw, made.pop((namespace, name), None))
        for namespace, name, raw in named(objects.of(*GROUP))
    ]
    by_kind = {**objects.by_kind, GROUP: (*there, *made.values())}
    return replace(objects, by_kind=by_kind)


def _told(there: Raw, made: Raw | None) -> Raw:
    if made is None or not isinstance(there.get("spec"), Mapping):
        return there
    said = {k: v for k, v in mapping(made, "spec").items() if k in _OF_JOB}
    kept = {k: v for k, v in mapping(there, "spec").items() if k not in _OF_JOB}
    return {**there, "spec": {**kept, **said}}
