"""
The free volumes of a cluster, looked at again where claims or volumes changed.
"""

from collections.abc import Iterable, Sequence

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.storage.free_volumes import (
    NO_FREE_VOLUMES,
    WantedVolume,
    free_for,
    kept_already,
    smallest_first,
)
from adapters.kube.gangs.storage.made_volumes import beside_made
from adapters.kube.gangs.storage.pod_volumes import storage_of
from adapters.kube.gangs.storage.storage_classes import Storage
from adapters.kube.objects.fields import FieldError, mapping
from adapters.kube.objects.volume_records import (
    StorageClassRecord,
    VolumeRecord,
    volume_record,
)
from models.memory.kept import Kept
from models.nodes import Node


class VolumeRoom:
    """
    What was ``found`` of free volumes last, and from what; ``nodes`` may reach them.
    """

    def __init__(self) -> None:
        self.nodes: Sequence[Node] = ()
        self.found = NO_FREE_VOLUMES
        self._volumes = Kept(_read)
        self._seen: object = None

    def look(self, wide: Objects, unbound: Iterable[WantedVolume]) -> set[str]:
        """
        Look at volumes and claims; name the namespaces of which something else is said.
        """
        wanted = tuple(unbound)
        volumes, claims = wide.of("", "PersistentVolume"), wide.of("", _CLAIM)
        storage = storage_of(wide)
        seen = wanted, storage, volumes, claims, self.nodes
        if seen == self._seen or not (wanted or self.found != NO_FREE_VOLUMES):
            return set()
        old, self._seen = self.found, seen
        there = [x for x in self._volumes.of(volumes) if x is not None]
        classes = [(each, _class_of(storage, each)) for each in wanted]
        waits = [(each, of) for each, of in classes if of is not None]
        kept = kept_already((each.claim for each, _ in waits), there)
        static = (x for x, of in waits if x.at not in kept and not of.provisions)
        taken = set(_named(claims))
        found = free_for(static, there, taken, kept)
        open_ones = (x for x, of in waits if x.at not in kept and of.provisions)
        if asking := [x for x in open_ones if not x.claim.node]:
            made = {x.claim.storage_class for x in asking}
            free = smallest_first((x for x in there if x.storage_class in made), taken)
            found = beside_made(found, asking, free, storage, self.nodes)
        self.found = found
        return self.found.changed(old)


_CLAIM = "PersistentVolumeClaim"


def _class_of(storage: Storage, wanted: WantedVolume) -> StorageClassRecord | None:
    """
    Give the class of a claim that waits for its first pod; none where it does not.
    """
    try:
        of = storage.class_of(wanted.claim)
    except FieldError:
        return None
    return of if of is not None and of.waits else None


def _read(raw: Raw) -> VolumeRecord | None:
    try:
        return volume_record(raw)
    except FieldError:
        return None


def _named(claims: Iterable[Raw]) -> Iterable[str]:
    """
    Walk the names of volumes that claims say.
    """
    for raw in claims:
        try:
            said = mapping(raw, "spec").get("volumeName")
        except FieldError:
            continue
        if isinstance(said, str):
            yield said
