"""
Extended resources that the containers of a pod ask for, each by itself.

Where a class of devices stands for such a resource, each becomes a request of a claim.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.kube.objects.fields import Json, mapping, records, text
from adapters.kube.objects.requests import amounts

IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""
What the extended resource begins with that every class of devices has.
"""
EXTENDED = "resource.kubernetes.io/extended-resource-claim"
"""
The annotation of claims that are made for extended resources.
"""
_NATIVE = "kubernetes.io/"
_OF_QUOTAS = "requests."


@dataclass(frozen=True, slots=True)
class ExtendedAsk:
    """
    What one container asks for of one extended resource, and how that request is named.

    ``at`` is the place of the container, init containers first; a ``short`` one ends
    before those after it begin.
    """

    at: int
    container: str
    resource: str
    request: str
    count: int
    is_short: bool = False


def extended_asks(spec: Json) -> tuple[ExtendedAsk, ...]:
    """
    List what containers ask for of extended resources.
    """
    first = records(spec, "initContainers", "spec")
    every = [*first, *records(spec, "containers", "spec")]
    return tuple(
        ask
        for at, container in enumerate(every)
        for ask in _of_container(at, container, is_init=at < len(first))
    )


def _of_container(at: int, container: Json, *, is_init: bool) -> Iterator[ExtendedAsk]:
    place = f"containers[{at}].resources"
    resources = mapping(container, "resources", place)
    said = {**mapping(resources, "limits", place)}
    said |= mapping(resources, "requests", place)
    if not any(map(_is_extended, said)):
        return
    for number, name in enumerate(sorted(said)):
        if not _is_extended(name):
            continue
        count = amounts({"said": {name: said[name]}}, "said", place)[name]
        if count:
            yield ExtendedAsk(
                at=at,
                container=text(container, "name", place),
                resource=name,
                request=f"container-{at}-request-{number}",
                count=count,
                is_short=is_init and container.get("restartPolicy") != "Always",
            )


def _is_extended(name: str) -> bool:
    if name.startswith(IMPLICIT):
        return True
    return "/" in name and _NATIVE not in name and not name.startswith(_OF_QUOTAS)
