"""
On which nodes free volumes are.

One that several reach is offered by all where all claims get one; else these are told.
"""

from collections.abc import Iterable, Iterator, Mapping

from adapters.kube.gangs.storage.free_volumes import FreeVolumes
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.volume_records import VolumeRecord
from models.neighbours import ReachedVolumes
from models.nodes import Node, Terms, one_holds
from models.resources import Resources

_HOST = "kubernetes.io/hostname"


def volumes_offered(
    free: FreeVolumes, nodes: Iterable[Node]
) -> Mapping[str, Resources]:
    """
    Say what each node offers of free volumes.
    """
    if not free.volumes:
        return {}
    reach = VolumeReach(nodes)
    found: dict[str, dict[str, int]] = {}
    dealt: dict[str, int] = {}
    for volume, resources in free.volumes:
        there = reach.of(volume)
        if len(there) > 1 and volume.name not in free.plenty:
            # Nodes that say the same name of a host.
            there = [min(there, key=lambda node: dealt.get(node, 0))]
            dealt[there[0]] = dealt.get(there[0], 0) + 1
        for node in there:
            amounts = found.setdefault(node, {})
            for name in resources:
                amounts[name] = amounts.get(name, 0) + 1
    return found


def volumes_reached(
    free: FreeVolumes, nodes: Iterable[Node]
) -> Mapping[str, tuple[ReachedVolumes, ...]]:
    """
    Say which free volumes each node reaches that others may reach too.
    """
    if not (free.reached.volumes or free.made):
        return {}
    there = tuple(nodes)
    reach = VolumeReach(there)
    found: dict[str, list[ReachedVolumes]] = {}
    for volume, kinds, number in free.reached.volumes:
        for node in reach.of(volume):
            found.setdefault(node, []).append(
                ReachedVolumes(volume.name, kinds, number)
            )
    labels = {one.name: one.labels for one in there if free.made}
    for made in free.made:
        for node in reach.within(made.places):
            values = [labels[node].get(key) for key in made.keys]
            if None not in values:
                where = f" at {', '.join(map(str, values))}" if values else ""
                name = f"{made.name}{where}"
                here = ReachedVolumes(name, (made.kind,), made.number)
                found.setdefault(node, []).append(here)
    return {node: tuple(sorted(row)) for node, row in found.items()}


class VolumeReach:
    """
    The nodes from which a volume may be used, those that take pods alone where several.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._labels: dict[str, Mapping[str, str]] = {}
        self._closed: set[str] = set()
        self._hosts: dict[str, list[str]] = {}
        for node in nodes:
            self._labels[node.name] = {**node.labels, NAME_FIELD: node.name}
            if node.unschedulable:
                self._closed.add(node.name)
            if host := node.labels.get(_HOST):
                self._hosts.setdefault(host, []).append(node.name)
        self._known: dict[tuple[Terms, ...], list[str]] = {}

    def of(self, volume: VolumeRecord) -> list[str]:
        """
        Name the nodes of a volume.
        """
        return self.within(volume.demands)

    def within(self, demands: tuple[Terms, ...]) -> list[str]:
        """
        Name the nodes whose labels are as demanded.
        """
        if demands not in self._known:
            found = sorted(
                name
                for name in self._near(demands)
                if all(one_holds(terms, self._labels[name]) for terms in demands)
            )
            ready = [name for name in found if name not in self._closed]
            self._known[demands] = ready or found
        return self._known[demands]

    def _near(self, demands: Iterable[Terms]) -> Iterator[str]:
        """
        Walk the nodes that may be meant, by host where one is named.
        """
        for terms in demands:
            rules = terms[0] if len(terms) == 1 else ()
            for rule in rules:
                if rule.key == _HOST and rule.operator == "In":
                    for host in set(rule.values):
                        yield from self._hosts.get(host, ())
                    return
        yield from self._labels
