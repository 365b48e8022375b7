"""
What a pod asks for, as the scheduler of Kubernetes counts it, in integers.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from adapters.kube.raw import FieldError, Json, joined, mapping, records, shown, text
from models.errors import QuantityError
from models.resources import CPU, MEMORY, PODS, add, parse_quantity

_POD_LEVEL = frozenset({CPU, MEMORY})
Amounts = dict[str, int]


def amounts(raw: Json, key: str, place: str, *, up: bool = True) -> Amounts:
    """
    Read a field that maps resources to quantities.
    """
    found: Amounts = {}
    for name, value in mapping(raw, key, place).items():
        if type(value) not in {int, str, float}:
            what = f"{shown(value)} is not a quantity such as 4, 500m or 16Gi"
            raise FieldError(joined(joined(place, key), name), what)
        try:
            found[name] = _amount(name, value, up=up)
        except QuantityError as error:
            raise FieldError(joined(joined(place, key), name), str(error)) from error
    return found


@lru_cache(maxsize=16384, typed=True)
def _amount(name: str, value: str | float, *, up: bool) -> int:
    return parse_quantity(name, value, up=up)


def requests_of(spec: Json, statuses: Iterable[Json] = ()) -> Amounts:
    """
    Count what a pod asks for: containers, sidecars, init containers, overhead.

    Sidecars run beside the containers and beside the init containers after them; init
    containers run one by one before the rest. What a container in ``statuses`` has been
    given already counts where it is more. A request that is not said is the limit.
    """
    given = {text(s, "name"): s for s in statuses if s.get("allocatedResources")}
    total: Amounts = {}
    for index, container in enumerate(records(spec, "containers", "spec")):
        place = f"spec.containers[{index}].resources"
        add(total, _of_container(container, place, given))
    beside: Amounts = {}
    most: Amounts = {}
    for index, container in enumerate(records(spec, "initContainers", "spec")):
        place = f"spec.initContainers[{index}].resources"
        asked = _of_container(container, place, given)
        if container.get("restartPolicy") == "Always":
            add(beside, asked)
            asked = {}
        _raise_to(most, _sum(asked, beside))
    add(total, beside)
    _raise_to(total, most)
    _lay_over(total, spec)
    add(total, amounts(spec, "overhead", "spec"))
    wanted = {name: value for name, value in total.items() if value}
    wanted[PODS] = 1
    return wanted


def _of_container(container: Json, place: str, given: Mapping[str, Json]) -> Amounts:
    resources = mapping(container, "resources")
    asked = amounts(resources, "limits", place)
    asked |= amounts(resources, "requests", place)
    if given and (status := given.get(text(container, "name"))) is not None:
        _raise_to(asked, amounts(status, "allocatedResources", "status"))
    return asked


def _lay_over(total: Amounts, spec: Json) -> None:
    """
    Let the pod's own resources replace the sum of its containers.
    """
    own = mapping(spec, "resources", "spec")
    if not own:
        return
    limits = amounts(own, "limits", "spec.resources")
    for name, value in limits.items():
        if _is_pod_level(name):
            total.setdefault(name, value)
    for name, value in amounts(own, "requests", "spec.resources").items():
        if _is_pod_level(name):
            total[name] = value


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
