"""
Resources: integer vectors with named units, and the texts people write for them.

CPU counts in milli-CPU, memory and storage in bytes, everything else in pieces.
Nothing here rounds in the cluster's favour: requests round up, capacities down.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from models.errors import QuantityError

CPU = "cpu"
MEMORY = "memory"
GPU = "nvidia.com/gpu"
PODS = "pods"
DEFAULT_PODS = 110
LARGEST = 2**60

Resources = Mapping[str, int]

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([eE][+-]?\d{1,3}|[a-zA-Z]{0,2})")
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
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def is_gpu(resource: str) -> bool:
    """
    Tell whether a resource counts whole GPUs of any vendor.
    """
    return resource.endswith("/gpu")


def parse_quantity(resource: str, text: str | float, *, up: bool = True) -> int:
    """
    Read a Kubernetes quantity as an integer in the resource's unit.
    """
    if isinstance(text, bool):
        raise QuantityError(f"{text!r} is not a quantity")
    if isinstance(text, int):
        value = text * 1000 if resource == CPU else text
        return _in_range(value, text)
    match = _QUANTITY.fullmatch(str(text).strip())
    if match is None or (match[2] not in _SUFFIX and match[2][:1] not in "eE"):
        raise QuantityError(f"{text!r} is not a quantity such as 4, 500m or 16Gi")
    number = Decimal(match[1])
    if match[2] in _SUFFIX:
        number *= _SUFFIX[match[2]]
    else:
        number *= Decimal(f"1{match[2]}")
    if resource == CPU:
        number *= 1000
    whole = int(number)
    if whole != number:
        if resource not in {CPU, MEMORY} and "storage" not in resource:
            raise QuantityError(f"{text!r} of {resource}: only whole pieces exist")
        whole += 1 if up and number > 0 else 0
    return _in_range(whole, text)


def _in_range(value: int, text: object) -> int:
    if value < 0:
        raise QuantityError(f"{text!r} is negative")
    if value > LARGEST:
        raise QuantityError(f"{text!r} is larger than any cluster (limit 2^60)")
    return value


def parse_duration(text: str | float) -> int:
    """
    Read a duration such as 90s, 10m or 1h30m as whole seconds; a number is seconds.
    """
    if isinstance(text, bool):
        raise QuantityError(f"{text!r} is not a duration")
    if isinstance(text, int | float):
        if not 0 <= text < LARGEST:
            raise QuantityError(f"{text!r} is not a duration")
        return int(text)
    if _DURATION.fullmatch(text.strip()) is None:
        if text.strip() == "0":
            return 0
        raise QuantityError(f"{text!r} is not a duration such as 90s, 10m or 1h30m")
    total = sum(Decimal(n) * _SECONDS[u] for n, u in _DURATION_PART.findall(text))
    return _in_range(int(total), text)


def format_quantity(resource: str, value: int) -> str:
    """
    Write an integer amount as people do: 1500m, 16Gi, 8.
    """
    if resource == CPU:
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"
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
