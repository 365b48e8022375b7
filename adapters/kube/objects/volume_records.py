"""
Claims, volumes and storage classes: what planning reads of the raw objects.

What cannot be read is a fault of that object alone, raised with the field.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from adapters.kube.objects.constraints import few_rules, selector_terms
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    records,
    text,
    texts,
    words,
)
from models.errors import QuantityError
from models.nodes import LabelRule, Terms
from models.resources import parse_quantity

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""
The annotation of a claim that tells its provisioner where its pod will be.
"""
NO_PROVISIONER = "kubernetes.io/no-provisioner"
FOR_ONE_POD = "ReadWriteOncePod"
_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_CLASS = "volume.beta.kubernetes.io/storage-class"
_READ = (SELECTED_NODE, _BIND_COMPLETED, _CLASS)
_META = ("name", "namespace", "uid", "labels", "deletionTimestamp")
_SPEC = (
    *("accessModes", "capacity", "claimRef", "csi", "nodeAffinity", "resources"),
    *("selector", "storageClassName", "volumeAttributesClassName", "volumeMode"),
    "volumeName",
)
_STORAGE = "storage"
_LARGEST = 2**63 - 1
_BETA = "failure-domain.beta.kubernetes.io"
_PLACES = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_OLDER = {f"{_BETA}/zone": _PLACES[0], f"{_BETA}/region": _PLACES[1]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """
    A claim of a volume: what it asks for, and the volume that it has.

    ``volume`` is the one it names; it ``is_bound`` once both sides have agreed.
    ``node`` is the one selected for it while it is not.
    """

    namespace: str
    name: str
    uid: str = ""
    version: str = ""
    volume: str = ""
    is_bound: bool = False
    is_lost: bool = False
    is_leaving: bool = False
    storage_class: str = ""
    size: int = 0
    modes: tuple[str, ...] = ()
    volume_mode: str = "Filesystem"
    selector: Json | None = None
    attributes: str = ""
    node: str = ""
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRecord:
    """
    A volume: where it may be used, and what it offers.

    ``demands`` are what it demands of a node's labels, all of which must hold.  It is
    ``kept_for`` the claim that it names, by namespace, name and uid, which may be "";
    it ``is_free`` where it names none and is there for one, and ``is_leaving`` where it
    is being deleted.
    """

    name: str
    version: str = ""
    demands: tuple[Terms, ...] = ()
    storage_class: str = ""
    driver: str = ""
    handle: str = ""
    size: int = 0
    modes: tuple[str, ...] = ()
    volume_mode: str = "Filesystem"
    attributes: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    kept_for: tuple[str, str, str] | None = None
    is_free: bool = False
    is_leaving: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageClassRecord:
    """
    A storage class; it ``waits`` for the first consumer before it binds a claim.

    ``places`` are where it provisions; none where that is anywhere.
    """

    name: str
    provisioner: str = ""
    waits: bool = False
    places: Terms | None = None

    @property
    def provisions(self) -> bool:
        """
        Tell whether somebody makes volumes of this class.
        """
        return self.provisioner not in {"", NO_PROVISIONER}


def claim_record(raw: Json) -> ClaimRecord:
    """
    Read a claim.
    """
    meta, spec = mapping(raw, "metadata"), mapping(raw, "spec")
    said = texts(meta, "annotations", "metadata")
    phase = text(mapping(raw, "status"), "phase", "status")
    volume = text(spec, "volumeName", "spec")
    asked = mapping(mapping(spec, "resources", "spec"), "requests", "spec.resources")
    return ClaimRecord(
        namespace=text(meta, "namespace", "metadata") or "default",
        name=text(meta, "name", "metadata"),
        uid=text(meta, "uid", "metadata"),
        version=text(meta, "resourceVersion", "metadata"),
        volume=volume,
        is_bound=bool(volume) and (_BIND_COMPLETED in said or phase != "Pending"),
        is_lost=phase == "Lost",
        is_leaving=meta.get("deletionTimestamp") is not None,
        storage_class=_class_of(said, spec),
        size=_size(asked, "spec.resources.requests"),
        modes=tuple(sorted(set(words(spec, "accessModes", "spec")))),
        volume_mode=text(spec, "volumeMode", "spec") or "Filesystem",
        selector=spec.get("selector") and mapping(spec, "selector", "spec"),
        attributes=text(spec, "volumeAttributesClassName", "spec"),
        node=said.get(SELECTED_NODE, ""),
        owners=tuple(
            text(owner, "uid", "metadata.ownerReferences")
            for owner in records(meta, "ownerReferences", "metadata")
            if owner.get("controller") is True
        ),
    )


def volume_record(raw: Json) -> VolumeRecord:
    """
    Read a volume.
    """
    meta, spec = mapping(raw, "metadata"), mapping(raw, "spec")
    affinity = mapping(spec, "nodeAffinity", "spec")
    demands = list(_zones(texts(meta, "labels", "metadata")))
    if affinity.get("required") is not None:
        place = "spec.nodeAffinity.required"
        required = mapping(affinity, "required", "spec.nodeAffinity")
        demands.append(selector_terms(required, place))
    csi = mapping(spec, "csi", "spec")
    kept_for = _kept_for(spec)
    phase = text(mapping(raw, "status"), "phase", "status")
    is_leaving = meta.get("deletionTimestamp") is not None
    return VolumeRecord(
        name=text(meta, "name", "metadata"),
        version=text(meta, "resourceVersion", "metadata"),
        demands=tuple(demands),
        storage_class=_class_of(texts(meta, "annotations", "metadata"), spec),
        driver=text(csi, "driver", "spec.csi"),
        handle=text(csi, "volumeHandle", "spec.csi"),
        size=_size(mapping(spec, "capacity", "spec"), "spec.capacity"),
        modes=tuple(sorted(set(words(spec, "accessModes", "spec")))),
        volume_mode=text(spec, "volumeMode", "spec") or "Filesystem",
        attributes=text(spec, "volumeAttributesClassName", "spec"),
        labels=texts(meta, "labels", "metadata"),
        kept_for=kept_for,
        is_free=kept_for is None and phase == "Available" and not is_leaving,
        is_leaving=is_leaving,
    )


def _kept_for(spec: Json) -> tuple[str, str, str] | None:
    """
    Give the claim that a volume names.
    """
    if spec.get("claimRef") is None:
        return None
    claim = mapping(spec, "claimRef", "spec")
    namespace, name, uid = (
        text(claim, key, "spec.claimRef") for key in ("namespace", "name", "uid")
    )
    return namespace, name, uid


def reduced(raw: Json) -> Json:
    """
    Keep of a claim or a volume what is read of it: there may be one for every pod.

    Its version is not kept, so what changes none of this is no change.
    """
    meta = mapping(raw, "metadata")
    said = texts(meta, "annotations", "metadata")
    kept = {
        "annotations": {key: said[key] for key in _READ if key in said},
        "ownerReferences": [
            {key: owner.get(key) for key in ("uid", "controller")}
            for owner in records(meta, "ownerReferences", "metadata")
        ],
        **{key: meta[key] for key in _META if key in meta},
    }
    spec, status = mapping(raw, "spec"), mapping(raw, "status")
    return {
        "kind": raw.get("kind"),
        "metadata": {key: value for key, value in kept.items() if value},
        "spec": {key: spec[key] for key in _SPEC if key in spec},
        "status": {"phase": status["phase"]} if "phase" in status else {},
    }


def class_record(raw: Json) -> StorageClassRecord:
    """
    Read a storage class.
    """
    terms = records(raw, "allowedTopologies")
    return StorageClassRecord(
        name=text(mapping(raw, "metadata"), "name", "metadata"),
        provisioner=text(raw, "provisioner"),
        waits=text(raw, "volumeBindingMode") == "WaitForFirstConsumer",
        places=_sorted_terms(map(_place, terms)) if terms else None,
    )


def selector_rules(selector: Json, place: str) -> tuple[LabelRule, ...]:
    """
    Read a selector over labels as rules that must all hold.
    """
    rules = [
        LabelRule(key=key, operator="In", values=(value,))
        for key, value in texts(selector, "matchLabels", place).items()
    ]
    for raw in records(selector, "matchExpressions", place):
        operator = text(raw, "operator", place)
        if operator not in {"In", "NotIn", "Exists", "DoesNotExist"}:
            raise FieldError(f"{place}.operator", f"{operator!r} is not known")
        values = tuple(sorted(set(words(raw, "values", place))))
        key = text(raw, "key", place)
        rules.append(LabelRule(key=key, operator=operator, values=values))  # type: ignore[arg-type]
    few_rules(rules, place)
    return tuple(sorted(rules, key=repr))


def size_of(raw: Json, key: str) -> int | None:
    """
    Read an amount of storage in bytes; none where it is not said.
    """
    if raw.get(key) is None:
        return None
    return _size({_STORAGE: raw[key]}, key)


def _size(amounts: Json, place: str) -> int:
    said = amounts.get(_STORAGE)
    if said is None:
        return 0
    if type(said) not in {int, str, float}:
        raise FieldError(f"{place}.{_STORAGE}", "is not a quantity such as 10Gi")
    try:
        return parse_quantity(_STORAGE, said, most=_LARGEST)
    except QuantityError as error:
        raise FieldError(f"{place}.{_STORAGE}", str(error)) from error


def _class_of(annotations: Mapping[str, str], spec: Json) -> str:
    said = annotations.get(_CLASS)
    return text(spec, "storageClassName", "spec") if said is None else said


def _place(term: Json) -> tuple[LabelRule, ...]:
    place = "allowedTopologies.matchLabelExpressions"
    rules = (
        LabelRule(
            key=text(raw, "key", place),
            operator="In",
            values=tuple(sorted(set(words(raw, "values", place)))),
        )
        for raw in records(term, "matchLabelExpressions", "allowedTopologies")
    )
    return tuple(sorted(rules, key=repr))


def _sorted_terms(terms: Iterator[tuple[LabelRule, ...]]) -> Terms:
    return tuple(sorted(set(terms), key=repr))


def _zones(labels: Mapping[str, str]) -> Iterator[Terms]:
    """
    Walk what labels of a volume by zone and region demand, as older volumes have them.

    Nodes that say nothing of zones and regions are in all of them.
    """
    for key in (*_PLACES, *_OLDER):
        if key not in labels:
            continue
        values = tuple(sorted(set(labels[key].split("__"))))
        here = LabelRule(key=key, operator="In", values=values)
        nowhere = (_without(known) for known in (*_PLACES, *_OLDER))
        terms = [(here,), tuple(nowhere)]
        if key in _OLDER:
            newer = LabelRule(key=_OLDER[key], operator="In", values=values)
            terms.append((_without(key), newer))
        yield _sorted_terms(iter(terms))


def _without(key: str) -> LabelRule:
    return LabelRule(key=key, operator="DoesNotExist")
