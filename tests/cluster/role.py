"""
The rules of the restricted user, granted to a user of the tests.
"""

from contextlib import suppress

from adapters.kube.dialects.registry import dialects
from adapters.kube.errors import ConflictError, NotFoundError
from adapters.kube.kinds import resources_of
from adapters.kube.permissions import Permission
from adapters.kube.permissions import needed as all_needed

API = "rbac.authorization.k8s.io"


def needed() -> list[Permission]:
    return all_needed(resources_of(dialects()))


def grant(admin, user: str, space: str, *, without: Permission | None = None) -> None:
    """
    Give a user the rules of the scheduler, all of them or all but one.
    """
    rules = [rule for rule in needed() if rule != without]
    wide = [_rule(rule) for rule in rules if not rule.own]
    own = [_rule(rule) for rule in rules if rule.own]
    _bind(admin, user, "ClusterRole", wide, "")
    _bind(admin, user, "Role", own, space)


def _rule(rule: Permission) -> dict:
    return {
        "apiGroups": [rule.group],
        "resources": [rule.resource],
        "verbs": [rule.verb],
    }


def _bind(admin, user: str, kind: str, rules: list[dict], space: str) -> None:
    meta = {"name": user} | ({"namespace": space} if space else {})
    inside = f"/namespaces/{space}" if space else ""
    root = f"/apis/{API}/v1{inside}"
    plural = f"{kind.lower()}s"
    for path in (f"{root}/{plural}/{user}", f"{root}/{kind.lower()}bindings/{user}"):
        with suppress(NotFoundError):
            admin.call("DELETE", path)
    version = {"apiVersion": f"{API}/v1", "metadata": meta}
    with suppress(ConflictError):
        admin.call("POST", f"{root}/{plural}", version | {"kind": kind, "rules": rules})
    admin.call(
        "POST",
        f"{root}/{kind.lower()}bindings",
        version
        | {
            "kind": f"{kind}Binding",
            "roleRef": {"apiGroup": API, "kind": kind, "name": user},
            "subjects": [{"apiGroup": API, "kind": "User", "name": user}],
        },
    )
