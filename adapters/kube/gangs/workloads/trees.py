"""
Claims and pods to trees: pods in index order, leaves of one shape each.

Pods of one leaf that differ in shape become leaves below a node with the minimum.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from adapters.kube.dialects.protocol import Part
from adapters.kube.gangs.workloads.leaves import (
    ROOT,
    Member,
    by_index,
    gates_of,
    is_unfinished,
    neighbours_of,
    pod_of,
    shapes_of,
    wanted_by,
)
from adapters.kube.gangs.workloads.workload_trees import plain
from adapters.kube.objects.object_names import is_label
from models.errors import PhalanxError
from models.gangs import (
    FINISHED,
    MOST_LEAVES,
    MOST_PODS,
    ON_A_NODE,
    Group,
    MatchPolicy,
    PodPhase,
    PodSet,
    Tree,
    pod_sets,
)
from models.neighbours import ALONE
from models.why.reasons import Reason, Waiting

_ENDED_TOO = frozenset({PodPhase.RUNNING, PodPhase.SUCCEEDED})
_COUNTED = {
    MatchPolicy.ONLY_WAITING: frozenset[PodPhase](),
    MatchPolicy.WAITING_AND_RUNNING: frozenset({PodPhase.RUNNING}),
    MatchPolicy.WAITING_RUNNING_SUCCEED: _ENDED_TOO,
    MatchPolicy.ONCE_SATISFIED: _ENDED_TOO,
}


class TreeError(PhalanxError):
    """
    A gang's tree cannot be made as its source says it.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        self.waiting = Waiting(reason, {"detail": detail})
        super().__init__(detail)


def plain_tree(name: str, members: Sequence[Member], now: float) -> Tree:
    """
    Make one leaf of all pods, for a gang that cannot be planned by its own tree.

    Only placed pods keep what they ask for, since that is load; the rest is alike.
    """
    waiting = [m for m in members if m.pod.phase not in ON_A_NODE]
    like = waiting[0].pod if waiting else None
    alike = [
        replace(
            m,
            leaf=ROOT,
            pod=m.pod
            if like is None or m.pod.phase in ON_A_NODE
            else replace(m.pod, requests=like.requests, demand=like.demand),
            exclusive=False,
            neighbours=ALONE,
        )
        for m in members
    ]
    maker = _Maker(Part(), now, most=len(members) + 1)
    for member in alike:
        maker.put(member)
    return maker.tree(Part(name=name), ROOT, beneath=False)


def tree_of(
    name: str,
    part: Part,
    members: Sequence[Member],
    now: float,
    policy: MatchPolicy = MatchPolicy.WAITING_AND_RUNNING,
) -> Tree:
    """
    Make the tree that a claim asks for, of the pods that exist.

    ``policy`` says which of them count towards minimums.

    Raises
    ------
    TreeError
        When pods name leaves that are not there, or an order cannot be kept.
    """
    maker = _Maker(part, now, policy=policy)
    for member in members:
        maker.put(member)
    named = part if part.name == name else replace(part, name=name)
    return maker.tree(named, ROOT, beneath=False)


