"""
The rules that our role needs, as data; and whether it has them, asked at the start.

``deploy/`` grants exactly these, which a test compares.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from adapters.kube.dialects.base import Resource
from adapters.kube.errors import ClusterError
from adapters.kube.transport import Transport

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """
    One verb on one resource, everywhere or inside our own namespace.

    ``version`` is where the resource is served; of ``optional`` ones nothing is needed
    where it is not.
    """

    group: str
    resource: str
    verb: str
    own: bool = False
    version: str = "v1"
    optional: bool = False

    def __str__(self) -> str:
        where = " in its own namespace" if self.own else ""
        return (
            f'{{apiGroups: ["{self.group}"], resources: ["{self.resource}"], '
            f'verbs: ["{self.verb}"]}}{where}'
        )


ACTING = (
    Permission(group="", resource="pods", verb="get"),
    Permission(group="", resource="pods/binding", verb="create"),
    Permission(group="", resource="pods/eviction", verb="create"),
)
"""
What binds and evicts.
"""
KEEPING = (
    *(
        Permission(group="", resource="configmaps", verb=verb, own=True)
        for verb in ("get", "create", "update")
    ),
    *(
        Permission(group="coordination.k8s.io", resource="leases", verb=verb, own=True)
        for verb in ("get", "create", "update")
    ),
)
"""
What keeps the intent and the Lease.
"""


class RoleLacksError(ClusterError):
    """
    Our role lacks rules; ``rules`` is what to add to it.
    """

    def __init__(self, rules: Iterable[str]) -> None:
        self.rules = tuple(rules)
        noun = "a rule" if len(self.rules) == 1 else f"{len(self.rules)} rules"
        super().__init__(f"the role lacks {noun}: {'; '.join(self.rules)}")


def reading(resources: Iterable[Resource]) -> Iterator[Permission]:
    """
    Give what following some kinds needs.
    """
    for resource in resources:
        for verb in ("list", "watch"):
            yield Permission(
                group=resource.group,
                resource=resource.plural,
                verb=verb,
                version=resource.version,
                optional=not resource.needed,
            )


def check(
    transport: Transport, permissions: Sequence[Permission], namespace: str
) -> None:
    """
    Ask the server whether we may do all that we will have to.

    Raises
    ------
    RoleLacksError
        When something is missing, with every rule that is.
    """
    lacking = [
        permission
        for permission in permissions
        if not _is_granted(transport, permission, namespace)
        and not (permission.optional and not _is_served(transport, permission))
    ]
    if lacking:
        raise RoleLacksError(str(permission) for permission in lacking)


def _is_granted(transport: Transport, asked: Permission, namespace: str) -> bool:
    resource, _, subresource = asked.resource.partition("/")
    attributes = {
        "group": asked.group,
        "resource": resource,
        "subresource": subresource,
        "verb": asked.verb,
        "namespace": namespace if asked.own else "",
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = transport.call("POST", _REVIEWS, review)
    return (answer.get("status") or {}).get("allowed") is True


def _is_served(transport: Transport, asked: Permission) -> bool:
    plural = asked.resource.partition("/")[0]
    kind = Resource(
        group=asked.group, version=asked.version, plural=plural, kind=plural
    )
    return transport.serves(kind)
