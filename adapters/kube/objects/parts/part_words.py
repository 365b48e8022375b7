"""
What a pod asks of GPUs in the words of each contract, read into one part.

Only what a contract promises is read; what it cannot promise, or would not accept, is a
fault that names the field.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.kube.objects.fields import FieldError, Json, mapping, records, shown, text
from adapters.kube.objects.parts.kai_parts import SLOTS as KAI_SLOTS
from adapters.kube.objects.parts.kai_parts import asks, part_asked_of_kai
from adapters.kube.objects.parts.part_keys import (
    CORES_UNREAD,
    GPUSHARE,
    HAMI,
    KOORDINATOR,
    READ,
    VGPU,
    ContractWords,
)
from adapters.kube.objects.parts.whole_gpus import gpus_by_container
from models.devices.gpu_parts import WHOLE, GpuPart
from models.errors import QuantityError
from models.resources import GPU, Resources, read_number

_MIB = 2**20
_GIB_BELOW = 1024
_TENTH = WHOLE // 10
_MOST_DEVICES = 64
_ALL = 100
Amounts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PodPart:
    """
    The part a pod asks for, and what its contract needs to know of it beside that.

    ``container`` is the place of the one that asks among all ``containers``, init
    containers first; ``amount`` and ``cores`` are as they were written.  Where several
    ask for whole GPUs, ``counts`` says how many each.
    """

    part: GpuPart
    container: int
    containers: int
    amount: int = 0
    cores: int = 0
    counts: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PartAsked:
    """
    What was read of a pod: its part, and its request without the words of it.

    Of one that asks for whole GPUs it is how many each container does.
    """

    part: PodPart | None = None
    gpus: tuple[int, ...] = ()
    requests: Resources | None = None
    unsupported: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()


NOTHING = PartAsked()


def part_asked(spec: Json, requests: Resources, said: Mapping[str, str]) -> PartAsked:
    """
    Read the part that a pod asks for; nothing where it asks for none.

    ``said`` are annotations in which it may ask.
    """
    asking = list(_asking(spec))
    if asks(said):
        return _asked_by_words(spec, asking, requests, said)
    if not asking:
        return PartAsked(gpus=gpus_by_container(spec)) if GPU in requests else NOTHING
    first, place, contract = asking[0]
    found = _several(asking) or _elsewhere(spec, contract)
    if found:
        return PartAsked(unsupported=(found,))
    amounts: dict[str, int] = {}
    try:
        for kind in ("requests", "limits"):
            resources = mapping(first, "resources", place)
            said = mapping(resources, kind, f"{place}.resources")
            where = f"{place}.resources.{kind}"
            amounts |= _amounts(said, contract, where)
        many = sum(len(records(spec, word, "spec")) for word in _WORDS)
        at = len(records(spec, "initContainers", "spec")) + int(
            place.rpartition("[")[2].rstrip("]")
        )
        part, kept = _READERS[contract.name](amounts, place)
    except FieldError as error:
        return PartAsked(invalid=(str(error),))
    ours = {n: v for n, v in requests.items() if n not in contract.replaced}
    raw = PodPart(part, at, many, amounts.get(contract.amount, 0), _cores(amounts))
    return PartAsked(raw, requests={**ours, **kept, part.resource: 1})


_WORDS = ("initContainers", "containers")
Asking = tuple[Json, str, ContractWords]


def _asked_by_words(
    spec: Json,
    asking: Sequence[Asking],
    requests: Resources,
    said: Mapping[str, str],
) -> PartAsked:
    """
    Read what annotations ask for, which KAI gives to the pod and no container.
    """
    if asking:
        _, place, contract = asking[0]
        what = f"a pod asks in one contract, and not in kai and {contract.name}"
        return PartAsked(unsupported=(f"{place}.resources: {what}",))
    try:
        names = {
            text(container, "name", f"spec.{word}")
            for word in _WORDS
            for container in records(spec, word, "spec")
        }
        part = part_asked_of_kai(said, requests, names)
    except FieldError as error:
        return PartAsked(invalid=(str(error),))
    if part is None:
        return NOTHING
    more = {KAI_SLOTS: part.count, part.resource: 1}
    return PartAsked(PodPart(part, 0, 1), requests={**requests, **more})


def _asking(spec: Json) -> Iterator[Asking]:
    """
    Find the containers that ask for parts, each once for each contract.
    """
    for word in _WORDS:
        for index, container in enumerate(records(spec, word, "spec")):
            place = f"spec.{word}[{index}]"
            resources = mapping(container, "resources", place)
            said: set[str] = set()
            for kind in ("requests", "limits"):
                amounts = mapping(resources, kind, f"{place}.resources")
                said |= {name for name, value in amounts.items() if value is not None}
            for contract in READ:
                if not said.isdisjoint(contract.resources):
                    yield container, place, contract


def _several(asking: list[Asking]) -> str:
    """
    Say why what several containers ask for is no one part.
    """
    _, place, contract = asking[0]
    if place.startswith("spec.initContainers"):
        return f"{place}.resources: parts of GPUs for init containers are not planned"
    if len(asking) == 1:
        return ""
    _, other, second = asking[1]
    if second is not contract:
        names = f"{contract.name} and {second.name}"
        return f"{other}.resources: a pod asks in one contract, and not in {names}"
    return f"{other}.resources: parts of GPUs for two containers are not planned"


def _elsewhere(spec: Json, contract: ContractWords) -> str:
    """
    Say what a container asks for beside the part: whole GPUs, or what is not read.
    """
    for word in _WORDS:
        for index, container in enumerate(records(spec, word, "spec")):
            place = f"spec.{word}[{index}].resources"
            resources = mapping(container, "resources", f"spec.{word}[{index}]")
            for kind in ("requests", "limits"):
                said = mapping(resources, kind, place)
                if GPU in said and GPU not in contract.replaced:
                    return f"{place}.{kind}[{GPU}]: whole GPUs beside parts of them"
                if CORES_UNREAD in said:
                    return f"{place}.{kind}[{CORES_UNREAD}]: its cores are not planned"
    return ""


def _amounts(said: Json, contract: ContractWords, place: str) -> dict[str, int]:
    """
    Read whole amounts of a contract's words, each more than nothing.
    """
    found: dict[str, int] = {}
    for name in (*contract.resources, *contract.replaced):
        value = said.get(name)
        if value is None:
            continue
        field = f"{place}[{name}]"
        try:
            number = read_number(value)
        except QuantityError as error:
            raise FieldError(field, str(error)) from error
        if number <= 0 or number != int(number) or number > 2**50:
            raise FieldError(field, f"{shown(value)} is not a whole number above 0")
        found[name] = int(number)
    return found


def _cores(amounts: Amounts) -> int:
    """
    Give the percent of compute as it was written; none where nothing was.
    """
    return amounts.get("volcano.sh/vgpu-cores", 0) or amounts.get(
        "nvidia.com/gpucores", 0
    )


Read = tuple[GpuPart, dict[str, int]]
"""
A part, and what stands for its words in the request.
"""


def _gpushare(amounts: Amounts, _place: str) -> Read:
    """
    Read memory of one device: GiB, or MiB where it is too much for that.
    """
    amount = amounts["aliyun.com/gpu-mem"]
    return GpuPart(GPUSHARE, memory=in_mib(amount)), {}


def in_mib(amount: int) -> int:
    """
    Give an amount of gpushare in MiB: no GPU has 1,024 GiB, and none so few MiB.
    """
    return amount * 1024 if amount < _GIB_BELOW else amount


def _percent(amounts: Amounts, name: str, place: str) -> int:
    """
    Read a percentage of one device.
    """
    percent = amounts.get(name, 0)
    if percent > _ALL:
        raise FieldError(f"{place}.resources[{name}]", f"{percent} is more than 100")
    return percent


def _limited(
    contract: str, prefix: tuple[str, str, str, str], amounts: Amounts, place: str
) -> Read:
    """
    Read a number of cards, with memory or a percentage of it, and cores, of each.

    A card has ten sharers at most, so each counts as a tenth of it at least.
    """
    number, memory, percentage, cores = prefix
    count = amounts.get(number, 1)
    if count > _MOST_DEVICES:
        raise FieldError(f"{place}.resources[{number}]", f"{count} are too many")
    share = _percent(amounts, percentage, place) * 10
    mib = amounts.get(memory, 0)
    part = GpuPart(
        contract,
        max(_percent(amounts, cores, place) * 10, _TENTH),
        0 if mib else share or WHOLE,
        mib,
        count=count,
    )
    return part, {}


def _vgpu(amounts: Amounts, place: str) -> Read:
    words = ("number", "memory", "memory-percentage", "cores")
    one, two, three, four = (f"volcano.sh/vgpu-{word}" for word in words)
    part, _ = _limited(VGPU, (one, two, three, four), amounts, place)
    return part, {one: part.count}


def _hami(amounts: Amounts, place: str) -> Read:
    names = (
        GPU,
        "nvidia.com/gpumem",
        "nvidia.com/gpumem-percentage",
        "nvidia.com/gpucores",
    )
    part, _ = _limited(HAMI, names, amounts, place)
    return part, {HAMI_SLOTS: part.count}


HAMI_SLOTS = "hami.io/vgpu"
"""
What nodes of HAMi offer here, as often as their GPUs may be shared.
"""
_PERCENTS = ("gpu", "gpu-core", "gpu-memory-ratio")
_KOORDINATOR_SETS = frozenset(
    frozenset(words.split())
    for words in (
        "gpu",
        "gpu-memory",
        "gpu-memory-ratio",
        "gpu-core gpu-memory",
        "gpu-core gpu-memory-ratio",
        "gpu.shared gpu-memory",
        "gpu.shared gpu-memory-ratio",
        "gpu.shared gpu-core gpu-memory",
        "gpu.shared gpu-core gpu-memory-ratio",
    )
)


def _koordinator(amounts: Amounts, place: str) -> Read:
    """
    Read a legal set of Koordinator's words: shares of one device, or of several.
    """
    said = {name.partition("/")[2]: amount for name, amount in amounts.items()}
    if frozenset(said) not in _KOORDINATOR_SETS:
        words = " and ".join(f"koordinator.sh/{word}" for word in sorted(said))
        raise FieldError(
            f"{place}.resources", f"{words}: Koordinator does not allow this set"
        )
    percents: dict[str, int] = {w: said[w] for w in _PERCENTS if w in said}
    count = said.get("gpu.shared") or _num_whole(percents, place)
    if count > _MOST_DEVICES:
        raise FieldError(f"{place}.resources", f"{count} devices are too many")
    for word, percent in percents.items():
        if percent % count or percent > _ALL * count:
            what = f"{percent} is not {count} times the same percentage up to 100"
            raise FieldError(f"{place}.resources[koordinator.sh/{word}]", what)
    kept = {}
    if "gpu" in percents:
        percents = dict.fromkeys(_PERCENTS[1:], percents["gpu"])
        kept = {f"koordinator.sh/{word}": n for word, n in percents.items()}
    part = GpuPart(
        KOORDINATOR,
        percents.get("gpu-core", 0) // count * 10,
        percents.get("gpu-memory-ratio", 0) // count * 10,
        -(-said.get("gpu-memory", 0) // (count * _MIB)),
        count=count,
    )
    return part, kept


def _num_whole(percents: Amounts, place: str) -> int:
    """
    Count the devices of a request that says no number: 300 percent are three whole.
    """
    most = max(percents.values(), default=0)
    if most <= _ALL:
        return 1
    for word, percent in percents.items():
        if percent % _ALL or percent != most:
            beside = f" beside {most}" if percent != most else ""
            what = f"{percent}{beside} is not a number of whole devices"
            raise FieldError(f"{place}.resources[koordinator.sh/{word}]", what)
    return most // _ALL


_READERS: Mapping[str, Callable[[Amounts, str], Read]] = {
    GPUSHARE: _gpushare,
    VGPU: _vgpu,
    HAMI: _hami,
    KOORDINATOR: _koordinator,
}
