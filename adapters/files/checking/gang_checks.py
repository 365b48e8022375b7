"""
What must agree inside one gang: minimums, phases, order, topology, node demands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from adapters.files.checking.device_checks import part_faults
from adapters.files.checking.problems import Fault, Path, no_name, suggest
from models.documents.place_specs import (
    ExpressionSpec,
    TermSpec,
    TolerationSpec,
    VolumeSpec,
)
from models.documents.scenario import (
    INNER_FIELDS,
    LEAF_FIELDS,
    GangSpec,
    GroupSpec,
    TreeSpec,
)
from models.documents.written import SUBDOMAIN
from models.why.reasons import counted, does

Leaf = tuple[Path, TreeSpec]
_MOST_CIRCLES = 100
Levels = Mapping[str, Sequence[str]]
_QUALIFIED = re.compile(r"[^/\s]{1,63}/[^/\s]{1,253}")
_SUBDOMAIN = re.compile(SUBDOMAIN)
_LONGEST_NAME = 253


def leaves_of(spec: TreeSpec, place: Path) -> Iterator[Leaf]:
    """
    Walk the leaves with the place of each.
    """
    if spec.groups is None:
        yield place, spec
        return
    for index, child in enumerate(spec.groups):
        yield from leaves_of(child, (*place, "groups", index))


def gang_faults(gang: GangSpec, place: Path, levels: Levels) -> Iterator[Fault]:
    """
    Find every contradiction in one gang as written.
    """
    yield from _tree_faults(gang, place, below_min_pods=False)
    leaves = list(leaves_of(gang, place))
    if gang.count > 1 and any(leaf.names is not None for _, leaf in leaves):
        yield (
            (*place, "count"),
            "gangs whose pods have names are written one by one",
            "",
        )
    if gang.groups is not None:
        yield from _leaf_name_faults(leaves)
        yield from _order_faults(leaves)
    elif gang.after:
        yield (*place, "after"), "a gang of one leaf has no leaf to come after", ""
    yield from _topology_faults(gang, place, levels)
    if gang.refused is not None:
        return  # its names may be why
    if _SUBDOMAIN.fullmatch(gang.name) is None:
        yield (*place, "name"), no_name(gang.name), ""
    elif len(gang.name) > _LONGEST_NAME:
        what = f"it is longer than {_LONGEST_NAME} characters"
        yield (*place, "name"), what, ""
    for field, names in (("group", gang.mates), ("lentBy", gang.lent_by)):
        for index, other in enumerate(names):
            if not _QUALIFIED.fullmatch(other):
                what = f'"{other}" is not written as namespace/name'
                yield (*place, field, index), what, ""


def _tree_faults(
    spec: TreeSpec, place: Path, *, below_min_pods: bool
) -> Iterator[Fault]:
    if spec.groups is None:
        yield from _leaf_faults(spec, place, below_min_pods=below_min_pods)
        return
    children = spec.groups
    if not children:
        yield (*place, "groups"), "the list is empty; a gang needs pods", ""
    for word in sorted(spec.model_fields_set & LEAF_FIELDS.keys()):
        if getattr(spec, word) is None:
            continue
        name = LEAF_FIELDS[word]
        hint = "move it into the groups"
        yield (*place, name), f'"{name}" belongs to a leaf, but here are groups', hint
    below = below_min_pods or spec.min_pods is not None
    for index, child in enumerate(children):
        yield from _tree_faults(child, (*place, "groups", index), below_min_pods=below)


def unreachable_minimums(spec: TreeSpec, place: Path) -> Iterator[Fault]:
    """
    Find inner nodes that need more groups or pods than there are below them.
    """
    children = spec.groups
    if children is None:
        return
    if spec.min_groups is not None and spec.min_groups > len(children):
        needs = does(spec.min_groups, "group is", "groups are")
        what = f"{needs} needed, but there are {len(children)}"
        yield (*place, "minGroups"), what, ""
    if spec.min_pods is not None:
        pods = sum(_pods(leaf) for _, leaf in leaves_of(spec, ()))
        if spec.min_pods > pods:
            needs = does(spec.min_pods, "pod is", "pods are")
            what = f"{needs} needed, but there are {pods} below"
            yield (*place, "minPods"), what, ""
    for index, child in enumerate(children):
        yield from unreachable_minimums(child, (*place, "groups", index))


def _pods(leaf: TreeSpec) -> int:
    return leaf.replicas if leaf.replicas is not None else leaf.min or 0


def _leaf_faults(
    leaf: TreeSpec, place: Path, *, below_min_pods: bool
) -> Iterator[Fault]:
    said = leaf.model_fields_set
    if not said <= _QUIET:
        for word in sorted(said & INNER_FIELDS.keys()):
            if getattr(leaf, word) is None:
                continue
            name = INNER_FIELDS[word]
            yield (*place, name), f'"{name}" needs "groups" beside it', ""
        yield from part_faults(leaf, place)
        yield from _demand_faults(leaf, place)
    if below_min_pods and leaf.replicas is None:
        yield place, "below a minPods, replicas is needed", ""
    elif leaf.replicas is None and leaf.min is None:
        yield place, "one of min and replicas is needed", ""
    yield from _count_faults(leaf, place)


def _count_faults(leaf: TreeSpec, place: Path) -> Iterator[Fault]:
    replicas = _pods(leaf)
    if leaf.min is not None and leaf.min > replicas:
        needs = does(leaf.min, "pod is", "pods are")
        what = f"{needs} needed, but replicas is {replicas}"
        yield (*place, "min"), what, ""
    created = replicas if leaf.created is None else leaf.created
    if created > replicas:
        exist = does(created, "pod exists", "pods exist")
        what = f"{exist}, but replicas is {replicas}"
        yield (*place, "created"), what, ""
        return
    if leaf.names is not None and len(leaf.names) != created:
        exist = does(created, "pod exists", "pods exist")
        what = f"{counted(len(leaf.names), 'name')}, but {exist}"
        yield (*place, "names"), what, ""
    told = leaf.gated + leaf.succeeded + leaf.failed
    for entries in (leaf.running, leaf.terminating, leaf.reserved):
        told += sum(entry.pods for entry in entries)
    if told > created:
        what = (
            "running, terminating, reserved, succeeded, failed and gated are "
            f"{counted(told, 'pod')}, but only {does(created, 'exists', 'exist')}"
        )
        yield place, what, ""


_QUIET = frozenset(
    {"name", "min", "replicas", "requests", "running", "created", "topology"}
    | {"queue", "priority", "age", "namespace", "preemptible", "count"}
)


def _demand_faults(leaf: TreeSpec, place: Path) -> Iterator[Fault]:
    for index, toleration in enumerate(leaf.tolerations):
        yield from _toleration_faults(toleration, (*place, "tolerations", index))
    for at, volume in enumerate(leaf.volumes):
        yield from _volume_faults(volume, (*place, "volumes", at))
    affinity = leaf.affinity
    if affinity is None:
        return
    here: Path = (*place, "affinity")
    if affinity.node is not None and affinity.required is not None:
        yield here, "the required node affinity is written twice", ""
    inner = affinity.node if affinity.node is not None else affinity
    if affinity.node is not None:
        here = (*here, "nodeAffinity")
    if inner.required is None:
        return
    here = (*here, "requiredDuringSchedulingIgnoredDuringExecution")
    yield from _term_faults(inner.required.terms, here)


def _volume_faults(volume: VolumeSpec, place: Path) -> Iterator[Fault]:
    said = (volume.nodes is not None, bool(volume.topology), volume.terms is not None)
    if sum(said) != 1:
        what = "one of nodes, topology and nodeSelectorTerms is needed"
        yield place, what, "they say where the volume may be used"
    yield from _term_faults(volume.terms or (), place)


def _term_faults(terms: Iterable[TermSpec], place: Path) -> Iterator[Fault]:
    for number, term in enumerate(terms):
        for index, rule in enumerate(term.expressions):
            at = (*place, "nodeSelectorTerms", number, "matchExpressions", index)
            yield from _expression_faults(rule, at)


def _toleration_faults(toleration: TolerationSpec, place: Path) -> Iterator[Fault]:
    if toleration.operator == "Exists" and toleration.value:
        yield (*place, "value"), "the operator Exists takes no value", ""
    if toleration.operator == "Equal" and not toleration.key:
        yield place, "an empty key needs the operator Exists", ""


def _expression_faults(rule: ExpressionSpec, place: Path) -> Iterator[Fault]:
    have = len(rule.values)
    at = (*place, "values")
    match rule.operator:
        case "In" | "NotIn":
            if not have:
                yield at, f"the operator {rule.operator} needs values", ""
        case "Exists" | "DoesNotExist":
            if have:
                yield at, f"the operator {rule.operator} takes no values", ""
        case "Gt" | "Lt":
            if have != 1 or not _is_whole(rule.values[0]):
                what = f"the operator {rule.operator} needs one whole number, quoted"
                yield at, what, ""


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20


def _leaf_name_faults(leaves: list[Leaf]) -> Iterator[Fault]:
    seen: set[str] = set()
    for place, leaf in leaves:
        if isinstance(leaf, GroupSpec):
            if leaf.name in seen:
                what = f'leaf "{leaf.name}" exists twice in this gang'
                yield (*place, "name"), what, ""
            seen.add(leaf.name)


def _order_faults(leaves: list[Leaf]) -> Iterator[Fault]:
    after = {leaf.name: leaf.after for _, leaf in leaves if isinstance(leaf, GroupSpec)}
    for place, leaf in leaves:
        if not isinstance(leaf, GroupSpec):
            continue
        for index, name in enumerate(leaf.after):
            if name not in after:
                what = f'there is no leaf "{name}" in this gang'
                yield (*place, "after", index), what, suggest(name, after)
    circles = _in_circles(after)
    for place, leaf in leaves:
        if isinstance(leaf, GroupSpec) and leaf.name in circles:
            what = f'leaf "{leaf.name}" comes after itself'
            yield (*place, "after"), what, ""


def _in_circles(after: Mapping[str, Sequence[str]]) -> set[str]:
    """
    Name the leaves that come after themselves, of very many the first ones.
    """
    before = {name: len(set(firsts) & after.keys()) for name, firsts in after.items()}
    later: dict[str, list[str]] = {}
    for name, firsts in after.items():
        for first in set(firsts):
            later.setdefault(first, []).append(name)
    settled = [name for name, number in before.items() if not number]
    for name in settled:
        for follower in later.get(name, ()):
            before[follower] -= 1
            if not before[follower]:
                settled.append(follower)
    open_ones = [name for name, number in before.items() if number]
    return {name for name in open_ones[:_MOST_CIRCLES] if _reaches(name, after)}


def _reaches(start: str, after: Mapping[str, Sequence[str]]) -> bool:
    seen: set[str] = set()
    todo = list(after[start])
    while todo:
        name = todo.pop()
        if name == start:
            return True
        if name not in seen:
            seen.add(name)
            todo.extend(after.get(name, ()))
    return False


def _topology_faults(gang: GangSpec, place: Path, levels: Levels) -> Iterator[Fault]:
    for here, spec in _nodes_of(gang, place):
        demand = spec.topology
        if demand is None:
            continue
        at: Path = (*here, "topology")
        name = demand.name
        if name is None and len(levels) == 1:
            name = next(iter(levels))
        if name is None:
            known = ", ".join(levels) or "none"
            yield at, "the topology's name is needed", f"the file has: {known}"
            continue
        if name not in levels:
            what = f'there is no topology "{name}"'
            yield (*at, "name"), what, suggest(name, levels)
            continue
        if demand.required is None and demand.preferred is None:
            yield at, "neither required nor preferred names a level", ""
        for word in ("required", "preferred"):
            level = getattr(demand, word)
            if level is not None and level not in levels[name]:
                known = ", ".join(levels[name])
                hint = suggest(level, levels[name], f"its levels: {known}")
                what = f'topology "{name}" has no level "{level}"'
                yield (*at, word), what, hint


def _nodes_of(spec: TreeSpec, place: Path) -> Iterator[Leaf]:
    yield place, spec
    for index, child in enumerate(spec.groups or ()):
        yield from _nodes_of(child, (*place, "groups", index))
