"""
Parts of GPUs and their devices, written as files say them.
"""

from collections.abc import Iterable
from typing import Any

from models.devices.gpu_parts import (
    PHALANX,
    WHOLE,
    GpuDevice,
    GpuPart,
    MigDevices,
    TakenDevice,
)

Record = dict[str, Any]


def gpu_record(part: GpuPart | None) -> Record:
    """
    Write the part of GPUs that a leaf asks for.
    """
    if part is None:
        return {}
    record: Record
    several = "devices"
    if part.profile:
        record, several = {"mig": part.profile}, "count"
    elif 0 < part.share == part.cores < WHOLE:
        record = {"fraction": part.cores / WHOLE}
    else:
        record = {"cores": _part_of_one(part.cores)} if part.cores else {}
        record |= {"share": _part_of_one(part.share)} if part.share else {}
        record |= {"memory": f"{part.memory}Mi"} if part.memory else {}
    if part.count > 1:
        record[several] = part.count
    if part.contract != PHALANX:
        record["contract"] = part.contract
    return record


def _part_of_one(thousandths: int) -> float | int:
    """
    Write thousandths as a share; all of it as 1.
    """
    return 1 if thousandths == WHOLE else thousandths / WHOLE


def taken_records(taken: Iterable[TakenDevice]) -> list[Record]:
    """
    Write which devices of a node others have.
    """
    return [
        {"device": one.device}
        | ({"contract": one.contract} if one.contract else {})
        | ({"cores": _part_of_one(one.cores)} if one.cores else {})
        | ({"memory": f"{one.memory}Mi"} if one.memory else {})
        for one in taken
    ]


def device_records(devices: Iterable[GpuDevice]) -> list[int | Record]:
    """
    Write on which devices a pod is.
    """
    return [
        one.device if one.start < 0 else {"device": one.device, "start": one.start}
        for one in devices
    ]


def mig_record(mig: MigDevices | None) -> Record:
    """
    Write which devices of a node may be cut.
    """
    if mig is None:
        return {}
    return {"model": mig.model, "devices": list(mig.devices)}
