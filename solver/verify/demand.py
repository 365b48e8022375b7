"""
What queues ask for: running pods, and pending pods of gangs that could start.

This is the demand that fair shares are made of, counted from the rules alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from models.gangs import Gang, PodSet, pod_sets
from solver.verify.counting import (
    counted,
    is_ordinary,
    is_satisfied,
    least_core,
    tally,
    usable,
)
from solver.verify.emptiness import Emptiness
from solver.verify.evidence import Amounts, Evidence
from solver.verify.nodes import free_total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hope:
    """
    A gang that has something to place, or mates; ``offers`` are its pending pods.
    """

    gang: Gang
    before: Mapping[str, int]
    running: Mapping[str, int]
    offers: Mapping[str, int]
    ordinary: bool
    satisfied: bool


def requested(evidence: Evidence) -> Amounts:
    """
    Add up per queue what runs and what its ready, possible gangs have pending.

    A gang that cannot start, or is held back, asks for nothing more; of the others,
    subtrees that can never be satisfied do not.
    """
    total: Amounts = {name: dict(row) for name, row in evidence.running.items()}
    hopes = list(_hopes(evidence))
    empty = Emptiness.of(evidence.snapshot, [hope.gang for hope in hopes])
    free: dict[str, int] = {}
    offers: dict[str, Mapping[str, int] | None] = {}
    for hope in hopes:
        if _is_held(hope, evidence, free):
            offers[hope.gang.key] = None
        else:
            offers[hope.gang.key] = _possible(hope, evidence, empty)
    satisfied = {hope.gang.key: hope.satisfied for hope in hopes}
    for hope in hopes:
        mine = offers[hope.gang.key]
        stuck = not hope.satisfied and any(
            not satisfied[mate] and offers[mate] is None
            for mate in hope.gang.mates
            if mate in satisfied
        )
        if mine is not None and not stuck:
            row = total.setdefault(hope.gang.queue, {})
            for resource in evidence.named:
                more = _sum(hope.gang, mine, resource)
                row[resource] = row.get(resource, 0) + more
    return total


def _hopes(evidence: Evidence) -> Iterator[_Hope]:
    for gang in evidence.snapshot.gangs:
        tree = gang.tree
        leaves = (tree,) if isinstance(tree, PodSet) else tuple(pod_sets(tree))
        tallies = {leaf.name: tally(leaf) for leaf in leaves}
        if not gang.mates and not any(t.pending for t in tallies.values()):
            continue
        before = counted(gang, tallies)
        ordinary = is_ordinary(gang, before)
        yield _Hope(
            gang=gang,
            before=before,
            running={name: t.running for name, t in tallies.items()},
            offers={name: t.pending for name, t in tallies.items()},
            ordinary=ordinary,
            satisfied=ordinary or is_satisfied(tree, before),
        )


def _is_held(hope: _Hope, evidence: Evidence, free: dict[str, int]) -> bool:
    """
    Tell whether a gang is not ready, contradicts its group, or has to wait.
    """
    gang, held = hope.gang, set(hope.gang.mates)
    if gang.timed_out or gang.backoff > 0 or not _takes_work(evidence, gang.queue):
        return True
    mates = [evidence.gangs.get(name) for name in held]
    if held and gang.key not in held:
        return True
    if any(mate is not None and set(mate.mates) != held for mate in mates):
        return True
    if hope.satisfied:
        return False
    for resource in gang.min_resources:
        if resource not in free:
            free[resource] = free_total(evidence, resource)
    return any(mate is None for mate in mates) or any(
        free[resource] < least for resource, least in gang.min_resources.items()
    )


def _takes_work(evidence: Evidence, name: str) -> bool:
    path = evidence.path(name)
    return (
        bool(path)
        and evidence.queues[path[-1]].parent is None
        and all(evidence.queues[above].open for above in path)
        and all(queue.parent != name for queue in evidence.snapshot.queues)
    )


def _possible(
    hope: _Hope, evidence: Evidence, empty: Emptiness
) -> Mapping[str, int] | None:
    """
    Give the pending pods that could ever start; none when the gang never can.
    """
    gang = hope.gang
    fitting = empty.offers(gang, hope.offers)
    if hope.ordinary:
        living: Mapping[str, int] | None = fitting
    else:
        living = usable(gang, hope.before, fitting)
    if living is None or hope.satisfied:
        return _whole(hope, living or {})
    if not empty.holds(gang, hope.before, living):
        return None
    for name in evidence.path(gang.queue):
        for resource in evidence.named:
            least = least_core(gang, hope.before, living, resource)
            rule = evidence.queues[name].rule(resource)
            most = [rule.limit] if gang.preemptible else [rule.limit, rule.quota]
            own = _sum(gang, hope.running, resource)
            if least and any(x is not None and least + own > x for x in most):
                return None
    return _whole(hope, living)


def _whole(hope: _Hope, living: Mapping[str, int]) -> dict[str, int] | None:
    """
    Ask for all pending pods of the leaves that live; none for a gang that cannot.
    """
    if not living and not hope.satisfied:
        return None
    return {name: hope.offers[name] for name, pods in living.items() if pods}


def _sum(gang: Gang, pods: Mapping[str, int], resource: str) -> int:
    return sum(
        leaf.requests.get(resource, 0) * pods.get(leaf.name, 0)
        for leaf in pod_sets(gang.tree)
    )
