"""
Pools of devices: what drivers publish in ResourceSlices, of each pool the newest whole.

What cannot be read, or is published in part only, is a fault of its pool alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain

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
from models.memory.kept import Kept
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
class _SliceContent:
    """
    What a slice says of devices and counters.
    """

    devices: tuple[Device, ...]
    counters: tuple[tuple[str, Mapping[str, int]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Slice:
    """
    A slice; ``content`` is why it cannot be read where that is so.
    """

    name: str
    pool: PoolName
    generation: int
    number: int
    node: str
    content: _SliceContent | FieldError


@dataclass(frozen=True, slots=True)
class _PoolRead:
    """
    What was made of some slices: their pool or its fault, and what is told of it.
    """

    slices: tuple[_Slice, ...]
    pool: Pool | FieldError
    told: tuple[str, ...]


class PoolReading:
    """
    Gathers pools; those whose slices are as they were are the same objects as before.
    """

    def __init__(self) -> None:
        self._slices: Kept[Raw, _Slice | FieldError] = Kept(_slice_or_fault)
        self._known: dict[PoolName, _PoolRead] = {}

    def of(self, raws: Sequence[Raw], taints: DeviceTaintRules = NO_RULES) -> Pools:
        """
        Gather pools from slices; devices have their own taints, and those of rules.
        """
        by_pool: dict[PoolName, list[_Slice]] = {}
        warnings = [*taints.warnings]
        for found in self._slices.of(raws):
            if isinstance(found, _Slice):
                by_pool.setdefault(found.pool, []).append(found)
            else:
                warnings.append(f"a ResourceSlice is left out: {found}")
        before, self._known = self._known, {}
        pools: list[Pool] = []
        faulty: set[str] = set()
        for name, slices in sorted(by_pool.items()):
            newest = max(each.generation for each in slices)
            some = (each for each in slices if each.generation == newest)
            mine = tuple(sorted(some, key=_name_of))
            known = before.get(name)
            if known is None or known.slices != mine:
                known = _pool_read(name, mine)
            self._known[name] = known
            warnings += known.told
            if isinstance(known.pool, Pool):
                pools.append(_tainted(known.pool, taints))
            else:
                faulty |= {each.node for each in mine}
        return Pools(tuple(pools), frozenset(faulty), tuple(warnings))


def _pool_read(name: PoolName, slices: tuple[_Slice, ...]) -> _PoolRead:
    told: list[str] = []
    try:
        pool = _pool(name, slices, told)
    except FieldError as error:
        where = f"pool {name[1]} of driver {name[0]}"
        return _PoolRead(slices, error.anew(), (f"{where} is not used: {error}",))
    return _PoolRead(slices, pool, tuple(told))


def _name_of(found: _Slice) -> str:
    return found.name


def _slice_or_fault(raw: Raw) -> _Slice | FieldError:
    try:
        return _slice(raw)
    except FieldError as error:
        return error.anew()


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
        content=_content((driver, called), spec),
    )


def _content(pool: PoolName, spec: Json) -> _SliceContent | FieldError:
    try:
        return _SliceContent(
            counters=tuple(_counter_sets(spec)), devices=tuple(devices_of(pool, spec))
        )
    except FieldError as error:
        return error.anew()


def _pool(name: PoolName, slices: Sequence[_Slice], warnings: list[str]) -> Pool:
    """
    Join the slices of the newest generation of a pool.
    """
    wanted = sorted({each.number for each in slices})
    if wanted != [len(slices)]:
        counts = " or ".join(map(str, wanted))
        have = f"{len(slices)} of {counts} slices of generation {slices[0].generation}"
        raise FieldError("spec.pool.resourceSliceCount", f"{have} are there")
    contents = [*_read(slices)]
    counters: dict[str, Mapping[str, int]] = {}
    for known, amounts in chain.from_iterable(each.counters for each in contents):
        if known in counters:
            raise FieldError("spec.sharedCounters", f"{known!r} is there twice")
        counters[known] = amounts
    devices: dict[DeviceName, Device] = {}
    for device in chain.from_iterable(each.devices for each in contents):
        if device.name in devices:
            what = f"device {device.name[2]} is there twice"
            raise FieldError("spec.devices", what)
        _check_counters(device, counters)
        devices[device.name] = device
    _check_places(devices.values())
    _tell(name, devices.values(), warnings)
    return Pool(name, tuple(devices.values()), counters)


def _read(slices: Iterable[_Slice]) -> Iterator[_SliceContent]:
    for each in slices:
        if isinstance(each.content, FieldError):
            raise each.content.anew()
        yield each.content


def _tainted(pool: Pool, taints: DeviceTaintRules) -> Pool:
    """
    Give the devices of a pool the taints of rules beside their own.
    """
    if not any(rule.is_of_pool(pool.name) for rule in taints.rules):
        return pool
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


def _check_places(devices: Iterable[Device]) -> None:
    """
    Refuse counters that devices of several nodes share: nodes are planned apart.
    """
    nodes: dict[str, set[str | None]] = {}
    for device in devices:
        for known, _ in device.consumes:
            nodes.setdefault(known, set()).add(device.node)
    for known, there in nodes.items():
        if len(there) > 1:
            what = f"devices of several nodes consume {known!r}, which is not planned"
            raise FieldError("spec.sharedCounters", what)


def _quantity(amount: int) -> str:
    """
    Write a counter, which may be bytes.
    """
    pieces, rest = divmod(amount, MILLI)
    if rest or pieces > LARGEST_TOTAL:
        return f"{(Decimal(amount) / MILLI).normalize():g}"
    return format_quantity(MEMORY, pieces)
