"""
KAI's SubGroups: a flat list with parents becomes a tree with topology demands.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.kai.queues import levels_in
from adapters.kube.dialects.notes import Notes, count, named
from adapters.kube.dialects.protocol import Part
from adapters.kube.objects.fields import FieldError, Json, mapping, records, text
from adapters.kube.objects.object_names import is_label
from models.topology import TopologyDemand

DEEPEST = 16
"""
How many SubGroups may stand above one another.
"""
Levels = Mapping[str, Mapping[str, str]]
"""
The levels of each topology: what a PodGroup may call one, to its node label.
"""


def tree_of(spec: Json, levels: Levels, notes: Notes) -> Part:
    """
    Read the tree of one PodGroup.

    Without SubGroups it is one leaf; ``minMember`` left out is 1.
    """
    subgroups = records(spec, "subGroups", "spec")
    least = count(spec, "minMember", "spec")
    groups = count(spec, "minSubGroup", "spec")
    if least is not None and groups is not None:
        notes.invalid("spec.minMember: minSubGroup is set too, and only one may be")
    topology = _topology(spec, "spec", levels)
    if not subgroups:
        if groups:
            notes.invalid(f"spec.minSubGroup: {groups} of no SubGroups")
        return Part(minimum=1 if least is None else least, topology=topology)
    below = _below(subgroups, notes)
    parts = tuple(_part(raw, below, levels, notes) for raw in below.get("", ()))
    if notes.refused is not None:
        return Part()
    needed = _needed("spec", least, groups, len(parts), notes)
    return Part(parts=parts, min_groups=needed, topology=topology)


def leaf_names(tree: Part) -> frozenset[str]:
    """
    Name the leaves; the only one of a gang without SubGroups is called "".
    """
    if not tree.parts:
        return frozenset({tree.name})
    return frozenset[str]().union(*map(leaf_names, tree.parts))


def levels_of(topologies: Iterable[Raw]) -> Levels:
    """
    List what each topology's levels may be called: node label or alias.
    """
    found: dict[str, Mapping[str, str]] = {}
    for _, name, raw in named(topologies):
        with suppress(FieldError):  # it is left out, with a warning
            words = levels_in(raw)
            found[name] = {alias: label for label, alias in words if alias} | {
                label: label for label, _ in words
            }
    return found


def _below(subgroups: Iterable[Json], notes: Notes) -> Mapping[str, list[Json]]:
    """
    List the SubGroups below each parent, "" the root, once their names are sound.
    """
    below: dict[str, list[Json]] = defaultdict(list)
    parents: dict[str, str] = {}
    for index, raw in enumerate(subgroups):
        place = f"spec.subGroups[{index}]"
        name, parent = text(raw, "name", place), text(raw, "parent", place)
        if not is_label(name):
            notes.invalid(f"{place}.name: {name!r} is not an RFC 1123 label")
        if name in parents:
            notes.invalid(f"{place}.name: there are two SubGroups {name}")
        parents[name] = parent
        below[parent].append(raw)
    for name, parent in parents.items():
        if parent and parent not in parents:
            notes.invalid(f"SubGroup {name}: its parent {parent} does not exist")
    _refuse_deep(parents, notes)
    return {} if notes.refused else below


def _refuse_deep(parents: Mapping[str, str], notes: Notes) -> None:
    """
    Refuse SubGroups in a cycle, and more above one another than anybody has.
    """
    for name in parents:
        path = [name]
        while (at := parents.get(path[-1], "")) and len(path) < DEEPEST:
            if at in path:
                notes.invalid(f"SubGroup {name}: its parents form a cycle")
                return
            path.append(at)
        if at:
            what = f"more than {DEEPEST} SubGroups are above one another"
            notes.invalid(f"SubGroup {name}: {what}")
            return


def _part(
    raw: Json, below: Mapping[str, list[Json]], levels: Levels, notes: Notes
) -> Part:
    """
    Read one SubGroup and what is below it.
    """
    name = text(raw, "name")
    place = f"SubGroup {name}"
    least = count(raw, "minMember", place)
    groups = count(raw, "minSubGroup", place)
    topology = _topology(raw, place, levels)
    children = below.get(name, ())
    if not children:
        if groups is not None:
            notes.invalid(f"{place}.minSubGroup: no SubGroup names it as its parent")
        if least is None:
            notes.invalid(f"{place}.minMember: a SubGroup of pods must set it")
        return Part(name=name, minimum=least or 0, topology=topology)
    if least is not None and groups is not None:
        notes.invalid(f"{place}.minMember: minSubGroup is set too, and only one may be")
    parts = tuple(_part(child, below, levels, notes) for child in children)
    needed = _needed(place, least, groups, len(parts), notes)
    return Part(name=name, parts=parts, min_groups=needed, topology=topology)


def _needed(
    place: str, least: int | None, groups: int | None, children: int, notes: Notes
) -> int | None:
    """
    Say how many children are needed; ``minMember`` is the older word for it.
    """
    if groups is not None:
        if groups > children:
            notes.warn(f"{place}.minSubGroup is {groups} of {children} SubGroups")
        return groups
    if least is None:
        return None
    if least > children:
        notes.warn(
            f"{place}.minMember {least} beside {children} SubGroups has no effect: "
            "all of them are needed"
        )
        return None
    notes.warn(f"{place}.minMember {least} beside SubGroups is read as minSubGroup")
    return least


def _topology(raw: Json, place: str, levels: Levels) -> TopologyDemand | None:
    """
    Read the demand of one node of the tree; its topology must have the levels.
    """
    where = f"{place}.topologyConstraint"
    constraint = mapping(raw, "topologyConstraint", place)
    name = text(constraint, "topology", where)
    required = text(constraint, "requiredTopologyLevel", where)
    preferred = text(constraint, "preferredTopologyLevel", where)
    if not (required or preferred):
        return None
    if name not in levels:
        what = f"the Topology {name!r} does not exist"
        raise FieldError(f"{where}.topology", what)
    known = levels[name]
    for word, level in (("required", required), ("preferred", preferred)):
        if level and level not in known:
            what = f"the Topology {name} has no level {level!r}"
            raise FieldError(f"{where}.{word}TopologyLevel", what)
    return TopologyDemand(
        topology=name,
        required=known[required] if required else None,
        preferred=known[preferred] if preferred else None,
    )
