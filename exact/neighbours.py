"""
Pods near each other, apart and spread, in the small model: rows over single domains.

Two moments count: what is bound is beside all who are there, also who leaves; what
comes later is beside who stays.  Who leaves by an earlier step still keeps others away
in the later ones, as its room is not theirs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from exact.claimed_volumes import Claims, Shared, add_volumes
from exact.small_model import SmallModel
from models.gangs import PodPhase, PodSet, pod_sets
from models.neighbours import Apart, Near, Neighbours, Spread, sharer
from models.nodes import Node, NodeDemand
from solver.effort.cp_sat import cp_model

MOST = 1_000_000
Sum = int | cp_model.LinearExpr
Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """
    What a step changes, by gang, leaf and node.

    ``now`` are the pods that are bound, ``gone`` those that leave, ``moved`` those that
    come from elsewhere.  By earlier steps ``left`` leave, and ``kept`` have places.
    """

    now: Mapping[Place, Sum]
    gone: Mapping[Place, Sum]
    moved: Mapping[Place, Sum]
    left: Mapping[Place, int]
    kept: Mapping[Place, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pods:
    """
    Pods of one leaf, or of others, on one node.

    ``there`` are those that run or leave, ``stay`` those that are there at the end;
    ``new`` ones get a place, of which ``bound`` ones come at once, ``fresh`` by this
    step, ``moved`` ones from elsewhere; ``left`` are those that leave by an earlier
    one.
    """

    said: Neighbours
    node: Node
    demand: NodeDemand | None = None
    there: int = 0
    stay: Sum = 0
    new: Sum = 0
    bound: Sum = 0
    fresh: Sum = 0
    moved: Sum = 0
    left: int = 0

    def at_once(self) -> "_Pods":
        """
        See only what comes at once.
        """
        return _Pods(
            said=self.said,
            node=self.node,
            demand=self.demand,
            there=self.there,
            stay=self.stay,
            new=self.bound,
            bound=self.bound,
        )


def add_neighbours(small: SmallModel, changes: Changes | None = None) -> None:
    """
    Ensure that new pods are near, apart and spread as they ask, and as others do.
    """
    pods = list(_pods(small, changes))
    if not any(one.said for one in pods if not isinstance(one.new, int)):
        return
    said = {one.said for one in pods}
    for rule in sorted({rule for each in said for rule in each.apart}):
        for here in _domains(pods, rule.key):
            _add_apart(small, rule, here)
    moments = (pods,) if changes is None else (pods, [one.at_once() for one in pods])
    for moment in moments:
        _add_near(small, moment)
    add_volumes(small, _claims(pods), _shared(pods))
    kinds = {(one.said, one.demand) for one in pods if one.said.spread}
    for kind, demand in sorted(kinds, key=repr):
        for spread in kind.spread:
            _add_spread(small, spread, _of(kind, pods), demand, pods)


def _claims(pods: Iterable[_Pods]) -> Iterator[Claims]:
    """
    Walk the claims of volumes, those that are there first.
    """
    for one in pods:
        for kind, number in one.said.claims:
            yield one.node, kind, number * one.there, number * one.new


def _shared(pods: Iterable[_Pods]) -> Iterator[Shared]:
    """
    Walk the claims that pods share.
    """
    for one in pods:
        for claim in one.said.shared:
            yield sharer(claim, one.node.name), one.node, one.there, one.new


def _of(said: Neighbours, pods: list[_Pods]) -> list[_Pods]:
    return [one for one in pods if one.said == said]


def _pods(small: SmallModel, changes: Changes | None) -> Iterator[_Pods]:
    snapshot = small.facts.snapshot
    nodes = {node.name: node for node in snapshot.nodes}
    for node in snapshot.nodes:
        for said, count in node.others:
            yield _Pods(said=said, node=node, there=count, stay=count)
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            if not leaf.neighbours:
                continue
            for name, node in nodes.items():
                place = gang.key, leaf.name, name
                running = _on(leaf, name, PodPhase.RUNNING)
                stay: Sum = 0 if gang.key in small.facts.stale else running
                new: Sum = sum(small.pods_on(*place))
                bound = fresh = new
                moved: Sum = 0
                left = 0
                if changes is not None:
                    bound = changes.now.get(place, 0)
                    fresh = new - changes.kept.get(place, 0)
                    left = changes.left.get(place, 0)
                    moved = changes.moved.get(place, 0)
                    new = new + moved
                    stay = stay - changes.gone.get(place, 0)
                yield _Pods(
                    said=leaf.neighbours,
                    node=node,
                    demand=leaf.demand,
                    there=running + _on(leaf, name, PodPhase.TERMINATING),
                    stay=stay,
                    new=new,
                    bound=bound,
                    fresh=fresh,
                    moved=moved,
                    left=left,
                )


def _total(terms: Iterable[Sum]) -> cp_model.LinearExpr:
    """
    Add terms up, also none.
    """
    return cp_model.LinearExpr.sum([0, *terms])


def _on(leaf: PodSet, node: str, phase: PodPhase) -> int:
    return sum(pod.phase is phase and pod.node == node for pod in leaf.pods)


def _domains(pods: list[_Pods], key: str) -> list[list[_Pods]]:
    here: dict[str, list[_Pods]] = {}
    for one in pods:
        value = one.node.labels.get(key)
        if value is not None:
            here.setdefault(value, []).append(one)
    return [here[value] for value in sorted(here)]


def _add_apart(small: SmallModel, rule: Apart, here: list[_Pods]) -> None:
    """
    Ensure that whoever is apart from some pods is in no domain with one of them.
    """
    holds = [one for one in here if rule in one.said.apart]
    meant = [one for one in here if rule.pods in one.said.selected]
    both = [one for one in holds if one in meant]
    only = [one for one in holds if one not in meant]
    if any(one.there for one in meant):
        small.cp.add(_total(one.bound for one in holds) == 0)
    if any(one.there for one in holds):
        small.cp.add(_total(one.bound for one in meant) == 0)
    if any(one.left for one in meant):
        small.cp.add(_total(one.fresh for one in holds) == 0)
    if any(one.left for one in holds):
        small.cp.add(_total(one.fresh for one in meant) == 0)
    some = _where_any(small, _total(one.new for one in meant))
    small.cp.add(_total(one.stay for one in holds) == 0).only_enforce_if(some)
    everybody = _total(one.stay + one.new for one in meant)
    if only:
        some = _where_any(small, _total(one.new for one in only))
        small.cp.add(everybody == 0).only_enforce_if(some)
    if both:
        some = _where_any(small, _total(one.new for one in both))
        small.cp.add(everybody <= 1).only_enforce_if(some)


def _where_any(small: SmallModel, number: cp_model.LinearExpr) -> cp_model.IntVar:
    """
    Give a literal that holds where there is any.
    """
    some = small.cp.new_bool_var("")
    small.cp.add(number <= MOST * some)
    return some


def _add_near(small: SmallModel, pods: list[_Pods]) -> None:
    """
    Ensure that pods come in some order, each near to others, or first of its like.

    All pods of a leaf on a node have one place in that order: the first is found by
    the others.
    """
    looks = [one for one in pods if one.said.near and not isinstance(one.new, int)]
    order = [small.cp.new_int_var(0, len(looks), "") for _ in looks]
    first = [small.cp.new_bool_var("") for _ in looks]
    for at, one in enumerate(looks):
        near = one.said.near
        assert near is not None
        small.cp.add(first[at] <= one.new)
        if near.pods not in one.said.selected or _is_there(near, pods):
            small.cp.add(first[at] == 0)
        if any(key not in one.node.labels for key in near.keys):
            small.cp.add(one.new == 0)
        else:
            some = _where_any(small, _total([one.new]))
            for key in near.keys:
                found = [first[at], *_found(small, at, key, (pods, looks, order))]
                small.cp.add(_total(found) >= 1).only_enforce_if(some)
        for other, after in enumerate(looks):
            if other != at and _finds(near, after):
                both = first[at], first[other]
                small.cp.add(order[at] < order[other]).only_enforce_if(both)


def _is_there(near: Near, pods: list[_Pods]) -> bool:
    return any(one.there and _finds(near, one) for one in pods)


def _finds(near: Near, one: _Pods) -> bool:
    """
    Tell whether a pod is known to those that look for such pods by some keys.
    """
    return near.pods in one.said.selected and any(
        key in one.node.labels for key in near.keys
    )


def _found(
    small: SmallModel,
    at: int,
    key: str,
    given: tuple[list[_Pods], list[_Pods], list[cp_model.IntVar]],
) -> Iterator[Sum]:
    """
    Walk those that may come before a pod and are near to it by a key.
    """
    pods, looks, order = given
    near, node = looks[at].said.near, looks[at].node
    assert near is not None
    for one in pods:
        if near.pods not in one.said.selected:
            continue
        if one.node.labels.get(key) != node.labels[key]:
            continue
        yield one.stay
        if one.said.near is None:
            yield one.new
    for other, one in enumerate(looks):
        if other == at or near.pods not in one.said.selected:
            continue
        if one.node.labels.get(key) == node.labels[key]:
            before = small.cp.new_bool_var("")
            small.cp.add(before <= one.new)
            small.cp.add(order[other] < order[at]).only_enforce_if(before)
            yield before


def _add_spread(
    small: SmallModel,
    spread: Spread,
    kind: list[_Pods],
    demand: NodeDemand | None,
    pods: list[_Pods],
) -> None:
    """
    Ensure that no domain with new pods has more than the skew above any other.

    Nobody relies on those that come and are not spread themselves, but who is moved may
    be too many.
    """
    said = kind[0].said
    counting = {
        node.name: node.labels[spread.key]
        for node in small.facts.snapshot.nodes
        if all(rule.key in node.labels for rule in said.spread)
        and not (spread.by_affinity and demand and not demand.selects(node.labels))
        and not (spread.by_taints and demand and not demand.tolerates(node.taints))
    }
    counts: dict[str, list[Sum]] = {value: [] for value in counting.values()}
    moved: dict[str, list[Sum]] = {value: [] for value in counting.values()}
    for one in pods:
        if spread.pods in one.said.selected and one.node.name in counting:
            is_spread = one.said.is_spread(spread.pods, spread.key)
            here = counting[one.node.name]
            counts[here].append(one.stay + (one.new if is_spread else 0))
            moved[here].append(0 if is_spread else one.moved)
    least = small.cp.new_int_var(0, MOST, "")
    if len(counts) < spread.domains:
        small.cp.add(least == 0)
    for terms in counts.values():
        small.cp.add(least <= _total(terms))
    for one in kind:
        if one.demand != demand or isinstance(one.new, int):
            continue
        if one.node.name not in counting:
            small.cp.add(one.new == 0)
            continue
        here = counting[one.node.name]
        most = _total([*counts[here], *moved[here]])
        some = _where_any(small, _total([one.new]))
        small.cp.add(most <= least + spread.skew).only_enforce_if(some)
