"""
Permissions as an operator grants them: a ClusterRole, and a Role for our own namespace.

It adds nothing to what the scheduler asks for at its start.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from adapters.kube.acting.permissions import Permission

_API = "rbac.authorization.k8s.io/v1"
_ORDER = ("get", "list", "watch", "create", "update", "patch", "delete")


def roles(
    permissions: Sequence[Permission], name: str, namespace: str
) -> list[dict[str, Any]]:
    """
    Write permissions as the two roles that grant them and nothing else.
    """
    wide = (each for each in permissions if not each.own)
    own = (each for each in permissions if each.own)
    return [
        {
            "apiVersion": _API,
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules_of(wide),
        },
        {
            "apiVersion": _API,
            "kind": "Role",
            "metadata": {"name": name, "namespace": namespace},
            "rules": rules_of(own),
        },
    ]


def rules_of(permissions: Iterable[Permission]) -> list[dict[str, Any]]:
    """
    Join what has the same verbs in the same group, in a fixed order.
    """
    verbs: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for each in permissions:
        of = each.group, each.resource, each.names
        verbs.setdefault(of, set()).add(each.verb)
    alike: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (group, resource, names), some in sorted(verbs.items()):
        ordered = tuple(sorted(some, key=_ORDER.index))
        alike.setdefault((group, names, ordered), []).append(resource)
    return [
        {
            "apiGroups": [group],
            "resources": resources,
            **({"resourceNames": list(names)} if names else {}),
            "verbs": list(ordered),
        }
        for (group, names, ordered), resources in alike.items()
    ]
