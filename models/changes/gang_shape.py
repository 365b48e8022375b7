"""
A gang that asks for less: another taint or label, a wider level, fewer pods.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from models.changes.one_gang import with_gang
from models.changes.refused import ChangeRefusedError
from models.gangs import Gang, Pod, PodPhase, PodSet, Tree
from models.nodes import LabelRule, Toleration
from models.snapshot import Snapshot
from models.topology import TopologyDemand


@dataclass(frozen=True, slots=True, kw_only=True)
class GangTolerates:
    """
    All pods of a gang tolerate the taints of a key.
    """

    gang: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GangAllows:
    """
    Pods of a gang that ask for nodes with one value of a label may be on another, too.
    """

    gang: str
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GangLevel:
    """
    What of a gang must be in one domain of a level need only be in one of another.

    Without a level it may be anywhere.
    """

    gang: str
    level: str
    to: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GangPods:
    """
    So many more pods of a gang of one leaf are needed, and created; fewer below nought.
    """

    gang: str
    by: int


_MAY_NOT_START = frozenset({PodPhase.FAILED, PodPhase.GATED})


def with_toleration(snapshot: Snapshot, change: GangTolerates) -> Snapshot:
    """
    Let a gang tolerate the taints of a key.
    """
    more = Toleration(key=change.key, operator="Exists")

    def tolerant(leaf: PodSet) -> PodSet:
        tolerations = (*leaf.demand.tolerations, more)
        return replace(leaf, demand=replace(leaf.demand, tolerations=tolerations))

    return with_gang(snapshot, change.gang, lambda gang: _with_leaves(gang, tolerant))


def with_label(snapshot: Snapshot, change: GangAllows) -> Snapshot:
    """
    Let a gang be on nodes with another value of a label, too.
    """

    def allowing(leaf: PodSet) -> PodSet:
        demand = leaf.demand
        asked = dict(demand.selector).get(change.key)
        if asked is None:
            return leaf
        rule = LabelRule(key=change.key, operator="In", values=(asked, change.value))
        terms = ((),) if demand.terms is None else demand.terms
        wider = replace(
            demand,
            selector=tuple(x for x in demand.selector if x[0] != change.key),
            terms=tuple((*term, rule) for term in terms if term or not demand.terms),
        )
        return replace(leaf, demand=wider)

    return with_gang(snapshot, change.gang, lambda gang: _with_leaves(gang, allowing))


def with_level(snapshot: Snapshot, change: GangLevel) -> Snapshot:
    """
    Let a gang be together in one domain of another level.
    """

    def wider(demand: TopologyDemand | None) -> TopologyDemand | None:
        if demand is None or demand.required != change.level:
            return demand
        if change.to is None and demand.preferred is None:
            return None
        return replace(demand, required=change.to)

    def seen(tree: Tree) -> Tree:
        tree = replace(tree, topology=wider(tree.topology))
        if isinstance(tree, PodSet):
            return tree
        return replace(tree, children=tuple(map(seen, tree.children)))

    return with_gang(
        snapshot, change.gang, lambda gang: replace(gang, tree=seen(gang.tree))
    )


def with_pods(snapshot: Snapshot, change: GangPods) -> Snapshot:
    """
    Let a gang need, and have, fewer pods; those that may not start go first.

    Raises
    ------
    ChangeRefusedError
        When it has several leaves, or would need none.
    """

    def fewer(gang: Gang) -> Gang:
        leaf = gang.tree
        where = f"pods of {change.gang}"
        if not isinstance(leaf, PodSet):
            what = "of several leaves none is named"
            raise ChangeRefusedError(where, what, "change its file")
        if change.by > 0 or leaf.minimum + change.by < 1:
            what = f"needs {leaf.minimum}, and cannot change by {change.by}"
            raise ChangeRefusedError(where, what, "take away less")
        replicas = max(leaf.minimum + change.by, leaf.replicas + change.by)
        minimum = leaf.minimum + change.by
        pods = _first_of(leaf.pods, replicas)
        less = replace(leaf, minimum=minimum, replicas=replicas, pods=pods)
        return replace(gang, tree=less)

    return with_gang(snapshot, change.gang, fewer)


def _first_of(pods: tuple[Pod, ...], number: int) -> tuple[Pod, ...]:
    """
    Keep so many pods: the first ones, as few as possible that failed or are held back.
    """
    order = sorted(range(len(pods)), key=lambda at: pods[at].phase in _MAY_NOT_START)
    return tuple(pods[at] for at in sorted(order[:number]))


def _with_leaves(gang: Gang, change: Callable[[PodSet], PodSet]) -> Gang:
    def seen(tree: Tree) -> Tree:
        if isinstance(tree, PodSet):
            return change(tree)
        return replace(tree, children=tuple(map(seen, tree.children)))

    return replace(gang, tree=seen(gang.tree))
