"""
Raw devices and claims, read again only where they changed.
"""

from collections.abc import Sequence

from adapters.kube.api.api_resources import Raw
from adapters.kube.claims.claim_users import Template
from adapters.kube.claims.device_pools import PoolReading
from adapters.kube.claims.device_requests import (
    Classes,
    DeviceClaim,
    claim_spec,
    classes_of,
    device_claim,
)
from adapters.kube.claims.device_taint_rules import taint_rules_of
from adapters.kube.claims.free_devices import FreeDevices
from adapters.kube.objects.fields import FieldError, mapping
from models.memory.kept import Kept


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
        self._claims: Kept[Raw, DeviceClaim | str] = Kept(self._claim)
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
        Give claims by namespace and name; what cannot be read is left out.
        """
        found = self._claims.of(raws)
        return {each.key: each for each in found if isinstance(each, DeviceClaim)}

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

    def _claim(self, raw: Raw) -> DeviceClaim | str:
        try:
            return device_claim(raw, self.classes)
        except FieldError as error:
            return str(error)

    def _template(self, raw: Raw) -> Template:
        try:
            spec = mapping(mapping(raw, "spec"), "spec", "spec")
            return claim_spec(spec, self.classes, "spec.spec")
        except FieldError as error:
            return str(error)
