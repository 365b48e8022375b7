"""
The gangs of one namespace: made anew where something changed, else kept.

Whatever is kept depends on nothing but what it is compared with; with nothing kept the
same gangs are made.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.dialects.protocol import Claim, Dialect, Objects
from adapters.kube.gangs.build import GangMaker, MadeGang
from adapters.kube.gangs.membership import Grouped, Memberships
from adapters.kube.gangs.namespace_labels import ending_namespaces
from adapters.kube.gangs.namespaces import CLAIM, Namespace
from adapters.kube.gangs.pod_neighbours import Around
from adapters.kube.gangs.storage.attached_volumes import (
    SharedClaim,
    shared_claims,
)
from adapters.kube.gangs.storage.free_volumes import (
    WantedVolume,
    wanted_volumes,
)
from adapters.kube.gangs.workloads.passed_over import PassedOver, passed_over
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.pod_record import PodRecord
from models.devices.gpu_parts import is_part
from models.gangs import Gang, pod_sets
from models.host_ports import is_host_port
from models.volume_slots import is_volume_slot
from models.why.reasons import Reason, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceGroups:
    """
    The pods of a namespace by gang, before any is made.

    ``keepers`` are pods that ask for something of others; some pods of ours may
    ``have_volumes``, of which some claims are ``shared`` or ``unbound``, or claims of
    devices, or ask for ``extended`` resources.
    """

    groups: Mapping[str, Grouped] = field(default_factory=dict)
    others: Sequence[PodRecord] = ()
    num_ours: int = 0
    keepers: tuple[PodRecord, ...] = ()
    ours: Sequence[PodRecord] = ()
    have_volumes: bool = False
    have_claims: bool = False
    extended: frozenset[str] = frozenset()
    shared: tuple[SharedClaim, ...] = ()
    unbound: tuple[WantedVolume, ...] = ()
    passed: PassedOver = field(default_factory=PassedOver)
    warnings: tuple[str, ...] = ()

    def claim_any(self, by_class: Collection[str]) -> bool:
        """
        Tell whether pods of ours claim devices, themselves or by class.
        """
        return self.have_claims or not self.extended.isdisjoint(by_class)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceGangs:
    """
    The gangs of a namespace by name, and when each was read.

    They ``last`` where time alone changes nothing but their age; ``ports`` are those of
    hosts that they use, ``slots`` those for volumes, ``parts`` those of GPUs.
    """

    gangs: tuple[Gang, ...] = ()
    seen: tuple[int, ...] = ()
    claims: Mapping[str, Claim] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    guests: int = 0
    lasts: bool = True
    asks_for_names: bool = False
    ports: frozenset[str] = frozenset()
    slots: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()


class NamespaceLook:
    """
    What was made of one namespace last.
    """

    def __init__(self, dialects: Sequence[Dialect]) -> None:
        self.groups = NamespaceGroups()
        self.gangs = NamespaceGangs()
        self._memberships = Memberships(dialects)
        self._made: dict[str, tuple[MadeGang, object]] = {}

    def group(
        self, space: Namespace, objects: Objects, is_ours: Callable[[Grouped], bool]
    ) -> None:
        """
        Group the pods anew.
        """
        ours, others = space.sorted_ours(), space.sorted_others()
        warnings: list[str] = []
        found = self._memberships.grouped(ours, others, objects, warnings)
        groups = {key: group for key, group in found.items() if is_ours(group)}
        if space.name in ending_namespaces(objects):
            groups = {key: _ending(group) for key, group in groups.items()}
        self.groups = NamespaceGroups(
            groups=groups,
            others=others,
            num_ours=len(ours),
            ours=ours,
            keepers=(
                *(pod for pod in (*ours, *others) if pod.terms),
                *preferring(found.values()),
            ),
            have_volumes=any(pod.volumes for pod in ours),
            have_claims=any(pod.claims for pod in ours),
            extended=frozenset(one.resource for pod in ours for one in pod.extended),
            shared=tuple(shared_claims(ours, others)),
            unbound=tuple(wanted_volumes(ours, others, objects.of(*CLAIM))),
            passed=passed_over(objects, ours, others),
            warnings=tuple(warnings),
        )

    def make(self, maker: GangMaker, around: object, apart: Around) -> None:
        """
        Make the gangs, each anew where it is not as it was.

        ``around`` is what all gangs depend on, ``apart`` what is said of neighbours.
        """
        made: dict[str, tuple[MadeGang, object]] = {}
        for key, group in self.groups.groups.items():
            pods = group.pods
            alone = apart.of(key, (pod.key for pod in pods))
            volumes, devices = maker.volumes.facts(pods), maker.devices.facts(pods)
            beside = (around, alone, volumes, devices)
            known = self._made.get(key)
            if known is None or not _holds(known, group, beside):
                known = (maker.made(group), beside)
            made[key] = known
        self._made = made
        every = sorted((one for one, _ in made.values()), key=_name)
        self.gangs = NamespaceGangs(
            gangs=tuple([one.gang for one in every]),
            seen=tuple([one.seen for one in every]),
            claims={key: group.claim for key, group in self.groups.groups.items()},
            warnings=tuple([said for one in every for said in one.warnings]),
            guests=sum(one.guest for one in every),
            lasts=all(one.lasts for one in every),
            asks_for_names=_asks_for_names([one.gang for one in every]),
            ports=_named([one.gang for one in every], is_host_port),
            slots=_named(
                [one.gang for one in every if _may_use_slots(one.gang)], is_volume_slot
            ),
            parts=_named([one.gang for one in every], is_part),
        )


def preferring(groups: Iterable[Grouped]) -> Iterator[PodRecord]:
    """
    Walk the pods that prefer others, of gangs of which some have no node yet.
    """
    for group in groups:
        pods = [pod for pod in group.pods if pod.terms.preferred and not pod.terms]
        if pods and any(pod.node is None for pod in group.pods):
            yield from pods


def _ending(group: Grouped) -> Grouped:
    """
    Refuse a gang whose namespace is being deleted.
    """
    why = {"namespace": group.claim.key.partition("/")[0]}
    refused = Waiting(Reason.NAMESPACE_ENDING, why)
    return replace(group, claim=replace(group.claim, refused=refused))


def _holds(known: tuple[MadeGang, object], group: Grouped, beside: object) -> bool:
    """
    Tell whether a gang is as it was made, but for its age.
    """
    made, before = known
    return made.lasts and made.group == group and before == beside


def _name(made: MadeGang) -> str:
    return made.gang.name


def _may_use_slots(gang: Gang) -> bool:
    """
    Tell whether a gang may need slots: no slot is kept for who cannot start.
    """
    if gang.refused is None:
        return True
    pods = (pod for leaf in pod_sets(gang.tree) for pod in leaf.pods)
    return any(pod.node is not None for pod in pods)


def _asks_for_names(gangs: Sequence[Gang]) -> bool:
    """
    Tell whether a pod asks for nodes by name and not by label.
    """
    demands = {leaf.demand for gang in gangs for leaf in pod_sets(gang.tree)}
    return any(rule.key == NAME_FIELD for d in demands for rule in d.rules())


def _named(gangs: Sequence[Gang], is_one: Callable[[str], bool]) -> frozenset[str]:
    """
    Name the resources of a kind that pods ask for.
    """
    requests = {
        id(leaf.requests): leaf.requests
        for gang in gangs
        for leaf in pod_sets(gang.tree)
    }
    names = (name for asked in requests.values() for name in asked)
    return frozenset(filter(is_one, names))
