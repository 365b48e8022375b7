"""
Volumes that are made for claims: where pods must be for one that several of them share.

A provisioner makes a volume near the node of the first pod: where its driver, or else
the class, tells nodes apart by labels, a volume is reached by nodes with the same ones.
A claim gets none made where a free volume suits it: that one serves it also where none
can be made.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from adapters.kube.gangs.storage.free_volumes import (
    Claim,
    FreeVolumes,
    MadeVolumes,
    WantedVolume,
    suited_by,
)
from adapters.kube.gangs.storage.reached_volumes import ClaimKinds, claim_kinds
from adapters.kube.gangs.storage.storage_classes import NotReadyError, Storage
from adapters.kube.gangs.storage.volume_reach import VolumeReach
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.volume_records import VolumeRecord
from models.nodes import Node, Terms


class _Making(NamedTuple):
    """
    Where volumes are made, if anywhere, and by which labels they are apart.
    """

    places: tuple[Terms, ...] | None
    keys: tuple[str, ...]


def beside_made(
    free: FreeVolumes,
    wanted: Sequence[WantedVolume],
    there: Sequence[VolumeRecord],
    storage: Storage,
    nodes: Iterable[Node],
) -> FreeVolumes:
    """
    Say of claims that get a volume made, or one that is ``there``, where that matters.
    """
    suited, _ = suited_by(wanted, there)
    making = dict(_making(wanted, storage))
    matters = cache(partial(_matters, there, VolumeReach(nodes)))
    how = {
        at: making[at]
        for at, some in suited.items()
        if at in making and matters(some, making[at])
    }
    either = {at: suited[at] for at in how}
    sizes = {each.at: each.claim.size for each in wanted}
    kinds = claim_kinds(either, sizes, there, how)
    alone = {
        x.at: f"{x.claim.storage_class}/made"
        for x in wanted
        if not suited.get(x.at) and x.at in making and making[x.at].keys
    }
    of = {**kinds.of, **alone}
    shared = {x.at for x in wanted if x.share and x.at in of}
    return replace(
        free,
        reached=ClaimKinds(
            {**free.reached.of, **of}, (*free.reached.volumes, *kinds.volumes)
        ),
        shared=free.shared | shared,
        made=tuple(_made(of, making, how)),
        either=frozenset(how),
    )


def _made(
    of: Mapping[Claim, str],
    making: Mapping[Claim, _Making],
    either: Collection[Claim],
) -> Iterator[MadeVolumes]:
    """
    Walk the volumes that can be made of each kind, as many as there are claims of it.
    """
    for kind, number in Counter(of.values()).items():
        at = next(at for at, known in of.items() if known == kind)
        places, keys = making[at]
        if at not in either:
            yield MadeVolumes(kind, kind, keys, (), number)
        elif places is not None:
            yield MadeVolumes(f"{kind} made", kind, keys, places, number)


def _making(
    wanted: Iterable[WantedVolume], storage: Storage
) -> Iterator[tuple[Claim, _Making]]:
    """
    Say where volumes are made for claims; by which labels they are apart if shared.
    """
    for each in wanted:
        try:
            keys = storage.keys_of_places(each.claim) if each.share else ()
            yield each.at, _Making(storage.places(each.claim), keys)
        except NotReadyError:
            yield each.at, _Making(None, ())
        except FieldError:
            continue


def _matters(
    there: Sequence[VolumeRecord],
    reach: VolumeReach,
    some: frozenset[int],
    making: _Making,
) -> bool:
    """
    Tell whether free volumes let a claim be where one that is made does not.
    """
    if making.keys or not (some and making.places):
        return bool(some) and making != _Making((), ())
    made = set(reach.within(making.places))
    return not all(made.issuperset(reach.of(there[at])) for at in some)
