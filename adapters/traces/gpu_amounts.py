"""
GPUs as cells of our own tables say them: 8, 0.5, 4x0.25, 20Gi, 0.3+8Gi, 2x1g.10gb.

Compute and memory as unlike shares are 0.3/0.5; who enforces a part stands before it,
kai:0.5, unless any may.
"""

import re
from decimal import Decimal

from adapters.traces.cells import RowLeftOutError, whole
from models.devices.gpu_parts import (
    CONTRACTS,
    MIB,
    PHALANX,
    WHOLE,
    GpuPart,
    part_of,
    shown,
)
from models.devices.mig_profiles import PROFILE_NAMES
from models.errors import QuantityError
from models.resources import GPU, MEMORY, Resources, format_quantity, parse_quantity

_CELL = re.compile(r"(?:([a-z]+):)?(?:(\d{1,3})x)?([^:]+)")
_SHARE = re.compile(r"[01]?\.\d{1,9}|[01]")


def read_gpus(text: str) -> dict[str, int]:
    """
    Read what a pod asks for of GPUs: so many, or a part of one or of each of several.
    """
    found = _CELL.fullmatch(text.strip())
    if found is None or not (_begins_part(text) or found[1] or found[2]):
        return {GPU: whole(text, empty=0)}
    contract, count, what = found[1] or PHALANX, int(found[2] or 1), found[3]
    if contract not in CONTRACTS or not count:
        raise RowLeftOutError("bad-part", text)
    if what in PROFILE_NAMES:
        return {GpuPart(contract, profile=what, count=count).resource: 1}
    cores, share, memory = _amounts(what, text)
    return {GpuPart(contract, cores, share, memory, count=count).resource: 1}


def _begins_part(text: str) -> bool:
    """
    Tell whether a cell without contract and count says a part.
    """
    try:
        number = float(text or 0)
    except ValueError:
        return text.strip()[:1].isdigit() or text.strip()[:1] == "."
    return 0 < number < 1


def _amounts(what: str, text: str) -> tuple[int, int, int]:
    """
    Read thousandths of compute and of memory, and MiB.
    """
    shares, plus, memory = what.partition("+")
    if not plus and shares[-1:].isalpha():
        return 0, 0, _memory(shares, text)
    cores, slash, share = shares.partition("/")
    compute = _thousandths(cores, text)
    if plus:
        if slash or not 0 < compute <= WHOLE:
            raise RowLeftOutError("bad-part", text)
        return compute, 0, _memory(memory, text)
    of_memory = _thousandths(share, text) if slash else compute
    if not (compute or of_memory) or (not slash and compute >= WHOLE):
        raise RowLeftOutError("bad-part", text)
    return compute, of_memory, 0


def _thousandths(share: str, text: str) -> int:
    if not _SHARE.fullmatch(share):
        raise RowLeftOutError("bad-part", text)
    number = Decimal(share) * WHOLE
    if number > WHOLE or number != int(number):
        raise RowLeftOutError("bad-part", text)
    return int(number)


def _memory(memory: str, text: str) -> int:
    try:
        amount = -(-parse_quantity(MEMORY, memory) // MIB)
    except QuantityError:
        raise RowLeftOutError("bad-part", text) from None
    if amount <= 0:
        raise RowLeftOutError("bad-part", text)
    return amount


def written_gpus(requests: Resources) -> str:
    """
    Write what a pod asks for of GPUs, so that it is read again as it is.
    """
    part = part_of(requests)
    if part is None:
        return str(requests.get(GPU, 0))
    contract = "" if part.contract == PHALANX else f"{part.contract}:"
    count = "" if part.count == 1 else f"{part.count}x"
    return f"{contract}{count}{_what(part)}"


def _what(part: GpuPart) -> str:
    if part.profile:
        return part.profile
    memory = format_quantity(MEMORY, part.memory * MIB) if part.memory else ""
    if memory:
        return f"{shown(part.cores)}+{memory}" if part.cores else memory
    if part.cores == part.share:
        return shown(part.cores)
    return f"{shown(part.cores)}/{shown(part.share)}"
