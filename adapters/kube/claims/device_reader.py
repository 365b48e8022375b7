"""
Devices as a slice publishes them: what selectors see, and what they take and offer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from adapters.kube.claims.cel.cel_values import (
    EMPTY,
    Amount,
    Fields,
    ThrownError,
    Value,
    semver,
)
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    items,
    mapping,
    records,
    shown,
    text,
)
from models.errors import QuantityError
from models.resources import read_number

MILLI = 1000
_MOST_DEVICES = 128
STOPS = frozenset({"NoSchedule", "NoExecute"})
"""
The effects of taints that keep devices from who does not tolerate them.
"""
PoolName = tuple[str, str]
"""
The driver of a pool, and its name.
"""
DeviceName = tuple[str, str, str]
"""
The driver of a device, its pool, and its name.
"""
Amounts = tuple[tuple[str, int], ...]
"""
Amounts by name, in thousandths.
"""


@dataclass(frozen=True, slots=True)
class DeviceCapacity:
    """
    What a device has of something, and in which amounts that may be consumed.

    All are thousandths.  Without a ``default`` who says nothing consumes all of it.
    """

    value: int
    default: int | None = None
    valid: tuple[int, ...] = ()
    least: int | None = None
    most: int | None = None
    step: int | None = None

    def consumed(self, asked: int | None) -> int | None:
        """
        Give what a request consumes, rounded up as the driver says; none where not so.
        """
        if asked is None:
            return self.value if self.default is None else self.default
        if self.valid:
            return next((each for each in self.valid if each >= asked), None)
        if self.least is None:
            found = asked
        else:
            over = max(0, asked - self.least)
            step = self.step or 1
            found = self.least + -(-over // step) * step
        return None if self.most is not None and found > self.most else found


@dataclass(frozen=True, slots=True)
class DeviceTaint:
    """
    What keeps a device from who does not tolerate it.
    """

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """
    A device: what is said of it, and what it takes of the counters of its pool.

    ``node`` is none where it is reached from several.  Where it ``is_shared`` several
    claims may have it at once, each its part of the capacities.
    """

    name: DeviceName
    node: str | None
    attributes: Mapping[str, Value]
    capacities: Mapping[str, DeviceCapacity] = field(default_factory=dict)
    consumes: tuple[tuple[str, Amounts], ...] = ()
    taints: tuple[DeviceTaint, ...] = ()
    is_shared: bool = False
    unknown: str = ""

    @property
    def fields(self) -> Fields:
        """
        What selectors see.
        """
        driver = self.name[0]
        amounts = {
            qualified(name, driver): Amount(Decimal(each.value) / MILLI)
            for name, each in self.capacities.items()
        }
        return Fields(
            {
                "driver": driver,
                "attributes": _by_domain(self.attributes),
                "capacity": _by_domain(amounts),
                "allowMultipleAllocations": self.is_shared,
            }
        )


def devices_of(pool: PoolName, spec: Json) -> Iterator[Device]:
    """
    Walk the devices of a slice.
    """
    node = text(spec, "nodeName", "spec") or None
    each_says = spec.get("perDeviceNodeSelection") is True
    found = records(spec, "devices", "spec")
    if len(found) > _MOST_DEVICES:
        raise FieldError("spec.devices", f"there are {len(found):,} in one slice")
    for at, raw in enumerate(found):
        place = f"spec.devices[{at}]"
        where = text(raw, "nodeName", place) or None if each_says else node
        yield _device(pool, raw, where, place)


def _device(pool: PoolName, raw: Json, node: str | None, place: str) -> Device:
    return Device(
        name=(*pool, text(raw, "name", place)),
        node=node,
        attributes=dict(_attributes(raw, pool[0], f"{place}.attributes")),
        capacities=dict(_capacities(raw, f"{place}.capacity")),
        consumes=tuple(_consumed(raw, f"{place}.consumesCounters")),
        taints=tuple(_taints(raw, place)),
        is_shared=raw.get("allowMultipleAllocations") is True,
        unknown=_unknown(raw),
    )


def _unknown(raw: Json) -> str:
    """
    Say what of a device is not planned; nothing where all is.
    """
    for key in ("bindingConditions", "bindingFailureConditions"):
        if raw.get(key):
            return f"has {key}, which are not planned"
    for key in ("nodeAllocatableResources", "nodeAllocatableResourceMappings"):
        if raw.get(key):
            return f"has {key}, which are not planned"
    consumed = raw.get("consumesCounters") or ()
    if raw.get("allowMultipleAllocations") is True and consumed:
        return "is shared and consumes counters, which is not planned"
    if any(isinstance(x, Mapping) and x.get("compatibilityGroups") for x in consumed):
        return "has compatibilityGroups, which are not planned"
    return ""


def qualified(name: str, driver: str) -> str:
    """
    Name an attribute with its domain, which is the driver's where none is said.
    """
    return name if "/" in name else f"{driver}/{name}"


def _by_domain(values: Mapping[str, Value]) -> Fields:
    domains: dict[str, dict[str, Value]] = {}
    for name, value in values.items():
        domain, _, own = name.partition("/")
        domains.setdefault(domain, {})[own] = value
    return Fields({name: Fields(own) for name, own in domains.items()}, EMPTY)


def _attributes(raw: Json, driver: str, place: str) -> Iterator[tuple[str, Value]]:
    for name, said in sorted(mapping(raw, "attributes", place).items()):
        here = f"{place}.{name}"
        if not isinstance(said, Mapping) or len(said) != 1:
            raise FieldError(here, "is not one value of one type")
        ((sort, value),) = said.items()
        if sort in _LISTS:
            values = items(said, sort, here)
            single = tuple(_value(_LISTS[sort], each, here) for each in values)
            yield qualified(name, driver), single
        else:
            yield qualified(name, driver), _value(sort, value, here)


_LISTS = {"ints": "int", "bools": "bool", "strings": "string", "versions": "version"}
_TYPES = {"int": int, "bool": bool, "string": str, "version": str}


def _value(sort: str, value: object, place: str) -> Value:
    wanted = _TYPES.get(sort)
    if wanted is None or type(value) is not wanted:
        raise FieldError(place, f"{shown(value)} is no {shown(sort)}")
    if sort != "version":
        return value  # type: ignore[return-value]
    try:
        return semver(str(value))
    except ThrownError as error:
        raise FieldError(place, str(error)) from error


def _capacities(raw: Json, place: str) -> Iterator[tuple[str, DeviceCapacity]]:
    for name, said in sorted(mapping(raw, "capacity", place).items()):
        here = f"{place}.{name}"
        if not isinstance(said, Mapping):
            raise FieldError(here, f"{shown(said)} is not a capacity")
        value = thousandths(said.get("value"), f"{here}.value")
        policy = mapping(said, "requestPolicy", here)
        bounds = mapping(policy, "validRange", f"{here}.requestPolicy")
        where = f"{here}.requestPolicy.validRange"
        valid = items(policy, "validValues", f"{here}.requestPolicy")
        yield (
            name,
            DeviceCapacity(
                value=value,
                default=_maybe(policy, "default", f"{here}.requestPolicy"),
                valid=tuple(sorted(thousandths(each, here) for each in valid)),
                least=_maybe(bounds, "min", where),
                most=_maybe(bounds, "max", where),
                step=_maybe(bounds, "step", where),
            ),
        )


def _maybe(raw: Json, key: str, place: str) -> int | None:
    value = raw.get(key)
    return None if value is None else thousandths(value, f"{place}.{key}")


def _consumed(raw: Json, place: str) -> Iterator[tuple[str, Amounts]]:
    for each in records(raw, "consumesCounters", place):
        amounts = tuple(counted(each, f"{place}.counters"))
        yield text(each, "counterSet", place), amounts


def _taints(raw: Json, place: str) -> Iterator[DeviceTaint]:
    for each in records(raw, "taints", place):
        key, value, effect = (
            text(each, word, f"{place}.taints") for word in ("key", "value", "effect")
        )
        if effect in STOPS:
            yield DeviceTaint(key, value, effect)


def counted(raw: Json, place: str) -> Iterator[tuple[str, int]]:
    """
    Walk counters with their amounts.
    """
    for name, value in sorted(mapping(raw, "counters", place).items()):
        if not isinstance(value, Mapping):
            raise FieldError(f"{place}.{name}", f"{shown(value)} is not a counter")
        yield name, thousandths(value.get("value"), f"{place}.{name}.value")


def thousandths(value: object, place: str) -> int:
    """
    Read a quantity as a whole number of thousandths.
    """
    if type(value) not in {int, str, float}:
        raise FieldError(place, f"{shown(value)} is not a quantity such as 10Gi")
    try:
        number = _read(value)
    except QuantityError as error:
        raise FieldError(place, str(error)) from error
    if number < 0 or number != number.to_integral_value():
        raise FieldError(place, f"{shown(value)} is not a quantity of at least 0")
    return int(number)


@lru_cache(maxsize=4096, typed=True)
def _read(value: str | float) -> Decimal:
    """
    Read a quantity; those of devices are nearly always the same ones.
    """
    return read_number(value) * MILLI
