"""
Numbers of GPUs, whole ones and parts of them together, as people read them.

They are summed up in 1/7000 of a GPU (``gpu-share``), of which thousandths and sevenths
are whole numbers, and become GPUs once: 0.5, 2.25, whole ones without a point.
"""

from collections.abc import Iterable, Mapping

from models.devices.gpu_parts import (
    counts_as,
    is_part,
    is_reckoned,
    part_named,
    part_of,
)
from models.host_ports import is_host_port, port_times
from models.resources import (
    GPU,
    GPU_SHARE,
    SHARES_PER_GPU,
    Resources,
    format_quantity,
    num_gpus,
)

_LEAST = 0.001


def shares_asked(requests: Resources) -> int:
    """
    Count what a request asks for or a node offers, parts as queues count them.
    """
    own = num_gpus(requests) * SHARES_PER_GPU
    if GPU_SHARE not in requests:
        return own
    return own - requests.get(GPU, 0) * SHARES_PER_GPU + requests[GPU_SHARE]


def shares_held(requests: Resources, memory: int) -> int:
    """
    Count what a pod holds of a node whose GPUs have so much memory.
    """
    part = part_of(requests)
    if part is None:
        return shares_asked(requests)
    return counts_as(part, (memory,) if memory else ())


def held_on(requests: Resources, memory: int, *, is_known: bool) -> Resources:
    """
    Say what a pod takes of a node, what its part counts there included.

    Where it is not known on which devices the node's own load counts these.
    """
    if part_of(requests) is None:
        return requests
    return {**requests, GPU_SHARE: shares_held(requests, memory) if is_known else 0}


def in_gpus(shares: int) -> float:
    """
    Give GPUs to the thousandth, whole ones as a whole number; what is is not nothing.
    """
    if shares < 0:
        return -in_gpus(-shares)
    if shares % SHARES_PER_GPU == 0:
        return shares // SHARES_PER_GPU
    return max(_LEAST, round(shares / SHARES_PER_GPU, 3))


def gpus_asked(requests: Iterable[tuple[Resources, int]]) -> float:
    """
    Sum up the GPUs of requests, each so many times.
    """
    return in_gpus(sum(shares_asked(asked) * times for asked, times in requests))


def shown_gpus(gpus: float) -> str:
    """
    Write a number of GPUs: 0.5, 2.25, 1,000.
    """
    text = f"{gpus:,.3f}"
    return text.rstrip("0").rstrip(".")


def signed_gpus(gpus: float) -> str:
    """
    Write a difference of GPUs: +0.5, -2.
    """
    return f"{'-' if gpus < 0 else '+'}{shown_gpus(abs(gpus))}"


def counted_gpus(gpus: float) -> str:
    """
    Write a number of GPUs with its noun: 1 GPU, 0.5 GPUs.
    """
    text = shown_gpus(gpus)
    return f"{text} GPU" if text == "1" else f"{text} GPUs"


def shown_amount(resource: str, amount: int) -> str:
    """
    Write an amount as people do: GPUs with parts to the thousandth, ports by times.
    """
    if resource == GPU_SHARE:
        return shown_gpus(in_gpus(amount))
    if is_host_port(resource):
        return f"{port_times(resource, amount):,}"
    return format_quantity(resource, amount)


def written_amounts(amounts: Mapping[str, int]) -> dict[str, str]:
    """
    Write amounts by name, whole GPUs and parts of them as one number of GPUs.
    """
    own = {
        name: shown_amount(name, amount)
        for name, amount in amounts.items()
        if not is_reckoned(name)
    }
    if GPU_SHARE in amounts:
        own[GPU] = shown_amount(GPU_SHARE, amounts[GPU_SHARE])
    return dict(sorted(own.items()))


def written_request(requests: Resources) -> dict[str, str]:
    """
    Write amounts that are asked for by name, parts of GPUs in words: 2 of 0.5 of a GPU.
    """
    whole = {name: n for name, n in requests.items() if not is_reckoned(name)}
    parts = {
        str(part_named(name)): amount
        for name, amount in sorted(requests.items())
        if is_part(name)
    }
    return {name: shown_amount(name, n) for name, n in sorted(whole.items())} | {
        what: "" if number == 1 else f"{number:,} ×" for what, number in parts.items()
    }


def written_name(resource: str) -> str:
    """
    Give the name of a resource in files, which name whole GPUs alone; parts in words.
    """
    if is_part(resource):
        return str(part_named(resource))
    return GPU if resource == GPU_SHARE else resource
