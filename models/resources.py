"""
Resources: integer vectors with named units, and the texts people write for them.

CPU counts in milli-CPU, memory and storage in bytes, everything else in pieces.
Nothing here rounds in the cluster's favour: requests round up, capacities down.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from models.errors import QuantityError, TooMuchError

CPU = "cpu"
MEMORY = "memory"
GPU = "nvidia.com/gpu"
GPU_SHARE = "gpu-share"
"""
What whole GPUs and parts of them count together, where any part is asked for.
"""
SHARES_PER_GPU = 7000
"""
Of which thousandths, as files write them, and sevenths are whole numbers.
"""
SHARES_PER_THOUSANDTH = SHARES_PER_GPU // 1000
PODS = "pods"
DEFAULT_PODS = 110
LARGEST = 2**50
"""
The most of a resource that one node offers or one pod asks for.
"""
LARGEST_TOTAL = 2**60
"""
The most of a resource that all nodes offer, or all pods ask for, together.

With these two no sum of amounts, and no product with a number of pods, leaves 64 bits.
"""
LARGEST_OF: Mapping[str, int] = {CPU: 10**9}
MOST_GPUS = 10**6
HOST_PORTS = "host-port/"
VOLUME_SLOTS = "attachable-volumes-csi-"
FREE_VOLUMES = "free-volumes-"
"""
Begins the names of volumes that are there for some claims: of a class, from a size on.
"""
LINKED_GPUS = "linked-gpus-"
"""
Begins the names of what is counted of sets of GPUs that are linked with one another.
"""
CLAIMED_DEVICES = "claimed-devices."
"""
Begins the names of what is counted of devices by claim.
"""
CLAIMED_GPUS = f"{CLAIMED_DEVICES}gpu-share"
"""
What claimed devices count as GPUs, until that is part of what all GPUs count.
"""
MODEL_MARK = "@"
"""
Stands between a resource and a model of it.
"""
OTHER_MODELS = f"{MODEL_MARK}other-models"
"""
Ends the name of a resource of all models that no queue names.
"""
_WORTH_NOTHING = (HOST_PORTS, VOLUME_SLOTS, FREE_VOLUMES, LINKED_GPUS)
_IN_PERCENT = frozenset({"koordinator.sh/gpu"})
_UNITS = {CPU: 1000, GPU_SHARE: SHARES_PER_GPU}
"""
How many of our units one of those is in which people write amounts.
"""
LONGEST_SECONDS = 100 * 366 * 86400
_LONGEST_TEXT = 64

Resources = Mapping[str, int]

_QUANTITY = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+))([eE][+-]?\d{1,3}|[a-zA-Z]{0,2})", re.ASCII
)
_SUFFIX: dict[str, Decimal] = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("0.001"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}
_SECONDS: dict[str, Decimal] = {
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+", re.ASCII)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)


def is_gpu(resource: str) -> bool:
    """
    Tell whether a resource counts whole GPUs of any vendor.
    """
    return resource.endswith("/gpu") and resource not in _IN_PERCENT


def gpu_pieces(requests: Resources, pieces: int) -> int:
    """
    Count the GPUs of one pod in so many pieces of one, with parts if there are several.
    """
    whole = num_gpus(requests)
    if pieces == 1:
        return whole
    return (whole - requests.get(GPU, 0)) * pieces + requests.get(GPU_SHARE, 0)


def pieces_per_gpu(offers: Iterable[Resources]) -> int:
    """
    Say in how many pieces of a GPU nodes count: one, unless anybody asks for parts.
    """
    return SHARES_PER_GPU if any(GPU_SHARE in offer for offer in offers) else 1


def num_gpus(requests: Resources) -> int:
    """
    Count the whole GPUs of one pod.
    """
    found = 0
    for name, amount in requests.items():  # of each pod of each frame: no generator
        if name.endswith("/gpu") and name not in _IN_PERCENT:
            found += amount
    return found


def is_worth_nothing(resource: str) -> bool:
    """
    Tell what is counted and no part of what pods are worth.

    That are ports, volumes and slots for them, and GPUs counted by model once more.
    """
    return resource.startswith(_WORTH_NOTHING) or MODEL_MARK in resource


def largest(resource: str) -> int:
    """
    Give the most of a resource that one node may offer or one pod ask for.
    """
    return MOST_GPUS if is_gpu(resource) else LARGEST_OF.get(resource, LARGEST)


def unit_of(resource: str) -> int:
    """
    Say how much of a resource is one to people: a CPU, a GiB, a GPU, a piece.
    """
    return 2**30 if resource == MEMORY else _UNITS.get(resource, 1)


def parse_quantity(
    resource: str, text: str | float, *, up: bool = True, most: int | None = None
) -> int:
    """
    Read a Kubernetes quantity as an integer in the resource's unit.

    Parameters
    ----------
    resource
        Its name decides the unit and what is too much.
    text
        What a person wrote.
    up
        Round up to a whole unit; else down.
    most
        The largest amount; that of one node if unsaid.
    """
    shown = _shown(text)
    if most is None:
        most = largest(resource)
    unit = _UNITS.get(resource, 1)
    if type(text) is int:
        return _in_range(resource, text * unit, most, shown)
    number = read_number(text) * unit
    whole = int(min(number, Decimal(2 * most)))
    if whole != number <= most:
        _refuse_parts(resource, shown)
        whole += 1 if up and number > 0 else 0
    return _in_range(resource, whole, most, shown)


def _refuse_parts(resource: str, shown: str) -> None:
    """
    Refuse a part of what exists in whole pieces only.
    """
    if resource == GPU_SHARE:
        what = "parts of GPUs count in thousandths of one"
        raise QuantityError(f"{shown} of {GPU}: {what}")
    if resource not in {CPU, MEMORY} and "storage" not in resource:
        raise QuantityError(f"{shown} of {resource}: only whole pieces exist")


def read_number(text: str | float) -> Decimal:
    """
    Read a Kubernetes quantity as a number, without a unit and as exact as it is.
    """
    shown = _shown(text)
    if isinstance(text, bool):
        raise QuantityError(f"{shown} is not a quantity")
    plain = str(text).strip()
    match = _QUANTITY.fullmatch(plain) if len(plain) <= _LONGEST_TEXT else None
    if match is None or (match[2] not in _SUFFIX and match[2][:1] not in "eE"):
        raise QuantityError(f"{shown} is not a quantity such as 4, 500m or 16Gi")
    number = Decimal(match[1])
    if match[2] in _SUFFIX:
        return number * _SUFFIX[match[2]]
    return number * Decimal(f"1{match[2]}")


def _in_range(resource: str, value: int, most: int, shown: str) -> int:
    if value < 0:
        raise QuantityError(f"{shown} is negative")
    if value > most:
        limit = format_quantity(resource, most)
        what = f"{shown} is too much: at most {limit} can be counted"
        raise TooMuchError(what, most)
    return value


def parse_duration(text: str | float) -> int:
    """
    Read a duration such as 90s, 10m or 1h30m as whole seconds; a number is seconds.
    """
    shown = _shown(text)
    if isinstance(text, bool):
        raise QuantityError(f"{shown} is not a duration")
    if isinstance(text, int | float):
        if text < 0:
            raise QuantityError(f"{shown} is negative")
        return _in_time(text, shown)
    plain = text.strip()
    if len(plain) > _LONGEST_TEXT or _DURATION.fullmatch(plain) is None:
        if plain == "0":
            return 0
        raise QuantityError(f"{shown} is not a duration such as 90s, 10m or 1h30m")
    total = sum(Decimal(n) * _SECONDS[u] for n, u in _DURATION_PART.findall(plain))
    return _in_time(total, shown)


def format_duration(seconds: int) -> str:
    """
    Write whole seconds as people do, in its two largest units: 2h30m, 90s as 1m30s.
    """
    parts = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts[:2]) or "0s"


def _in_time(seconds: float | Decimal, shown: str) -> int:
    if not seconds <= LONGEST_SECONDS:
        raise QuantityError(f"{shown} is longer than 100 years, the longest duration")
    return int(seconds)


def _shown(text: object) -> str:
    """
    Quote what a person wrote; of a long text its beginning.
    """
    quoted = repr(text)
    return quoted if len(quoted) <= _LONGEST_TEXT else f"{quoted[:_LONGEST_TEXT]}…"


def format_quantity(resource: str, value: int) -> str:
    """
    Write an integer amount as people do: 1500m, 16Gi, 8.
    """
    if resource == CPU:
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"
    if resource == GPU_SHARE:
        return f"{round(value / SHARES_PER_GPU, 4):.12g}"
    if resource == MEMORY or "storage" in resource:
        for suffix in ("Ti", "Gi", "Mi", "Ki"):
            size = int(_SUFFIX[suffix])
            if value and value % size == 0:
                return f"{value // size}{suffix}"
    return str(value)


def add(total: dict[str, int], more: Resources, times: int = 1) -> None:
    """
    Add a vector to a running total in place.
    """
    for name, value in more.items():
        total[name] = total.get(name, 0) + value * times


def summed(vectors: Iterable[Resources]) -> dict[str, int]:
    """
    Add vectors up.
    """
    total: dict[str, int] = {}
    for vector in vectors:
        add(total, vector)
    return total


def fits(request: Resources, free: Resources) -> bool:
    """
    Tell whether a request fits into what is free; asking for none always fits.
    """
    return all(
        value <= 0 or value <= free.get(name, 0) for name, value in request.items()
    )
