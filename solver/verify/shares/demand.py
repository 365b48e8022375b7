"""
What queues ask for: running pods, and pending pods of gangs that could start.

This is the demand that fair shares are made of, counted from the rules alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from models.gangs import Gang, Group, PodSet, pod_sets
from models.memory.aged_gangs import still
from solver.verify.empty_cluster import Emptiness, alike, kinds_of, told_apart
from solver.verify.evidence import Evidence
from solver.verify.gang_counts import (
    WAITING,
    all_nodes,
    counted,
    is_ordinary,
    is_satisfied,
    least_core,
    tally,
    usable,
)
from solver.verify.neighbours.finding_others import is_surely_beside
from solver.verify.nodes import free_total
from solver.verify.plan_steps import Amounts
from solver.verify.shares.lending import kept_anywhere, leaves_kept
from solver.verify.shares.share_readings import Doubt

_Offers = Mapping[str, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hope:
    """
    A gang that has something to place, or mates; ``offers`` are its pending pods.

    It stands for ``number`` gangs that ask alike.
    """

    gang: Gang
    number: int
    before: Mapping[str, int]
    running: Mapping[str, int]
    offers: Mapping[str, int]
    ordinary: bool
    satisfied: bool


def requested(evidence: Evidence) -> tuple[Amounts, list[Doubt]]:
    """
    Add up per queue what runs and what its ready, possible gangs have pending.

    A gang that cannot start, or is held back, asks for nothing more; of the others,
    subtrees that can never be satisfied do not.  How deep a planner looks to see that
    something is impossible is its own affair: where the judge sees an impossibility
    at all, the gang is a doubt and not part of the sum.
    """
    total: Amounts = {name: dict(row) for name, row in evidence.running.items()}
    doubts: list[Doubt] = []
    hopes = {hope.gang.key: hope for hope in _hopes(evidence)}
    empty = _emptiness(evidence, [hope.gang for hope in hopes.values()])
    free: dict[str, int] = {}
    loose: dict[str, _Offers] = {}
    strict: dict[str, _Offers] = {}
    whole: dict[str, _Offers] = {}
    for key, hope in hopes.items():
        held = _is_held(hope, evidence, free)
        loose[key] = None if held else _whole(hope, _living(hope, hope.offers))
        whole[key] = None if loose[key] is None else hope.offers
        strict[key] = None if held else _possible(hope, evidence, empty)
    kinds = [strict] if strict == loose == whole else [strict, loose, whole]
    for hope in hopes.values():
        readings = [_asks(hope, hopes, kind, evidence) for kind in kinds]
        beside = _is_beside_others(hope, evidence)
        if beside or _shares_hosts(hope) or _is_bounded_from_below(hope, evidence):
            readings.append({})
        if all(reading == readings[0] for reading in readings):
            row = total.setdefault(hope.gang.queue, {})
            for resource, amount in readings[0].items():
                row[resource] = row.get(resource, 0) + amount
        else:
            doubts.append(Doubt(hope.gang.queue, tuple(readings)))
    return total, doubts


def remembers(evidence: Evidence, gang: Gang) -> bool:
    """
    Tell whether a gang was evicted and was not passed over for too long since.
    """
    late = gang.passed_over >= evidence.policy.waiting.protect_after
    return gang.evicted_ago is not None and not late


def waiting_again(evidence: Evidence) -> Iterator[tuple[Gang, dict[str, int]]]:
    """
    List waiting gangs that were evicted before and could start, with their demand.

    The demand is the least that lets them start, of each named resource.  A gang of
    which the judge cannot tell whether it could start is left out, and so is one with
    a mate that it needs and that cannot.
    """
    gangs = [gang for gang in evidence.snapshot.gangs if remembers(evidence, gang)]
    hopes = [_hope(gang, 1) for gang in gangs if _kind(gang) is not None]
    mates = {hope.gang.key: _mates(evidence, hope.gang) for hope in hopes}
    asked = [*hopes, *(mate for group in mates.values() for mate in group)]
    empty = _emptiness(evidence, [hope.gang for hope in asked])
    free: dict[str, int] = {}
    for hope in hopes:
        living = _surely(hope, evidence, empty, free)
        if living is not None and all(
            mate.satisfied or _surely(mate, evidence, empty, free) is not None
            for mate in mates[hope.gang.key]
        ):
            yield (
                hope.gang,
                {
                    name: least_core(hope.gang, hope.before, living, name)
                    for name in evidence.named
                },
            )


def _mates(evidence: Evidence, gang: Gang) -> list[_Hope]:
    keys = [key for key in gang.mates if key != gang.key and key in evidence.gangs]
    return [_hope(evidence.gangs[key], 1) for key in keys]


def _surely(
    hope: _Hope, evidence: Evidence, empty: Emptiness, free: dict[str, int]
) -> _Offers:
    """
    Give the pending pods of a gang that surely could start; else none.
    """
    if hope.satisfied or _is_held(hope, evidence, free):
        return None
    if _shares_hosts(hope) or _is_bounded_from_below(hope, evidence):
        return None
    if not is_surely_beside(evidence, hope.gang):
        return None
    return _possible(hope, evidence, empty)


def _asks(
    hope: _Hope,
    hopes: Mapping[str, _Hope],
    offers: Mapping[str, _Offers],
    evidence: Evidence,
) -> dict[str, int]:
    """
    Add up one gang's demand, which is none while a mate that it needs cannot start.
    """
    mine = offers[hope.gang.key]
    mates = [mate for mate in hope.gang.mates if mate in hopes]
    if mine is None or (
        not hope.satisfied
        and any(not hopes[mate].satisfied and offers[mate] is None for mate in mates)
    ):
        return {}
    sums = {name: _sum(hope.gang, mine, name) * hope.number for name in evidence.named}
    return {name: amount for name, amount in sums.items() if amount}


def _is_beside_others(hope: _Hope, evidence: Evidence) -> bool:
    """
    Tell whether who is around the pods of a gang, or of its mates, could rule it out.
    """
    mates = [evidence.gangs.get(key) for key in hope.gang.mates]
    return any(
        leaf.neighbours
        for gang in (hope.gang, *mates)
        if gang is not None
        for leaf in pod_sets(gang.tree)
    )


def _shares_hosts(hope: _Hope) -> bool:
    """
    Tell whether running pods of its own could rule out hosts for good.
    """
    return any(hope.running.values()) and any(
        leaf.exclusive for leaf in pod_sets(hope.gang.tree)
    )


def _is_bounded_from_below(hope: _Hope, evidence: Evidence) -> bool:
    """
    Tell whether what bounds a gang may rule it out although its least demand is small.

    Minimums over groups and over pods are bounded apart, so a gang with both may need
    more than the judge can tell.
    """
    trees = (tree for tree in all_nodes(hope.gang.tree) if isinstance(tree, Group))
    if hope.satisfied or not any(tree.min_pods for tree in trees):
        return False
    rules = (
        evidence.queues[name].rule(resource)
        for name in evidence.path(hope.gang.queue)
        for resource in evidence.named
    )
    shared = any(alike(hope.gang))
    return (
        shared
        or bool(kept_anywhere(evidence))
        or any(
            rule.limit is not None
            or (rule.quota is not None and not hope.gang.preemptible)
            for rule in rules
        )
    )


def _emptiness(evidence: Evidence, gangs: Sequence[Gang]) -> Emptiness:
    """
    Sort the nodes into kinds, as far as gangs can tell them apart.
    """
    snapshot, seen = evidence.snapshot, told_apart(gangs)
    key = "kinds", seen, tuple(snapshot.topologies)
    return evidence.memo.of_nodes(
        key,
        snapshot.nodes,
        lambda: Emptiness(kinds_of(snapshot, seen), seen.resources),
    )


def _hopes(evidence: Evidence) -> list[_Hope]:
    """
    List gangs with something to place, or mates; equal ones once with their number.
    """
    kinds: dict[object, list[Gang]] = {}
    gangs = evidence.snapshot.gangs
    for at, kind in enumerate(evidence.memo.of_each("kinds", still(gangs), _kind)):
        if kind is not None:
            kinds.setdefault(kind, []).append(gangs[at])
    return [_hope(gangs[0], len(gangs)) for gangs in kinds.values()]


def _kind(gang: Gang) -> object | None:
    """
    Give equal keys to gangs of one leaf that ask alike; none to those without hope.
    """
    leaf = gang.tree
    if not isinstance(leaf, PodSet):
        pods = (pod for part in pod_sets(leaf) for pod in part.pods)
        is_hoping = bool(gang.mates) or any(p.phase in WAITING for p in pods)
        return gang.key if is_hoping else None
    counts = tally(leaf)
    if not counts.pending and not gang.mates:
        return None
    if gang.mates or gang.min_resources:
        return gang.key
    return (
        gang.queue,
        gang.preemptible,
        gang.timed_out or gang.backoff > 0 or gang.refused is not None,
        gang.match_policy,
        gang.once_satisfied,
        counts,
        leaf.minimum,
        tuple(leaf.requests.items()),
        leaf.demand,
        leaf.neighbours,
        leaf.exclusive,
        leaf.topology,
    )


def _hope(gang: Gang, number: int) -> _Hope:
    tallies = {leaf.name: tally(leaf) for leaf in pod_sets(gang.tree)}
    before = counted(gang, tallies)
    ordinary = is_ordinary(gang, before)
    return _Hope(
        gang=gang,
        number=number,
        before=before,
        running={name: t.running for name, t in tallies.items()},
        offers={name: t.pending for name, t in tallies.items()},
        ordinary=ordinary,
        satisfied=ordinary or is_satisfied(gang.tree, before),
    )


def _is_held(hope: _Hope, evidence: Evidence, free: dict[str, int]) -> bool:
    """
    Tell whether a gang is not ready, contradicts its group, or has to wait.
    """
    gang, held = hope.gang, set(hope.gang.mates)
    if gang.refused is not None:
        return True
    if gang.timed_out or gang.backoff > 0 or not _takes_work(evidence, gang.queue):
        return True
    mates = [evidence.gangs.get(name) for name in held]
    if held and gang.key not in held:
        return True
    if any(
        mate is not None and mate.mates != gang.mates and set(mate.mates) != held
        for mate in mates
    ):
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
        and name not in evidence.parents
    )


def _possible(hope: _Hope, evidence: Evidence, empty: Emptiness) -> _Offers:
    """
    Give the pending pods that could ever start; none when the gang never can.
    """
    gang = hope.gang
    living = _living(hope, empty.offers(gang, hope.offers))
    if living is None or hope.satisfied:
        return _whole(hope, living)
    if not empty.holds(gang, hope.before, living):
        return None
    for name in evidence.path(gang.queue):
        for resource in evidence.named:
            rule = evidence.queues[name].rule(resource)
            most = [rule.limit] if gang.preemptible else [rule.limit, rule.quota]
            known = [x for x in most if x is not None]
            if not known:
                continue
            least = least_core(gang, hope.before, living, resource)
            if least and least + _sum(gang, hope.running, resource) > min(known):
                return None
    for resource in kept_anywhere(evidence):
        least = least_core(gang, hope.before, living, resource)
        held = least + _sum(gang, hope.running, resource)
        if least and not leaves_kept(evidence, gang.queue, resource, held):
            return None
    return _whole(hope, living)


def _living(hope: _Hope, offers: Mapping[str, int]) -> _Offers:
    """
    Cut offers to subtrees that could be satisfied; none when the root could not.
    """
    if hope.ordinary:
        return offers
    return usable(hope.gang, hope.before, offers)


def _whole(hope: _Hope, living: _Offers) -> _Offers:
    """
    Ask for all pending pods of the leaves that live; none for a gang that cannot.
    """
    if living is None:
        return None
    return {name: hope.offers[name] for name, pods in living.items() if pods}


def _sum(gang: Gang, pods: Mapping[str, int], resource: str) -> int:
    return sum(
        leaf.requests.get(resource, 0) * pods.get(leaf.name, 0)
        for leaf in pod_sets(gang.tree)
    )
