"""
Raw devices and claims, read again only where they changed.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from adapters.kube.api.api_resources import Raw
from adapters.kube.claims.claim_users import Template
from adapters.kube.claims.device_pools import PoolReading
from adapters.kube.claims.device_reader import DeviceName, thousandths
from adapters.kube.claims.device_requests import (
    Classes,
    DeviceClaim,
    HeldDevice,
    claim_spec,
    classes_of,
)
from adapters.kube.claims.device_taint_rules import taint_rules_of
from adapters.kube.claims.free_devices import FreeDevices
from adapters.kube.objects.extended_asks import EXTENDED
from adapters.kube.objects.fields import FieldError, Json, mapping, records, text
from models.memory.kept import Kept

_RESULTS = "status.allocation.devices.results"


class DeviceReading:
    """
    What was read of slices, classes, claims and templates.
    """

    def __init__(self) -> None:
        self.classes: Classes = {}
        self.free = FreeDevices()
        self._pools = PoolReading()
        self._class_raws: Sequence[Raw] = ()
        self._slice_raws: tuple[Sequence[Raw], Sequence[Raw]] = ((), ())
        self._claims: Kept[Raw, DeviceClaim | None] = Kept(self._claim)
        self._templates: Kept[Raw, Template] = Kept(self._template)

    def read(
        self, classes: Sequence[Raw], slices: Sequence[Raw], taints: Sequence[Raw] = ()
    ) -> None:
        """
        Take the classes, slices and rules about taints that are there now.
        """
        self.read_classes(classes)
        if (slices, taints) != self._slice_raws:
            self._slice_raws = slices, taints
            self.free.take(self._pools.of(slices, taint_rules_of(taints)))

    def read_classes(self, classes: Sequence[Raw]) -> None:
        """
        Take the classes that are there now.
        """
        if classes != self._class_raws:
            self._class_raws, self.classes = classes, classes_of(classes)
            self._claims, self._templates = Kept(self._claim), Kept(self._template)

    def claims(self, raws: Sequence[Raw]) -> dict[str, DeviceClaim]:
        """
        Give claims by namespace and name; one without a name is left out.
        """
        return {each.key: each for each in self._claims.of(raws) if each is not None}

    def templates(self, raws: Sequence[Raw]) -> list[Template]:
        """
        Give what claims of each template ask for.
        """
        return self._templates.of(raws)

    def claim(self, raw: Raw) -> DeviceClaim:
        """
        Read one claim, as it is to be made.

        Raises
        ------
        FieldError
            When it cannot be read.
        """
        return device_claim(raw, self.classes)

    def _claim(self, raw: Raw) -> DeviceClaim | None:
        try:
            return device_claim(raw, self.classes)
        except FieldError as error:
            return _unread(raw, str(error))

    def _template(self, raw: Raw) -> Template:
        try:
            spec = mapping(mapping(raw, "spec"), "spec", "spec")
            return claim_spec(spec, self.classes, "spec.spec")
        except FieldError as error:
            return str(error)


def device_claim(raw: Raw, classes: Classes) -> DeviceClaim:
    """
    Read a claim; what it asks for and we do not know is its ``fault``.

    Raises
    ------
    FieldError
        When what it has cannot be read.
    """
    meta, status = mapping(raw, "metadata"), mapping(raw, "status")
    spec, fault = None, ""
    try:
        spec = claim_spec(mapping(raw, "spec"), classes)
    except FieldError as error:
        fault = str(error)
    has = status.get("allocation") is not None
    given = mapping(status, "allocation", "status")
    return DeviceClaim(
        namespace=text(meta, "namespace", "metadata") or "default",
        name=text(meta, "name", "metadata"),
        uid=text(meta, "uid", "metadata"),
        version=text(meta, "resourceVersion", "metadata"),
        spec=spec,
        fault=fault,
        held=tuple(map(_held, _results(given))) if has else None,
        selector=mapping(given, "nodeSelector", "status.allocation") or None,
        users=tuple(
            text(each, "uid", "status.reservedFor")
            for each in records(status, "reservedFor", "status")
        ),
        owners=tuple(
            text(each, "uid", "metadata.ownerReferences")
            for each in records(meta, "ownerReferences", "metadata")
            if each.get("controller") is True
        ),
        is_leaving=meta.get("deletionTimestamp") is not None,
        is_extended=mapping(meta, "annotations", "metadata").get(EXTENDED) == "true",
    )


def _unread(raw: Raw, why: str) -> DeviceClaim | None:
    """
    Give a claim that cannot be read whole, with the devices that it names, each whole.
    """
    try:
        meta = mapping(raw, "metadata")
        space = text(meta, "namespace", "metadata") or "default"
        name = text(meta, "name", "metadata")
    except FieldError:
        return None
    held = []
    with suppress(FieldError):
        given = mapping(mapping(raw, "status"), "allocation", "status")
        for each in _results(given):
            with suppress(FieldError):
                held.append(HeldDevice(_named(each)))
    return DeviceClaim(namespace=space, name=name, held=tuple(held), unread=why)


def _results(given: Json) -> Iterator[Json]:
    """
    Walk the devices of an allocation; those for admins take nothing from others.
    """
    results = records(mapping(given, "devices", _RESULTS), "results", _RESULTS)
    return (each for each in results if each.get("adminAccess") is not True)


def _named(result: Json) -> DeviceName:
    driver, pool, device = (
        text(result, key, _RESULTS) for key in ("driver", "pool", "device")
    )
    return driver, pool, device


def _held(result: Json) -> HeldDevice:
    if result.get("consumedCapacity") is None:
        return HeldDevice(_named(result))
    amounts = mapping(result, "consumedCapacity", _RESULTS)
    consumed = tuple(
        (name, thousandths(value, f"{_RESULTS}.consumedCapacity.{name}"))
        for name, value in sorted(amounts.items())
    )
    return HeldDevice(_named(result), consumed)
