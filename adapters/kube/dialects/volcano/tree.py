"""
Volcano's tasks: one minimum over all pods, minimums per task, and tasks in order.

Pods of a higher priority come first.  Every later task waits for the minimum of the
earlier ones, so that two places of four give the driver and one executor.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from adapters.kube.dialects.notes import Notes, PriorityClasses, count
from adapters.kube.dialects.protocol import Part
from adapters.kube.objects.fields import Json, mapping
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import PodPhase

TASK = "volcano.sh/task-spec"
NO_TASK = "pods"


@dataclass(frozen=True, slots=True)
class _Task:
    """
    One leaf: the pods that may count towards it, their priority, its own minimum.
    """

    name: str
    size: int
    priority: int | None
    least: int


def leaf_of(pod: PodRecord) -> str:
    """
    Name the leaf of a pod: its task, else the class of its priority.
    """
    task = pod.labels.get(TASK) or pod.annotations.get(TASK)
    return task or pod.priority_class or NO_TASK


def tree_of(
    spec: Json,
    pods: Sequence[PodRecord],
    classes: PriorityClasses,
    notes: Notes,
    *,
    gone: Collection[PodPhase],
) -> Part:
    """
    Read the tree of one PodGroup: ``minMember`` at the root, a leaf for each task.

    Pods in the phases ``gone`` count towards no minimum.
    """
    least = count(spec, "minMember", "spec") or 0
    minimums = minimums_of(spec, least, notes)
    here: dict[str, list[PodRecord]] = {name: [] for name in minimums}
    for pod in pods:
        task = here.setdefault(leaf_of(pod), [])
        if pod.phase not in gone:
            task.append(pod)
    if not minimums and len(here) <= 1:
        return Part(minimum=least)
    tasks = [
        _task(name, here[name], classes, minimums.get(name, 0)) for name in sorted(here)
    ]
    return _in_order(tasks, least)


def minimums_of(spec: Json, least: int, notes: Notes) -> Mapping[str, int]:
    """
    Read the minimums per task; they hold only within the minimum over all.
    """
    place = "spec.minTaskMember"
    raw = mapping(spec, "minTaskMember", "spec")
    found = {name: count(raw, name, place) or 0 for name in raw}
    total = sum(found.values())
    if total > least:
        notes.warn(
            f"{place} has no effect: its sum {total} is more than minMember {least}"
        )
        return {}
    return found


def _task(
    name: str,
    pods: Sequence[PodRecord],
    classes: PriorityClasses,
    least: int,
) -> _Task:
    known = [value for pod in pods if (value := classes.of_pod(pod)) is not None]
    return _Task(
        name=name, size=len(pods), priority=max(known, default=None), least=least
    )


def _in_order(tasks: Sequence[_Task], least: int) -> Part:
    """
    Give each task its minimum and what it comes after, the highest priority first.

    A task that needs no pod comes after all that need some: so no pod of it can stand
    in for them.
    """
    lowest = min((t.priority for t in tasks if t.priority is not None), default=0)
    ranked = sorted(
        tasks, key=lambda t: (-(lowest if t.priority is None else t.priority), t.name)
    )
    tiers = [
        list(tier)
        for _, tier in groupby(
            ranked, key=lambda t: lowest if t.priority is None else t.priority
        )
    ]
    parts: list[Part] = []
    before: tuple[str, ...] = ()
    left = least
    for tier in tiers:
        needs = _needs(tier, left, whole=len(tiers) == 1)
        left -= sum(max(needs[task.name], 0) for task in tier)
        parts += [
            Part(name=task.name, minimum=needs[task.name], after=before)
            for task in tier
        ]
        before = tuple(t.name for t in tier if needs[t.name]) or before
    return _root(parts, least)


def _needs(tier: Sequence[_Task], left: int, *, whole: bool) -> Mapping[str, int]:
    """
    Say how many pods of each task of one priority are needed.

    Pods of a higher priority are all taken before the next ones, while the minimum
    over all asks for more; among several tasks of one priority the choice is open.
    """
    needs = {task.name: task.least for task in tier}
    if whole:
        return needs
    if sum(task.size for task in tier) <= left:
        return {task.name: max(task.least, task.size) for task in tier}
    if len(tier) == 1:
        task = tier[0]
        return {task.name: max(task.least, min(task.size, max(left, 0)))}
    return needs


def _root(parts: Sequence[Part], least: int) -> Part:
    needed = tuple(part.name for part in parts if part.minimum)
    ordered = tuple(
        part if part.minimum else replace(part, after=needed) for part in parts
    )
    return Part(parts=ordered, min_groups=len(needed), min_pods=least)
