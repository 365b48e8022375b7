"""
Claims and pods to trees: pods in index order, leaves of one shape each.

Pods of one leaf that differ in shape become leaves below a node with the minimum.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from adapters.kube.dialects.base import Part
from adapters.kube.dialects.table import INDEX_LABELS
from adapters.kube.pods import PodRecord
from models.errors import PhalanxError
from models.gangs import Group, Pod, PodPhase, PodSet, Tree
from models.nodes import ANYWHERE, NodeDemand
from models.reasons import Reason, Waiting
from models.resources import PODS, Resources

ROOT = ""
_LAST_NUMBER = re.compile(r"(\d{1,18})\D*$", re.ASCII)
_NO_INDEX = 10**18
_FINISHED = (PodPhase.SUCCEEDED, PodPhase.FAILED)
_PLACED = (PodPhase.RUNNING, PodPhase.TERMINATING)
_UNKNOWN: Resources = {PODS: 1}


class TreeError(PhalanxError):
    """
    A gang's tree cannot be made as its source says it.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        self.waiting = Waiting(reason, {"detail": detail})
        super().__init__(detail)


@dataclass(frozen=True, slots=True)
class Member:
    """
    A pod of a gang: the leaf it says it is in, its place there, the queue it names.

    ``exclusive`` says that it shares its host with no other pod of the gang.
    """

    pod: PodRecord
    leaf: str = ROOT
    index: tuple[int, str] = (0, "")
    queue: str | None = None
    exclusive: bool = False


def index_of(pod: PodRecord) -> tuple[int, str]:
    """
    Say which pod of its leaf a pod is: by label, else by the last number of its name.
    """
    for said in (pod.labels, pod.annotations):
        for key in INDEX_LABELS:
            value = said.get(key)
            if value is not None and value.isdecimal() and len(value) < 19:
                return int(value), pod.name
    found = _LAST_NUMBER.search(pod.name)
    return (int(found[1]) if found else _NO_INDEX), pod.name


def plain_tree(name: str, members: Sequence[Member], now: float) -> Tree:
    """
    Make one leaf of all pods, for a gang whose own tree is not known.
    """
    return tree_of(name, Part(), [replace(m, leaf=ROOT) for m in members], now)


def tree_of(name: str, part: Part, members: Sequence[Member], now: float) -> Tree:
    """
    Make the tree that a claim asks for, of the pods that exist.

    Raises
    ------
    TreeError
        When pods name leaves that are not there, or an order cannot be kept.
    """
    maker = _Maker(part, now)
    for member in members:
        maker.put(member)
    return maker.tree(replace(part, name=name), ROOT, beneath=False)


class _Maker:
    """
    Makes one gang's tree: puts pods into leaves, then leaves into nodes.
    """

    def __init__(self, root: Part, now: float) -> None:
        self._now = now
        self._pods: dict[str, list[Member]] = {p: [] for p, _ in leaf_paths(root)}
        self._paths = _known_as(root)
        self._names = set(self._paths)
        self._ordered = {name for _, leaf in leaf_paths(root) for name in leaf.after}

    def put(self, member: Member) -> None:
        path = ROOT if ROOT in self._pods else self._paths.get(member.leaf)
        if path is None and not member.leaf and len(self._pods) == 1:
            path = next(iter(self._pods))
        if path is None:
            known = ", ".join(sorted(self._paths))
            said = f"is in {member.leaf!r}" if member.leaf else "says no part"
            detail = f"pod {member.pod.name} {said}, the gang has {known}"
            raise TreeError(Reason.INVALID_GANG, detail)
        self._pods[path].append(member)

    def tree(self, part: Part, path: str, *, beneath: bool) -> Tree:
        if not part.parts:
            return self._leaf(part, path, beneath=beneath)
        below = beneath or part.min_pods is not None
        least = part.min_groups
        if least is None:
            least = len(part.parts) if part.min_pods is None else 0
        children: list[Tree] = []
        for child in part.parts:
            made = self.tree(child, below_path(path, child.name), beneath=below)
            if isinstance(made, Group) and not least and _asks_nothing(made):
                children.extend(made.children)
            else:
                children.append(made)
        return Group(
            name=part.name,
            min_groups=least,
            min_pods=part.min_pods or 0,
            children=tuple(children),
            topology=part.topology,
        )

    def _leaf(self, part: Part, path: str, *, beneath: bool) -> Tree:
        members = sorted(self._pods[path], key=_by_index)
        least = _minimum(part, members, beneath=beneath)
        shapes = _shapes(members)
        missing = max(part.replicas or 0, least) - len(members)
        if len(shapes) == 1:
            return self._set(part, part.name, least, shapes[0], missing)
        if part.name in self._ordered:
            detail = f"others come after {part.name}, whose pods differ in shape"
            raise TreeError(Reason.UNSUPPORTED_CONSTRAINT, detail)
        stem = part.name if path else "shape"
        names = self._free_names(stem, len(shapes))
        leaves = [
            self._set(replace(part, topology=None), name, 0, shape, 0)
            for name, shape in zip(names, shapes, strict=True)
        ]
        if missing > 0:
            first = leaves[0]
            leaves[0] = replace(first, replicas=first.replicas + missing)
        return Group(
            name=part.name,
            min_groups=0,
            min_pods=least,
            children=tuple(leaves),
            topology=part.topology,
        )

    def _free_names(self, stem: str, number: int) -> list[str]:
        """
        Name the leaves of one shape each; no name is given twice in a gang.
        """
        found: list[str] = []
        at = 0
        while len(found) < number:
            at += 1
            name = f"{stem}-{at}"
            if name not in self._names:
                self._names.add(name)
                found.append(name)
        return found

    def _set(
        self, part: Part, name: str, least: int, members: Sequence[Member], missing: int
    ) -> PodSet:
        wanted, demand = _wanted(members)
        return PodSet(
            name=name,
            minimum=least,
            replicas=len(members) + max(0, missing),
            requests=wanted,
            pods=tuple([_pod(member.pod, self._now) for member in members]),
            demand=demand,
            exclusive=any(m.exclusive for m in members if _is_here(m.pod)),
            after=tuple(sorted(set(part.after))),
            topology=part.topology,
        )


