"""
Parts of GPUs in the small model: a variable per leaf, device, and slice to begin at.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from models.gangs import Gang, PodPhase, PodSet, pod_sets
from models.gpu_parts import WHOLE, GpuDevice, GpuPart, part_of
from models.mig_profiles import MIG_MODELS, MigProfile
from models.nodes import Node
from models.resources import GPU
from models.snapshot import Snapshot
from solver.effort.cp_sat import cp_model

HOLDING = (PodPhase.RUNNING, PodPhase.TERMINATING)
Held = dict[int, list[tuple[GpuPart, GpuDevice]]]
Term = cp_model.LinearExprT
Pods = list[tuple[GpuPart, Term]]
"""
Parts with the number of new pods that ask for them.
"""


def held_devices(snapshot: Snapshot) -> dict[str, Held]:
    """
    List per node and device the parts that pods on it have, ours and others'.
    """
    found: dict[str, Held] = {}
    for item in snapshot.nodes:
        for one in item.taken:
            if one.contract:
                theirs = GpuPart(one.contract, one.cores, memory=one.memory)
                entry = theirs, GpuDevice(one.device)
                found.setdefault(item.name, {})[one.device] = [entry]
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            part = part_of(leaf.requests)
            for pod in leaf.pods if part is not None else ():
                if pod.phase in HOLDING and pod.node:
                    node = found.setdefault(pod.node, {})
                    for place in pod.devices:
                        assert part is not None
                        node.setdefault(place.device, []).append((part, place))
    return found


def whole_devices(snapshot: Snapshot) -> dict[str, set[int]]:
    """
    Name per node the devices that pods are known to have whole.
    """
    found: dict[str, set[int]] = defaultdict(set)
    for node in snapshot.nodes:
        found[node.name].update(one.device for one in node.taken if not one.contract)
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods if part_of(leaf.requests) is None else ():
                if pod.phase in HOLDING and pod.node:
                    found[pod.node].update(place.device for place in pod.devices)
    return found


def asks_for_parts(gang: Gang) -> bool:
    """
    Tell whether any pods of a gang ask for parts of GPUs.
    """
    return any(part_of(leaf.requests) is not None for leaf in pod_sets(gang.tree))


def new_parts(
    binds: Mapping[tuple[str, str, str], Term], leaves: Mapping[tuple[str, str], PodSet]
) -> dict[str, Pods]:
    """
    List per node the new pods that ask for parts.
    """
    found: dict[str, Pods] = {}
    for (key, name, node), count in binds.items():
        part = part_of(leaves[key, name].requests)
        if part is not None:
            found.setdefault(node, []).append((part, count))
    return found


def add_devices(
    model: cp_model.CpModel, snapshot: Snapshot, pods: Mapping[str, Pods]
) -> dict[str, list[Term]]:
    """
    Ensure that devices hold what lies on them; give those opened, by node.

    Every device of every node is one of its own here.
    """
    held, whole = held_devices(snapshot), whole_devices(snapshot)
    opened: dict[str, list[Term]] = {}
    for node in snapshot.nodes:
        if node.name in pods:
            here = _Devices(model, node, held.get(node.name, {}), whole[node.name])
            opened[node.name] = here.add(pods[node.name])
    return opened


class _Devices:
    """
    The devices of one node.
    """

    def __init__(
        self, model: cp_model.CpModel, node: Node, held: Held, whole: set[int]
    ) -> None:
        self.model = model
        self.node = node
        self.held = held
        self.free = [
            at for at in range(node.allocatable.get(GPU, 0)) if at not in whole
        ]
        self.cores: dict[int, list[Term]] = defaultdict(list)
        self.memory: dict[int, list[Term]] = defaultdict(list)
        self.slices: dict[tuple[int, int], list[Term]] = defaultdict(list)
        self.media: dict[int, list[Term]] = defaultdict(list)
        self.by_contract: dict[tuple[int, str], list[Term]] = defaultdict(list)

    def add(self, pods: Pods) -> list[Term]:
        """
        Place pods on devices; give a literal for each idle one that is opened.
        """
        for device, here in self.held.items():
            for part, place in here:
                self._lay(part, device, 1, place.start)
        for part, count in pods:
            self._place(part, count)
        self._order_alike()
        for device in self.free:
            self.model.add(sum(self.cores[device]) <= WHOLE)
            self.model.add(sum(self.memory[device]) <= self.node.gpu_memory)
            self.model.add(sum(self.media[device]) <= 1)
        for terms in self.slices.values():
            self.model.add(sum(terms) <= 1)
        return self._opened()

    def _order_alike(self) -> None:
        """
        Ensure that of idle devices that are alike the first ones have most.

        It rules nothing out but the same with other numbers.
        """
        may_be_cut = self.node.mig.devices if self.node.mig else ()
        for cut in (False, True):
            alike = [
                at
                for at in self.free
                if at not in self.held and (at in may_be_cut) == cut
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
        kind = "MIG" if part.profile else part.contract
        self.by_contract[device, kind].append(number)
        profile = self._profile(part)
        if profile is not None:
            for at in range(start, start + profile.size):
                self.slices[device, at].append(number)
            if profile.is_single:
                self.media[device].append(number)

    def _place(self, part: GpuPart, count: Term) -> None:
        places: list[Term] = []
        profile = self._profile(part)
        may_be_cut = self.node.mig.devices if self.node.mig else ()
        for device in self.free:
            if part.profile:
                if profile is None or device not in may_be_cut:
                    continue
                for start in profile.starts:
                    here = self.model.new_bool_var("")
                    self._lay(part, device, here, start)
                    places.append(here)
            elif part.memory <= self.node.gpu_memory:
                number = self.model.new_int_var(0, WHOLE, "")
                self.model.add(number <= count)
                self._lay(part, device, number, -1)
                places.append(number)
        self.model.add(sum(places) == part.count * count)

    def _opened(self) -> list[Term]:
        """
        Ensure that no two contracts share a device.
        """
        found: list[Term] = []
        for device in self.free:
            kinds = {kind for at, kind in self.by_contract if at == device}
            used = {kind: self.model.new_bool_var("") for kind in sorted(kinds)}
            for kind, literal in used.items():
                terms = self.by_contract[device, kind]
                self.model.add(sum(terms) == 0).only_enforce_if(~literal)
            if len({_kind(part) for part, _ in self.held.get(device, ())}) < 2:
                self.model.add(sum(used.values()) <= 1)
            if device not in self.held:
                found += used.values()
        return found


def _kind(part: GpuPart) -> str:
    return "MIG" if part.profile else part.contract
