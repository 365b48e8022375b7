"""
Volcano's HyperNodes: trees of nodes by tier, written as labels that a topology reads.

A tree that leads round in a circle, overlaps, or cannot be read is left out with all
that is joined to it, and no other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.dialects.notes import count, named
from adapters.kube.dialects.volcano.hyper_node_members import Members, members_of
from adapters.kube.objects.fields import FieldError, mapping, text
from models.nodes import Node
from models.topology import Topology

HYPER_NODES = Resource(
    group="topology.volcano.sh",
    version="v1alpha1",
    plural="hypernodes",
    kind="HyperNode",
    namespaced=False,
)
KIND = HYPER_NODES.group, HYPER_NODES.kind
TOPOLOGY = "volcano:hypernodes"
"""
The topology of all HyperNodes; the name of an object has no colon.
"""
_MOST_TIER = 1_000_000


@dataclass(frozen=True, slots=True)
class HyperNodes:
    """
    The objects that stand in no faulty tree, and the labels that they give to nodes.
    """

    sound: tuple[Raw, ...] = ()
    places: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tiers:
    """
    The tiers that there are, the lowest first, and the tiers that a name stands for.
    """

    numbers: tuple[int, ...] = ()
    names: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(slots=True)
class _HyperNode:
    """
    One object as it is read; ``above`` is the HyperNode that it is a member of.
    """

    name: str
    raw: Raw
    tier: int = 0
    members: Members = field(default_factory=Members)
    above: str = ""


def level(tier: int) -> str:
    """
    Name the label of a tier.
    """
    return f"{HYPER_NODES.group}/tier-{tier}"


def tiers_of(raws: Iterable[Raw]) -> Tiers:
    """
    List the tiers of HyperNodes that stand in sound trees.
    """
    numbers: set[int] = set()
    names: dict[str, set[int]] = {}
    for _, _, raw in named(raws):
        try:
            tier, said = _tier(raw), text(mapping(raw, "spec"), "tierName", "spec")
        except FieldError:  # it is left out, with a warning
            continue
        numbers.add(tier)
        if said:
            names.setdefault(said, set()).add(tier)
    return Tiers(
        tuple(sorted(numbers)),
        {name: frozenset(found) for name, found in names.items()},
    )


def topology_of(raws: Iterable[Raw]) -> Iterator[Topology]:
    """
    Make the topology of all HyperNodes, the highest tier outermost.
    """
    tiers = tiers_of(raws).numbers
    if tiers:
        yield Topology(name=TOPOLOGY, levels=tuple(map(level, reversed(tiers))))


def hyper_nodes(raws: Iterable[Raw], nodes: Sequence[Node]) -> HyperNodes:
    """
    Find the sound trees, and in which HyperNode of each tier every node is.

    In a tier without a HyperNode above it a node is in that of the next lower one, for
    this is what its gang may use where that tier is the highest allowed.
    """
    trees = _HyperNodeTrees(raws)
    here = trees.nodes_in(nodes)
    faults = trees.faults
    lost = trees.joined_to(faults)
    sound = {name: each for name, each in trees.all.items() if name not in lost}
    tiers = sorted({each.tier for each in sound.values()})
    places: dict[str, Mapping[str, str]] = {}
    for node, name in here.items():
        if name in sound:
            places[node] = _labels(sound, name, tiers)
    said = [f"HyperNode {name}: {faults[name]}" for name in sorted(faults)]
    if lost:
        many = sorted(lost)
        more = f" and {len(many) - 5:,} more" if len(many) > 5 else ""
        left = f"the tree of {', '.join(many[:5])}{more}"
        said.append(f"HyperNodes: {left} is left out, and no pod is placed by it")
    said += [text for name, text in trees.notes if name in sound]
    return HyperNodes(
        sound=tuple(each.raw for each in sound.values()),
        places=places,
        warnings=tuple(said),
    )


def _tier(raw: Raw) -> int:
    found = count(mapping(raw, "spec"), "tier", "spec", most=_MOST_TIER)
    if found is None:
        raise FieldError("spec.tier", "it must be set")
    return found


def _labels(
    sound: Mapping[str, _HyperNode], lowest: str, tiers: Sequence[int]
) -> Mapping[str, str]:
    """
    Name the HyperNode of each tier that a node is in.
    """
    found: dict[str, str] = {}
    at = lowest
    while at:
        above = sound[at].above
        until = sound[above].tier if above else tiers[-1] + 1
        for tier in tiers:
            if sound[at].tier <= tier < until:
                found[level(tier)] = at
        at = above
    return found


class _HyperNodeTrees:
    """
    All HyperNodes by name, what is wrong with some, and who is joined to whom.
    """

    def __init__(self, raws: Iterable[Raw]) -> None:
        self.all: dict[str, _HyperNode] = {}
        self.faults: dict[str, str] = {}
        self.notes: list[tuple[str, str]] = []
        self._joined: dict[str, set[str]] = {}
        for _, name, raw in named(raws):
            self.all[name] = _HyperNode(name, raw)
            try:
                self.all[name].tier = _tier(raw)
                self.all[name].members = members_of(raw)
                text(mapping(raw, "spec"), "tierName", "spec")
            except FieldError as error:
                self._fault(name, str(error))
        for each in self.all.values():
            self._adopt(each)
        circles = {name for name in self.all if self._leads_round(name)}
        for name in sorted(circles):
            self._fault(name, "spec.members: they form a cycle")
        for each in self.all.values():
            if each.name not in circles:
                self._check_tier(each)

    def _fault(self, name: str, what: str) -> None:
        """
        Say what is wrong with one; what was said first stands.
        """
        self.faults.setdefault(name, what)

    def _join(self, one: str, other: str) -> None:
        self._joined.setdefault(one, set()).add(other)
        self._joined.setdefault(other, set()).add(one)

    def _adopt(self, parent: _HyperNode) -> None:
        """
        Put the members of a HyperNode that are HyperNodes below it.
        """
        for place, name in parent.members.hyper_nodes:
            child = self.all.get(name)
            if child is None:
                what = f"HyperNode {parent.name}: {place}: there is no HyperNode {name}"
                self.notes.append((parent.name, what))
                continue
            self._join(parent.name, name)
            if child.above in {"", parent.name}:
                child.above = parent.name
            else:
                what = f"HyperNode {name} is a member of {child.above} already"
                self._fault(parent.name, f"{place}: {what}")

    def _leads_round(self, name: str) -> bool:
        """
        Tell whether one is above itself.
        """
        return name in self._above(name)

    def _check_tier(self, child: _HyperNode) -> None:
        """
        Refuse a HyperNode whose member is of its own tier or a higher one.
        """
        parent = self.all.get(child.above)
        if parent is None or child.name in self.faults or child.tier < parent.tier:
            return
        what = f"its member {child.name} is of tier {child.tier}, which is not lower"
        self._fault(parent.name, f"spec.tier: {parent.tier}, and {what}")

    def _above(self, name: str) -> Iterator[str]:
        """
        Walk all HyperNodes above one; in a circle only so far.
        """
        at = self.all[name].above
        for _ in self.all:
            if not at:
                return
            yield at
            at = self.all[at].above

    def nodes_in(self, nodes: Sequence[Node]) -> dict[str, str]:
        """
        Say in which HyperNode each node is right below, and refuse what overlaps.
        """
        found: dict[str, str] = {}
        labels = {node.name: node.labels for node in nodes}
        for each in self.all.values():
            for place, node in each.members.nodes_among(labels):
                first = found.setdefault(node, each.name)
                if first == each.name or first in self._above(each.name):
                    found[node] = each.name
                elif each.name not in self._above(first):
                    self._join(first, each.name)
                    what = f"node {node} is in HyperNode {first} too"
                    why = "neither is a member of the other"
                    self._fault(each.name, f"{place}: {what}, and {why}")
        return found

    def joined_to(self, names: Iterable[str]) -> set[str]:
        """
        Name some HyperNodes and all that are in one tree with them.
        """
        found: set[str] = set()
        left = list(names)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self._joined.get(name, ())
        return found
