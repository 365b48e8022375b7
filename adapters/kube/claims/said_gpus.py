"""
What the slices of a node say of its GPUs, held against what its labels say of them.

Labels are written by others than slices: memory is taken to agree within a tenth, and
products where they have the number of a model in common, or say none.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from adapters.kube.claims.device_reader import MILLI, Device, qualified
from adapters.kube.claims.gpu_shares import is_gpu_device
from models.resources import CLAIMED_GPUS, GPU, SHARES_PER_GPU, Resources

_COUNT, _MEMORY, _PRODUCT = (
    f"nvidia.com/gpu.{word}" for word in ("count", "memory", "product")
)
_DIGITS = 9
_MIB = 1024**2
_TENTH = 10
_NO_MODEL = re.compile(r"\d+g(i?b)?|(hbm|gddr|sxm)\d\w*|\d{1,2}")


@dataclass(frozen=True, slots=True)
class SaidGpus:
    """
    The products of the GPUs and slices of a node, and their memory in MiB.
    """

    products: tuple[str, ...] = ()
    memories: tuple[int, ...] = ()

    def contradiction(
        self, labels: Mapping[str, str], claimed: Resources, gpus: int = 0
    ) -> str:
        """
        Say which label of a node says something else; "" where none does.

        ``gpus`` are those that the node offers beside its slices; however often each
        may be had, they are no more than its label says.
        """
        there = claimed.get(CLAIMED_GPUS, 0) // SHARES_PER_GPU
        count, memory = (_number(labels.get(name, "")) for name in (_COUNT, _MEMORY))
        if count is not None and there > count:
            return f"label {_COUNT} says {count}, and its slices have {there} GPUs"
        if count is not None and there and there + min(gpus, count) > count:
            both = f"its slices have {there} GPUs, and it offers {gpus} {GPU} beside"
            return f"label {_COUNT} says {count}, {both}"
        near = (abs(m - (memory or 0)) * _TENTH <= m for m in self.memories)
        if memory is not None and self.memories and not any(near):
            found = " or ".join(map(str, self.memories))
            return f"label {_MEMORY} says {memory}, and its slices {found} MiB"
        product = labels.get(_PRODUCT, "")
        if self.products and not any(_is_like(product, x) for x in self.products):
            found = " or ".join(self.products)
            return f"label {_PRODUCT} says {product}, and its slices {found}"
        return ""


class Claimable(NamedTuple):
    """
    What can be claimed of a node, the pieces that pods are tied to, and its GPUs.
    """

    offered: Resources
    tied: tuple[Resources, ...]
    said: SaidGpus


NOTHING = Claimable({}, (), SaidGpus())


def said_of(devices: Iterable[Device]) -> SaidGpus:
    """
    Gather what the GPUs among some devices say.
    """
    products: set[str] = set()
    memories: set[int] = set()
    for device in filter(is_gpu_device, devices):
        name = device.attributes.get(qualified("productName", device.name[0]))
        products |= {name} if isinstance(name, str) else set()
        for called in ("memory", qualified("memory", device.name[0])):
            if called in device.capacities:
                memories.add(device.capacities[called].value // MILLI // _MIB)
    return SaidGpus(tuple(sorted(products)), tuple(sorted(memories)))


def _number(said: str) -> int | None:
    is_read = said.isdecimal() and len(said) <= _DIGITS
    return int(said) if is_read else None


def _is_like(one: str, other: str) -> bool:
    mine, theirs = _models(one), _models(other)
    return not mine or not theirs or not mine.isdisjoint(theirs)


def _models(product: str) -> set[str]:
    """
    List the words with a digit that name a model, such as H100 or 4090.
    """
    words = re.findall(r"[a-z0-9]+", product.lower())
    return {
        word
        for word in words
        if any(map(str.isdecimal, word)) and not _NO_MODEL.fullmatch(word)
    }
