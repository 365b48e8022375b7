"""
What a pod asks for, as the scheduler of Kubernetes counts it, in integers.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from adapters.kube.objects.fields import (
    FieldError,
    Json,
    few,
    joined,
    mapping,
    records,
    shown,
    text,
)
from models.devices.gpu_parts import is_ours
from models.documents.written import is_resource
from models.errors import QuantityError, TooMuchError
from models.resources import CPU, MEMORY, PODS, add, largest, parse_quantity

_POD_LEVEL = frozenset({CPU, MEMORY})
_MOST_KINDS = 200
_OURS = "Phalanx counts something of its own by this name"
_NO_NAME = "this is not the name of a resource"
Amounts = dict[str, int]


def amounts(
    raw: Json,
    key: str,
    place: str,
    *,
    up: bool = True,
    faults: list[str] | None = None,
) -> Amounts:
    """
    Read a field that maps resources to quantities.

    Where there are ``faults`` to note it in, an amount that is larger than any that can
    be counted counts as the largest, and one by a name of ours as none.
    """
    found: Amounts = {}
    said = mapping(raw, key, place)
    few(list(said), joined(place, key), _MOST_KINDS)
    for name, value in said.items():
        where = joined(joined(place, key), name)
        if fault := _name_fault(name):
            if faults is None:
                raise FieldError(where, fault)
            faults.append(f"{where}: {fault}")
            continue
        if type(value) not in {int, str, float}:
            what = f"{shown(value)} is not a quantity such as 4, 500m or 16Gi"
            raise FieldError(where, what)
        try:
            found[name] = _amount(name, value, up=up)
        except TooMuchError as error:
            if faults is None:
                raise FieldError(where, str(error)) from error
            faults.append(f"{where}: {error}")
            found[name] = error.most
        except QuantityError as error:
            raise FieldError(where, str(error)) from error
    return found


def check_name(name: str, where: str) -> None:
    """
    Refuse a name that no resource has, or that only something counted here has.
    """
    if fault := _name_fault(name):
        raise FieldError(where, fault)


def _name_fault(name: str) -> str:
    if is_ours(name):
        return _OURS
    return "" if is_resource(name) else _NO_NAME


@lru_cache(maxsize=16384, typed=True)
def _amount(name: str, value: str | float, *, up: bool) -> int:
    return parse_quantity(name, value, up=up)


def requests_of(spec: Json, statuses: Iterable[Json], faults: list[str]) -> Amounts:
    """
    Count what a pod asks for: containers, sidecars, init containers, overhead.

    Sidecars run beside the containers and beside the init containers after them; init
    containers run one by one before the rest. What a container in ``statuses`` has been
    given already counts where it is more. A request that is not said is the limit; else
    no limit is read. What is wrong and can be counted nevertheless is noted.
    """
    given = _given(statuses, faults)
    total: Amounts = {}
    for index, container in enumerate(records(spec, "containers", "spec")):
        place = f"spec.containers[{index}]"
        add(total, _of_container(container, place, given, faults))
    beside: Amounts = {}
    most: Amounts = {}
    for index, container in enumerate(records(spec, "initContainers", "spec")):
        place = f"spec.initContainers[{index}]"
        asked = _of_container(container, place, given, faults)
        if container.get("restartPolicy") == "Always":
            add(beside, asked)
            asked = {}
        _check_few(beside)
        _raise_to(most, _sum(asked, beside))
    add(total, beside)
    _raise_to(total, most)
    _lay_over(total, spec, faults)
    add(total, amounts(spec, "overhead", "spec", faults=faults))
    _check_few(total)
    wanted = {name: min(v, largest(name)) for name, v in total.items() if v}
    wanted[PODS] = 1
    return wanted


def _check_few(total: Amounts) -> None:
    if len(total) > _MOST_KINDS:
        what = f"{len(total)} resources are asked for, more than {_MOST_KINDS}"
        raise FieldError("spec.containers", what)


def _given(statuses: Iterable[Json], faults: list[str]) -> dict[str, Amounts]:
    """
    Read what containers have been given already, by their names.
    """
    place = "status.containerStatuses"
    given: dict[str, Amounts] = {}
    for status in statuses:
        try:
            name = text(status, "name", place)
            given[name] = amounts(status, "allocatedResources", place, faults=faults)
        except FieldError as error:
            faults.append(str(error))
    return given


def _of_container(
    container: Json, place: str, given: Mapping[str, Amounts], faults: list[str]
) -> Amounts:
    resources = mapping(container, "resources", place)
    asked = _asked(resources, f"{place}.resources", faults)
    if given and (already := given.get(text(container, "name"))) is not None:
        _raise_to(asked, already)
    return asked


def _asked(resources: Json, place: str, faults: list[str]) -> Amounts:
    """
    Read requests, and of the limits those that stand for a request.
    """
    asked = amounts(resources, "requests", place, faults=faults)
    limits = mapping(resources, "limits", place)
    unsaid = {name: value for name, value in limits.items() if name not in asked}
    return asked | amounts({"limits": unsaid}, "limits", place, faults=faults)


def _lay_over(total: Amounts, spec: Json, faults: list[str]) -> None:
    """
    Let the pod's own resources replace the sum of its containers.
    """
    own = mapping(spec, "resources", "spec")
    if not own:
        return
    requests = mapping(own, "requests", "spec.resources")
    for name, value in _asked(own, "spec.resources", faults).items():
        if not _is_pod_level(name):
            continue
        if name in requests:
            total[name] = value
        else:
            total.setdefault(name, value)


def _is_pod_level(name: str) -> bool:
    return name in _POD_LEVEL or name.startswith("hugepages-")


def _sum(one: Amounts, other: Amounts) -> Amounts:
    total = dict(one)
    add(total, other)
    return total


def _raise_to(total: Amounts, least: Amounts) -> None:
    for name, value in least.items():
        if value > total.get(name, 0):
            total[name] = value
