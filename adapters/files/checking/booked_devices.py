"""
Devices that are booked twice: more runs on one of them than it can have.

Only of scenarios: what was observed may be wrong, and is planned around.  Slices of
devices that are cut are no business of this module.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.files.checking.gang_checks import leaves_of
from adapters.files.checking.problems import Fault, Path
from models.devices.gpu_parts import WHOLE, shown
from models.documents.place_specs import GpuDeviceSpec, GpuSpec
from models.documents.scenario import GangSpec, NodeSpec, TreeSpec


@dataclass(slots=True)
class _Booked:
    """
    What is left of one device, and who has it: none, all of it, or one contract.
    """

    has: int
    memory: int
    cores: int = WHOLE
    sharers: str = ""

    def add(self, part: GpuSpec | None, pods: int) -> str:
        """
        Book pods, and say what they contradict if there is no room for them.
        """
        if part is None:
            first, self.sharers = self.sharers, "whole"
            return "it is somebody's already" if first or pods > 1 else ""
        if self.sharers not in {"", part.contract}:
            first, self.sharers = self.sharers, "whole"
            who = "one pod has all of it" if first == "whole" else f"{first} shares it"
            return f"{who}, and this is a part under {part.contract}"
        self.sharers = part.contract
        cores = pods * (part.fraction or part.cores or 0)
        share = part.fraction or part.share or 0
        memory = pods * (part.memory or share * self.has // WHOLE)
        self.cores -= cores
        self.memory -= memory
        if self.cores < 0:
            return f"{shown(-self.cores)} more of its compute is taken than it has"
        if self.memory < 0 and part.memory:
            return f"{-self.memory:,} MiB more are taken than it has"
        return ""


def booked_faults(
    gangs: Mapping[int, GangSpec], nodes: Mapping[str, NodeSpec]
) -> Iterator[Fault]:
    """
    Find devices on which more pods run or leave than they can hold.
    """
    booked: dict[tuple[str, int], _Booked] = {}
    for index, gang in gangs.items():
        for place, leaf in leaves_of(gang, ("given", "gangs", index)):
            if leaf.gpu is None or not leaf.gpu.mig:
                yield from _leaf_faults(leaf, gang.count, place, nodes, booked)


def _leaf_faults(
    leaf: TreeSpec,
    count: int,
    place: Path,
    nodes: Mapping[str, NodeSpec],
    booked: dict[tuple[str, int], _Booked],
) -> Iterator[Fault]:
    for word in ("running", "terminating"):
        for index, entry in enumerate(getattr(leaf, word)):
            node = nodes.get(entry.node)
            if node is None:
                continue
            for at, device in enumerate(entry.devices):
                if isinstance(device, GpuDeviceSpec):
                    continue
                one = booked.setdefault(
                    (entry.node, device), _Booked(node.gpu_memory, node.gpu_memory)
                )
                if what := one.add(leaf.gpu, count * entry.pods):
                    here: Path = (*place, word, index, "devices", at)
                    hint = "name a device that has room, or leave the pod out"
                    yield here, f"device {device} of {entry.node}: {what}", hint
