"""
Reservations: places that an earlier round promised, kept as long as they can be.

A gang whose reserved pods all have room now is bound; one that still waits for somebody
to leave stays reserved; what can no longer be kept is void, and its pods just pending.
So it is with pods of a gang that has enough without them, which were moved.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from models.devices.gpu_parts import GpuDevice, part_of
from models.gangs import Gang, PodPhase, pod_sets
from solver.evict.kept_beside import KeptBeside
from solver.evict.named_devices import come_to, pods_of
from solver.place.round_state import RoundState
from solver.problem.core_pods import is_core
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import NOWHERE
from solver.problem.node_room import NodeRoom, Places
from solver.problem.problem import Problem, Unit
from solver.problem.running_domains import used_cells
from solver.shares.queue_tree import Booking, QueueTree, Table

Promise = Mapping[int, tuple[str, ...]]
"""
The nodes promised to the pods of each leaf.
"""


def promise_of(gang: Gang) -> Promise:
    """
    List the nodes that are reserved for a gang's pods.
    """
    found = {}
    for at, leaf in enumerate(pod_sets(gang.tree)):
        nodes = tuple(
            pod.node or "" for pod in leaf.pods if pod.phase is PodPhase.RESERVED
        )
        if nodes:
            found[at] = nodes
    return found


def promises_of(problem: Problem) -> dict[str, Promise]:
    """
    List all reservations of a round, by gang.
    """
    states = [state for unit in problem.units for state in unit.states]
    each = ((s.key, promise_of(problem.written[s.key])) for s in states)
    return {key: promise for key, promise in each if promise}


def is_as_promised(problem: Problem, unit: Unit, places: Mapping[str, Places]) -> bool:
    """
    Tell whether a unit gets just the places that were reserved for it.
    """
    return all(
        _places(problem, s, promise_of(problem.written[s.key])) == places[s.key]
        and not _is_open(problem, s)
        for s in unit.states
    )


@dataclass(slots=True)
class _KeptPlaces:
    """
    Units with their places, bound now or later, and the room that leaves for later.
    """

    now: NodeRoom
    later: NodeRoom
    devices: dict[str, tuple[GpuDevice, ...]] = field(default_factory=dict)
    units: list[Unit] = field(default_factory=list)
    bound: dict[str, Places] = field(default_factory=dict)
    places: dict[str, Places] = field(default_factory=dict)

    def beside(self, problem: Problem) -> KeptBeside:
        """
        See them beside others.
        """
        return KeptBeside(problem, self.bound, self.places)


def keep(
    problem: Problem, promises: Mapping[str, Promise], void: Collection[str] = ()
) -> Problem:
    """
    Make facts of all reservations that hold, highest band first, then by name.

    ``void`` are gangs whose reservations are not kept; reserved pods are pending.
    """
    if not promises:
        return problem
    now = RoundState(problem)
    room = problem.room
    kept = _KeptPlaces(NodeRoom(room.now, room.parts), NodeRoom(room.later, room.parts))
    for unit in sorted(problem.units, key=lambda unit: (-unit.band, unit.key)):
        held = [
            s.key in promises and s.key not in void and not _is_open(problem, s)
            for s in unit.states
        ]
        if all(held) if unit.starts else any(held):
            _keep_unit(problem, unit, promises, now, kept)
    return _with_kept(problem, kept) if kept.units else problem


def _keep_unit(
    problem: Problem,
    unit: Unit,
    promises: Mapping[str, Promise],
    now: RoundState,
    kept: _KeptPlaces,
) -> None:
    places: dict[str, Places] = {}
    for state in unit.states:
        found = _places(problem, state, promises.get(state.key, {}))
        if found is None or not is_core(state, found.counts):
            return
        places[state.key] = found
    coming = [*pods_of(unit.states, places)]
    devices: dict[str, tuple[GpuDevice, ...]] = {}
    for state in unit.states:
        devices |= _promised_devices(problem, state)
    later = NodeRoom(kept.later.rows, problem.room.parts)
    come_to(later, problem, coming, devices)
    touched = sorted({node for found in places.values() for node in found.nodes})
    beside = kept.beside(problem)
    if not (later.holds(touched) and beside.lies_well(places)):
        return
    mark = now.mark()
    for state in unit.states:
        for i, hosts in enumerate(places[state.key]):
            if now.ledger.most(state, i, len(hosts)) < len(hosts):
                now.undo(mark)
                return
            now.take(state, i, Counter(hosts))
    come_to(kept.now, problem, coming, devices)
    kept.later = later
    kept.units.append(unit)
    kept.devices.update(devices)
    at_once = kept.now.holds(touched) and beside.lies_well_now(places)
    (kept.bound if at_once else kept.places).update(places)


def _is_open(problem: Problem, state: Standing) -> bool:
    """
    Tell whether a gang gets its places anew, since no devices are promised to it.
    """
    return any(
        pod.phase is PodPhase.RESERVED and not pod.devices
        for leaf in pod_sets(problem.written[state.key].tree)
        if part_of(leaf.requests) is not None
        for pod in leaf.pods
    )


def _promised_devices(
    problem: Problem, state: Standing
) -> dict[str, tuple[GpuDevice, ...]]:
    """
    Give the devices that are promised to pods; on equal nodes in the order of both.
    """
    found = {}
    index = problem.room.index
    tree = problem.written[state.key].tree
    for leaf, written in zip(state.leaves, pod_sets(tree), strict=True):
        promised = sorted(
            (index.get(pod.node or "", NOWHERE), pod.devices)
            for pod in written.pods
            if pod.phase is PodPhase.RESERVED and pod.devices
        )
        for pod, (_, devices) in zip(leaf.pending, promised, strict=False):
            found[f"{state.gang.namespace}/{pod.name}"] = devices
    return found


def _places(problem: Problem, state: Standing, promise: Promise) -> Places | None:
    """
    Give the promised nodes if the gang may still be there.
    """
    rows: list[tuple[int, ...]] = []
    may_be = problem.shapes.may_be
    for i in range(len(state.leaves)):
        shape = problem.shapes.of_leaf[state.key, i]
        hosts = []
        for name in promise.get(i, ()):
            host = problem.room.index.get(name)
            if host is None or not may_be[shape, host]:
                return None
            hosts.append(host)
        rows.append(tuple(sorted(hosts)))
    if not _keeps_apart(state, rows):
        return None
    return Places(tuple(rows)) if _is_together(problem, state, rows) else None


def _keeps_apart(state: Standing, rows: list[tuple[int, ...]]) -> bool:
    alone = [leaf.pod_set.exclusive for leaf in state.leaves]
    everywhere = Counter(host for row in rows for host in row)
    return all(
        everywhere[host] == 1
        for row, exclusive in zip(rows, alone, strict=True)
        for host in row
        if exclusive
    )


def _is_together(
    problem: Problem, state: Standing, rows: list[tuple[int, ...]]
) -> bool:
    for node in state.nodes:
        demand = node.topology
        if demand is None or demand.required is None:
            continue
        if not any(rows[i] for i in node.leaves):
            continue
        places = dict(enumerate(rows))
        used = used_cells(problem, state, node, demand.required, places)
        if len(used) > 1 or 0 in used:
            return False
    return True


def _with_kept(problem: Problem, kept: _KeptPlaces) -> Problem:
    """
    Book kept reservations in room, queues and counts.
    """
    idle = NodeRoom(problem.room.idle, problem.room.parts)
    gpus = pods = 0
    states = [state for unit in kept.units for state in unit.states]
    starting = {s.key for unit in kept.units if unit.starts for s in unit.states}
    for state in states:
        bound = state.key in kept.bound
        places = kept.bound[state.key] if bound else kept.places[state.key]
        if bound:
            come_to(idle, problem, pods_of([state], kept.bound), kept.devices)
            for leaf, hosts in zip(state.leaves, places, strict=True):
                here = problem.gpus_of(leaf.pod_set.requests)
                gpus += here * len(hosts)
                pods += len(hosts)
    held = {state.key for state in states}
    frozen = replace(
        problem.frozen,
        committed=tuple(kept.units),
        bound=kept.bound,
        places={**problem.frozen.places, **kept.places},
        devices={**problem.frozen.devices, **kept.devices},
    )
    return replace(
        problem,
        room=problem.room.with_kept(idle, kept.later),
        queues=_booked(problem, kept, starting),
        frozen=frozen,
        units=tuple(u for u in problem.units if u.states[0].key not in held),
        satisfied=problem.satisfied + len(starting & kept.bound.keys()),
        running_pods=problem.running_pods + pods,
        running_gpus=problem.running_gpus + gpus,
    )


def _booked(
    problem: Problem, kept: _KeptPlaces, starting: Collection[str]
) -> QueueTree:
    """
    Book kept reservations in queues.
    """
    booking = Booking(problem.queues)
    for state in (state for unit in kept.units for state in unit.states):
        tables: list[Table] = ["drift"]
        tables += [] if state.gang.preemptible else ["drift_fixed"]
        tables += ["booked"] if state.key in starting else []
        tables += ["coming"] if state.key in kept.bound else []
        path = problem.queues.path(state.gang.queue)
        places = kept.bound.get(state.key) or kept.places[state.key]
        for leaf, hosts in zip(state.leaves, places, strict=True):
            booking.add(path, leaf.pod_set.requests, len(hosts), *tables)
    return booking.tree()
