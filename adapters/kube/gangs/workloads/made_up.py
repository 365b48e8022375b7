"""
Pods that are made up: those of workloads that somebody has written and not submitted.

"Would this start?" is asked of a manifest before there are any pods, so they are made
of its templates, by the table of workloads.  In a cluster none are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.workloads import Path, Workload
from adapters.kube.gangs.workloads.made_up_groups import (
    NAMED_BY,
    as_admitted,
    group_of,
)
from adapters.kube.gangs.workloads.near_by_word import (
    KeptNear,
    MadeUpPod,
    kept_near,
    near_by_word,
)
from adapters.kube.gangs.workloads.wanted_pods import passed_by, without_pods
from adapters.kube.gangs.workloads.workload_trees import (
    at_path,
    number_at,
    roles_of,
    size_of,
    sizes_of,
)
from adapters.kube.objects.fields import FieldError, Json, mapping, records
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
    groups: tuple[Raw, ...] = ()


def made_up(objects: Objects, pods: Iterable[PodRecord]) -> MadeUp:
    """
    Make the pods of all workloads that have none among the objects.
    """
    found: list[Raw] = []
    groups: list[Raw] = []
    made: list[str] = []
    warnings: list[str] = []
    there = list(pods)
    taken = {pod.key for pod in there}
    for (namespace, kind, name, _), (rule, raw) in without_pods(objects, there).items():
        called = f"{kind} {namespace}/{name}"
        try:
            own, group = _made_of(rule, raw, objects, MOST - len(found))
        except FieldError as error:
            warnings.append(f"no pods of {called} are made up: {error}")
            continue
        if own:
            found += _apart(own, kind, name, taken)
            groups += [] if group is None else [group]
            made.append(f"{counted(len(own), 'pod')} of {called}")
        for path in _CLAIMS:
            if at_path(raw, path):
                what = f"{'.'.join(path)} is not read: planned without volumes"
                warnings.append(f"{called}: {what}")
    if made:
        names = ", ".join(made[:_MOST_NAMED]) + _more(made, "those of ")
        warnings.append(f"made up: {names}; no pods are there yet")
    for why, held in passed_by(objects).items():
        if held:
            names = ", ".join(held[:_MOST_NAMED]) + _more(held, "")
            warnings.append(f"{why}, so no pods are made up: {names}")
    return MadeUp(found, warnings, tuple(groups))


def _apart(own: list[Json], kind: str, name: str, taken: set[str]) -> list[Json]:
    """
    Name pods by the kind of their owner too where others have their names already.
    """
    made, word = own, kind.lower()
    while not taken.isdisjoint(map(_key, made)):
        made = [_called(pod, name, f"{name}-{word}") for pod in own]
        word += "-x"
    taken.update(map(_key, made))
    return made


def _key(pod: Json) -> str:
    meta = pod["metadata"]
    return f"{meta['namespace'] or 'default'}/{meta['name']}"


def _called(pod: Json, stem: str, other: str) -> Json:
    name = f"{other}{pod['metadata']['name'].removeprefix(stem)}"
    return {**pod, "metadata": {**pod["metadata"], "name": name}}


def _more(names: Sequence[str], what: str) -> str:
    """
    Count those that are not named.
    """
    left = len(names) - _MOST_NAMED
    return f" and {what}{left:,} more" if left > 0 else ""


def _made_of(
    rule: Workload | None, owner: Raw, objects: Objects, most: int
) -> tuple[list[Json], Raw | None]:
    """
    Make the pods of one workload, and the group that they are in where one is needed.
    """
    if rule is None:
        return [], None
    owner = as_admitted(rule, owner)
    near = near_by_word(rule, owner, objects)
    group = group_of(rule, owner)
    pods = list(_pods(rule, owner, near, most))
    if group is not None:
        name = mapping(group, "metadata")["name"]
        for pod in pods:
            pod["metadata"]["annotations"] |= {NAMED_BY: name}
    return pods, group


def _pods(
    rule: Workload, owner: Raw, near: Mapping[str, tuple[KeptNear, ...]], most: int
) -> Iterator[Json]:
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
                pod = _pod(rule, owner, templates[role], labels, tail)
                place = MadeUpPod(owner, copy, role, number)
                yield kept_near(pod, near.get(role, near[""]), place)
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
) -> Json:
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
    own = _without_claims(mapping(template, "spec", "template"), owner)
    given = {key: at_path(owner, path) for key, path in rule.given.items()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{above['name']}-{tail}",
            "namespace": above.get("namespace"),
            "creationTimestamp": above.get("creationTimestamp"),
            "labels": {**said["labels"], **labels},
            "annotations": dict(said["annotations"]),
            "ownerReferences": [reference],
        },
        "spec": {
            **rule.assumed,
            **{key: value for key, value in given.items() if value},
            **{key: value for key, value in own.items() if value or key not in given},
        },
    }


_TEXTS = ("labels", "annotations")
_CLAIMS: tuple[Path, ...] = (
    ("spec", "volumeClaimTemplates"),
    ("spec", "leaderWorkerTemplate", "volumeClaimTemplates"),
    ("spec", "volumeClaimPolicies"),
    ("spec", "volumes"),
)
"""
Where workloads say of which volumes their controllers make claims.
"""


def _without_claims(spec: Json, owner: Raw) -> Json:
    """
    Give what a pod is without volumes of a name for which its owner makes claims.
    """
    lists = [at_path(owner, path) for path in _CLAIMS]
    listed = [each for one in lists if isinstance(one, list) for each in one]
    made = [
        at_path(each, ("metadata", "name"))
        for each in listed
        if isinstance(each, Mapping)
    ]
    if not made:
        return spec
    volumes = records(spec, "volumes", "template.spec")
    kept = [each for each in volumes if each.get("name") not in made]
    return {**spec, "volumes": kept}
