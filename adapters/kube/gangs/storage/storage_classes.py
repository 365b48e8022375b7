"""
Where volumes can be made for claims that wait for their first pod.

As the scheduler of Kubernetes sees it: a class says in which places its provisioner
works, a driver that publishes capacities has to have one that is large enough, and one
that says so has to be on the node.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.fields import (
    FieldError,
    mapping,
    records,
    text,
    whole,
    words,
)
from adapters.kube.objects.object_names import is_subdomain
from adapters.kube.objects.volume_records import (
    ClaimRecord,
    StorageClassRecord,
    class_record,
    selector_rules,
    size_of,
)
from models.errors import PhalanxError
from models.nodes import LabelRule, Terms
from models.resources import format_quantity
from models.volume_slots import UNLIMITED

GROUP = "storage.k8s.io"
STORAGE_KINDS = tuple(
    (GROUP, kind)
    for kind in ("StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity")
)


class NotReadyError(PhalanxError):
    """
    A claim is not so far that its pod can be planned.
    """


@dataclass(frozen=True, slots=True)
class _PublishedCapacity:
    """
    The largest volume of a class that can be made where some labels are.
    """

    largest: int
    rules: tuple[LabelRule, ...]


class Storage:
    """
    The storage classes, drivers and capacities that were read.

    ``limits`` say by node how many volumes it takes of a driver; the drivers of which
    any node takes only so many are ``limited``.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._classes: Mapping[str, Raw] = {
            name: raw for _, name, raw in named(objects.of(GROUP, "StorageClass"))
        }
        self._drivers: Mapping[str, Raw] = {
            name: raw for _, name, raw in named(objects.of(GROUP, "CSIDriver"))
        }
        self.limits = dict(_limits(objects.of(GROUP, "CSINode")))
        self.limited = frozenset(
            driver for limits in self.limits.values() for driver in limits
        )
        self._capacities: dict[str, list[_PublishedCapacity]] | None = None
        self._keys: dict[str, tuple[str, ...]] = {}
        self._known: dict[tuple[str, int], tuple[Terms, ...]] = {}

    def class_of(self, claim: ClaimRecord) -> StorageClassRecord | None:
        """
        Give the class of a claim; none where it does not exist.
        """
        raw = self._classes.get(claim.storage_class)
        return None if raw is None else class_record(raw)

    def places(self, claim: ClaimRecord) -> tuple[Terms, ...]:
        """
        Say what a node must have so that a volume can be made there for a claim.

        Raises
        ------
        NotReadyError
            When there is no such node.
        """
        key = claim.storage_class, claim.size
        if key not in self._known:
            self._known[key] = tuple(self._places(claim))
        return self._known[key]

    def keys_of_places(self, claim: ClaimRecord) -> tuple[str, ...]:
        """
        Give the labels of nodes by which volumes that are made for a claim are apart.
        """
        found = self.class_of(claim)
        if found is None:
            return ()
        if found.provisioner not in self._keys:
            drivers = self._nodes_of(found.provisioner)
            keys = {x for _, raw in drivers for x in words(raw, "topologyKeys")}
            self._keys[found.provisioner] = tuple(sorted(keys))
        rules = (rule for term in found.places or () for rule in term)
        return self._keys[found.provisioner] or tuple(sorted({x.key for x in rules}))

    def present(self, driver: str) -> Iterator[Terms]:
        """
        Say on which nodes a driver is that has to be there before a pod is.
        """
        raw = self._drivers.get(driver)
        spec = {} if raw is None else mapping(raw, "spec")
        if spec.get("preventPodSchedulingIfMissing") is True:
            names = tuple(sorted({name for name, _ in self._nodes_of(driver)}))
            yield ((LabelRule(key=NAME_FIELD, operator="In", values=names),),)

    def _places(self, claim: ClaimRecord) -> Iterator[Terms]:
        found = self.class_of(claim)
        if found is None:
            return
        if found.places is not None:
            yield found.places
        yield from self.present(found.provisioner)
        raw = self._drivers.get(found.provisioner)
        if claim.size and raw and mapping(raw, "spec").get("storageCapacity") is True:
            yield from self._with_capacity(claim)

    def _with_capacity(self, claim: ClaimRecord) -> Iterator[Terms]:
        if self._capacities is None:
            self._capacities = _capacities(self._objects.of(GROUP, _CAPACITY))
        there = self._capacities.get(claim.storage_class, [])
        enough = [each for each in there if each.largest >= claim.size]
        if not enough:
            asked = format_quantity("storage", claim.size)
            best = max((each.largest for each in there), default=0)
            have = format_quantity("storage", best)
            what = f"asks for {asked} of class {claim.storage_class}, of which"
            raise NotReadyError(f"{what} no more than {have} can be had")
        if all(each.rules for each in enough):
            yield joined_terms(each.rules for each in enough)

    def _nodes_of(self, driver: str) -> Iterator[tuple[str, Raw]]:
        """
        Walk the nodes that have a driver, and what is said of it there.
        """
        for _, name, raw in named(self._objects.of(GROUP, "CSINode")):
            try:
                for each in records(mapping(raw, "spec"), "drivers", "spec"):
                    if text(each, "name") == driver:
                        yield name, each
            except FieldError:
                continue


_CAPACITY = "CSIStorageCapacity"


def joined_terms(terms: Iterable[tuple[LabelRule, ...]]) -> Terms:
    """
    Join terms that name one value of one label each, such as a host, into one.
    """
    values: dict[str, set[str]] = {}
    rest: set[tuple[LabelRule, ...]] = set()
    for term in terms:
        if len(term) == 1 and term[0].operator == "In":
            values.setdefault(term[0].key, set()).update(term[0].values)
        else:
            rest.add(term)
    for key, some in values.items():
        rest.add((LabelRule(key=key, operator="In", values=tuple(sorted(some))),))
    return tuple(sorted(rest, key=repr))


def _limits(raws: Iterable[Raw]) -> Iterator[tuple[str, Mapping[str, int]]]:
    """
    Walk how many volumes nodes take of each driver, where they say so.
    """
    for _, name, raw in named(raws):
        limits: dict[str, int] = {}
        try:
            for each in records(mapping(raw, "spec"), "drivers", "spec"):
                count = whole(mapping(each, "allocatable"), "count", "allocatable")
                driver = text(each, "name")
                if count is not None and is_subdomain(driver.lower()):
                    limits[driver] = max(0, min(count, UNLIMITED))
        except FieldError:
            continue
        yield name, limits


def _capacities(raws: Iterable[Raw]) -> dict[str, list[_PublishedCapacity]]:
    """
    Read the published capacities by class; what cannot be read offers nothing.
    """
    found: dict[str, list[_PublishedCapacity]] = {}
    for _, _, raw in named(raws):
        try:
            largest = size_of(raw, "maximumVolumeSize")
            if largest is None:
                largest = size_of(raw, "capacity")
            if largest is None or raw.get("nodeTopology") is None:
                continue
            rules = selector_rules(mapping(raw, "nodeTopology"), "nodeTopology")
            of = text(raw, "storageClassName")
        except FieldError:
            continue
        found.setdefault(of, []).append(_PublishedCapacity(largest, rules))
    return found
