"""
Parts of GPUs in the small model: a variable per leaf, device, and slice to begin at.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from models.devices.gpu_parts import WHOLE, GpuDevice, GpuPart, part_of
from models.devices.mig_profiles import MIG_MODELS, MigProfile
from models.gangs import ON_A_NODE, Pod, PodPhase, PodSet, pod_sets
from models.nodes import Node
from models.resources import GPU, GPU_SHARE
from models.snapshot import Snapshot
from solver.effort.cp_sat import cp_model

Term = cp_model.LinearExprT
Key = tuple[str, ...]
Stays = Callable[[str, Pod], Term]
"""
Says of a pod that has devices, by its key, whether it is still there.
"""
_WHOLE_GPU = "whole"


@dataclass(frozen=True, slots=True)
class Holder:
    """
    A pod on a node with the devices it has: parts of them, or all.
    """

    name: str
    part: GpuPart | None
    pod: Pod


@dataclass(frozen=True, slots=True)
class NewPods:
    """
    Pods that come to a node and ask for parts, with a name to tell them by.
    """

    key: Key
    part: GpuPart
    number: Term


@dataclass(slots=True)
class World:
    """
    Devices at one moment: what those opened take of GPUs by node, and pods on devices.

    ``numbers`` are pods by name, device and start.
    """

    opened: dict[str, list[Term]] = field(default_factory=dict)
    numbers: dict[tuple[str, Key, int, int], cp_model.IntVar] = field(
        default_factory=dict
    )


def holders(snapshot: Snapshot) -> Iterator[Holder]:
    """
    Walk the pods of which it is known which devices they have, ours and others'.

    Where nobody asks for parts of GPUs, what others have is no more than used.
    """
    for node in snapshot.nodes:
        for one in node.taken if GPU_SHARE in node.allocatable else ():
            theirs = GpuPart(one.contract, one.cores, memory=one.memory)
            places = (GpuDevice(one.device),)
            pod = Pod("", PodPhase.RUNNING, node.name, devices=places)
            yield Holder("", theirs if one.contract else None, pod)
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            part = part_of(leaf.requests)
            for pod in leaf.pods:
                if pod.phase in ON_A_NODE and pod.node and pod.devices:
                    yield Holder(f"{gang.namespace}/{pod.name}", part, pod)


def held_devices(snapshot: Snapshot) -> dict[str, set[int]]:
    """
    Name per node the devices of which somebody has a part.
    """
    found: dict[str, set[int]] = {}
    for holder in holders(snapshot):
        if holder.part is not None and holder.pod.node:
            node = found.setdefault(holder.pod.node, set())
            node.update(place.device for place in holder.pod.devices)
    return found


def new_parts(
    places: Mapping[tuple[str, str, str], Term],
    leaves: Mapping[tuple[str, str], PodSet],
    *mark: str,
) -> dict[str, list[NewPods]]:
    """
    List per node the new pods that ask for parts.
    """
    found: dict[str, list[NewPods]] = {}
    for (key, name, node), count in places.items():
        part = part_of(leaves[key, name].requests)
        if part is not None:
            pods = NewPods((key, name, *mark), part, count)
            found.setdefault(node, []).append(pods)
    return found


def add_devices(
    model: cp_model.CpModel,
    snapshot: Snapshot,
    pods: Mapping[str, list[NewPods]],
    stays: Stays = lambda _name, _pod: 1,
    later: World | None = None,
) -> World:
    """
    Ensure that devices hold what lies on them at one moment.

    Every device of every node is one of its own here.

    Parameters
    ----------
    model
        To be added to.
    snapshot
        What is there already.
    pods
        Who comes, by node.
    stays
        Who of those that have devices is still there.
    later
        What lies on devices at another moment, where those who are there now still are.
    """
    held: dict[str, list[tuple[Holder, Term]]] = defaultdict(list)
    for holder in holders(snapshot):
        held[holder.pod.node or ""].append((holder, stays(holder.name, holder.pod)))
    world = World()
    for node in snapshot.nodes:
        parts = any(holder.part for holder, _ in held[node.name])
        if node.name in pods or parts:
            here = _Devices(model, node, held[node.name], world, later)
            world.opened[node.name] = here.add(pods.get(node.name, []))
    return world


class _Devices:
    """
    The devices of one node.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        node: Node,
        held: list[tuple[Holder, Term]],
        world: World,
        later: World | None,
    ) -> None:
        self.model = model
        self.node = node
        self.held = held
        self.world = world
        self.later = later
        self.all = range(node.allocatable.get(GPU, 0))
        self.touched = {
            place.device for holder, _ in held for place in holder.pod.devices
        }
        self.at_first: dict[int, set[str]] = defaultdict(set)
        for holder, _ in held:
            for place in holder.pod.devices:
                self.at_first[place.device].add(_kind(holder.part))
        self.shared = {
            device for device, kinds in self.at_first.items() if kinds - {_WHOLE_GPU}
        }
        self.cores: dict[int, list[Term]] = defaultdict(list)
        self.memory: dict[int, list[Term]] = defaultdict(list)
        self.slices: dict[tuple[int, int], list[Term]] = defaultdict(list)
        self.media: dict[int, list[Term]] = defaultdict(list)
        self.by_contract: dict[tuple[int, str], list[Term]] = defaultdict(list)
        self.coming: dict[int, list[cp_model.IntVar]] = defaultdict(list)
        self.gets_one: dict[int, cp_model.IntVar] = {}

    def add(self, pods: list[NewPods]) -> list[Term]:
        """
        Place pods on devices; give what those take of GPUs that are opened or left.
        """
        for holder, stays in self.held:
            for place in holder.pod.devices:
                if holder.part is None:
                    self.by_contract[place.device, _kind(None)].append(stays)
                else:
                    self._lay(holder.part, place.device, stays, place.start)
        for each in pods:
            self._place(each)
        if self.later is None:
            self._order_alike()
        for device in self.all:
            self._bound(device, self.cores[device], WHOLE)
            self._bound(device, self.memory[device], self.node.gpu_memory)
            self._bound(device, self.media[device], 1)
        for (device, _), terms in self.slices.items():
            self._bound(device, terms, 1)
        return self._opened()

    def _bound(self, device: int, terms: list[Term], most: int) -> None:
        """
        Ensure that a device that gets a pod holds what it has and gets of something.

        Without a new pod it may be too full, as it was found.
        """
        row = self.model.add(cp_model.LinearExpr.sum([0, *terms]) <= most)
        if device in self.touched:
            row.only_enforce_if(self._gets_one(device))

    def _gets_one(self, device: int) -> cp_model.IntVar:
        """
        Give a literal without which nobody comes to a device.
        """
        if device not in self.gets_one:
            literal = self.gets_one[device] = self.model.new_bool_var("")
            for number in self.coming[device]:
                self.model.add(number == 0).only_enforce_if(~literal)
        return self.gets_one[device]

    def _order_alike(self) -> None:
        """
        Ensure that of idle devices that are alike the first ones have most.

        It rules nothing out but the same with other numbers.
        """
        may_be_cut = self.node.mig.devices if self.node.mig else ()
        for cut in (False, True):
            alike = [
                at
                for at in self.all
                if at not in self.touched and (at in may_be_cut) == cut
            ]
            loads = [cp_model.LinearExpr.sum([0, *self._load(at)]) for at in alike]
            for first, second in pairwise(loads):
                self.model.add(first >= second)

    def _load(self, device: int) -> list[Term]:
        slices = (
            WHOLE * term
            for (at, _), terms in self.slices.items()
            for term in terms
            if at == device
        )
        return [*self.cores[device], *self.memory[device], *slices]

    def _profile(self, part: GpuPart) -> MigProfile | None:
        mig = self.node.mig
        return None if mig is None else MIG_MODELS[mig.model].get(part.profile)

    def _lay(self, part: GpuPart, device: int, number: Term, start: int) -> None:
        self.cores[device].append(part.cores * number)
        self.memory[device].append(part.memory_on(self.node.gpu_memory) * number)
        self.by_contract[device, _kind(part)].append(number)
        profile = self._profile(part)
        if profile is not None:
            for at in range(start, start + profile.size):
                self.slices[device, at].append(number)
            if profile.is_single:
                self.media[device].append(number)

    def _place(self, pods: NewPods) -> None:
        part = pods.part
        places: list[Term] = []
        profile = self._profile(part)
        may_be_cut = self.node.mig.devices if self.node.mig else ()
        for device in self.all:
            if len(self.at_first[device]) > 1:
                continue
            if part.profile:
                if profile is None or device not in may_be_cut:
                    continue
                for start in profile.starts:
                    here = self.model.new_bool_var("")
                    places.append(self._number(pods, device, here, start))
            elif part.memory_on(self.node.gpu_memory) <= self.node.gpu_memory:
                number = self.model.new_int_var(0, self._most(part), "")
                self.model.add(number <= pods.number)
                places.append(self._number(pods, device, number, -1))
        self.model.add(
            cp_model.LinearExpr.sum([0, *places]) == part.count * pods.number
        )

    def _most(self, part: GpuPart) -> int:
        """
        Count the parts that one device holds, if it holds nothing else.
        """
        memory = part.memory_on(self.node.gpu_memory)
        most = [WHOLE // part.cores] if part.cores else []
        most += [self.node.gpu_memory // memory] if memory else []
        return min(most, default=0)

    def _number(
        self, pods: NewPods, device: int, number: cp_model.IntVar, start: int
    ) -> Term:
        self._lay(pods.part, device, number, start)
        self.coming[device].append(number)
        key = self.node.name, pods.key, device, start
        self.world.numbers[key] = number
        if self.later is not None:
            self.model.add(number <= self.later.numbers[key])
        return number

    def _opened(self) -> list[Term]:
        """
        Ensure that no two contracts share a device.

        What is held at first is taken of GPUs already.
        """
        found: list[Term] = []
        for device in self.all:
            kinds = {kind for at, kind in self.by_contract if at == device}
            used = {kind: self.model.new_bool_var("") for kind in sorted(kinds)}
            for kind, literal in used.items():
                terms = self.by_contract[device, kind]
                row = cp_model.LinearExpr.sum([0, *terms])
                self.model.add(row == 0).only_enforce_if(~literal)
            if len(self.at_first[device]) < 2:
                self.model.add(cp_model.LinearExpr.sum([0, *used.values()]) <= 1)
            found += (used[kind] for kind in sorted(used) if kind != _WHOLE_GPU)
        return [*found, *(-1 for _ in self.shared)]


def _kind(part: GpuPart | None) -> str:
    if part is None:
        return _WHOLE_GPU
    return "MIG" if part.profile else part.contract
