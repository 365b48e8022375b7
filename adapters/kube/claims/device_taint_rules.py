"""
DeviceTaintRules: taints that an administrator puts on devices, beside their drivers.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.claims.device_reader import STOPS, DeviceName, DeviceTaint, PoolName
from adapters.kube.objects.fields import FieldError, mapping, text


@dataclass(frozen=True, slots=True)
class DeviceTaintRule:
    """
    A taint, and the driver, pool and name of the devices that have it; "" is any.
    """

    selected: DeviceName
    taint: DeviceTaint

    def concerns(self, device: DeviceName) -> bool:
        """
        Tell whether a device has the taint.
        """
        return self.is_of_pool(device[:2]) and self.selected[2] in {"", device[2]}

    def is_of_pool(self, pool: PoolName) -> bool:
        """
        Tell whether devices of a pool may have the taint.
        """
        pairs = zip(self.selected, pool, strict=False)
        return all(wanted in {"", said} for wanted, said in pairs)


@dataclass(frozen=True, slots=True)
class DeviceTaintRules:
    """
    All rules that keep devices from somebody, and which cannot be read.
    """

    rules: tuple[DeviceTaintRule, ...] = ()
    warnings: tuple[str, ...] = ()

    def of(self, device: DeviceName) -> tuple[DeviceTaint, ...]:
        """
        Give the taints of a device.
        """
        return tuple(rule.taint for rule in self.rules if rule.concerns(device))


def taint_rules_of(raws: Iterable[Raw]) -> DeviceTaintRules:
    """
    Read rules; one that cannot be read is said, and taints nothing.
    """
    rules: list[DeviceTaintRule] = []
    warnings: list[str] = []
    for raw in raws:
        try:
            found = _rule(raw)
        except FieldError as error:
            warnings.append(f"a DeviceTaintRule is left out: {error}")
            continue
        if found.taint.effect in STOPS:
            rules.append(found)
    return DeviceTaintRules(tuple(rules), tuple(warnings))


def _rule(raw: Raw) -> DeviceTaintRule:
    spec = mapping(raw, "spec")
    place = "spec.deviceSelector"
    selector = mapping(spec, "deviceSelector", "spec")
    for key in selector:
        if key not in {"driver", "pool", "device"}:
            raise FieldError(f"{place}.{key}", "is not known")
    taint = mapping(spec, "taint", "spec")
    key, effect = (text(taint, word, "spec.taint") for word in ("key", "effect"))
    if not key or not effect:
        raise FieldError("spec.taint", "has no key or no effect")
    driver, pool, device = (
        text(selector, k, place) for k in ("driver", "pool", "device")
    )
    value = text(taint, "value", "spec.taint")
    return DeviceTaintRule((driver, pool, device), DeviceTaint(key, value, effect))
