"""
Fragments: what is left of the GPUs of a node and of no use to typical pods.

Of no use to a typical pod is all that is idle on a node which cannot run it, else what
is idle on devices that cannot hold it.  The rest is of use by half, and by the other
half as far as all else is there for more such pods.  The sum by weight is rounded to
twentieths of a GPU per node, so that less decides nothing (decision 57).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.devices.device_use import (
    NodeSort,
    OpenDevice,
    left_of,
    order_of,
    size_of,
    usable,
    ways_of,
    with_one,
)
from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart
from models.devices.typical_pods import THOUSAND, TypicalPod
from models.nodes import Node
from models.resources import GPU
from solver.devices.device_dealing import dealt, idle_of
from solver.devices.device_states import DeviceStates
from solver.devices.part_places import Ints
from solver.devices.part_room import PartRoom

STEPS = 20
STEP = WHOLE * THOUSAND // STEPS
"""
What counts one: a twentieth of a GPU, in thousandths by a thousand.
"""
_MOST_TRIES = 300
Devices = tuple[OpenDevice, ...]
Parts = tuple[GpuPart, ...]
Chosen = dict[int, tuple[GpuDevice, ...]]
Ample = tuple[int, ...]
"""
For each typical pod the thousandths of GPUs for which a node has all else it asks for.
"""


@dataclass(frozen=True, slots=True)
class Dealing:
    """
    Where new parts lie on the devices of a node, and what is then of no use.

    Devices beyond those that are open are idle ones, in the order of their opening.
    Without ``places`` parts lie by fit; that is no more than that if ``is_least``.
    """

    value: int
    places: tuple[tuple[GpuDevice, ...], ...] = ()
    is_least: bool = False


class Fragments:
    """
    What typical pods could not use of some nodes, in twentieths of a GPU.
    """

    def __init__(
        self,
        typical: Sequence[TypicalPod],
        nodes: Sequence[Node],
        resources: Sequence[str],
        parts: PartRoom | None,
    ) -> None:
        self.typical = tuple(typical)
        self.nodes = nodes
        self.gpu = resources.index(GPU)
        self._parts = parts
        self._asked = np.zeros((len(typical), len(resources)), dtype=np.int64)
        for at, pod in enumerate(typical):
            for name, amount in pod.requests:
                if name in resources:
                    self._asked[at, resources.index(name)] = amount
        self._sorts = [self._sort(node) for node in nodes]
        self._first: tuple[Ints, Ints] | None = None
        self._sizes = np.array([pod.size for pod in typical], dtype=np.int64)
        self._values: dict[tuple[NodeSort, Ample, int, Devices], int] = {}
        self._dealt: dict[
            tuple[NodeSort, Ample, int, Devices, Parts], Dealing | None
        ] = {}

    def _sort(self, node: Node) -> NodeSort:
        return NodeSort(
            allowed=tuple(pod.allows(node) for pod in self.typical),
            memory=node.gpu_memory,
            model="" if node.mig is None else node.mig.model,
            cuttable=0 if node.mig is None else len(node.mig.devices),
        )

    def devices(self, node: int, row: Ints) -> tuple[Devices, tuple[int, ...]]:
        """
        List the devices of a node of which somebody has a part, with their numbers.
        """
        if self._parts is None:
            return (), ()
        return listed(self._parts.states(node, row))

    def values(self, nodes: Ints, rows: Ints, parts: Sequence[Parts]) -> Ints:
        """
        Say of some nodes what is of no use there.

        ``rows`` are what each has left, all that is new but ``parts`` taken.
        """
        every = zip(nodes.tolist(), rows, parts, strict=True)
        found = [self.dealing(*each).value for each in every]
        return np.array(found, dtype=np.int64)

    def least(self, node: int, row: Ints, parts: Parts) -> Dealing | None:
        """
        Give the best dealing, one without places if none was found; none if none is.
        """
        devices, _ = self.devices(node, row)
        ample = self._ample(node, row)
        key = (self._sorts[node], ample, self._idle(row), devices, parts)
        if key not in self._dealt:
            self._dealt[key] = self._best(*key)
        return self._dealt[key]

    def dealing(self, node: int, row: Ints, parts: Parts) -> Dealing:
        """
        Deal the devices of a node to new parts so that least is of no use.
        """
        found = self.least(node, row, parts)
        if found is None or (parts and not found.places):
            return self._by_fit(node, row, parts)
        return found

    def _ample(self, node: int, row: Ints) -> Ample:
        """
        Say for how much of GPUs there is all else that typical pods ask for.
        """
        most = WHOLE * max(1, self.nodes[node].allocatable.get(GPU, 0))
        held = np.where(self._asked == 0, most, row // np.maximum(1, self._asked))
        pods = np.maximum(0, held.min(axis=1, initial=most))
        return tuple(np.minimum(most, pods * self._sizes).tolist())

    def _idle(self, row: Ints) -> int:
        return max(0, int(row[self.gpu]))

    def _by_fit(self, node: int, row: Ints, parts: Parts) -> Dealing:
        """
        Say what is of no use where parts are dealt by fit.
        """
        assert self._parts is not None
        states, sort = self._parts.states(node, row), self._sorts[node]
        pods = [(f"{at:06d}", part) for at, part in enumerate(parts)]
        places = dealt(self.nodes[node], states, pods)
        every: dict[int, OpenDevice] = {**states.shared, **states.sliced}
        opened = len(every)
        for name, part in pods:
            for place in places[name]:
                before = every.get(place.device)
                every[place.device] = with_one(before, part, place.start, sort)
        rest, now = self._idle(row) - len(every) + opened, tuple(every.values())
        return Dealing(self._rounded(sort, self._ample(node, row), rest, now))

    def first(self, rows: Ints) -> Ints:
        """
        Say of all nodes what is of no use before anything comes.
        """
        if self._first is None or self._first[0] is not rows:
            every = np.arange(len(self.nodes))
            values = self.values(every, rows, [()] * len(every))
            self._first = rows, values
        return self._first[1]

    def _best(
        self, sort: NodeSort, ample: Ample, idle: int, devices: Devices, parts: Parts
    ) -> Dealing | None:
        """
        Try the devices for each item, the largest parts first; at last one by one.
        """
        order = sorted(range(len(parts)), key=lambda at: (size_of(parts[at], sort), at))
        items = [at for at in order for _ in range(parts[at].count)]
        left = [*range(_MOST_TRIES)]
        best: list[Dealing] = []

        def walk(at: int, rest: int, now: Devices, places: Chosen) -> None:
            if at == len(items):
                value = self._rounded(sort, ample, rest, now)
                if not best or value < best[0].value:
                    mine = [tuple(sorted(places.get(x, ()))) for x in range(len(parts))]
                    best[:] = [Dealing(value, tuple(mine))]
                return
            here = places.get(items[at], ())
            ways = list(ways_of(sort, parts[items[at]], rest, now, here))
            if not left:
                ways.sort(key=lambda way: self._value(sort, ample, way[1], way[2]))
            for place, idle_then, after in ways if left else ways[:1]:
                del left[-1:]
                walk(at + 1, idle_then, after, {**places, items[at]: (*here, place)})
                if not left and best:
                    return

        walk(0, idle, devices, {})
        if not best:
            return None if left else Dealing(0)
        return replace(best[0], is_least=bool(left))

    def _rounded(self, sort: NodeSort, ample: Ample, idle: int, now: Devices) -> int:
        return (self._value(sort, ample, idle, now) + STEP) // (2 * STEP)

    def _value(self, sort: NodeSort, ample: Ample, idle: int, now: Devices) -> int:
        """
        Add up by weight what typical pods cannot use, in halves of thousandths.
        """
        key = (sort, ample, idle, tuple(sorted(now, key=order_of)))
        found = self._values.get(key)
        if found is None:
            left = [left_of(device, sort.memory) for device in now]
            total = WHOLE * idle + sum(left)
            found = 0
            for at, pod in enumerate(self.typical):
                used = 0
                if sort.allowed[at] and ample[at]:
                    used = usable(pod, sort, idle, now, left)
                found += pod.weight * (2 * total - used - min(used, ample[at]))
            self._values[key] = found
        return found


def listed(states: DeviceStates) -> tuple[Devices, tuple[int, ...]]:
    """
    List devices of which somebody has a part, with their numbers, the fullest first.
    """
    every: dict[int, OpenDevice] = {**states.shared, **states.sliced}
    order = sorted(every, key=lambda number: (order_of(every[number]), number))
    return tuple(every[number] for number in order), tuple(order)


def numbers_of(node: Node, states: DeviceStates, dealing: Dealing) -> list[int]:
    """
    Give the numbers of a node's devices as a dealing has them, those to be cut aside.
    """
    numbers, idle = [*listed(states)[1]], idle_of(node, states)
    cut = {p.device for row in dealing.places for p in row if p.start >= 0}
    may_be_cut = [at for at in reversed(idle) if at in states.cuttable]
    for at in range(len(numbers), len(numbers) + len(idle)):
        one = may_be_cut[0] if at in cut and may_be_cut else idle[0]
        numbers.append(one)
        idle.remove(one)
        may_be_cut = [each for each in may_be_cut if each != one]
    return numbers
