"""
Volcano's ``subGroupPolicy``: pods parted by labels, so many parts of each are needed.
"""

from collections.abc import Iterator, Mapping, Sequence

from adapters.kube.dialects.notes import Notes, count
from adapters.kube.dialects.protocol import Part
from adapters.kube.dialects.volcano.demanded_tiers import demanded
from adapters.kube.dialects.volcano.hyper_nodes import Tiers
from adapters.kube.dialects.volcano.tree import minimums_of
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    few,
    items,
    mapping,
    records,
    text,
    texts,
)
from adapters.kube.objects.pod_record import PodRecord
from models.topology import TopologyDemand

_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_MOST_POLICIES = 256
NO_GROUP = "in-no-group"
"""
The leaf of pods that no policy takes: they start one by one.
"""


def subgroups(
    spec: Json, pods: Sequence[PodRecord], tiers: Tiers, notes: Notes
) -> tuple[Part, Mapping[str, str]] | None:
    """
    Read the tree of a PodGroup with policies that change something.

    None where no policy needs some of its parts, or places, or has parts that start
    whole while not all pods are needed.  The second thing given is every pod's leaf.
    """
    place = "spec.subGroupPolicy"
    policies = few(records(spec, "subGroupPolicy", "spec"), place, _MOST_POLICIES)
    least = count(spec, "minMember", "spec") or 0
    parts: list[Part] = []
    placed: dict[str, str] = {}
    counts = False
    for index, policy in enumerate(policies):
        place = f"spec.subGroupPolicy[{index}]"
        near = demanded(policy, place, tiers, notes)
        part = _policy(policy, place, pods, placed, near)
        starts_whole = policy.get("matchLabelKeys") and least < len(pods)
        whole = starts_whole and any(group.minimum != 1 for group in part.parts)
        counts = counts or bool(part.min_groups or near is not None or whole)
        parts.append(part)
    if not counts:
        return None
    needed = sum(bool(part.min_groups) for part in parts)
    if minimums_of(spec, least, notes):
        notes.unsupported("spec.subGroupPolicy: minTaskMember stands beside it")
    if 0 < needed < len(policies):
        what = "one policy needs some of its groups, another none"
        notes.unsupported(f"spec.subGroupPolicy: {what}")
    parts += _outside(pods, placed, notes, needed=needed > 0)
    return Part(parts=tuple(parts), min_groups=needed, min_pods=least), placed


def _outside(
    pods: Sequence[PodRecord], placed: dict[str, str], notes: Notes, *, needed: bool
) -> Iterator[Part]:
    """
    Give pods that no policy takes a leaf of their own, unless groups are needed.
    """
    outside = [pod for pod in pods if pod.key not in placed]
    if outside and needed:
        what = f"pod {outside[0].name} is in no group"
        notes.unsupported(f"spec.subGroupPolicy: {what}")
    elif outside:
        placed.update((pod.key, NO_GROUP) for pod in outside)
        yield Part(name=NO_GROUP, minimum=0)


def _policy(
    policy: Json,
    place: str,
    pods: Sequence[PodRecord],
    placed: dict[str, str],
    near: TopologyDemand | None,
) -> Part:
    """
    Read one policy: a node with a leaf for each value of its label keys.

    What is demanded of places holds for each leaf.
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
    groups = tuple(
        Part(name=leaf, minimum=size, topology=near) for leaf in sorted(leaves.values())
    )
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
