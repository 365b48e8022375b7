"""
The trees of workloads: how many pods of each role, by the table, the owner, its pods.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.kube.dialects.protocol import Part
from adapters.kube.dialects.workloads import MINIMUM, Path, Roles, Workload
from adapters.kube.objects.fields import FieldError, Json, mapping, whole
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED

_MOST = 1_000_000
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
Members = list[tuple[PodRecord, str]]


def workload_tree(
    rule: Workload, members: Members, owner: Json, warnings: list[str]
) -> Part:
    """
    Make the tree of a workload: a leaf for each of its roles, or one for all.

    What is said in vain is added to ``warnings``.
    """
    said = said_minimum(members, owner)
    said = _minimum_by(rule.least_by, owner) if said is None else said
    sizes = sizes_of(rule, members, owner)
    if not any(role for role in sizes):
        return _leaf(rule, said, size_of(rule, members, owner))
    least = said
    for path in rule.least:
        least = number_at(owner, path) if least is None else least
    for late in rule.late:
        if at_path(owner, late.at) == late.word:
            if said is not None:
                where = ".".join(late.at)
                warnings.append(f"{MINIMUM} is not read, since {where} is {late.word}")
            first = late.first or rule.first or tuple(sizes)[:1]
            return _staged(sizes, first, None)
    if rule.minimum == "first" or least is not None:
        return _staged(sizes, rule.first, least)
    return _ordered(rule, members, owner, sizes)


def _ordered(
    rule: Workload, members: Members, owner: Json, sizes: Mapping[str, int]
) -> Part:
    """
    Need all roles, those that come behind others once pods of them are there.
    """
    fewest, behind = _fewest(rule, owner), _behind(rule, owner, sizes)
    fewest |= dict.fromkeys(behind.keys() - {role for _, role in members}, 0)
    first = tuple(role for role in rule.first if role in sizes)
    least_of = {role: min(n, fewest.get(role, n)) for role, n in sizes.items()}
    needed = tuple(role for role, number in least_of.items() if number)
    parts = [
        Part(
            name=role,
            minimum=least_of[role],
            replicas=size,
            after=behind.get(role)
            or _before(role, first if least_of[role] else (*first, *needed)),
        )
        for role, size in sizes.items()
    ]
    return _joined(parts, None)


def _behind(
    rule: Workload, owner: Json, sizes: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """
    Give what roles come behind, as far as those are listed before them.
    """
    found: dict[str, tuple[str, ...]] = {}
    before: dict[str, int] = {}
    for role, entry, roles in roles_of(rule, owner):
        listed = at_path(entry, roles.behind)
        each_of = listed if isinstance(listed, list) else ()
        named = [each.get("name") for each in each_of if isinstance(each, Mapping)]
        names = {plain(name) for name in named if isinstance(name, str)}
        if lead := names & before.keys() & sizes.keys():
            found[role] = tuple(sorted(lead, key=before.__getitem__))
        before.setdefault(role, len(before))
    return found


def _before(role: str, others: Sequence[str]) -> tuple[str, ...]:
    """
    Give what a role comes after; the first roles come after nothing.
    """
    return () if role in others else tuple(dict.fromkeys(others))


def _leaf(rule: Workload, said: int | None, size: int | None) -> Part:
    """
    Make a gang without roles.
    """
    if said is None:
        said = 1 if rule.minimum == "one" else size
    return Part(minimum=said, replicas=size)


def _staged(
    sizes: Mapping[str, int], first: Sequence[str], minimum: int | None
) -> Part:
    """
    Need the first roles whole, and the others after them as far as the minimum asks.
    """
    lead = tuple(role for role in first if role in sizes)
    parts = [
        Part(
            name=role,
            minimum=size if role in lead else 0,
            replicas=size,
            after=() if role in lead else lead,
        )
        for role, size in sizes.items()
    ]
    return _joined(parts, minimum)


def _joined(parts: Sequence[Part], minimum: int | None) -> Part:
    """
    Put leaves below a root; a single one is the root itself.
    """
    if len(parts) == 1:
        only = parts[0]
        least = only.minimum if minimum is None else minimum
        return replace(only, name="", minimum=least, after=())
    if minimum is None:
        needed = sum(part.minimum != 0 for part in parts)
        total = sum(part.minimum or 0 for part in parts)
        # A leaf that needs no pod counts with one: it cannot stand in for the rest.
        least = total if 0 < needed < len(parts) else None
        return Part(parts=tuple(parts), min_groups=needed, min_pods=least)
    return Part(parts=tuple(parts), min_pods=minimum, min_groups=0)


def sizes_of(rule: Workload, members: Members, owner: Json) -> dict[str, int]:
    """
    Count the pods of each role: as the owner says, else as many as exist.
    """
    there: dict[str, int] = {}
    for pod, role in members:
        there[role] = there.get(role, 0) + (pod.phase not in FINISHED)
    sizes = {role: number for role, number in rule.fixed.items() if role in there}
    total = size_of(rule, members, owner)
    if total is not None and rule.fixed:
        sizes |= rule.fixed
        sizes[rule.rest] = total - sum(rule.fixed.values())
        if sizes[rule.rest] < 0:
            what = f"{total} is too few for its {' and '.join(rule.fixed)}"
            raise FieldError(".".join(rule.size), what)
    elif owner:
        sizes |= rule.fixed
        for role, entry, roles in roles_of(rule, owner):
            sizes[role] = _listed(entry, roles)
    for role in sorted(there):
        sizes.setdefault(role, there[role])
    return {role: size for role, size in sizes.items() if size or role in there}


def _fewest(rule: Workload, owner: Json) -> dict[str, int]:
    """
    Give the fewest pods of each role of an owner that says it is elastic.
    """
    if not rule.elastic or at_path(owner, rule.elastic) is not True:
        return {}
    return {
        role: _fewest_copies(entry, roles) * _product(entry, roles.pods[1:])
        for role, entry, roles in roles_of(rule, owner)
    }


def roles_of(rule: Workload, owner: Json) -> Iterator[tuple[str, Json, Roles]]:
    """
    Walk the roles that an owner lists, each with its entry.
    """
    for roles in rule.roles:
        listed = at_path(owner, roles.at)
        if isinstance(listed, Mapping):
            for name, entry in listed.items():
                if isinstance(entry, Mapping) and roles.name in {"", name}:
                    yield plain(name), entry, roles
        elif isinstance(listed, list):
            for entry in listed:
                if isinstance(entry, Mapping) and isinstance(
                    name := entry.get(roles.name), str
                ):
                    yield plain(name), entry, roles


def _listed(entry: Json, roles: Roles) -> int:
    """
    Give the number of pods that the entry of a role says.
    """
    if at_path(entry, roles.off) is True:
        return 0
    most = number_at(entry, roles.most) if roles.most else None
    *others, last = roles.pods
    each = _product(entry, [last])
    copies = _bounded(entry, roles) if roles.bounds else _product(entry, others)
    return copies * (each if most is None else min(each, most))


def _bounded(entry: Json, roles: Roles) -> int:
    """
    Give the number of copies of a role between the fewest and the most that it says.
    """
    said = number_at(entry, roles.pods[0]) or 0
    most = whole(entry, roles.bounds[1], ".".join(roles.at))
    return max(_fewest_copies(entry, roles), said if most is None else min(said, most))


def _fewest_copies(entry: Json, roles: Roles) -> int:
    return number_at(entry, roles.bounds[:1]) or 0


def _product(entry: Json, paths: Iterable[Path]) -> int:
    product = 1
    for path in paths:
        number = number_at(entry, path)
        product *= 1 if number is None else number
    return product


def size_of(rule: Workload, members: Members, owner: Json) -> int | None:
    """
    Give the number of pods that a workload without listed roles has.
    """
    size = number_at(owner, rule.size) if rule.size else None
    if size is None and rule.size_by:
        for pod, _ in members:
            said = pod.annotations.get(rule.size_by) or pod.labels.get(rule.size_by)
            if said and said.isdecimal() and len(said) < 7:
                return int(said)
    most = number_at(owner, rule.most) if rule.most else None
    if size is None or most is None:
        return size
    return min(size, most)


def said_minimum(members: Members, owner: Json) -> int | None:
    """
    Read the minimum that people write themselves, on the owner or on its pods.
    """
    meta = mapping(owner, "metadata")
    words = [mapping(meta, "annotations"), mapping(meta, "labels")]
    words += [words for pod, _ in members for words in (pod.annotations, pod.labels)]
    for said in words:
        if (number := _number_of_pods(said, MINIMUM)) is not None:
            return number
    return None


def _minimum_by(key: str, owner: Json) -> int | None:
    """
    Read the minimum that an annotation of another system says on the owner.
    """
    return _number_of_pods(mapping(mapping(owner, "metadata"), "annotations"), key)


def _number_of_pods(said: Json, key: str) -> int | None:
    value = said.get(key)
    if value is None:
        return None
    if not (isinstance(value, str) and value.isdecimal() and len(value) < 7):
        raise FieldError(key, f"{value!r:.60} is not a number of pods")
    return int(value)


def at_path(raw: Json, path: Path) -> Any:
    """
    Give what a path of fields leads to; nothing where it ends before.
    """
    here: Any = raw
    for key in path:
        if not isinstance(here, Mapping):
            return None
        here = here.get(key)
    return here


def number_at(raw: Json, path: Path) -> int | None:
    """
    Give the number of pods that a path leads to; none where it is not said.
    """
    *above, last = path
    inner = at_path(raw, tuple(above))
    if not isinstance(inner, Mapping):
        return None
    number = whole(inner, last, ".".join(above))
    if number is not None and not 0 <= number <= _MOST:
        raise FieldError(".".join(path), f"{number} is not a number of pods")
    return number


def plain(role: str) -> str:
    """
    Write a role as the name of a leaf.
    """
    return _NOT_PLAIN.sub("-", role.lower()).strip("-")[:63]
