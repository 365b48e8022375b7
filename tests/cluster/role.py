"""
The rules of the restricted user: those that ``deploy/`` grants, to a user of the tests.
"""

from contextlib import suppress

from adapters.kube.acting.permissions import Permission
from adapters.kube.acting.permissions import needed as all_needed
from adapters.kube.api.errors import ConflictError, NotFoundError
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import resources_of
from tests.helpers.kube.deployed import rules

API = "rbac.authorization.k8s.io"


def needed() -> list[Permission]:
    return all_needed(resources_of(dialects()))


def grant(admin, user: str, space: str, *, without: Permission | None = None) -> None:
    """
    Give a user the rules of ``deploy/``, all of them or all but one verb.
    """
    for kind, place in (("ClusterRole", ""), ("Role", space)):
        granted = [_of_shards(rule) for rule in rules(kind)]
        if without is not None and without.own == bool(place):
            granted = [part for rule in granted for part in _less(rule, without)]
        bind(admin, user, kind, granted, place)


def _of_shards(rule: dict) -> dict:
    """
    Name the objects of the shards that tests run beside those of the base.
    """
    names = rule.get("resourceNames")
    if names is None:
        return rule
    more = [
        name.replace("phalanx-default", f"phalanx-{shard}")
        for shard in ("a", "b")
        for name in names
    ]
    return rule | {"resourceNames": names + more}


def _less(rule: dict, without: Permission) -> list[dict]:
    """
    Take one verb on one resource out of a rule.
    """
    resource = without.resource
    if rule["apiGroups"] != [without.group] or resource not in rule["resources"]:
        return [rule]
    others = [other for other in rule["resources"] if other != resource]
    verbs = [verb for verb in rule["verbs"] if verb != without.verb]
    parts = [rule | {"resources": others}] if others else []
    return parts + ([rule | {"resources": [resource], "verbs": verbs}] if verbs else [])


def unbind(admin, user: str, kind: str, space: str) -> None:
    """
    Take the rules of one kind from a user.
    """
    inside = f"/namespaces/{space}" if space else ""
    root = f"/apis/{API}/v1{inside}/{kind.lower()}"
    for path in (f"{root}s/{user}", f"{root}bindings/{user}"):
        with suppress(NotFoundError):
            admin.call("DELETE", path)


def bind(
    admin, user: str, kind: str, rules: list[dict], space: str, *, subject: str = ""
) -> None:
    """
    Give a user rules of one kind instead of those it had.

    Rules under another name than its own are those of a ``subject`` besides.
    """
    unbind(admin, user, kind, space)
    meta = {"name": user} | ({"namespace": space} if space else {})
    inside = f"/namespaces/{space}" if space else ""
    root = f"/apis/{API}/v1{inside}"
    plural = f"{kind.lower()}s"
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
            "subjects": [{"apiGroup": API, "kind": "User", "name": subject or user}],
        },
    )