class _Maker:
    """
    Makes one gang's tree: puts pods into leaves, then leaves into nodes.
    """

    def __init__(
        self,
        root: Part,
        now: float,
        *,
        most: int = MOST_LEAVES,
        policy: MatchPolicy = MatchPolicy.WAITING_AND_RUNNING,
    ) -> None:
        self._now = now
        self._left = most
        self._counted = _COUNTED[policy]
        leaves = list(leaf_paths(root))
        self._pods: dict[str, list[Member]] = {path: [] for path, _ in leaves}
        self._paths = _known_as([path for path, _ in leaves])
        self._called = {} if ROOT in self._pods else called(root)
        self._names = {*self._paths, *self._called.values()}
        self._ordered = {self._name(name) for _, leaf in leaves for name in leaf.after}

    def _name(self, said: str) -> str:
        """
        Give the name of the leaf that others call so.
        """
        return self._called.get(self._paths.get(said, said), said)

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
        if self._ordered:
            least = max(least, self._needed(children))
        return Group(
            name=self._called.get(path, part.name),
            min_groups=least,
            min_pods=part.min_pods or 0,
            children=tuple(children),
            topology=part.topology,
        )

    def _needed(self, children: Sequence[Tree]) -> int:
        """
        Say how many children are needed so that none stands in for one it comes after.

        Any child that has its pods counts as one of those that are needed. Where some
        that others come after are short of their minimum, and later ones run, those
        that come first are needed on top of these.
        """
        firsts = [c for c in children if c.name in self._ordered and _least(c)]
        if all(self._have(child) >= _least(child) for child in firsts):
            return 0
        names = {child.name for child in firsts}
        later = sum(
            self._have(child) >= max(1, _least(child))
            for child in children
            if child.name not in names
        )
        return len(firsts) + later if later else 0

    def _have(self, tree: Tree) -> int:
        """
        Count the pods below a node that count towards minimums.
        """
        return sum(
            pod.phase in self._counted for leaf in pod_sets(tree) for pod in leaf.pods
        )

    def _leaf(self, part: Part, path: str, *, beneath: bool) -> Tree:
        members = sorted(self._pods[path], key=by_index)
        least = _minimum(part, members, beneath=beneath)
        shapes = shapes_of(members)
        wanted = max(part.replicas or 0, least)
        if wanted > MOST_PODS:
            detail = f"it has {wanted:,} pods, at most {MOST_PODS:,} are planned"
            raise TreeError(Reason.INVALID_GANG, detail)
        missing = wanted - len(members)
        self._left -= len(shapes)
        if self._left < 0:
            detail = f"its pods need more than {MOST_LEAVES:,} leaves"
            raise TreeError(Reason.UNSUPPORTED_CONSTRAINT, detail)
        own = self._called.get(path, part.name)
        if len(shapes) == 1:
            return self._set(part, own, least, shapes[0], missing)
        if own in self._ordered:
            detail = f"others come after {part.name}, whose pods differ in shape"
            raise TreeError(Reason.UNSUPPORTED_CONSTRAINT, detail)
        stem = own if path else "shape"
        names = self._free_names(stem, len(shapes))
        leaves = [
            self._set(replace(part, topology=None), name, 0, shape, 0)
            for name, shape in zip(names, shapes, strict=True)
        ]
        if missing > 0:
            first = leaves[0]
            leaves[0] = replace(first, replicas=first.replicas + missing)
        return Group(
            name=own,
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
        wanted, demand = wanted_by(members)
        return PodSet(
            name=name,
            minimum=least,
            replicas=len(members) + max(0, missing),
            requests=wanted,
            pods=tuple([pod_of(member.pod, self._now) for member in members]),
            demand=demand,
            exclusive=any(m.exclusive and is_unfinished(m.pod) for m in members),
            after=tuple(sorted({self._name(said) for said in part.after})),
            topology=part.topology,
            neighbours=neighbours_of(members),
            gates=gates_of(members),
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


def called(root: Part) -> dict[str, str]:
    """
    Name by path the nodes whose own names do not do: they are no labels, or twice.

    Leaves have different names in a gang, as files write them.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for path, part in _nodes(root, ROOT):
        own = part.name if is_label(part.name) else plain(part.name) or "part"
        name, number = own, 1
        while not part.parts and name in taken:
            number += 1
            name = f"{own[:50]}-{number}"
        if not part.parts:
            taken.add(name)
        if name != part.name:
            found[path] = name
    return found


def _nodes(part: Part, path: str) -> Iterator[tuple[str, Part]]:
    """
    Walk all nodes below the root.
    """
    for child in part.parts:
        below = below_path(path, child.name)
        yield below, child
        yield from _nodes(child, below)


def below_path(path: str, name: str) -> str:
    """
    Give the path of a part below another; it is never that of the root.
    """
    return f"{path}/{name}" if path or not name else name


def _known_as(paths: Sequence[str]) -> dict[str, str]:
    """
    Map what pods may call a leaf, its path or its name alone, to its path.
    """
    names = [path.rpartition("/")[2] for path in paths]
    often = Counter(names) if len(names) > 1 else {}
    known = dict(zip(names, paths, strict=True))
    alone = {name: path for name, path in known.items() if often.get(name, 1) == 1}
    return alone | {path: path for path in paths}


def _least(tree: Tree) -> int:
    return tree.minimum if isinstance(tree, PodSet) else tree.min_pods


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
    return sum(member.pod.phase not in FINISHED for member in members)
