"""
Whole GPUs by container, for the contracts that want each device named.
"""

from adapters.kube.objects.fields import FieldError, Json, mapping, records
from models.errors import QuantityError
from models.resources import GPU, read_number

_MOST = 64


def gpus_by_container(spec: Json) -> tuple[int, ...]:
    """
    Count the whole GPUs of each container, init containers first.

    Nothing where no container asks for any, or an init container does.
    """
    found: list[int] = []
    for word in ("initContainers", "containers"):
        for index, container in enumerate(records(spec, word, "spec")):
            place = f"spec.{word}[{index}]"
            resources = mapping(container, "resources", place)
            counts = [
                _count(mapping(resources, kind, place).get(GPU), place)
                for kind in ("requests", "limits")
            ]
            if word == "initContainers" and max(counts):
                return ()
            found.append(max(counts))
    return tuple(found) if any(found) else ()


def _count(said: object, place: str) -> int:
    if said is None:
        return 0
    try:
        number = read_number(said)  # type: ignore[arg-type]
    except QuantityError as error:
        raise FieldError(f"{place}.resources", str(error)) from error
    return int(number) if 0 <= number <= _MOST else 0
