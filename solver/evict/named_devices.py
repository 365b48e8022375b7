"""
Named devices: which GPUs those get who are promised parts of them, and who starts now.
"""

from collections.abc import Iterable, Iterator, Mapping

from models.devices.gpu_parts import GpuDevice, GpuPart, part_of
from models.resources import Resources
from solver.devices.device_dealing import dealt
from solver.devices.device_fragments import numbers_of
from solver.problem.gang_state import Standing
from solver.problem.node_room import Ints, NodeRoom, Places
from solver.problem.problem import Problem

Devices = Mapping[str, tuple[GpuDevice, ...]]
"""
The devices of pods, by their keys.
"""
Coming = tuple[str, Resources, int]
"""
A pod's key, what it asks for, and the node that it comes to.
"""


def pods_of(
    states: Iterable[Standing], places: Mapping[str, Places]
) -> Iterator[Coming]:
    """
    Walk the pods of gangs with their nodes: leaf by leaf in index order.
    """
    for state in states:
        for leaf, hosts in zip(state.leaves, places.get(state.key, ()), strict=False):
            for pod, host in zip(leaf.pending, sorted(hosts), strict=False):
                name = f"{state.gang.namespace}/{pod.name}"
                yield name, leaf.pod_set.requests, host


def named_devices(
    problem: Problem, rows: Ints, coming: Iterable[Coming], now: Ints | None = None
) -> Devices:
    """
    Name the devices of pods that come to nodes, the same every time.

    ``rows`` are free before they come.  Where it is said what is free ``now``, these
    devices are opened last.
    """
    parts = problem.room.parts
    if parts is None:
        return {}
    here: dict[int, list[tuple[str, GpuPart]]] = {}
    for name, requests, node in coming:
        part = part_of(requests)
        if part is not None:
            here.setdefault(node, []).append((name, part))
    found: dict[str, tuple[GpuDevice, ...]] = {}
    for node, pods in sorted(here.items()):
        idle: set[int] = set()
        if now is not None:
            first = parts.states(node, now[node])
            taken = {*first.shared, *first.sliced, *first.whole}
            idle = {*range(parts.devices.number)} - taken
        states = parts.states(node, rows[node])
        found |= dealt(parts.nodes[node], states, pods, idle)
    return found


def least_left_over(problem: Problem, rows: Ints, coming: Iterable[Coming]) -> Devices:
    """
    Name the devices of pods that come to nodes so that least is of no use afterwards.

    Those for whom no way was found are left out: they lie by fit.
    """
    room, fragments = problem.room.parts, problem.room.fragments
    found: dict[str, tuple[GpuDevice, ...]] = {}
    if room is None or fragments is None:
        return found
    here: dict[int, list[tuple[GpuPart, str]]] = {}
    left: dict[int, Ints] = {}
    for name, requests, node in coming:
        row = left.setdefault(node, rows[node].copy())
        row -= problem.room.row(dict(requests))
        part = part_of(requests)
        if part is not None:
            here.setdefault(node, []).append((part, name))
    for node, pods in sorted(here.items()):
        every = sorted(pods)
        dealing = fragments.dealing(node, left[node], tuple(part for part, _ in every))
        states = room.states(node, rows[node])
        numbers = numbers_of(room.nodes[node], states, dealing)
        for (_, name), places in zip(every, dealing.places, strict=False):
            mine = (GpuDevice(numbers[at.device], at.start) for at in places)
            found[name] = tuple(sorted(mine))
    return found


def come_to(
    room: NodeRoom, problem: Problem, coming: Iterable[Coming], devices: Devices
) -> None:
    """
    Take the room of pods that come to nodes, on the devices named for them.
    """
    known: dict[int, Ints] = {}
    for name, requests, node in coming:
        if name in devices:
            room.take_one(problem.room.held(requests, devices[name], node), node)
            continue
        if id(requests) not in known:
            known[id(requests)] = problem.room.row(dict(requests))
        room.take_one(known[id(requests)], node)
