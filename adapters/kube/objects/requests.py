"""
What a pod asks for, as the scheduler of Kubernetes counts it, in integers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """
    What a node has given a pod that runs, as statuses of it and of its containers say.

    ``in_vain``: its spec asks for more than the node will ever give, so that it stays
    as it is.
    """

    containers: Sequence[Json] = ()
    whole: Json = field(default_factory=dict)
    in_vain: bool = False


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


def requests_of(spec: Json, resized: Resized, faults: list[str]) -> Amounts:
    """
    Count what a pod asks for: containers, sidecars, init containers, overhead.

    Sidecars run beside the containers and beside the init containers after them; init
    containers run one by one before the rest. What a container has been given already
    counts where it is more, or asks for what it will not get. A request that is not
    said is the limit; else no limit is read. What is wrong and can be counted
    nevertheless is noted.
    """
    overhead = amounts(spec, "overhead", "spec", faults=faults)
    given = _given(resized, overhead, faults)
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
    _lay_over(total, spec, given, faults)
    add(total, overhead)
    _check_few(total)
    wanted = {name: min(v, largest(name)) for name, v in total.items() if v}
    wanted[PODS] = 1
    return wanted


def _check_few(total: Amounts) -> None:
    if len(total) > _MOST_KINDS:
        what = f"{len(total)} resources are asked for, more than {_MOST_KINDS}"
        raise FieldError("spec.containers", what)


@dataclass(frozen=True, slots=True)
class _Allotted:
    """
    What was given already: to containers by their names, and to the pod as a whole.
    """

    containers: Mapping[str, Amounts]
    whole: Amounts
    in_vain: bool

    def settled(self, asked: Amounts, already: Amounts | None) -> Amounts:
        """
        Count what was given where that is more, or where more is asked for in vain.
        """
        if already:
            if self.in_vain:
                return {**asked, **already}
            _raise_to(asked, already)
        return asked


def _given(resized: Resized, overhead: Amounts, faults: list[str]) -> _Allotted:
    place = "status.containerStatuses"
    containers: dict[str, Amounts] = {}
    for status in resized.containers:
        try:
            containers[text(status, "name", place)] = _had(status, place, faults)
        except FieldError as error:
            faults.append(str(error))
    try:
        whole = _had(resized.whole, "status", faults)
    except FieldError as error:
        whole = {}
        faults.append(str(error))
    alone = {name: most - overhead.get(name, 0) for name, most in whole.items()}
    return _Allotted(containers, alone, resized.in_vain)


def _had(status: Json, place: str, faults: list[str]) -> Amounts:
    """
    Read what was allotted and what is in force, the larger of the two.
    """
    had = amounts(status, "allocatedResources", place, faults=faults)
    actual = mapping(status, "resources", place)
    _raise_to(had, amounts(actual, "requests", f"{place}.resources", faults=faults))
    return had


def _of_container(
    container: Json, place: str, given: _Allotted, faults: list[str]
) -> Amounts:
    resources = mapping(container, "resources", place)
    asked = _asked(resources, f"{place}.resources", faults)
    if not given.containers:
        return asked
    return given.settled(asked, given.containers.get(text(container, "name")))


def _asked(resources: Json, place: str, faults: list[str]) -> Amounts:
    """
    Read requests, and of the limits those that stand for a request.
    """
    asked = amounts(resources, "requests", place, faults=faults)
    limits = mapping(resources, "limits", place)
    unsaid = {name: value for name, value in limits.items() if name not in asked}
    return asked | amounts({"limits": unsaid}, "limits", place, faults=faults)


def _lay_over(total: Amounts, spec: Json, given: _Allotted, faults: list[str]) -> None:
    """
    Let the pod's own resources replace the sum of its containers.
    """
    own = mapping(spec, "resources", "spec")
    if not own:
        return
    requests = mapping(own, "requests", "spec.resources")
    asked = _asked(own, "spec.resources", faults)
    for name, value in given.settled(asked, given.whole).items():
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
