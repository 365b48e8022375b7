"""
Which free volume each claim of a plan gets: one of its own, the smallest that can be.

Claims for which none can be made come first; for others one is made only where no free
volume is left, as the scheduler of Kubernetes does.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache

from adapters.kube.acting.pod_claims import PodClaims
from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.kinds import CLASSES, STORAGE, VOLUMES
from adapters.kube.gangs.storage.free_volumes import (
    kept_already,
    smallest_first,
    suiting,
)
from adapters.kube.gangs.storage.storage_classes import NotReadyError, Storage
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.volume_records import (
    ClaimRecord,
    VolumeRecord,
    class_record,
    volume_record,
)
from adapters.kube.watch.cache import Cache
from models.nodes import one_holds
from models.plan import Operation


class VolumeChoice:
    """
    The volumes chosen for the claims of one plan.
    """

    def __init__(self, cache: Cache, claims: PodClaims) -> None:
        self._cache = cache
        self._claims = claims
        self._chosen: Mapping[str, str] = {}
        self._static: set[str] = set()
        self._kept: dict[str, str] = {}

    def turn(self, steps: Sequence[Operation], given: Collection[str]) -> None:
        """
        Choose for another plan; volumes that were ``given`` are chosen no more.
        """
        wanted: dict[str, tuple[ClaimRecord, list[Operation]]] = {}
        for step in steps:
            for key, claim, _ in self._claims.of(step):
                if claim is not None and not claim.volume:
                    wanted.setdefault(key, (claim, []))[1].append(step)
        self._chosen, self._kept, self._static = {}, {}, set()
        if not wanted:
            return
        volumes = list(self._volumes())
        kept = kept_already((claim for claim, _ in wanted.values()), volumes)
        self._kept = {"/".join(at): volume.name for at, volume in kept.items()}
        free = smallest_first(volumes, {*given, *self._claims.volumes()})
        suited = {
            key: list(self._suiting(claim, steps, free))
            for key, (claim, steps) in wanted.items()
            if key not in self._kept and not (claim.node and self._provisions(claim))
        }
        storage = cache(lambda: Storage(self._objects()))
        for key in filter(suited.get, suited):
            if not self._is_made(*wanted[key], storage):
                self._static.add(key)
        size = {key: claim.size for key, (claim, _) in wanted.items()}
        order = sorted(suited, key=lambda x: (x not in self._static, size[x], x))
        self._chosen = each_its_own({key: suited[key] for key in order})

    def of(self, claim: str) -> str:
        """
        Give the volume that was chosen for a claim; "" where there is none.
        """
        return self._chosen.get(claim, "")

    def is_static(self, key: str, claim: ClaimRecord) -> bool:
        """
        Tell whether a claim gets one of the volumes that are there, or none.
        """
        return key in self._static or not self._provisions(claim)

    def _provisions(self, claim: ClaimRecord) -> bool:
        raw = self._cache.shelf(CLASSES).records.get(claim.storage_class)
        try:
            return raw is None or class_record(raw).provisions
        except FieldError:
            return True

    def _is_made(
        self,
        claim: ClaimRecord,
        steps: Sequence[Operation],
        storage: Callable[[], Storage],
    ) -> bool:
        """
        Tell whether a volume can be made for a claim that the nodes of all pods reach.
        """
        if not self._provisions(claim):
            return False
        nodes = [self._claims.labels_of(step) for step in steps]
        try:
            places = storage().places(claim)
            keys = storage().keys_of_places(claim) if len(nodes) > 1 else ()
        except NotReadyError:
            return False
        except FieldError:
            return True
        alike = all(len({each.get(key) for each in nodes}) == 1 for key in keys)
        return alike and all(one_holds(x, each) for each in nodes for x in places)

    def _objects(self) -> Objects:
        """
        Give what says where volumes can be made.
        """
        found = {
            (kind.group, kind.kind): tuple(self._cache.shelf(kind).records.values())
            for kind in STORAGE
        }
        return Objects(by_kind=found)

    def kept_for(self, claim: ClaimRecord) -> str:
        """
        Name the volume that is for a claim already; "" where none is.
        """
        return self._kept.get(f"{claim.namespace}/{claim.name}", "")

    def why_lost(self, name: str, claim: ClaimRecord, since: int) -> str:
        """
        Say why a volume that was given to a claim in a version is not its own any more.
        """
        shelf = self._cache.shelf(VOLUMES)
        raw = shelf.records.get(name)
        if raw is None:
            return f"volume {name} is gone"
        if (shelf.number(name) or 0) < since:
            return ""  # what we wrote has not come back yet
        try:
            owner = volume_record(raw).kept_for
        except FieldError as error:
            return f"volume {name} cannot be read: {error}"
        mine = owner is not None and owner[:2] == (claim.namespace, claim.name)
        return "" if mine else f"volume {name} was taken from it"

    def _volumes(self) -> Iterable[VolumeRecord]:
        for raw in list(self._cache.shelf(VOLUMES).records.values()):
            try:
                yield volume_record(raw)
            except FieldError:
                continue

    def _suiting(
        self,
        claim: ClaimRecord,
        steps: Sequence[Operation],
        free: Iterable[VolumeRecord],
    ) -> Iterable[str]:
        """
        Walk the volumes that a claim may have on the nodes of all its pods.
        """
        try:
            is_one = suiting(claim)
        except FieldError:
            return
        for each in free:
            far = any(self._claims.why_not_on(each, step) for step in steps)
            if is_one(each) and not far:
                yield each.name


def each_its_own(edges: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """
    Give each claim a volume of its own, as many as can; the first that suits, if free.
    """
    owner: dict[str, str] = {}
    has: dict[str, str] = {}
    for claim in edges:
        came_from: dict[str, str] = {}
        queue = deque([claim])
        volume = ""
        while queue and not volume:
            asking = queue.popleft()
            for each in edges[asking]:
                if each in came_from:
                    continue
                came_from[each] = asking
                if each not in owner:
                    volume = each
                    break
                queue.append(owner[each])
        while volume:
            asking = came_from[volume]
            owner[volume] = asking
            volume, has[asking] = has.get(asking, ""), volume
    return has