def leaf_paths(part: Part, path: str = ROOT) -> Iterator[tuple[str, Part]]:
    """
    Walk the leaves of a claim's tree with the path of each, the root's is empty.
    """
    if not part.parts:
        yield path, part
        return
    for child in part.parts:
        yield from leaf_paths(child, below_path(path, child.name))


def below_path(path: str, name: str) -> str:
    """
    Give the path of a part below another.
    """
    return f"{path}/{name}" if path else name


def _known_as(root: Part) -> dict[str, str]:
    """
    Map what pods may call a leaf, its path or its name alone, to its path.
    """
    paths = [path for path, _ in leaf_paths(root)]
    names = [path.rpartition("/")[2] for path in paths]
    known = {n: p for n, p in zip(names, paths, strict=True) if names.count(n) == 1}
    return known | {path: path for path in paths}


def _by_index(member: Member) -> tuple[int, str]:
    return member.index


def _asks_nothing(group: Group) -> bool:
    return not (group.min_groups or group.min_pods or group.topology)


def _minimum(part: Part, members: Sequence[Member], *, beneath: bool) -> int:
    if part.minimum is not None:
        return part.minimum
    if part.min_pods is not None:
        return part.min_pods
    if beneath:
        return 0
    if part.replicas is not None:
        return part.replicas
    return sum(member.pod.phase not in _FINISHED for member in members)


def _is_here(pod: PodRecord) -> bool:
    return pod.phase not in _FINISHED


def _shapes(members: Sequence[Member]) -> list[Sequence[Member]]:
    """
    Part a leaf's pods by shape, in index order; at least one part, be it empty.

    Placed pods ask for nothing but their room, and finished ones for nothing at all:
    they go with others where they can.
    """
    if len({id(m.pod.requests) for m in members}) <= 1 and (
        len({(id(m.pod.demand), m.exclusive) for m in members}) <= 1
    ):
        return [members]
    amounts: dict[int, frozenset[tuple[str, int]]] = {}
    parts: dict[object, list[Member]] = {}
    placed: list[tuple[object, Member]] = []
    finished: list[Member] = []
    homes: dict[object, object] = {}
    for member in members:
        pod = member.pod
        if pod.phase in _FINISHED:
            finished.append(member)
            continue
        wanted = amounts.get(id(pod.requests))
        if wanted is None:
            wanted = amounts[id(pod.requests)] = frozenset(pod.requests.items())
        room = wanted, member.exclusive
        if pod.phase in _PLACED:
            placed.append((room, member))
            continue
        shape = room, pod.demand
        homes.setdefault(room, shape)
        parts.setdefault(shape, []).append(member)
    for at, member in placed:
        parts.setdefault(homes.setdefault(at, (at, None)), []).append(member)
    if not parts:
        return [finished]
    shapes = sorted(
        (sorted(part, key=_by_index) for part in parts.values()),
        key=lambda part: part[0].index,
    )
    if finished:
        shapes[0] = sorted([*shapes[0], *finished], key=_by_index)
    return [*shapes]


def _wanted(members: Sequence[Member]) -> tuple[Resources, NodeDemand]:
    """
    Give what the pods of one shape ask for: one that waits says it best.
    """
    best: PodRecord | None = None
    for member in members:
        pod = member.pod
        if pod.phase not in _FINISHED and pod.phase not in _PLACED:
            return pod.requests, pod.demand
        if best is None or (best.phase in _FINISHED and _is_here(pod)):
            best = pod
    return (best.requests, best.demand) if best is not None else (_UNKNOWN, ANYWHERE)


def _pod(pod: PodRecord, now: float) -> Pod:
    if pod.phase is PodPhase.RUNNING:
        since = pod.started if pod.started is not None else pod.created
        return Pod(pod.name, pod.phase, pod.node, elapsed(since, now), pod.uid or None)
    if pod.phase is PodPhase.TERMINATING:
        left = elapsed(pod.deleted, now)
        return Pod(pod.name, pod.phase, pod.node, left, pod.uid or None)
    return Pod(pod.name, pod.phase, None, 0, pod.uid or None)


def elapsed(since: float | None, now: float) -> int:
    """
    Give the whole seconds since a time; none where it is not known, or not yet.
    """
    return max(0, int(now - since)) if since is not None else 0
