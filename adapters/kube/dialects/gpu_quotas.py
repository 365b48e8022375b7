"""
Quotas of GPUs that are no whole numbers: where there is one, all of them count parts.
"""

from collections.abc import Iterable
from typing import Any

from adapters.kube.objects.fields import FieldError, Json, joined, mapping
from adapters.kube.objects.requests import amounts
from models.documents.queue_specs import is_in_parts
from models.errors import QuantityError
from models.resources import GPU, GPU_SHARE, LARGEST_TOTAL, Resources, parse_quantity


def say_parts(said: Iterable[Json]) -> bool:
    """
    Tell whether some quotas, limits or weights of GPUs are no whole numbers.
    """
    return any(is_in_parts(each.get(GPU)) for each in said)


def counted(resource: str, *, parts: bool) -> str:
    """
    Name what a quota counts: GPUs with their parts, where it counts these.
    """
    return GPU_SHARE if parts and resource == GPU else resource


def quota_amounts(raw: Json, key: str, place: str, *, parts: bool) -> Resources:
    """
    Read a field that maps resources to what a queue may have of them, rounded down.
    """
    said: dict[str, Any] = dict(mapping(raw, key, place))
    gpus = said.pop(GPU, None) if parts else None
    found = amounts({key: said}, key, place, up=False)
    if gpus is None:
        return found
    try:
        share = parse_quantity(GPU_SHARE, gpus, up=False, most=LARGEST_TOTAL)
    except QuantityError as error:
        raise FieldError(joined(joined(place, key), GPU), str(error)) from error
    return {**found, GPU_SHARE: share}
