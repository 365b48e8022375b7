"""
PodGroups that are made up: what Volcano makes of a Job that says more than its pods.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.workloads import Workload
from adapters.kube.gangs.workloads.workload_trees import number_at
from adapters.kube.objects.fields import FieldError, Json, mapping, records

GROUP = "scheduling.volcano.sh", "PodGroup"
NAMED_BY = "scheduling.k8s.io/group-name"
_LATER = ("partitionPolicy", "dependsOn")


def group_of(rule: Workload, owner: Raw) -> Raw | None:
    """
    Make the PodGroup of a workload that only such a group can obey; none of others.

    Raises
    ------
    FieldError
        When it asks for partitions, which need labels that only Volcano gives, or for
        tasks whose pods come once others run.
    """
    if rule.group != "batch.volcano.sh":
        return None
    spec = mapping(owner, "spec")
    tasks = records(spec, "tasks", "spec")
    for number, task in enumerate(tasks):
        for word in _LATER:
            if task.get(word):
                where = f"spec.tasks[{number}].{word}"
                raise FieldError(where, "is read once Volcano has made pods of it")
    topology = spec.get("networkTopology")
    least = [number_at(task, ("minAvailable",)) for task in tasks]
    if not topology and all(one is None for one in least):
        return None
    sizes = [number_at(task, ("replicas",)) for task in tasks]
    all_pods = sum(1 if size is None else size for size in sizes)
    minimum = number_at(spec, ("minAvailable",))
    given = {
        "minMember": all_pods if minimum is None else minimum,
        "minTaskMember": _by_task(tasks, least, sizes),
        "networkTopology": topology,
        "queue": spec.get("queue"),
        "priorityClassName": spec.get("priorityClassName"),
    }
    return {
        "apiVersion": f"{GROUP[0]}/v1beta1",
        "kind": GROUP[1],
        "metadata": owner["metadata"],
        "spec": {key: value for key, value in given.items() if value},
    }


def _by_task(
    tasks: Sequence[Json],
    least: list[int | None],
    sizes: list[int | None],
) -> Mapping[str, int]:
    """
    Give how many pods of each task are needed, where any task says so.
    """
    if all(one is None for one in least):
        return {}
    found = zip(tasks, least, sizes, strict=True)
    return {
        str(task.get("name")): next(n for n in (said, size, 1) if n is not None)
        for task, said, size in found
    }


def with_groups(objects: Objects, groups: tuple[Raw, ...]) -> Objects:
    """
    Give the objects with groups that are made up.
    """
    if not groups:
        return objects
    there = objects.of(*GROUP)
    by_kind = {**objects.by_kind, GROUP: (*there, *groups)}
    return replace(objects, by_kind=by_kind)
