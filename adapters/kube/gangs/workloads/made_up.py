"""
Pods that are made up: those of workloads that somebody has written and not submitted.

"Would this start?" is asked of a manifest before there are any pods, so they are made
of its templates, by the table of workloads.  In a cluster none are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.workloads import Workload
from adapters.kube.gangs.workloads.owners import without_pods
from adapters.kube.gangs.workloads.workload_trees import (
    at_path,
    number_at,
    roles_of,
    size_of,
    sizes_of,
)
from adapters.kube.objects.fields import FieldError, Json, mapping
from adapters.kube.objects.pod_record import PodRecord
from models.why.reasons import counted

MOST = 100_000
"""
How many pods are made up at most: nobody waits for more.
"""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class MadeUp:
    """
    Pods that nobody has submitted, and what is said of them.
    """

    pods: Sequence[Raw]
    warnings: Sequence[str]


def made_up(objects: Objects, pods: Iterable[PodRecord]) -> MadeUp:
    """
    Make the pods of all workloads that have none among the objects.
    """
    found: list[Raw] = []
    made: list[str] = []
    warnings: list[str] = []
    for (namespace, kind, name), (rule, raw) in without_pods(objects, pods).items():
        called = f"{kind} {namespace}/{name}"
        try:
            own = [] if rule is None else list(_pods(rule, raw, MOST - len(found)))
        except FieldError as error:
            warnings.append(f"no pods of {called} are made up: {error}")
            continue
        if own:
            found += own
            made.append(f"{counted(len(own), 'pod')} of {called}")
    if made:
        left = len(made) - _MOST_NAMED
        more = f" and those of {left:,} more" if left > 0 else ""
        warnings.append(
            f"made up: {', '.join(made[:_MOST_NAMED])}{more}; no pods are there yet"
        )
    return MadeUp(found, warnings)


def _pods(rule: Workload, owner: Raw, most: int) -> Iterator[Raw]:
    """
    Make the pods of one workload; none where nothing says what they are.
    """
    templates = dict(_templates(rule, owner))
    if not templates:
        return
    copies = number_at(owner, rule.copies) if rule.copies else None
    copies = 1 if copies is None else copies
    alone = size_of(rule, [], owner)
    whole = sizes_of(rule, [], owner) or {"": 1 if alone is None else alone}
    if copies * sum(whole.values()) > most:
        what = f"more than {MOST:,} pods in all are not made up"
        raise FieldError("metadata.name", what)
    for copy in range(copies):
        index = 0
        for role, size in whole.items():
            if role not in templates:
                raise FieldError("spec", f"the pods of {role} have no template")
            for number in range(size):
                labels = _labels(rule, owner, role, copy, index)
                stem = "-".join(filter(None, (str(copy) if rule.copies else "", role)))
                tail = f"{stem}-{number}" if stem else str(number)
                yield _pod(rule, owner, templates[role], labels, tail)
                index += 1


def _templates(rule: Workload, owner: Raw) -> Iterator[tuple[str, Json]]:
    """
    Give what the pods of each role are.
    """
    for role, entry, roles in roles_of(rule, owner):
        template = at_path(entry, roles.template)
        if isinstance(template, Mapping):
            yield role, template
    for role, paths in rule.templates.items():
        found = (at_path(owner, path) for path in paths)
        template = next((each for each in found if isinstance(each, Mapping)), None)
        if template is not None:
            yield role, template


def _labels(
    rule: Workload, owner: Raw, role: str, copy: int, index: int
) -> dict[str, str]:
    """
    Give the labels by which the pods of a workload are known.
    """
    name = str(mapping(owner, "metadata")["name"])
    labels = dict.fromkeys(rule.named_by[:1], name)
    if rule.copy_by:
        labels[rule.copy_by] = str(copy)
    if role:
        told = {name: word for word, name in rule.called.items()}
        said = told.get(role, str(index) if role == rule.rest else role)
        labels |= dict.fromkeys(rule.roles_by[:1], said)
    return labels


def _pod(
    rule: Workload, owner: Raw, template: Json, labels: Mapping[str, str], tail: str
) -> Raw:
    """
    Make one pod of a template.
    """
    meta = mapping(template, "metadata", "template")
    above = mapping(owner, "metadata")
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": above["name"],
        "uid": above.get("uid"),
        "controller": True,
    }
    said = {key: mapping(meta, key, "template.metadata") for key in _TEXTS}
    given = {key: at_path(owner, path) for key, path in rule.given.items()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{above['name']}-{tail}",
            "namespace": above.get("namespace"),
            "creationTimestamp": above.get("creationTimestamp"),
            "labels": {**said["labels"], **labels},
            "annotations": said["annotations"],
            "ownerReferences": [reference],
        },
        "spec": {
            **mapping(template, "spec", "template"),
            **{key: value for key, value in given.items() if value is not None},
        },
    }


_TEXTS = ("labels", "annotations")
