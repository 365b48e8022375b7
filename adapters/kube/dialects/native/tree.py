"""
The trees of CompositePodGroups: who is below whom, and what each node needs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.native.answer import COMPOSITE, PODGROUP
from adapters.kube.dialects.notes import Notes, count, named
from adapters.kube.dialects.protocol import Part
from adapters.kube.objects.fields import FieldError, Json, mapping, records, text
from models.topology import TopologyDemand

DEEPEST = 4
"""
How many groups may stand above one another, the PodGroup among them.
"""


@dataclass(frozen=True, slots=True)
class GroupNode:
    """
    One group object, and the key of the group that it is below.

    ``fault`` says why its spec cannot be read.
    """

    kind: str
    namespace: str
    name: str
    parent: str
    raw: Raw
    spec: Json
    fault: str = ""

    @property
    def key(self) -> str:
        """
        The name people see.
        """
        return f"{self.namespace}/{self.name}"

    @property
    def where(self) -> str:
        """
        The place of its fields in a sentence.
        """
        return f"{self.kind} {self.name}: spec"


@dataclass(frozen=True, slots=True)
class Forest:
    """
    All groups: those on top, those whose parent is missing, those in a circle.
    """

    children: Mapping[str, tuple[GroupNode, ...]]
    roots: tuple[GroupNode, ...] = ()
    orphans: tuple[tuple[GroupNode, str], ...] = ()
    circles: tuple[GroupNode, ...] = ()
    _none: tuple[GroupNode, ...] = field(default=(), repr=False)

    def under(self, node: GroupNode) -> tuple[GroupNode, ...]:
        """
        List the groups right below one; a PodGroup has none.
        """
        return self.children.get(node.key, ()) if node.kind == COMPOSITE else self._none

    def below(self, node: GroupNode) -> Iterator[GroupNode]:
        """
        Walk a group and all below it, however deep they are.
        """
        left = [node]
        while left:
            here = left.pop()
            yield here
            left += reversed(self.under(here))


def forest_of(groups: Iterable[Raw], composites: Iterable[Raw]) -> Forest:
    """
    Find out who is below whom.
    """
    nodes = [*_nodes(COMPOSITE, composites), *_nodes(PODGROUP, groups)]
    above = {node.key: node for node in nodes if node.kind == COMPOSITE}
    children: dict[str, list[GroupNode]] = defaultdict(list)
    roots: list[GroupNode] = []
    orphans: list[tuple[GroupNode, str]] = []
    for node in nodes:
        if not node.parent:
            roots.append(node)
        elif node.parent in above:
            children[node.parent].append(node)
        else:
            orphans.append((node, node.parent))
    forest = Forest(
        {key: tuple(below) for key, below in children.items()},
        tuple(roots),
        tuple(orphans),
    )
    seen = {
        (node.kind, node.key)
        for top in (*roots, *(node for node, _ in orphans))
        for node in forest.below(top)
    }
    lost = tuple(node for node in nodes if (node.kind, node.key) not in seen)
    return Forest(forest.children, forest.roots, forest.orphans, lost)


def _nodes(kind: str, raws: Iterable[Raw]) -> Iterator[GroupNode]:
    for namespace, name, raw in named(raws):
        try:
            spec = mapping(raw, "spec")
            above = text(spec, "parentCompositePodGroupName", "spec")
        except FieldError as error:
            yield GroupNode(kind, namespace, name, "", raw, {}, str(error))
            continue
        parent = f"{namespace}/{above}" if above else ""
        yield GroupNode(kind, namespace, name, parent, raw, spec)


def part_of(node: GroupNode, forest: Forest, notes: Notes, depth: int = 1) -> Part:
    """
    Read a group with all below it.

    ``basic`` needs one pod, or one group: its members do not wait for one another.
    """
    if node.fault:
        notes.invalid(f"{node.kind} {node.name}: {node.fault}")
    if depth > DEEPEST:
        notes.invalid(f"{node.where}: more than {DEEPEST} groups are above one another")
        return Part(name=node.name)
    topology = _topology(node)
    if node.kind == PODGROUP:
        least = _needed(node, "minCount", notes)
        return Part(name=node.name, minimum=least, topology=topology)
    children = forest.under(node)
    if not children:
        notes.invalid(f"{node.where}: no group names it as its parent")
    return Part(
        name=node.name,
        parts=tuple(part_of(child, forest, notes, depth + 1) for child in children),
        min_groups=_needed(node, "minGroupCount", notes),
        topology=topology,
    )


def leaves_below(node: GroupNode, forest: Forest) -> Mapping[str, str]:
    """
    Map the PodGroups below a group to the paths of their leaves.
    """
    found: dict[str, str] = {}
    left = [(child, child.name) for child in reversed(forest.under(node))]
    while left:
        here, path = left.pop()
        if here.kind == PODGROUP:
            found[here.key] = path
        under = reversed(forest.under(here))
        left += [(child, f"{path}/{child.name}") for child in under]
    return found


def keys_of(spec: Json) -> list[str]:
    """
    List the node labels that a group's pods must have one value of.
    """
    constraints = mapping(spec, "schedulingConstraints")
    return [
        key for item in records(constraints, "topology") if (key := text(item, "key"))
    ]


def topology_of(key: str) -> str:
    """
    Name the topology whose only level is a label; the name of one has no slash.
    """
    return key.replace("/", ":")


def templates_of(raws: Iterable[Raw]) -> Mapping[str, frozenset[str]]:
    """
    List the templates of every Workload, at any depth.
    """
    found: dict[str, frozenset[str]] = {}
    for namespace, name, raw in named(raws):
        try:
            names = frozenset(_names(mapping(raw, "spec")))
        except FieldError:
            names = frozenset()
        found[f"{namespace}/{name}"] = names
    return found


def _names(spec: Json) -> Iterator[str]:
    for word in ("podGroupTemplates", "compositePodGroupTemplates"):
        for template in records(spec, word, "spec"):
            yield text(template, "name")
            yield from _names(template)


def _needed(node: GroupNode, word: str, notes: Notes) -> int:
    where = f"{node.where}.schedulingPolicy"
    policy = mapping(node.spec, "schedulingPolicy", node.where)
    if len(policy) != 1 or not policy.keys() <= {"basic", "gang"}:
        notes.invalid(f"{where}: exactly one of basic and gang must be set")
        return 1
    if "basic" in policy:
        return 1
    least = count(mapping(policy, "gang", where), word, f"{where}.gang", least=1)
    if least is None:
        notes.invalid(f"{where}.gang.{word}: it must be set")
    return least or 1


def _topology(node: GroupNode) -> TopologyDemand | None:
    keys = keys_of(node.spec)
    if len(keys) > 1:
        what = f"{len(keys)} topologies are given, and only one may be"
        raise FieldError(f"{node.where}.schedulingConstraints.topology", what)
    if not keys:
        return None
    return TopologyDemand(topology=topology_of(keys[0]), required=keys[0])
