"""
The gangs of all namespaces, and what goes beyond one: hosts of one's own, and budgets.

A namespace is looked at again where something in it changed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Dialect, Objects
from adapters.kube.gangs.budgets import budgets_of
from adapters.kube.gangs.build import GangMaker
from adapters.kube.gangs.cluster_rules import ClusterRules, Kinds
from adapters.kube.gangs.devices.claimed_devices import ClaimedDevices
from adapters.kube.gangs.devices.device_room import DeviceRoom
from adapters.kube.gangs.devices.leaving_together import (
    leaving_together,
    starting_together,
)
from adapters.kube.gangs.membership import Grouped
from adapters.kube.gangs.namespace_gangs import NamespaceGroups, NamespaceLook
from adapters.kube.gangs.namespace_labels import (
    NAMESPACE,
    NamespaceLabels,
    namespace_labels,
)
from adapters.kube.gangs.namespaces import BUDGET, VOLUMES, Namespaces
from adapters.kube.gangs.node_load import AskedOfNodes
from adapters.kube.gangs.pod_neighbours import (
    FOREIGN,
    Around,
    around_of,
    concerned,
    terms_of_all,
)
from adapters.kube.gangs.storage.attached_volumes import (
    Attached,
    attached,
)
from adapters.kube.gangs.storage.pod_volumes import (
    Claim,
    Volumes,
    storage_of,
)
from adapters.kube.gangs.storage.shared_slots import SharedSlots
from adapters.kube.gangs.storage.volume_reach import volumes_offered, volumes_reached
from adapters.kube.gangs.storage.volume_room import VolumeRoom
from adapters.kube.objects.node_pool import NodePool
from adapters.kube.objects.node_record import NodeRecord
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import DisruptionBudget
from models.neighbours import Neighbours


@dataclass(frozen=True, slots=True)
class _SpaceBudgets:
    """
    The disruption budgets of a namespace, and what they were read from.
    """

    raws: tuple[Raw, ...]
    groups: NamespaceGroups
    budgets: Sequence[DisruptionBudget]
    warnings: Sequence[str]


Nodes = Iterable[NodeRecord]


class ClusterGangs:
    """
    What was made of each namespace, and which of them changed since.
    """

    def __init__(
        self, dialects: Sequence[Dialect], schedulers: Collection[str], pool: NodePool
    ) -> None:
        self._dialects = dialects
        self._pool = pool
        self._spaces = Namespaces(dialects, schedulers, pool)
        self._looks: dict[str, NamespaceLook] = {}
        self._budgets: dict[str, _SpaceBudgets] = {}
        self._apart = Around()
        self._touched: set[str] = set()
        self._storage: Sequence[tuple[Raw, ...]] = ()
        self._slots = SharedSlots()
        self._free = VolumeRoom()
        self._room = DeviceRoom()
        self._claimers: set[str] = set()
        self.devices = ClaimedDevices()

    def is_ours(self, pod: PodRecord) -> bool:
        """
        Tell whether a pod is for us to plan.
        """
        return self._spaces.is_ours(pod)

    def pods_changed(
        self, pods: Iterable[PodRecord]
    ) -> tuple[list[PodRecord], list[PodRecord]]:
        """
        Take the pods that are there now; give those that are gone, and the new ones.
        """
        gone, came = self._spaces.pods_changed(pods)
        self._touched.update(pod.namespace for pod in chain(gone, came))
        return gone, came

    def objects_changed(self, objects: Objects, nodes: Nodes = ()) -> Objects:
        """
        Take objects and nodes that are there now; give objects of the whole cluster.
        """
        wide, touched = self._spaces.objects_changed(objects)
        self._room.see(wide, nodes)
        self._free.nodes = [each.node for each in nodes]
        self._touched |= touched
        for name in self._spaces.drop_empty():
            self._looks.pop(name, None)
            self._budgets.pop(name, None)
        return wide

    def shared(self, wide: Objects) -> Kinds:
        """
        Give what gangs of all namespaces are made of.
        """
        return self._spaces.shared(wide)

    def looks(self) -> list[NamespaceLook]:
        """
        List what was made of each namespace, by name.
        """
        return [self._looks[name] for name in sorted(self._looks)]

    def make(self, wide: Objects, rules: ClusterRules, now: int, *, anew: bool) -> None:
        """
        Make the gangs where some may be other ones than before; ``anew`` is everywhere.
        """
        held, is_ours = self._spaces.held, partial(_is_of, self._pool)
        touched = set(held) if anew else self._touched & held.keys()
        for name in touched:
            look = self._looks.get(name)
            if look is None:
                look = self._looks[name] = NamespaceLook(self._dialects)
            space = held[name]
            look.group(space, self._spaces.objects_of(space, wide), is_ours)
        apart = self._around(namespace_labels(wide.of(*NAMESPACE)))
        if apart != self._apart:
            touched, self._apart = set(held), apart
        storage = [wide.of(*kind) for kind in VOLUMES]
        if storage != self._storage:
            some = [n for n, x in self._looks.items() if x.groups.have_volumes]
            touched, self._storage = touched | set(some), storage
        touched |= self._sharing(wide) | self._claiming(wide)
        unbound = (each for x in self._looks.values() for each in x.groups.unbound)
        touched |= self._free.look(wide, unbound) & self._looks.keys()
        slots, free = self._slots, self._free.found
        for name, look in self._looks.items():
            if name in touched or not look.gangs.lasts:
                space = held[name]
                own = self._spaces.objects_of(space, wide)
                pods = chain(space.ours.values(), space.others.values())
                volumes = Volumes(own, pods, slots.claims, free, slots.told)
                maker = GangMaker(own, rules.homes, apart, now, volumes, self.devices)
                look.make(maker, rules.around, apart)
        self._touched = set()

    @property
    def others(self) -> Mapping[str, tuple[tuple[Neighbours, int], ...]]:
        """
        Give the pods of others on each node that ours are neighbours to.
        """
        return self._apart.others

    def _claiming(self, wide: Objects) -> set[str]:
        """
        Look at devices and claims; name the namespaces whose pods claim any, or did.
        """
        by_class = self._room.by_class
        asking = {n: x for n, x in self._looks.items() if x.groups.claim_any(by_class)}
        ours = chain.from_iterable(x.groups.ours for x in asking.values())
        others = chain.from_iterable(x.groups.others for x in self._looks.values())
        groups = [g for x in asking.values() for g in x.groups.groups.values()]
        leaving, units = leaving_together(groups), starting_together(groups)
        self.devices = self._room.look(wide, ours, others, leaving, units)
        before, self._claimers = self._claimers, {*asking}
        return self._claimers | (before & self._looks.keys())

    def _sharing(self, wide: Objects) -> set[str]:
        """
        Look which shared claims count once, and of which slots planning is told.

        Name the namespaces where others did before.
        """
        found = chain.from_iterable(x.groups.shared for x in self._looks.values())
        limits = storage_of(wide).limits
        other = self._slots.look(
            found, partial(self._attached, wide), limits, self._free.nodes
        )
        if other is None:
            return {n for n, x in self._looks.items() if x.groups.have_volumes}
        return {space for space, _ in other} & self._looks.keys()

    def asked_of_nodes(self, places: Mapping[str, Mapping[str, str]]) -> AskedOfNodes:
        """
        Say what gangs ask of nodes beside room; ``places`` are those in trees of nodes.
        """
        nodes, found = self._free.nodes, self._free.found
        looks = self.looks()
        room, reached = self._slots.room, volumes_reached(found, nodes)
        slots = room.of_nodes(frozenset().union(*(x.gangs.slots for x in looks)))
        return AskedOfNodes(
            by_name=any(look.gangs.asks_for_names for look in looks),
            ports=frozenset().union(*(look.gangs.ports for look in looks)),
            slots=slots.beside(volumes_offered(found, nodes)),
            volumes=room.beside(reached, (node.name for node in nodes)),
            claimed=self.devices.of_nodes,
            others=self.others,
            places=places,
        )

    def _attached(self, wide: Objects, shared: Collection[Claim]) -> Iterator[Attached]:
        """
        Walk the volumes with a limit that pods have on nodes, or wait for.
        """
        for name, groups in ((name, x.groups) for name, x in self._looks.items()):
            if groups.have_volumes or any(pod.volumes for pod in groups.others):
                space = self._spaces.objects_of(self._spaces.held[name], wide)
                yield from attached(groups.ours, groups.others, Volumes(space), shared)

    def _around(self, labels: NamespaceLabels) -> Around:
        """
        Say who is around whom, in the namespaces that this concerns.
        """
        keepers = [pod for look in self._looks.values() for pod in look.groups.keepers]
        if not keepers:
            return Around()
        terms = terms_of_all(keepers, labels)
        everywhere, spaces = concerned(keepers, terms)
        near = [
            self._looks[name]
            for name in sorted(self._looks)
            if everywhere or name in spaces
        ]
        others = [pod for look in near for pod in look.groups.others]
        everybody: dict[str, Sequence[PodRecord]] = {FOREIGN: others}
        for look in near:
            everybody |= {key: g.pods for key, g in look.groups.groups.items()}
        return around_of(everybody, terms)

    def budgets(self, warnings: list[str]) -> list[DisruptionBudget]:
        """
        Read the disruption budgets, anew where one or the pods near it changed.
        """
        found: list[DisruptionBudget] = []
        for name in sorted(self._looks):
            raws = self._spaces.held[name].raws.get(BUDGET, ())
            groups = self._looks[name].groups
            known = self._budgets.get(name)
            if known is None or known.raws is not raws or known.groups is not groups:
                said: list[str] = []
                everybody: dict[str, Sequence[PodRecord]] = {FOREIGN: groups.others}
                if raws:
                    everybody |= {key: g.pods for key, g in groups.groups.items()}
                budgets = list(budgets_of(raws, everybody, said))
                known = _SpaceBudgets(raws, groups, budgets, said)
                self._budgets[name] = known
            found += known.budgets
            warnings += known.warnings
        return found


def _is_of(pool: NodePool, group: Grouped) -> bool:
    """
    Tell whether a gang is of a pool: its pods say so, else its own labels.
    """
    if group.members or group.claim.source is None:
        return True
    meta = group.claim.source.get("metadata")
    labels = meta.get("labels") if isinstance(meta, Mapping) else None
    return pool.owns(labels or {})
