"""
Devices below a whole GPU: how many are opened, and how many take which content.

A content is a multiset of parts that one device holds.  What a class of nodes holds on
its devices is said by how many of them take each content that no other one contains;
where there are too many of these, rows over sums bound it alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from models.devices.gpu_parts import WHOLE
from models.devices.mig_profiles import SLICES
from solver.devices.packing_items import Bin, Item, SharedBin
from solver.devices.part_places import NodeDevices, PartItem, Sort
from solver.effort.cp_sat import cp_model
from solver.encode.capacity_rows import CapacityRow
from solver.problem.node_room import Ints
from solver.problem.problem import Problem

Expr = cp_model.LinearExprT
Pods = dict[tuple[Item, int], list[Expr]]
"""
Counts of pods by what each takes, of each of how many devices.
"""
UNLIKE = (-1, 0)
"""
Stands for the devices of nodes that are not alike, of which nothing is said.
"""
MOST_CONTENTS = 150
"""
More contents than this on one kind of devices are not told apart.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassDevices:
    """
    The devices of equal nodes: of each the same, and so many of them idle.

    ``items`` says per shape what a pod takes of parts, ``whole`` how many GPUs.
    """

    kind: NodeDevices
    idle: int
    nodes: int
    items: tuple[PartItem | None, ...]
    whole: tuple[int, ...]


def class_devices(
    problem: Problem,
    shapes: Sequence[int],
    nodes: Sequence[int] | Ints,
    state: tuple[int, int] | None = None,
) -> ClassDevices | None:
    """
    See the devices of some equal nodes, where a shape asks for parts of them.

    Where they are not as they are now, ``state`` says which devices, and how many idle.
    """
    room = problem.room.parts
    if room is None or state == UNLIKE:
        return None
    requests = problem.shapes.requests[list(shapes)]
    if not requests[:, list(room.columns)].any():
        return None
    now = problem.room.now[nodes[0]]
    number, idle = state or (room.kind(nodes[0], now)[0], max(0, int(now[room.gpu])))
    kind = room.devices_of(number)
    items: list[PartItem | None] = []
    for request in requests:
        asked = [at for at, column in enumerate(room.columns) if request[column]]
        items.append(kind.items[asked[0]] if asked else None)
    return ClassDevices(
        kind=kind,
        idle=idle,
        nodes=len(nodes),
        items=tuple(items),
        whole=tuple(int(request[room.gpu]) for request in requests),
    )


