"""
Volumes: where pods have theirs, and what pods wait for that have none yet.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.storage.free_volumes import (
    NO_FREE_VOLUMES,
    FreeVolumes,
)
from adapters.kube.gangs.storage.storage_classes import (
    STORAGE_KINDS,
    NotReadyError,
    Storage,
)
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.fields import FieldError, items, mapping
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.volume_records import (
    FOR_ONE_POD,
    ClaimRecord,
    claim_record,
    volume_record,
)
from models.gangs import FINISHED
from models.neighbours import Neighbours
from models.nodes import LabelRule, NodeDemand, Terms
from models.resources import Resources, summed
from models.volume_slots import volume_slots

Claim = tuple[str, str]
"""
The namespace of a claim, and its name.
"""


class ToldSlots(NamedTuple):
    """
    The drivers of whose slots planning is told, and the kinds of shared claims.
    """

    drivers: frozenset[str]
    kinds: Mapping[Claim, str]


NOTHING_TOLD = ToldSlots(frozenset(), {})


class Volumes:
    """
    The claims and volumes that were read.

    ``taken`` says of waiting pods, by key, that another has a claim that is for one;
    ``shared`` claims are counted once for all the pods of a node that use them, of the
    drivers in ``told`` by planning, which is told their kinds; of the ``free`` volumes
    each is for one claim.
    """

    def __init__(
        self,
        objects: Objects,
        pods: Iterable[PodRecord] = (),
        shared: Collection[Claim] = (),
        free: FreeVolumes = NO_FREE_VOLUMES,
        told: ToldSlots = NOTHING_TOLD,
    ) -> None:
        self._claims: Mapping[Claim, Raw] = {
            (namespace, name): raw
            for namespace, name, raw in named(objects.of("", "PersistentVolumeClaim"))
        }
        volumes = objects.of("", "PersistentVolume")
        self._volumes: Mapping[str, Raw] = objects.memo.made_once(
            "volumes",
            (volumes,),
            lambda: {name: raw for _, name, raw in named(volumes)},
        )
        self._storage = storage_of(objects)
        self._demands: dict[NodeDemand, NodeDemand] = {}
        self._requests: dict[frozenset[tuple[str, int]], Resources] = {}
        self._shared = frozenset(shared)
        self._free = free
        self._told = told
        alone = {at for at, raw in self._claims.items() if _is_for_one(raw)}
        self.taken = dict(_taken(alone, pods)) if alone else {}

    def facts(self, pods: Iterable[PodRecord]) -> object:
        """
        Give what decides of the volumes of some pods, to compare.
        """
        return tuple(
            (self.fault(pod), placed.demand.volumes, placed.requests, self._kinds(pod))
            for pod in pods
            if pod.volumes and pod.phase not in FINISHED
            for placed in [self.placed(pod)]
        )

    def fault(self, pod: PodRecord) -> str | None:
        """
        Say what a pod's volumes lack before it can be planned; nothing where none do.
        """
        if (why := self.taken.get(pod.key)) is not None:
            return why
        for claim in pod.volumes:
            try:
                for _ in self._places(pod, claim):
                    pass
            except (FieldError, NotReadyError) as error:
                return f"claim {claim} {error}"
        return None

    def placed(self, pod: PodRecord) -> PodRecord:
        """
        Give a pod that demands nodes where it can have its volumes, and slots for them.
        """
        found: set[Terms] = set()
        for claim in pod.volumes:
            try:
                found.update(self._places(pod, claim))
            except (FieldError, NotReadyError):
                continue
        if found:
            demand = replace(pod.demand, volumes=tuple(sorted(found, key=repr)))
            pod = replace(pod, demand=self._demands.setdefault(demand, demand))
        if slots := {**self._slots(pod), **self._free_ones(pod)}:
            asked = {**pod.requests, **slots}
            key = frozenset(asked.items())
            pod = replace(pod, requests=self._requests.setdefault(key, asked))
        return pod

    def beside(self, pod: PodRecord, said: Neighbours) -> Neighbours:
        """
        Add what a pod needs of free volumes that several nodes reach, and of slots.
        """
        claims, shared = self._kinds(pod)
        found = claims or shared
        return replace(said, claims=claims, shared=shared) if found else said

    def _kinds(
        self, pod: PodRecord
    ) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, str], ...]]:
        """
        Count the claims of a pod by kind, and name those that it shares.
        """
        known, slots = self._free.reached.of, self._told
        claims = dict.fromkeys(pod.volumes) if known or slots.drivers else ()
        kinds: Counter[str] = Counter()
        shared: list[tuple[str, str]] = []
        for at in ((pod.namespace, claim) for claim in claims):
            if at in known and at in self._free.shared:
                shared.append(("/".join(at), known[at]))
            elif at in known:
                kinds[known[at]] += 1
            if at in slots.kinds:
                shared.append(("/".join(at), slots.kinds[at]))
            elif at not in self._shared and self.limited_driver(at) in slots.drivers:
                kinds[volume_slots(self.limited_driver(at))] += 1
        return tuple(sorted(kinds.items())), tuple(sorted(shared))

    def _slots(self, pod: PodRecord) -> Resources:
        """
        Give the slots of drivers that a pod takes for its volumes.
        """
        found: dict[str, int] = {}
        for claim in dict.fromkeys(pod.volumes) if self._storage.limits else ():
            at = pod.namespace, claim
            driver = self.limited_driver(at)
            if driver and at not in self._told.kinds:
                name = volume_slots(driver, "/".join(at) if at in self._shared else "")
                found[name] = found.get(name, 0) + 1
        return found

    def _free_ones(self, pod: PodRecord) -> Resources:
        """
        Give what a pod takes of free volumes for its claims.
        """
        claims = dict.fromkeys(pod.volumes) if self._free.asked else ()
        return summed(self._free.asked.get((pod.namespace, x), {}) for x in claims)

    def limited_driver(self, at: Claim) -> str:
        """
        Give the driver of a claim's volume where some node takes only so many of it.
        """
        raw = self._claims.get(at)
        if raw is None or not self._storage.limits:
            return ""
        try:
            claim = claim_record(raw)
            found = self._volumes.get(claim.volume) if claim.volume else None
            if found is not None:
                driver = volume_record(found).driver
            else:
                of = self._storage.class_of(claim)
                driver = "" if of is None else of.provisioner
        except FieldError:
            return ""
        return driver if driver in self._storage.limited else ""

    def _places(self, pod: PodRecord, name: str) -> Iterator[Terms]:
        """
        Walk what one claim of a pod demands of a node.
        """
        raw = self._claims.get((pod.namespace, name))
        if raw is None:
            owned = " (it is made for the pod)" if name in pod.ephemeral else ""
            raise NotReadyError(f"does not exist yet{owned}")
        claim = claim_record(raw)
        if claim.is_leaving:
            raise NotReadyError("is being deleted")
        if name in pod.ephemeral and pod.uid and pod.uid not in claim.owners:
            raise NotReadyError("is not the one made for this pod")
        if claim.is_bound:
            yield from self._of_volume(claim)
        elif claim.volume:
            raise NotReadyError(f"is not bound to volume {claim.volume} yet")
        else:
            yield from self._unbound(claim)

    def _of_volume(self, claim: ClaimRecord) -> Iterator[Terms]:
        found = self._volumes.get(claim.volume)
        if found is None or claim.is_lost:
            what = f"is bound to volume {claim.volume}, which does not exist"
            raise NotReadyError(what)
        volume = volume_record(found)
        yield from volume.demands
        if volume.driver:
            yield from self._storage.present(volume.driver)

    def _unbound(self, claim: ClaimRecord) -> Iterator[Terms]:
        if not claim.storage_class:
            raise NotReadyError("names no storage class, and no volume is bound to it")
        of = self._storage.class_of(claim)
        if of is None:
            what = f"is of the storage class {claim.storage_class}, which does not"
            raise NotReadyError(f"{what} exist")
        if not of.waits:
            raise NotReadyError(f"of class {of.name} is not bound to a volume yet")
        at = claim.namespace, claim.name
        yield from self._free.places(at)
        if at in self._free.kept or not of.provisions:
            return
        if at in self._free.either:
            yield from self._storage.present(of.provisioner)
            return
        if claim.node:
            yield ((LabelRule(key=NAME_FIELD, operator="In", values=(claim.node,)),),)
        yield from self._storage.places(claim)


def storage_of(objects: Objects) -> Storage:
    """
    Read the storage classes, drivers and capacities, where they changed.
    """
    kinds = tuple(objects.of(*kind) for kind in STORAGE_KINDS)
    return objects.memo.made_once("storage", kinds, lambda: Storage(objects))


def _is_for_one(claim: Raw) -> bool:
    """
    Tell whether one pod alone may use a claim at a time.
    """
    try:
        modes = items(mapping(claim, "spec"), "accessModes", "spec")
    except FieldError:
        return False
    return FOR_ONE_POD in modes


def _taken(
    alone: Collection[tuple[str, str]], pods: Iterable[PodRecord]
) -> Iterator[tuple[str, str]]:
    """
    Give each such claim to the pod that has it, else to the oldest; refuse the others.
    """
    users: dict[tuple[str, str], list[PodRecord]] = {}
    for pod in pods:
        if pod.phase in FINISHED:
            continue
        for claim in pod.volumes:
            if (pod.namespace, claim) in alone:
                users.setdefault((pod.namespace, claim), []).append(pod)
    for (_, claim), wanting in users.items():
        first, *rest = sorted(wanting, key=_turn)
        for pod in rest:
            if pod.node is None:
                has = f"pod {first.key} has it"
                if first.node is None:
                    has = f"pod {first.key} asks for it too, and goes first"
                what = f"is ReadWriteOncePod, so only one pod can use it: {has}"
                yield pod.key, f"claim {claim} {what}"


def _turn(pod: PodRecord) -> tuple[bool, float, str]:
    return pod.node is None, pod.created or 0.0, pod.name
