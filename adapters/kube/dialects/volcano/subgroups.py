"""
Volcano's ``subGroupPolicy``: pods parted by labels, so many parts of each are needed.
"""

from collections.abc import Mapping, Sequence

from adapters.kube.dialects.notes import Notes, count
from adapters.kube.dialects.protocol import Part
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    items,
    mapping,
    records,
    text,
    texts,
    whole,
)
from adapters.kube.objects.pod_record import PodRecord

_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})


def network(raw: Json, place: str, notes: Notes) -> None:
    """
    Judge a demand on HyperNodes: none of them are planned.
    """
    where = f"{place}.networkTopology"
    demand = mapping(raw, "networkTopology", place)
    if not demand:
        return
    mode = text(demand, "mode", where) or "hard"
    if mode not in {"hard", "soft"}:
        notes.invalid(f"{where}.mode: {mode!r} is neither hard nor soft")
    tier = whole(demand, "highestTierAllowed", where)
    if tier is not None and text(demand, "highestTierName", where):
        notes.invalid(f"{where}: highestTierAllowed and highestTierName are both said")
    if mode == "hard":
        notes.unsupported(f"{where}: HyperNodes are not planned")
    else:
        notes.warn(f"{where} is not obeyed: HyperNodes are not planned")


def subgroups(
    spec: Json, pods: Sequence[PodRecord], notes: Notes
) -> tuple[Part, Mapping[str, str]] | None:
    """
    Read the tree of a PodGroup whose policies need some of their parts.

    None where no policy needs any: then a policy changes nothing.  The second thing
    given is the leaf of every pod.
    """
    policies = records(spec, "subGroupPolicy", "spec")
    parts: list[Part] = []
    placed: dict[str, str] = {}
    for index, policy in enumerate(policies):
        place = f"spec.subGroupPolicy[{index}]"
        network(policy, place, notes)
        part = _policy(policy, place, pods, placed)
        if part.min_groups:
            parts.append(part)
    if not parts:
        return None
    if mapping(spec, "minTaskMember"):
        notes.unsupported("spec.subGroupPolicy: minTaskMember stands beside it")
    if len(parts) < len(policies):
        what = "one policy needs some of its groups, another none"
        notes.unsupported(f"spec.subGroupPolicy: {what}")
    outside = next((pod.name for pod in pods if pod.key not in placed), None)
    if outside is not None:
        notes.unsupported(f"spec.subGroupPolicy: pod {outside} is in no group")
    least = count(spec, "minMember", "spec") or 0
    tree = Part(parts=tuple(parts), min_groups=len(parts), min_pods=least)
    return tree, placed


def _policy(
    policy: Json, place: str, pods: Sequence[PodRecord], placed: dict[str, str]
) -> Part:
    """
    Read one policy: a node with a leaf for each value of its label keys.
    """
    name = text(policy, "name", place)
    size = count(policy, "subGroupSize", place, least=1) or 1
    needed = count(policy, "minSubGroups", place) or 0
    selector = mapping(policy, "labelSelector", place)
    keys = [str(key) for key in items(policy, "matchLabelKeys", place)]
    leaves: dict[tuple[str, ...], str] = {}
    for pod in pods:
        if not _selected(selector, f"{place}.labelSelector", pod.labels):
            continue
        if pod.key in placed or not all(key in pod.labels for key in keys):
            continue
        values = tuple(pod.labels[key] for key in keys)
        leaf = leaves.setdefault(values, "-".join((name, *values, "group")))
        placed[pod.key] = leaf
    groups = tuple(Part(name=leaf, minimum=size) for leaf in sorted(leaves.values()))
    return Part(name=name, parts=groups, min_groups=needed)


def _selected(selector: Json, place: str, labels: Mapping[str, str]) -> bool:
    """
    Tell whether a label selector takes a pod; an empty one takes all.
    """
    if any(
        labels.get(key) != value
        for key, value in texts(selector, "matchLabels", place).items()
    ):
        return False
    for rule in records(selector, "matchExpressions", place):
        operator = text(rule, "operator", place)
        if operator not in _OPERATORS:
            raise FieldError(f"{place}.matchExpressions", f"no operator {operator!r}")
        value = labels.get(text(rule, "key", place))
        inside = value is not None
        if operator in {"In", "NotIn"}:
            inside = value in items(rule, "values", place)
        if inside != (operator in {"In", "Exists"}):
            return False
    return True