def device_rows(devices: ClassDevices) -> list[CapacityRow]:
    """
    Bound what all devices hold, by sums and by floors of each amount asked for.

    For every amount q: Σ ⌊part ÷ q⌋ + Σ whole × ⌊device ÷ q⌋ ≤ Σ over devices
    ⌊left ÷ q⌋.
    """
    rows: dict[CapacityRow, None] = {}
    for at, sort in enumerate(devices.kind.sorts):
        own = [one if one and one.sort == at else None for one in devices.items]
        for dimension, device in enumerate(sort.fresh.room):
            asked = [0 if one is None else one.item.room[dimension] for one in own]
            if not any(asked):
                continue
            for part in sorted({amount for amount in asked if amount} | {1}):
                each = sum(one.room[dimension] // part for one in sort.bins)
                each += devices.idle * (device // part)
                coefficients = tuple(
                    amount // part * one.devices * one.times
                    if one is not None
                    else whole * (device // part)
                    for amount, one, whole in zip(
                        asked, own, devices.whole, strict=True
                    )
                )
                rows[CapacityRow(coefficients, each * devices.nodes, each)] = None
    return [*rows, _all_sorts(devices)]


def _all_sorts(devices: ClassDevices) -> CapacityRow:
    """
    Bound what all sorts of devices hold together, as shares of a device.
    """
    each = devices.idle * WHOLE
    coefficients = [whole * WHOLE for whole in devices.whole]
    for at, sort in enumerate(devices.kind.sorts):
        each += sum(one.room[0] * _unit(sort) for one in sort.bins)
        for shape, one in enumerate(devices.items):
            if one is not None and one.sort == at:
                amount = one.item.room[0] * _unit(sort)
                coefficients[shape] = amount * one.devices * one.times
    return CapacityRow(tuple(coefficients), each * devices.nodes, each)


def _unit(sort: Sort) -> int:
    """
    Give the thousandths of a device that one of what is counted first is.
    """
    return 1 if isinstance(sort.fresh, SharedBin) else WHOLE // SLICES


def add_devices(
    model: cp_model.CpModel,
    devices: ClassDevices,
    counts: Mapping[int, Expr],
    size: Expr | None = None,
) -> None:
    """
    Ensure that the devices of a class hold the parts and whole GPUs of its pods.

    Σ contents on idle devices + Σ whole GPUs ≤ idle devices; per sort of devices no
    more contents than there are; per part Σ its number in contents ≥ Σ what pods take.

    ``counts`` say per place in the list of shapes how many of its pods lie in the
    class; ``size`` how many nodes it has, where the model decides that.
    """
    nodes: Expr = devices.nodes if size is None else size
    opened: list[Expr] = []
    for at, sort in enumerate(devices.kind.sorts):
        wanted = _wanted(devices, at, counts)
        if wanted:
            opened += _add_sort(model, devices, sort, wanted, nodes)
    whole = [
        devices.whole[shape] * count
        for shape, count in counts.items()
        if devices.whole[shape]
    ]
    if opened:
        model.add(cp_model.LinearExpr.sum([*opened, *whole]) <= devices.idle * nodes)


def has_many_contents(devices: ClassDevices, sort: int) -> bool:
    """
    Tell whether one sort of a class's devices has too many contents to be listed.
    """
    own = {one.item for one in devices.items if one is not None and one.sort == sort}
    items = tuple(sorted(own, key=_size, reverse=True))
    kind = devices.kind.sorts[sort]
    return any(contents_of(one, items) is None for one in {*kind.bins, kind.fresh})


def _wanted(devices: ClassDevices, sort: int, counts: Mapping[int, Expr]) -> Pods:
    """
    Sort the pods that want one kind of devices by what each takes.
    """
    wanted: Pods = {}
    for shape, count in counts.items():
        one = devices.items[shape]
        if one is not None and one.sort == sort:
            pods = wanted.setdefault((one.item, one.devices), [])
            pods.append(one.times * count)
    return wanted


def _add_sort(
    model: cp_model.CpModel,
    devices: ClassDevices,
    sort: Sort,
    wanted: Pods,
    nodes: Expr,
) -> list[Expr]:
    """
    Ensure what one kind of devices holds; give what counts the idle ones opened.
    """
    items = tuple(sorted({item for item, _ in wanted}, key=_size, reverse=True))
    idle = min(devices.idle, sort.most)
    groups = [*Counter(sort.bins).items(), (sort.fresh, idle)]
    contents = [contents_of(device, items) for device, _ in groups]
    too_many = any(each is None for each in contents)
    if devices.nodes == 1 and (too_many or any(number > 1 for _, number in wanted)):
        return _add_each(model, sort, idle, wanted, nodes)
    if too_many:
        return []
    held: dict[Item, list[Expr]] = {item: [] for item in items}
    used: list[Expr] = []
    for (_, number), found in zip(groups, contents, strict=True):
        most = number * devices.nodes
        used = [model.new_int_var(0, most, "") for _ in found or ()]
        if used:
            model.add(cp_model.LinearExpr.sum(used) <= number * nodes)
        for content, count in zip(found or (), used, strict=True):
            for item, amount in zip(items, content, strict=True):
                if amount:
                    held[item].append(amount * count)
    for item in items:
        taken = [
            number * count
            for (one, number), pods in wanted.items()
            if one == item
            for count in pods
        ]
        model.add(_sum(held[item]) >= _sum(taken))
    return used


def _size(item: Item) -> tuple[int, ...]:
    return item.room


def _sum(terms: Sequence[Expr]) -> cp_model.LinearExpr:
    return cp_model.LinearExpr.sum([*terms])


def _add_each(
    model: cp_model.CpModel, sort: Sort, idle: int, wanted: Pods, nodes: Expr
) -> list[Expr]:
    """
    Ensure what the shared devices of a single node hold, one by one.

    A pod on several has them all different: of pods on equally many no device has more
    parts than there are such pods.
    """
    opened = [model.new_bool_var("") for _ in range(idle)]
    for first, second in pairwise(opened):
        model.add_implication(second, first)
    held: dict[tuple[Item, int], list[Expr]] = {key: [] for key in wanted}
    devices: list[tuple[Bin, cp_model.IntVar | None]] = [
        *((device, None) for device in sort.bins),
        *((sort.fresh, one) for one in opened),
    ]
    for device, is_open in devices:
        here: list[tuple[Item, Expr]] = []
        for (item, number), pods in wanted.items():
            most = device.takes(item)  # type: ignore[arg-type]
            if most:
                count = model.new_int_var(0, most, "")
                here.append((item, count))
                held[item, number].append(count)
                if number > 1:
                    model.add(count <= _sum(pods))
        for dimension, room in enumerate(device.room):
            terms = [item.room[dimension] * count for item, count in here]
            if terms:
                there = nodes if is_open is None else is_open
                model.add(_sum(terms) <= room * there)
    for (item, number), pods in wanted.items():
        model.add(_sum(held[item, number]) == number * _sum(pods))
    return [*opened]


@lru_cache(maxsize=4096)
def contents_of(
    device: Bin, items: tuple[Item, ...]
) -> tuple[tuple[int, ...], ...] | None:
    """
    List the contents of a device that no other one contains; none where too many are.
    """
    found: list[tuple[int, ...]] = []
    left = [20 * MOST_CONTENTS]

    def walk(here: Bin, at: int, counts: tuple[int, ...]) -> bool:
        left[0] -= 1
        if left[0] < 0:
            return False
        if at == len(items):
            if not any(_put(here, item) for item in items):
                found.append(counts)
            return len(found) <= MOST_CONTENTS
        inside: list[Bin] = [here]
        while (more := _put(inside[-1], items[at])) is not None:
            inside.append(more)
        return all(
            walk(inside[number], at + 1, (*counts, number))
            for number in reversed(range(len(inside)))
        )

    return tuple(found) if walk(device, 0, ()) else None


def _put(device: Bin, item: Item) -> Bin | None:
    return device.put(item)  # type: ignore[arg-type]
