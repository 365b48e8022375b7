"""
Measuring the room of a round: what nodes offer, less all that lies on them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.devices.gpu_parts import is_part, is_reckoned, part_named
from models.devices.typical_pods import TypicalPod, names_of
from models.gangs import Gang, pod_sets
from models.memory.census import Census
from models.node_table import NodeTable
from models.resources import CPU, GPU, GPU_SHARE, SHARES_PER_GPU
from solver.devices.device_columns import (
    DeviceHolder,
    device_columns,
    shared_devices,
)
from solver.devices.device_fragments import Fragments
from solver.devices.part_room import PartRoom, part_room
from solver.devices.tied_pieces import tied_pieces
from solver.problem.node_room import MANY, After, Empty, Ints, Now, Room
from solver.problem.pod_counts import is_leaving


def room_of(
    table: NodeTable,
    waiting: Sequence[Gang],
    census: Census,
    *,
    moves: bool = False,
    devices: Sequence[DeviceHolder] = (),
    typical: tuple[TypicalPod, ...] = (),
) -> Room:
    """
    Measure the room of nodes in the resources that waiting gangs ask for.

    With ``moves`` running pods may need a new place, too.  ``devices`` are those that
    pods on nodes have; ``typical`` pods ask for some resources more.
    """
    more = census.names() if moves else set()
    resources = _counted(_asked(waiting), more | names_of(typical), table)
    holes_of = table.gpus or [CPU]
    columns = resources + [r for r in holes_of if r not in resources]
    empty, free = _free(table, census, columns, devices)
    later = free + _load(census.leaving, census, table.index, columns)
    holes = np.maximum(free[:, [columns.index(r) for r in holes_of]], 0).sum(axis=1)
    rooms = [rows[:, : len(resources)] for rows in (empty, free, later)]
    empty, free, later = map(np.ascontiguousarray, rooms)
    room = Room(
        nodes=table.nodes,
        index=table.index,
        resources=tuple(resources),
        empty=Empty(empty),
        now=Now(free),
        idle=Now(free.copy()),
        later=After(later),
        after=After(later.copy()),
        holes=holes if table.gpus else holes // 1000,
        gpus=bool(table.gpus),
        pieces=SHARES_PER_GPU if table.has_parts else 1,
    )
    return _with_fragments(_with_devices(room, devices), typical)


def _with_fragments(room: Room, typical: tuple[TypicalPod, ...]) -> Room:
    if not typical:
        return room
    found = Fragments(typical, room.nodes, room.resources, room.parts)
    return replace(room, fragments=found)


def _with_devices(room: Room, held: Sequence[DeviceHolder]) -> Room:
    """
    Say in every table what devices have left, and what nodes hold of each part.
    """
    found = _told_apart(room, held) if GPU_SHARE in room.resources else None
    if found is None:
        return room
    nodes, columns, tied = room.nodes, found.devices, found.tied
    every = np.arange(len(nodes))
    idle = np.hstack([columns.empty(nodes), tied.empty])
    empty, now, later = (
        np.hstack([rows, idle]) for rows in (room.empty, room.now, room.later)
    )
    stays, leaves = np.zeros((2, *now.shape), dtype=np.int64)
    for one in held:
        at = room.index.get(one.pod.node or "")
        if at is not None:
            row = (leaves if is_leaving(one.pod) else stays)[at]
            columns.hold(row, nodes[at], one.part, one.pod.devices)
            tied.hold(row, one.pod.tied)
    now -= stays + leaves
    later -= stays
    later += tied.free(every, later) - tied.free(every, now)
    later[:, found.gpu] += columns.opened(now) - columns.opened(later)
    now, later = found.filled(now), found.filled(later)
    return replace(
        room,
        resources=(*room.resources, *columns.names, *tied.names),
        empty=Empty(found.filled(empty)),
        now=Now(now),
        idle=Now(now.copy()),
        later=After(later),
        after=After(later.copy()),
        parts=found,
    )


def _told_apart(room: Room, held: Sequence[DeviceHolder]) -> PartRoom | None:
    """
    Lay out columns for devices, where parts are asked for or had, and for pieces.
    """
    names, nodes = room.resources, room.nodes
    parts = sorted(part_named(name) for name in names if is_part(name))
    shared = [one for one in held if one.pod.devices]
    has_parts = bool(parts) or any(one.part for one in shared)
    some = (nodes, parts, shared) if has_parts and GPU in names else ((), (), ())
    columns = device_columns(len(names), *some)
    tied = tied_pieces(columns.block.stop, names, nodes)
    if GPU not in names or not (columns.number or tied.number):
        return None
    return part_room(parts, names, nodes, columns, tied)


def _counted(asked: set[str], more: set[str], table: NodeTable) -> list[str]:
    """
    List the resources that are counted on nodes; parts are those of GPUs.
    """
    parts = {name for name in asked | more if is_part(name)}
    plain = {name for name in asked | more if not is_reckoned(name)}
    is_tied = not table.tied.isdisjoint(plain)
    found = sorted(plain | ({*parts, GPU} if parts or is_tied else set()))
    return found + [GPU_SHARE] * (table.has_parts or is_tied)


def _free(
    table: NodeTable,
    census: Census,
    columns: list[str],
    devices: Sequence[DeviceHolder],
) -> tuple[Ints, Ints]:
    """
    Measure what is free without any pod of ours, and as it is.
    """
    free = table.rows(columns)
    empty = free.copy()
    for node, number in sorted({(x.pod.node, n) for x in devices for n in x.pod.tied}):
        at = table.index.get(node or "", -1)
        piece = table.nodes[at].tied[number] if at >= 0 else {}
        free[at] -= [piece.get(name, 0) for name in columns]
    free -= _load(census.loads, census, table.index, columns)
    for at, name in enumerate(columns):
        if name in census.resources:
            free[:, at] -= census.whole[:, census.resources.index(name)]
    if devices and GPU in columns:
        for name, device in shared_devices(devices):
            where = table.index.get(name)
            if where is not None and device not in table.nodes[where].counted_devices:
                free[where, columns.index(GPU)] -= 1
    if GPU_SHARE in columns:
        # Queues bound it, and no node does.
        empty[:, columns.index(GPU_SHARE)] = free[:, columns.index(GPU_SHARE)] = MANY
    return empty, free


def _asked(waiting: Sequence[Gang]) -> set[str]:
    """
    Name the resources that waiting gangs ask for.
    """
    return {
        name
        for gang in waiting
        for leaf in pod_sets(gang.tree)
        for name, amount in leaf.requests.items()
        if amount > 0
    } | {name for gang in waiting for name in gang.min_resources}


def _load(
    loads: Sequence[tuple[str, int]],
    census: Census,
    index: dict[str, int],
    columns: list[str],
) -> Ints:
    """
    Add up the requests of our pods that occupy each node.
    """
    load = np.zeros((len(index), len(columns)), dtype=np.int64)
    held = [(index[name], kind) for name, kind in loads if name in index]
    if held:
        rows = [[kind.get(r, 0) for r in columns] for kind in census.kinds]
        where, which = np.array(held).T
        np.add.at(load, where, np.array(rows, dtype=np.int64)[which])
    return load
