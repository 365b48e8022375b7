"""
Pools of devices: what drivers publish in ResourceSlices, of each pool the newest whole.

What cannot be read, or is published in part only, is a fault of its pool alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from adapters.kube.api.api_resources import Raw
from adapters.kube.claims.device_reader import (
    MILLI,
    Device,
    DeviceName,
    PoolName,
    counted,
    devices_of,
)
from adapters.kube.claims.device_taint_rules import DeviceTaintRules
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    records,
    text,
    whole,
)
from models.resources import LARGEST_TOTAL, MEMORY, format_quantity

_MOST_TOLD = 3
NO_RULES = DeviceTaintRules()


@dataclass(frozen=True, slots=True)
class Pool:
    """
    The devices of one pool, and the counters that they share.
    """

    name: PoolName
    devices: tuple[Device, ...] = ()
    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pools:
    """
    All pools that can be used, the nodes of those that cannot, and what is told.
    """

    pools: tuple[Pool, ...] = ()
    faulty: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Slice:
    name: str
    pool: PoolName
    generation: int
    number: int
    node: str
    spec: Json


def pools_of(raws: Iterable[Raw], taints: DeviceTaintRules = NO_RULES) -> Pools:
    """
    Gather pools from slices; devices have their own taints, and those of rules.
    """
    by_pool: dict[PoolName, list[_Slice]] = {}
    warnings = [*taints.warnings]
    for raw in raws:
        try:
            found = _slice(raw)
        except FieldError as error:
            warnings.append(f"a ResourceSlice is left out: {error}")
            continue
        by_pool.setdefault(found.pool, []).append(found)
    pools: list[Pool] = []
    faulty: set[str] = set()
    for name, slices in sorted(by_pool.items()):
        newest = max(each.generation for each in slices)
        mine = sorted(
            (each for each in slices if each.generation == newest), key=_name_of
        )
        try:
            pool = _pool(name, mine, warnings)
            pools.append(_tainted(pool, taints) if taints.rules else pool)
        except FieldError as error:
            faulty |= {each.node for each in mine}
            where = f"pool {name[1]} of driver {name[0]}"
            warnings.append(f"{where} is not used: {error}")
    return Pools(tuple(pools), frozenset(faulty), tuple(warnings))


def _name_of(found: _Slice) -> str:
    return found.name


def _slice(raw: Raw) -> _Slice:
    name = text(mapping(raw, "metadata"), "name", "metadata")
    spec = mapping(raw, "spec")
    driver = text(spec, "driver", "spec")
    pool = mapping(spec, "pool", "spec")
    called = text(pool, "name", "spec.pool")
    if not driver or not called:
        field_ = "spec.pool.name" if driver else "spec.driver"
        raise FieldError(field_, f"is not said ({name})")
    return _Slice(
        name=name,
        pool=(driver, called),
        generation=whole(pool, "generation", "spec.pool") or 0,
        number=whole(pool, "resourceSliceCount", "spec.pool") or 1,
        node=text(spec, "nodeName", "spec"),
        spec=spec,
    )


def _pool(name: PoolName, slices: list[_Slice], warnings: list[str]) -> Pool:
    """
    Read the slices of the newest generation of a pool.
    """
    wanted = {each.number for each in slices}
    if wanted != {len(slices)}:
        generation, least = slices[0].generation, max(wanted)
        have = f"{len(slices)} of {least} slices of generation {generation} are there"
        raise FieldError("spec.pool.resourceSliceCount", have)
    counters: dict[str, Mapping[str, int]] = {}
    for each in slices:
        for known, amounts in _counter_sets(each.spec):
            if known in counters:
                raise FieldError("spec.sharedCounters", f"{known!r} is there twice")
            counters[known] = amounts
    devices: dict[DeviceName, Device] = {}
    for each in slices:
        for device in devices_of(name, each.spec):
            if device.name in devices:
                what = f"device {device.name[2]} is there twice"
                raise FieldError("spec.devices", what)
            _check_counters(device, counters)
            devices[device.name] = device
    _tell(name, devices.values(), warnings)
    return Pool(name, tuple(devices.values()), counters)


def _tainted(pool: Pool, taints: DeviceTaintRules) -> Pool:
    """
    Give the devices of a pool the taints of rules beside their own.
    """
    devices = tuple(
        replace(device, taints=(*device.taints, *more)) if more else device
        for device in pool.devices
        for more in [taints.of(device.name)]
    )
    return replace(pool, devices=devices)


def _tell(name: PoolName, devices: Iterable[Device], warnings: list[str]) -> None:
    """
    Say which devices are left alone, and why.
    """
    why: dict[str, list[str]] = {}
    for device in devices:
        if device.unknown:
            why.setdefault(device.unknown, []).append(device.name[2])
        elif device.node is None:
            what = "is reached from several nodes, which is not planned"
            why.setdefault(what, []).append(device.name[2])
    for what, names in why.items():
        more = len(names) - _MOST_TOLD
        said = ", ".join(names[:_MOST_TOLD]) + (
            f" and {more:,} more" if more > 0 else ""
        )
        whose = f"device {said}" if len(names) == 1 else f"devices {said}: each"
        warnings.append(f"pool {name[1]} of driver {name[0]}: {whose} {what}")


def _counter_sets(spec: Json) -> Iterator[tuple[str, Mapping[str, int]]]:
    place = "spec.sharedCounters"
    for each in records(spec, "sharedCounters", "spec"):
        yield text(each, "name", place), dict(counted(each, f"{place}.counters"))


def _check_counters(device: Device, counters: Mapping[str, Mapping[str, int]]) -> None:
    """
    Refuse what no set of counters could ever give.
    """
    for known, amounts in device.consumes:
        for counter, amount in amounts:
            have = counters.get(known, {}).get(counter)
            what = f"device {device.name[2]} consumes {counter} of counter set {known}"
            if have is None:
                raise FieldError("spec.devices.consumesCounters", f"{what}: not there")
            if amount > have:
                more = f"{what}: {_quantity(amount)} of {_quantity(have)}"
                raise FieldError("spec.devices.consumesCounters", more)


def _quantity(amount: int) -> str:
    """
    Write a counter, which may be bytes.
    """
    pieces, rest = divmod(amount, MILLI)
    if rest or pieces > LARGEST_TOTAL:
        return f"{(Decimal(amount) / MILLI).normalize():g}"
    return format_quantity(MEMORY, pieces)
