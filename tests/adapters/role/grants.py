"""
Roles as single grants, and requests as the grants that they need.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from urllib.parse import parse_qs, urlsplit

_WRITES = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """
    One verb on one resource: in one namespace or in all, of one name or of any.
    """

    group: str
    resource: str
    verb: str
    space: str = ""
    name: str = ""

    def __str__(self) -> str:
        what = f"{self.resource}.{self.group}".rstrip(".")
        named = f" {self.name}" if self.name else ""
        return f"{self.verb} {what}{named}" + (f" in {self.space}" * bool(self.space))


def grants_of(roles: Iterable[dict]) -> Iterator[Grant]:
    """
    Walk all that some roles grant.
    """
    for role in roles:
        space = role["metadata"].get("namespace", "")
        for rule in role["rules"]:
            words = rule["apiGroups"], rule["resources"], rule["verbs"]
            for (group, resource, verb), name in product(
                product(*words), rule.get("resourceNames", [""])
            ):
                yield Grant(group, resource, verb, space, name)


def needed_for(method: str, target: str) -> list[Grant]:
    """
    Say what a request needs, exactly; nothing where it asks what everybody may.

    Who gives devices to claims also needs what 1.36 parted from their status.
    """
    parts = urlsplit(target)
    words = parts.path.strip("/").split("/")
    group = "" if words[0] == "api" else words[1]
    rest = words[2:] if words[0] == "api" else words[3:]
    if not rest or group == "authorization.k8s.io":
        return []
    space = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        space, rest = rest[1], rest[2:]
    resource, name, sub = (*rest, "", "")[:3]
    verb = _WRITES.get(method) or _read(name, parts.query)
    needed = Grant(group, f"{resource}/{sub}" if sub else resource, verb, space, name)
    if needed.resource == "namespaces":
        needed = replace(needed, space=name)
    if needed.resource != "resourceclaims/status":
        return [needed]
    return [needed, replace(needed, resource="resourceclaims/binding")]


def covering(needed: Grant) -> list[Grant]:
    """
    List the grants that would cover a need, the narrowest first.
    """
    unnamed = replace(needed, name="")
    return [needed, unnamed, replace(unnamed, space="")]


def _read(name: str, query: str) -> str:
    if "watch" in parse_qs(query):
        return "watch"
    return "get" if name else "list"
