"""
What an empty cluster could hold of a gang: arithmetic on kinds of nodes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from models.devices.gpu_parts import is_part, part_named
from models.gangs import Gang, Group, PodSet, Tree, pod_sets
from models.nodes import Node, NodeDemand, Taint
from models.resources import PODS
from models.snapshot import Snapshot
from models.topology import Domain
from solver.verify.devices.empty_devices import num_alone
from solver.verify.gang_counts import all_nodes, least_core, usable

Level = tuple[str, str]
_MANY = 2**40
_Seen = tuple[
    tuple[tuple[str, int], ...],
    tuple[str | None, ...],
    tuple[tuple[Level, Domain | None], ...],
    tuple[Taint, ...],
    bool,
]
_Shape = tuple[tuple[tuple[str, int], ...], NodeDemand, bool]


@dataclass(frozen=True, slots=True)
class _Kind:
    """
    Nodes that no pending pod can tell apart when they are empty.
    """

    sample: Node
    number: int
    room: Mapping[str, int]
    domains: Mapping[Level, Domain | None]


@dataclass(frozen=True, slots=True)
class ToldApart:
    """
    What gangs tell nodes apart by: their room, labels, and domains.
    """

    resources: tuple[str, ...]
    labels: tuple[str, ...]
    levels: tuple[Level, ...]


def told_apart(gangs: Sequence[Gang]) -> ToldApart:
    """
    Say by what some gangs tell nodes apart.
    """
    leaves = [leaf for gang in gangs for leaf in pod_sets(gang.tree)]
    return ToldApart(
        resources=tuple(sorted({r for leaf in leaves for r in leaf.requests})),
        labels=tuple(
            sorted({key for leaf in leaves for key in _label_keys(leaf.demand)})
        ),
        levels=tuple(sorted({x for gang in gangs for x in _levels(gang.tree)})),
    )


def kinds_of(snapshot: Snapshot, told: ToldApart) -> tuple[_Kind, ...]:
    """
    Sort the nodes of a snapshot into kinds, as far as they are told apart.
    """
    named = {topology.name: topology for topology in snapshot.topologies}
    found: dict[_Seen, list[Node]] = {}
    for node in snapshot.nodes:
        of_node = node.labels
        room = tuple(
            (r, num_alone(node, part_named(r))) if is_part(r) else (r, node.offers(r))
            for r in told.resources
        )
        seen = tuple(of_node.get(key) for key in told.labels)
        inside = tuple(
            ((name, level), named[name].domain(of_node, level))
            for name, level in told.levels
            if name in named
        )
        key = (room, seen, inside, node.taints, node.unschedulable)
        found.setdefault(key, []).append(node)
    return tuple(
        _Kind(nodes[0], len(nodes), dict(room), dict(domains))
        for (room, _, domains, _, _), nodes in found.items()
    )


@dataclass(frozen=True, slots=True)
class Emptiness:
    """
    The kinds of nodes, and per shape and level what each domain of it holds.
    """

    kinds: tuple[_Kind, ...]
    resources: tuple[str, ...]
    _places: dict[tuple[_Shape, Level | None], Counter[Domain | None]] = field(
        default_factory=dict
    )
    _known: dict[object, bool] = field(default_factory=dict)

    def offers(self, gang: Gang, pending: Mapping[str, int]) -> dict[str, int]:
        """
        Cut the pending pods of each leaf to those that empty nodes could hold.

        Below a required level these are the nodes of the domain that holds most.
        """
        cut = {
            leaf.name: min(pending[leaf.name], self._places_of(leaf, None).total())
            for leaf in pod_sets(gang.tree)
        }
        for tree in all_nodes(gang.tree):
            for level in _own_level(tree):
                for leaf in pod_sets(tree):
                    places = self._places_of(leaf, level)
                    best = max((n for d, n in places.items() if d), default=0)
                    cut[leaf.name] = min(cut[leaf.name], best)
        return cut

    def holds(
        self, gang: Gang, before: Mapping[str, int], offers: Mapping[str, int]
    ) -> bool:
        """
        Tell whether a gang that needs more pods could start in an empty cluster.
        """
        if not isinstance(gang.tree, PodSet):
            return self._holds(gang, before, offers)
        leaf = gang.tree
        key = (
            _shape(leaf),
            leaf.topology,
            leaf.minimum,
            before[leaf.name],
            offers[leaf.name],
        )
        if key not in self._known:
            self._known[key] = self._holds(gang, before, offers)
        return self._known[key]

    def _holds(
        self, gang: Gang, before: Mapping[str, int], offers: Mapping[str, int]
    ) -> bool:
        fitting = usable(gang, before, offers)
        if fitting is None or not self._has_room(gang, before, fitting, None, None):
            return False
        return all(
            self._in_one_domain(gang, before, offers, level)
            for level in _own_level(gang.tree)
        )

    def _in_one_domain(
        self,
        gang: Gang,
        before: Mapping[str, int],
        offers: Mapping[str, int],
        level: Level,
    ) -> bool:
        for domain in {kind.domains.get(level) for kind in self.kinds} - {None}:
            inside = {
                leaf.name: min(offers[leaf.name], self._places_of(leaf, level)[domain])
                for leaf in pod_sets(gang.tree)
            }
            fitting = usable(gang, before, inside)
            if fitting and self._has_room(gang, before, fitting, level, domain):
                return True
        return False

    def _has_room(
        self,
        gang: Gang,
        before: Mapping[str, int],
        offers: Mapping[str, int],
        level: Level | None,
        domain: Domain | None,
    ) -> bool:
        """
        Tell whether matching nodes have enough of each resource in total.
        """
        demands = {leaf.demand for leaf in pod_sets(gang.tree)}
        kinds = [
            kind
            for kind in self.kinds
            if (level is None or kind.domains.get(level) == domain)
            and any(demand.allows(kind.sample) for demand in demands)
        ]
        return all(
            least_core(gang, before, offers, resource)
            <= sum(max(0, kind.room[resource]) * kind.number for kind in kinds)
            for resource in self.resources
        ) and all(
            least_core(replace(gang, tree=pods), before, offers, PODS)
            <= self._places_of(leaf, level)[domain]
            for leaf, pods in alike(gang)
        )

    def _places_of(self, leaf: PodSet, level: Level | None) -> Counter[Domain | None]:
        key = (_shape(leaf), level)
        if key not in self._places:
            places: Counter[Domain | None] = Counter()
            for kind in self.kinds:
                if leaf.demand.allows(kind.sample):
                    domain = kind.domains.get(level) if level is not None else None
                    places[domain] += _per_node(leaf, kind) * kind.number
            self._places[key] = places
        return self._places[key]


def alike(gang: Gang) -> Iterator[tuple[PodSet, Tree]]:
    """
    List a leaf of each shape that several leaves have, with a tree that counts those.

    Their pods share the places that there are for that shape.
    """
    shapes = Counter(map(_shape, pod_sets(gang.tree)))
    for leaf in pod_sets(gang.tree):
        shape = _shape(leaf)
        if shapes[shape] > 1:
            yield leaf, _counting(gang.tree, shape)
            del shapes[shape]


def _counting(tree: Tree, shape: _Shape) -> Tree:
    if isinstance(tree, PodSet):
        return replace(tree, requests={PODS: 1} if _shape(tree) == shape else {})
    return replace(tree, children=tuple(_counting(x, shape) for x in tree.children))


def _shape(leaf: PodSet) -> _Shape:
    return tuple(sorted(leaf.requests.items())), leaf.demand, leaf.exclusive


def _per_node(leaf: PodSet, kind: _Kind) -> int:
    most = 1 if leaf.exclusive else _MANY
    fitting = [
        max(0, kind.room[resource]) // amount
        for resource, amount in leaf.requests.items()
        if amount > 0
    ]
    return min([most, *fitting])


def _own_level(tree: Tree) -> Iterator[Level]:
    demand = tree.topology
    if demand is not None and demand.required is not None:
        yield demand.topology, demand.required


def _levels(tree: Tree) -> Iterator[Level]:
    if isinstance(tree, Group) or tree.topology is not None:
        for node in all_nodes(tree):
            yield from _own_level(node)


def _label_keys(demand: NodeDemand) -> Iterator[str]:
    yield from (key for key, _ in demand.selector)
    yield from (rule.key for rule in demand.rules())
