"""
Parts of GPUs in the words of KAI: annotations, groups of sharers, and their names.

A group is one shared device of a node.  Whoever opens the device names the group; which
device it is KAI's binder finds out, by a pod that keeps one GPU for the group.
"""

import math
import re
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal

from adapters.kube.objects.fields import FieldError, shown
from adapters.kube.objects.parts.part_keys import KAI
from models.devices.gpu_parts import WHOLE, GpuPart
from models.resources import MOST_GPUS, Resources, is_gpu

FRACTION, MEMORY, NUMBER = "gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"
KEYS = (FRACTION, MEMORY, NUMBER)
CONTAINER = "gpu-fraction-container-name"
GROUP = "runai-gpu-group"
RESERVATIONS = "kai-resource-reservation"
"""
The namespace of the pods that each keep one GPU for a group.
"""
SLOTS = "kai.scheduler/gpu-shares"
"""
What nodes offer here on which KAI's binder may share GPUs.
"""
SLOTS_PER_GPU = 100
_MPS = "mps"
_MOST_DEVICES = 64
_MOST_MIB = 2**24
_LONGEST = 20
_INSTANCE = re.compile(r"nvidia\.com/mig-(\d{1,2})g\.\d+gb", re.ASCII)
_HEX = frozenset("0123456789abcdef")
_SHARE = re.compile(r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def asks(annotations: Mapping[str, str]) -> bool:
    """
    Tell whether annotations ask for a part of a GPU in KAI's words.
    """
    return any(key in annotations for key in (*KEYS, _MPS))


def words(annotations: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """
    Give the annotations that say what is asked.
    """
    found = ((key, annotations.get(key)) for key in (*KEYS, _MPS, CONTAINER))
    return tuple((key, said) for key, said in found if said is not None)


def part_asked_of_kai(
    said: Mapping[str, str], asked: Resources, containers: Collection[str]
) -> GpuPart | None:
    """
    Read the part that annotations ask for, as KAI's binder accepts it.

    ``containers`` are the names of those that may get it.

    Raises
    ------
    FieldError
        When it would refuse them.
    """
    fraction, memory = said.get(FRACTION), said.get(MEMORY)
    if fraction is None and memory is None:
        if NUMBER in said:
            what = f"it needs {FRACTION} or {MEMORY} beside it"
            raise FieldError(f"annotation {NUMBER}", what)
        if said.get(_MPS) == "true":
            raise FieldError(f"annotation {_MPS}", f"it needs {FRACTION} beside it")
        return None
    if CONTAINER in said and said[CONTAINER] not in containers:
        what = f"{shown(said[CONTAINER])} is no container of the pod"
        raise FieldError(f"annotation {CONTAINER}", what)
    key = MEMORY if fraction is None else FRACTION
    if fraction is not None and memory is not None:
        raise FieldError(f"annotation {MEMORY}", f"a pod says it or {FRACTION}")
    for name, amount in asked.items():
        if amount and (is_gpu(name) or "/mig-" in name):
            raise FieldError(f"annotation {key}", f"the pod asks for {name} too")
    count = _number(NUMBER, said.get(NUMBER, "1"), _MOST_DEVICES)
    if memory is not None:
        return GpuPart(KAI, memory=_number(MEMORY, memory, _MOST_MIB), count=count)
    share = _thousandths(str(fraction))
    return GpuPart(KAI, share, share, count=count)


def _number(key: str, said: str, most: int) -> int:
    """
    Read a whole number above 0.
    """
    number = _whole(said)
    if not 0 < number <= most:
        what = f"{shown(said)} is not a whole number from 1 to {most:,}"
        raise FieldError(f"annotation {key}", what)
    return number


def _whole(said: str) -> int:
    """
    Read a whole number; 0 where it is none, or far too long.
    """
    is_number = said.isascii() and said.isdecimal() and len(said) <= _LONGEST
    return int(said) if is_number else 0


def _thousandths(said: str) -> int:
    """
    Read a share between 0 and 1; one with more than three decimals is rounded up.
    """
    value = Decimal(said) if _SHARE.fullmatch(said) else Decimal(0)
    if not 0 < value < 1:
        what = f"{shown(said)} is not a number between 0 and 1"
        raise FieldError(f"annotation {FRACTION}", what)
    return math.ceil(value * WHOLE)


def gpus_of_instances(amounts: Resources) -> int:
    """
    Count MIG instances as KAI's queues do: as many GPUs as each has compute slices.

    Those that have media engines, too, count nothing, as their names are not read.
    More than can be counted is as much as can be.
    """
    found = ((_INSTANCE.fullmatch(name), amount) for name, amount in amounts.items())
    total = sum(int(match[1]) * amount for match, amount in found if match)
    return min(total, MOST_GPUS)


def groups_of(*said: Mapping[str, str]) -> tuple[str, ...]:
    """
    Name the groups that labels, or what we know before them, give a pod.
    """
    found: dict[str, None] = {}
    for each in said:
        several = sorted(k for k in each if k.startswith(f"{GROUP}/"))
        found |= dict.fromkeys(each[key] for key in several)
    if not found:
        found = dict.fromkeys(one for each in said if (one := each.get(GROUP, "")))
    return tuple(found)


def notes_of_groups(groups: Iterable[str]) -> dict[str, str]:
    """
    Say of a pod which groups it is in, before its labels do.
    """
    return {f"{GROUP}/{group}": group for group in groups}


def numbered(groups: Iterable[str], number: int) -> dict[str, int]:
    """
    Give the groups of a node numbers, as their names end, and else what is left.

    Of more groups than devices the last by name have no number.
    """
    found: dict[str, int] = {}
    later: list[str] = []
    free = dict.fromkeys(range(number))
    for group in sorted(set(groups)):
        wanted = _said_number(group)
        if wanted in free:
            found[group] = wanted
            del free[wanted]
        else:
            later.append(group)
    return found | dict(zip(later, free, strict=False))


def new_group(number: int) -> str:
    """
    Name a group that is opened on a device: a UUID that ends in its number.
    """
    return f"{str(uuid.uuid4())[:-2]}{number:02x}"


def _said_number(group: str) -> int:
    last = group[-2:]
    return int(last, 16) if len(last) == 2 and _HEX.issuperset(last) else -1


def portion_of(part: GpuPart, memory: int) -> str:
    """
    Write the share of a device that a part is, as KAI counts it: up to a hundredth.
    """
    share = part.share or -(-part.memory * WHOLE // max(1, memory))
    hundredths = min(100, -(-share // 10)) if part.memory else share / 10
    return f"{hundredths / 100:g}"


def memory_of(labels: Mapping[str, str]) -> int:
    """
    Give the MiB of each GPU of a node, down to a multiple of 100.

    It is 0 where no label says it, or more than any GPU has.
    """
    said = labels.get("nvidia.com/gpu.memory", "")
    amount = _whole(said)
    if amount >= 2**40:
        amount //= 2**20
    return amount // 100 * 100 if amount <= _MOST_MIB else 0


def why_not_shared(labels: Mapping[str, str]) -> Iterator[str]:
    """
    Say why a node's GPUs are none that KAI shares.
    """
    strategy = labels.get("nvidia.com/mig.strategy", "none")
    if strategy in {"single", "mixed"}:
        yield f"label nvidia.com/mig.strategy: {strategy}"
    if labels.get("nvidia.com/gpu.replicas", "1") not in {"", "0", "1"}:
        yield "label nvidia.com/gpu.replicas: each GPU is offered several times"
