"""
Volumes that are made for claims of several pods: where all of these must be then.

A provisioner makes a volume near the node of the first pod: where its driver, or else
the class, tells nodes apart by labels, a volume is reached by nodes with the same ones.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from adapters.kube.gangs.storage.free_volumes import (
    FreeVolumes,
    MadeVolumes,
    WantedVolume,
)
from adapters.kube.gangs.storage.reached_volumes import ClaimKinds
from adapters.kube.gangs.storage.storage_classes import Storage
from adapters.kube.objects.fields import FieldError


def beside_made(
    free: FreeVolumes, shared: Iterable[WantedVolume], storage: Storage
) -> FreeVolumes:
    """
    Say of claims that several pods share, and that get a volume made, where it will be.
    """
    wanted = dict(_told(shared, storage))
    if not wanted:
        return free
    classes = {(x.claim.storage_class, keys) for x, keys in wanted.items()}
    kinds = {each: f"{each[0]}/made" for each in sorted(classes)}
    claims = {x.at: kinds[x.claim.storage_class, keys] for x, keys in wanted.items()}
    number = len(claims)
    return replace(
        free,
        reached=ClaimKinds({**free.reached.of, **claims}, free.reached.volumes),
        shared=free.shared | claims.keys(),
        made=tuple(MadeVolumes(kind, each[1], number) for each, kind in kinds.items()),
    )


def _told(
    shared: Iterable[WantedVolume], storage: Storage
) -> Iterator[tuple[WantedVolume, tuple[str, ...]]]:
    for each in shared:
        try:
            if keys := storage.keys_of_places(each.claim):
                yield each, keys
        except FieldError:
            continue
