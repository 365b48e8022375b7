"""
The devices of a node as contracts register them: names, memory, and which are ill.

What cannot be read is a problem, which closes the devices of that node and is said.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters.kube.api.api_resources import Resource
from adapters.kube.objects.fields import Json, parsed_json
from adapters.kube.objects.parts.gpu_partitions import (
    Partitions,
    known_partitions,
    partitions_of,
)
from adapters.kube.objects.parts.part_keys import GPUSHARE, HAMI, KOORDINATOR, VGPU
from adapters.kube.objects.parts.part_words import in_mib
from models.errors import QuantityError
from models.resources import read_number

DEVICES = Resource(
    group="scheduling.koordinator.sh",
    version="v1alpha1",
    plural="devices",
    kind="Device",
    namespaced=False,
)
HAMI_REGISTER = "hami.io/node-nvidia-register"
HAMI_CORDON = "hami.io/device-cordon"
VGPU_REGISTER = "volcano.sh/node-vgpu-register"
_MIB = 2**20
_MOST = 64
_LARGEST = 2**24  # MiB
_LEAST_SHARERS = 10
_MODES = ("", "hami-core")
_LABEL = "nvidia.com/gpu.memory"
_FAR = 1.25
_NUMBER = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredGpus:
    """
    The devices that may be shared under a contract, numbered as they are listed.

    ``names`` are what the contract calls them and ``kinds`` what they are; each has
    ``memory`` MiB, which are ``units`` of the contract.  ``ill`` are not to be used.
    ``partitions`` are the sets of them that are linked, where that is said, and
    ``rivals`` the other contracts that say how the same devices are shared.
    """

    contract: str
    rivals: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    uuids: tuple[str, ...] = ()
    memory: int = 0
    units: int = 0
    ill: frozenset[int] = frozenset()
    partitions: Partitions | None = None
    problem: str = ""

    @property
    def contracts(self) -> tuple[str, ...]:
        """
        Name all contracts that say how the devices are shared.
        """
        return self.contract, *self.rivals

    @property
    def must_be_linked(self) -> bool:
        """
        Tell whether whole GPUs are given in sets that are linked, and in no others.
        """
        return self.partitions is not None and self.partitions.must

    def numbers(self, names: Iterable[str]) -> tuple[int, ...] | None:
        """
        Give the numbers of devices by their names; none where one is not known.
        """
        found = [self.names.index(one) if one in self.names else -1 for one in names]
        return None if -1 in found else tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class _Registered:
    """
    One device of a register.
    """

    name: str
    sharers: int
    memory: int
    kind: str
    is_well: bool
    mode: str


def devices_on(meta: Json, status: Json) -> RegisteredGpus | None:
    """
    Read the registers of a node; nothing where it has none.
    """
    said = meta.get("annotations")
    said = said if isinstance(said, Mapping) else {}
    offered = status.get("allocatable") or status.get("capacity")
    offered = offered if isinstance(offered, Mapping) else {}
    found = []
    if isinstance(said.get(HAMI_REGISTER), str) and said[HAMI_REGISTER].strip():
        register = _registered(HAMI, HAMI_REGISTER, said[HAMI_REGISTER])
        found.append(_without_cordoned(register, said.get(HAMI_CORDON)))
    if isinstance(said.get(VGPU_REGISTER), str) and said[VGPU_REGISTER].strip():
        found.append(_registered(VGPU, VGPU_REGISTER, said[VGPU_REGISTER]))
    if "aliyun.com/gpu-mem" in offered:
        found.append(_gpushare(offered, meta))
    return _one_of(found)


def _without_cordoned(gpus: RegisteredGpus, said: object) -> RegisteredGpus:
    """
    Take no GPU that somebody has cordoned; who has it keeps it.
    """
    listed = said.split(",") if isinstance(said, str) else []
    names = {name.strip() for name in listed}
    cordoned = {at for at, name in enumerate(gpus.names) if name in names}
    return replace(gpus, ill=gpus.ill | cordoned)


def _one_of(found: Sequence[RegisteredGpus]) -> RegisteredGpus | None:
    """
    Give the only reading of a node's devices; several contradict one another.
    """
    if len(found) < 2:
        return found[0] if found else None
    names = [name for each in found for name in each.contracts]
    what = f"{' and '.join(names)} all say how its GPUs are shared"
    return replace(found[0], rivals=tuple(names[1:]), problem=what)


def both(
    one: RegisteredGpus | None,
    other: RegisteredGpus | None,
    labels: Mapping[str, str],
) -> RegisteredGpus | None:
    """
    Give what is said of a node by itself, with its labels, and by an object beside it.

    A Device object without sets of GPUs that are linked has those of its model.
    """
    found = _one_of([each for each in (one, other) if each is not None])
    said = None if found is None else found.partitions
    if found is None or found.contract != KOORDINATOR or (said and said.sets):
        return found
    minors = [int(name) for name in found.names]
    known = known_partitions(labels, minors, must=said is not None and said.must)
    return replace(found, partitions=known)


def _registered(contract: str, key: str, text: str) -> RegisteredGpus:
    """
    Read a register: JSON, or ``name,sharers,memory,…:`` for each device.
    """
    entries = _of_json(text) if text.lstrip().startswith("[") else _of_text(text)
    place = f"annotation {key}"
    if entries is None or not 0 < len(entries) <= _MOST:
        return RegisteredGpus(contract=contract, problem=f"{place}: it cannot be read")
    made = RegisteredGpus(
        contract=contract,
        names=tuple(one.name for one in entries),
        kinds=tuple(one.kind for one in entries),
        memory=min(one.memory for one in entries),
        ill=frozenset(at for at, one in enumerate(entries) if not one.is_well),
    )
    problem = ""
    if len(set(made.names)) < len(made.names):
        problem = "it names one GPU twice"
    elif odd := next((one for one in entries if one.mode not in _MODES), None):
        problem = f"GPUs in the mode {odd.mode} are not planned"
    elif few := next((x for x in entries if x.sharers < _LEAST_SHARERS), None):
        problem = (
            f"at most {few.sharers} pods share a GPU, fewer than ten are not planned"
        )
    elif not all(0 < one.memory <= _LARGEST for one in entries):
        problem = "a GPU without memory, or with more than any has"
    return replace(made, problem=problem and f"{place}: {problem}")


def _of_text(text: str) -> list[_Registered] | None:
    found = []
    for entry in text.split(":"):
        words = [word.strip() for word in entry.strip(" ,").split(",")]
        if words == [""]:
            continue
        found.append(_of_words(words))
    return None if None in found else [one for one in found if one is not None]


def _of_words(words: Sequence[str]) -> _Registered | None:
    """
    Read one device: HAMi says cores and NUMA node too, Volcano less.
    """
    if len(words) < 5 or not all(map(_NUMBER.fullmatch, words[1:3])):
        return None
    is_long = len(words) >= 7
    kind, well = (words[4], words[6]) if is_long else (words[3], words[4])
    mode = words[8:9] if is_long else words[5:6]
    if well.lower() not in {"true", "false"} or not words[0]:
        return None
    sharers, memory = int(words[1]), int(words[2])
    is_well = well.lower() == "true"
    return _Registered(words[0], sharers, memory, kind, is_well, "".join(mode))


def _of_json(text: str) -> list[_Registered] | None:
    found = parsed_json(text)
    made = [_of_record(one) for one in found] if isinstance(found, list) else [None]
    return None if None in made else [one for one in made if one is not None]


def _of_record(raw: object) -> _Registered | None:
    match raw:
        case {"id": str(name), "count": int(sharers), "devmem": int(memory), **more}:
            kind, mode = more.get("type"), more.get("mode")
            return _Registered(
                name,
                sharers,
                memory,
                kind if isinstance(kind, str) else "",
                more.get("health") is True,
                mode if isinstance(mode, str) else "",
            )
        case _:
            return None


def _whole(raw: Mapping[str, Any], key: str) -> int:
    """
    Read a whole amount; 0 where it is none.
    """
    try:
        return int(read_number(raw[key]))
    except (KeyError, QuantityError):
        return 0


def _gpushare(offered: Mapping[str, Any], meta: Json) -> RegisteredGpus:
    """
    Read the devices of gpushare: equal parts of all memory, by the number of them.
    """
    total = _whole(offered, "aliyun.com/gpu-mem")
    count = _whole(offered, "aliyun.com/gpu-count")
    made = RegisteredGpus(contract=GPUSHARE)
    if not 0 < count <= _MOST or not count <= total <= _LARGEST * count:
        what = "it does not say among how many GPUs the memory is"
        return replace(
            made, problem=f"status.allocatable[aliyun.com/gpu-count]: {what}"
        )
    units = total // count
    memory = in_mib(units)
    labels = meta.get("labels")
    label = _whole(labels, _LABEL) if isinstance(labels, Mapping) else 0
    problem = ""
    if label and not label / _FAR <= memory <= label * _FAR:
        problem = f"label {_LABEL}: {label} MiB, its devices say {memory}"
    return replace(
        made,
        names=tuple(map(str, range(count))),
        kinds=("",) * count,
        memory=memory,
        units=units,
        problem=problem,
    )


def koordinator_devices(raw: Json) -> tuple[str, RegisteredGpus] | None:
    """
    Read the GPUs of a Device object, which has the name of its node.
    """
    meta, spec = raw.get("metadata"), raw.get("spec")
    name = meta.get("name") if isinstance(meta, Mapping) else None
    listed = spec.get("devices") if isinstance(spec, Mapping) else None
    gpus = [
        one
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, Mapping) and one.get("type") == "gpu"
    ]
    if not isinstance(name, str) or not gpus:
        return None
    made, problem = _of_gpus(gpus)
    where = f"Device {name}, spec.devices: {problem}"
    made = replace(made, problem=where if problem else "")
    said, labels = (
        each if isinstance(each := (meta or {}).get(word), Mapping) else {}
        for word in ("annotations", "labels")
    )
    minors = [int(one) for one in made.names]
    return name, replace(made, partitions=partitions_of(said, labels, minors))


def _of_gpus(gpus: Sequence[Json]) -> tuple[RegisteredGpus, str]:
    """
    Read the GPUs of a node by their minors, and say what is wrong with them.
    """
    nobody = RegisteredGpus(contract=KOORDINATOR)
    by_minor = {
        minor: one
        for one in gpus
        if type(minor := one.get("minor")) is int and minor >= 0
    }
    if len(by_minor) < len(gpus) or len(gpus) > _MOST:
        return nobody, "a GPU without a minor of its own, or too many"
    ordered = [one for _, one in sorted(by_minor.items())]
    memories = [_memory_of(one) for one in ordered]
    is_fit = all(0 < memory <= _LARGEST for memory in memories)
    problem = "" if is_fit else "a GPU without fit koordinator.sh/gpu-memory"
    ids = [one.get("id") for one in ordered]
    made = replace(
        nobody,
        names=tuple(map(str, sorted(by_minor))),
        kinds=("",) * len(gpus),
        uuids=tuple(one if isinstance(one, str) else "" for one in ids),
        memory=min(memories),
        ill=frozenset(
            at for at, x in enumerate(ordered) if x.get("health") is not True
        ),
    )
    return made, problem


def _memory_of(raw: Json) -> int:
    resources = raw.get("resources")
    if not isinstance(resources, Mapping):
        return 0
    return _whole(resources, "koordinator.sh/gpu-memory") // _MIB
