"""
What people write for quantities, durations and names, and how it becomes integers.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from models.devices.gpu_parts import is_reckoned
from models.errors import QuantityError
from models.resources import (
    LARGEST_TOTAL,
    MEMORY,
    Resources,
    parse_duration,
    parse_quantity,
    read_number,
)

MOST = 1_000_000
LARGEST_PRIORITY = 2**31 - 1
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
WORD = r"^[^\s/\x00-\x1f\x7f-\x9f]+$"

LONGEST_NAME = 253
MOST_RESOURCES = 64
_MIB = 2**20
_RESOURCE = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_./]{0,316}", re.ASCII)

Written = str | int | float


def is_name(text: str) -> bool:
    """
    Tell whether a file may hold a text as the name of a queue.
    """
    return len(text) <= LONGEST_NAME and re.fullmatch(WORD, text) is not None


@lru_cache(maxsize=65536)
def _amounts(
    items: tuple[tuple[str, Written], ...], *, up: bool, most: int | None
) -> Resources:
    amounts: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for name, text in items:
        try:
            amounts[name] = parse_quantity(name, text, up=up, most=most)
        except QuantityError as error:
            wrong[name] = str(error)
    if wrong:
        raise PydanticCustomError(
            "quantities",
            "{count} bad quantities",
            {"wrong": wrong, "count": len(wrong)},
        )
    return amounts


def _read_amounts(value: object, *, up: bool, most: int | None = None) -> Resources:
    if not isinstance(value, Mapping):
        raise PydanticCustomError("mapping", "must be a mapping of quantities")
    check_resources(value)
    items = tuple(value.items())
    wrong = {
        name: f"{text!r:.60} is not a quantity such as 4, 500m or 16Gi"
        for name, text in items
        if type(text) not in {int, str, float}
    }
    if wrong:
        raise PydanticCustomError("quantities", "bad quantities", {"wrong": wrong})
    return _amounts(items, up=up, most=most)


def is_resource(name: str) -> bool:
    """
    Tell whether a resource can have this name.
    """
    return _RESOURCE.fullmatch(name) is not None


def check_resources(names: Mapping[str, object]) -> None:
    """
    Refuse names that no resource can have, and more of them than anybody needs.
    """
    if len(names) > MOST_RESOURCES:
        raise PydanticCustomError(
            "resources",
            "{count} resources, at most {most} are read",
            {"count": len(names), "most": MOST_RESOURCES},
        )
    wrong = {
        str(name): f"{name!r:.60} is not the name of a resource"
        for name in names
        if type(name) is not str or not is_resource(name) or is_reckoned(name)
    }
    if wrong:
        raise PydanticCustomError("quantities", "bad names", {"wrong": wrong})


def _read_demand(value: object) -> Resources:
    return _read_amounts(value, up=True)


def _read_capacity(value: object) -> Resources:
    return _read_amounts(value, up=False)


def _read_total(value: object) -> Resources:
    return _read_amounts(value, up=True, most=LARGEST_TOTAL)


def _read_mebibytes(value: object, *, up: bool) -> int:
    """
    Read memory of a GPU as MiB, in which it is where no unit is said.
    """
    if type(value) not in {int, str, float}:
        raise QuantityError(f"{value!r:.60} is not a quantity such as 80Gi")
    text = str(value).strip()
    if text.isdecimal():
        text += "Mi"
    number = parse_quantity(MEMORY, text, up=up)
    return -(-number // _MIB) if up else number // _MIB


def _read_needed(value: object) -> int:
    found = _read_mebibytes(value, up=True)
    if not found:
        raise QuantityError(f"{value!r:.60}: a part of a GPU is more than nothing")
    return found


def _read_thousandths(value: object, *, all_of_it: bool = False) -> int:
    """
    Read a share of a GPU, more than nothing and less than all of it, or no more.
    """
    shown = f"{value!r:.60}"
    if type(value) not in {int, str, float}:
        raise QuantityError(f"{shown} is not a share such as 0.5")
    number = read_number(value) * 1000  # type: ignore[arg-type]
    if not 0 < number <= 1000 or (number == 1000 and not all_of_it):
        most = "at most 1" if all_of_it else "less than 1"
        raise QuantityError(f"{shown} is not more than 0 and {most}")
    if number != int(number):
        raise QuantityError(f"{shown} is finer than thousandths")
    return int(number)


def _read_up_to_all(value: object) -> int:
    """
    Read a share of a GPU, more than nothing and no more than all of it.
    """
    return _read_thousandths(value, all_of_it=True)


@lru_cache(maxsize=4096, typed=True)
def _duration(text: Written) -> int:
    return parse_duration(text)


def _read_seconds(value: object) -> int:
    if isinstance(value, str | int | float):
        return _duration(value)
    raise QuantityError(f"{value!r:.60} is not a duration such as 90s, 10m or 1h30m")


def _read_signed_seconds(value: object) -> int:
    if isinstance(value, str) and value.startswith("-"):
        return -_read_seconds(value[1:])
    if isinstance(value, int | float) and value < 0:
        return -_read_seconds(-value)
    return _read_seconds(value)


def quota_amount(resource: str, text: Written | None) -> int | None:
    """
    Read a quota or limit; ``unlimited`` is ``None``, and so is nothing said.
    """
    if text is None or text == "unlimited":
        return None
    return parse_quantity(resource, text, up=False, most=LARGEST_TOTAL)


def _read_written(value: object) -> Written:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    raise QuantityError(f"{value!r:.60} is not a quantity such as 4, 500m or 16Gi")


_Amounts = dict[str, Written]
Amount = Annotated[
    Written, BeforeValidator(_read_written, json_schema_input_type=Written)
]
Demand = Annotated[
    Resources, BeforeValidator(_read_demand, json_schema_input_type=_Amounts)
]
Capacity = Annotated[
    Resources, BeforeValidator(_read_capacity, json_schema_input_type=_Amounts)
]
Total = Annotated[
    Resources, BeforeValidator(_read_total, json_schema_input_type=_Amounts)
]
_Mebibytes = partial(_read_mebibytes, up=False)
DeviceMemory = Annotated[
    int, BeforeValidator(_Mebibytes, json_schema_input_type=Written)
]
Mebibytes = Annotated[
    int, BeforeValidator(_read_needed, json_schema_input_type=Written)
]
Thousandths = Annotated[
    int, BeforeValidator(_read_thousandths, json_schema_input_type=Written)
]
UpToAll = Annotated[
    int, BeforeValidator(_read_up_to_all, json_schema_input_type=Written)
]
Seconds = Annotated[int, BeforeValidator(_read_seconds, json_schema_input_type=Written)]
SignedSeconds = Annotated[
    int, BeforeValidator(_read_signed_seconds, json_schema_input_type=Written)
]
Number = Annotated[int, Field(ge=0, le=MOST)]
Count = Annotated[int, Field(ge=1, le=MOST)]
Priority = Annotated[int, Field(ge=-LARGEST_PRIORITY - 1, le=LARGEST_PRIORITY)]
GangName = Annotated[str, StringConstraints(min_length=1)]
LeafName = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=63)]
PlainName = Annotated[str, StringConstraints(pattern=WORD, max_length=LONGEST_NAME)]
LabelKey = Annotated[str, StringConstraints(min_length=1, max_length=317)]
Labels = dict[str, str]
