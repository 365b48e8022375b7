"""
What the small model takes as given: counts, free room, queue paths, who may be planned.

Everything here follows from the snapshot alone; nothing decides anything.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor

from exact.devices import held_devices
from exact.trees import least_value, satisfied
from models.gangs import ON_A_NODE, Gang, MatchPolicy, PodPhase, PodSet, Tree, pod_sets
from models.nodes import Node
from models.queues import Queue, QueueResource
from models.resources import (
    GPU,
    GPU_SHARE,
    SHARES_PER_GPU,
    Resources,
    is_gpu,
    is_worth_nothing,
    num_gpus,
    summed,
    unit_of,
)
from models.snapshot import Snapshot

COUNTED: Mapping[MatchPolicy, tuple[PodPhase, ...]] = {
    MatchPolicy.ONLY_WAITING: (),
    MatchPolicy.WAITING_AND_RUNNING: (PodPhase.RUNNING,),
    MatchPolicy.WAITING_RUNNING_SUCCEED: (PodPhase.RUNNING, PodPhase.SUCCEEDED),
    MatchPolicy.ONCE_SATISFIED: (PodPhase.RUNNING, PodPhase.SUCCEEDED),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GangFacts:
    """
    One gang, with what it has and what it needs.

    ``paths`` is its queue path, leaf first; ``least`` the least value of the pods it
    still needs, ``None`` when no set of pending pods is enough.  ``free`` says that its
    pods are ordinary: no minimum binds them any more.
    """

    gang: Gang
    counted: Mapping[str, int]
    pending: Mapping[str, int]
    values: Mapping[str, int]
    path: tuple[str, ...]
    needy: bool
    ordinary: bool
    least: int | None
    plannable: bool
    mates: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    @property
    def bounding(self) -> tuple[str, ...]:
        """
        Its queue path, and those with whom it is outside of queues that keep room.
        """
        return self.path + self.outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    The snapshot as the small model reads it.

    ``leaving`` is the part of what queues hold that leaves whatever is planned, with
    the gangs that are ``stale``.
    """

    snapshot: Snapshot
    free: Mapping[str, Resources]
    named: tuple[str, ...]
    held: Mapping[tuple[str, str], int]
    held_hard: Mapping[tuple[str, str], int]
    leaving: Mapping[tuple[str, str], int]
    stale: frozenset[str]
    gangs: Mapping[str, GangFacts]


def gather(snapshot: Snapshot, stale: Collection[str] = ()) -> Facts:
    """
    Read everything the small model needs from a snapshot.

    Parameters
    ----------
    snapshot
        A small case.
    stale
        The stale gangs that leave whatever is planned: their pods hold what they have,
        and are leaving; nothing of them starts.
    """
    totals = summed(node.allocatable for node in snapshot.nodes)
    free = _free(snapshot)
    alone = {gang.key: _gang_facts(snapshot, totals, gang) for gang in snapshot.gangs}
    short = {
        gang.key for gang in snapshot.gangs if _short_of_minimum(snapshot, free, gang)
    }
    named = sorted({name for queue in snapshot.queues for name in queue.resources})
    return Facts(
        snapshot=snapshot,
        free=free,
        named=tuple(named),
        held=_held(alone, hard=False),
        held_hard=_held(alone, hard=True),
        leaving=_held({key: alone[key] for key in stale}, hard=False),
        stale=frozenset(stale),
        gangs=_with_groups(
            {k: _leaving(fact) if k in stale else fact for k, fact in alone.items()},
            short,
        ),
    )


def _leaving(fact: GangFacts) -> GangFacts:
    """
    Let all pods of a gang begin to leave.
    """
    gang = replace(fact.gang, tree=_left(fact.gang.tree))
    counted = dict.fromkeys(fact.counted, 0)
    return replace(fact, gang=gang, counted=counted)


def _left(tree: Tree) -> Tree:
    if not isinstance(tree, PodSet):
        return replace(tree, children=tuple(map(_left, tree.children)))
    ending = PodPhase.TERMINATING
    pods = tuple(
        replace(pod, phase=ending, seconds=0) if pod.phase is PodPhase.RUNNING else pod
        for pod in tree.pods
    )
    return replace(tree, pods=pods)


def pod_value(requests: Resources, totals: Resources) -> int:
    """
    Give a pod's value: 10^9 times its largest part of the cluster, rounded up.

    A GPU is rounded up by itself, and a thousandth of one where parts are counted, a
    CPU or GiB down, so that two are worth twice as much as one.  Whoever asks for more
    than a hundred clusters counts as a hundred.
    """
    parts = [
        _part(name, amount, totals[name])
        for name, amount in requests.items()
        if totals.get(name, 0) > 0 and not is_worth_nothing(name)
    ]
    return min(100 * 10**9, max([1, *parts]))


def _part(name: str, amount: int, total: int) -> int:
    whole = Fraction(10**9, total)
    if is_gpu(name) or name == GPU_SHARE:
        counted = Fraction(SHARES_PER_GPU, 1000) if name == GPU_SHARE else Fraction(1)
        return ceil(amount / counted * ceil(whole * counted))
    if whole * unit_of(name) < 100:
        return ceil(whole * amount)
    return ceil(Fraction(amount, unit_of(name)) * floor(whole * unit_of(name)))


def gpu_seconds(facts: Facts, requests: Resources, seconds: int) -> int:
    """
    Give what a pod runs in some seconds; one without GPUs by its part of the cluster.

    A cluster without GPUs counts as a thousand.
    """
    totals = summed(node.allocatable for node in facts.snapshot.nodes)
    gpus = num_gpus(requests)
    if gpus:
        return gpus * seconds
    part = pod_value(requests, totals) * (num_gpus(totals) or 1000)
    return (part * seconds + 10**9 - 1) // 10**9


def _gang_facts(snapshot: Snapshot, totals: Resources, gang: Gang) -> GangFacts:
    leaves = list(pod_sets(gang.tree))
    counted = {leaf.name: _count(leaf, *COUNTED[gang.match_policy]) for leaf in leaves}
    pending = {leaf.name: _count(leaf, PodPhase.PENDING) for leaf in leaves}
    values = {leaf.name: pod_value(leaf.requests, totals) for leaf in leaves}
    path = _path(snapshot, gang.queue)
    others = outsiders(snapshot)
    enough = satisfied(gang.tree, counted)
    once = gang.match_policy is MatchPolicy.ONCE_SATISFIED
    succeeded = gang.once_satisfied or (enough and any(counted.values()))
    ordinary = once and succeeded
    needy = not enough and not ordinary
    least = least_value(gang.tree, counted, pending, values) if needy else 0
    held = gang.timed_out or gang.refused is not None or gang.backoff > 0
    may = not held and _usable(snapshot, gang, path)
    return GangFacts(
        gang=gang,
        counted=counted,
        pending=pending,
        values=values,
        path=path,
        outside=tuple(o.name for o, members in others if gang.queue in members),
        needy=needy,
        ordinary=ordinary,
        least=least,
        plannable=may and least is not None,
    )


def _count(leaf: PodSet, *phases: PodPhase) -> int:
    return sum(pod.phase in phases for pod in leaf.pods)


def _path(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """
    Name the queue and its parents, ending at the root or at one that is missing.
    """
    queues = {queue.name: queue for queue in snapshot.queues}
    found: list[str] = []
    here: str | None = name if queues else None
    while here is not None and here not in found:
        found.append(here)
        here = queues[here].parent if here in queues else None
    return tuple(found)


def bounding(snapshot: Snapshot) -> list[Queue]:
    """
    List the queues, and those outside of queues that keep room as queues with a limit.
    """
    return [*snapshot.queues, *(queue for queue, _ in outsiders(snapshot))]


def outsiders(snapshot: Snapshot) -> list[tuple[Queue, set[str]]]:
    """
    Say for each set of queues that keep room what all others may hold.

    Below a queue with a limit, as below the whole cluster.  Where more is kept than
    there is, that much may be.
    """
    paths = {queue.name: _path(snapshot, queue.name) for queue in snapshot.queues}
    keeps = [queue for queue in snapshot.queues if queue.keeps]
    found = []
    for top in (_whole(snapshot), *snapshot.queues) if keeps else ():
        inner = [q for q in keeps if not top.name or top.name in paths[q.name][1:]]
        for picks in product((False, True), repeat=len(inner)):
            some = [q for q, pick in zip(inner, picks, strict=True) if pick]
            names = {q.name for q in some}
            if not names or any(names & set(paths[name][1:]) for name in names):
                continue
            members = {
                name
                for name, path in paths.items()
                if (not top.name or top.name in path) and not names & set(path)
            }
            name = f"{top.name} but {sorted(names)}"
            rules = _less_kept(snapshot, top, some)
            found.append((Queue(name=name, resources=rules), members))
    return found


def when_empty(node: Node, name: str) -> int:
    """
    Give what a node has of a resource once all pods of ours have left.
    """
    return max(0, node.offers(name))


def _whole(snapshot: Snapshot) -> Queue:
    """
    Give the cluster as a queue without a name that holds all that there is.
    """
    totals = summed(
        {name: when_empty(node, name) for name in node.allocatable}
        for node in snapshot.nodes
    )
    rules = {name: QueueResource(limit=most) for name, most in totals.items()}
    return Queue(name="", resources=rules)


def _less_kept(
    snapshot: Snapshot, top: Queue, keeping: list[Queue]
) -> dict[str, QueueResource]:
    found = {}
    for resource in {name for queue in snapshot.queues for name in queue.resources}:
        kept = sum(queue.rule(resource).kept for queue in keeping)
        most = top.rule(resource).limit
        if most is not None:
            most = max(most, _all_kept(snapshot, top.name, resource)) - kept
        found[resource] = QueueResource(quota=None, limit=most if kept else None)
    return found


def _all_kept(snapshot: Snapshot, top: str, resource: str) -> int:
    """
    Add up what is kept below a queue, or in the whole cluster.
    """
    names = {queue.name for queue in snapshot.queues}
    return sum(
        max(queue.rule(resource).kept, _all_kept(snapshot, queue.name, resource))
        for queue in snapshot.queues
        if (queue.parent if queue.parent in names else "") == top
    )


def _usable(snapshot: Snapshot, gang: Gang, path: tuple[str, ...]) -> bool:
    """
    Tell whether a gang's queue is an open leaf, below open queues that exist.
    """
    queues = {queue.name: queue for queue in snapshot.queues}
    return all(name in queues and queues[name].open for name in path) and not any(
        queue.parent == gang.queue for queue in snapshot.queues
    )


def _free(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """
    Take from each node what others use and what our pods there still hold.
    """
    free = {
        node.name: {
            name: node.allocatable.get(name, 0) - node.used.get(name, 0)
            for name in {**node.allocatable, **node.used}
        }
        for node in snapshot.nodes
    }
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                holds = pod.phase in ON_A_NODE
                room = free.get(pod.node or "")
                if holds and room is not None:
                    for name, amount in leaf.requests.items():
                        room[name] = room.get(name, 0) - amount
    for at, held in _free_pieces(snapshot):
        for name, amount in held.items():
            free[at][name] = free[at].get(name, 0) + amount
    counted = {x.name: {one.device for one in x.taken} for x in snapshot.nodes}
    for name, devices in held_devices(snapshot).items():
        if name in free and GPU in free[name]:
            free[name][GPU] -= len(devices - counted[name])
    return free


def _free_pieces(snapshot: Snapshot) -> Iterator[tuple[str, Resources]]:
    """
    Walk what the pieces of nodes hold to which nobody is tied.
    """
    tied = {
        (pod.node, number)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.phase in ON_A_NODE
        for number in pod.tied
    }
    for node in snapshot.nodes:
        for number, held in enumerate(node.tied):
            if (node.name, number) not in tied:
                yield node.name, held


def _held(gangs: Mapping[str, GangFacts], *, hard: bool) -> dict[tuple[str, str], int]:
    """
    Sum what runs per (queue, resource); ``hard`` counts non-preemptible work only.
    """
    held: dict[tuple[str, str], int] = {}
    for fact in gangs.values():
        if hard and fact.gang.preemptible:
            continue
        for leaf in pod_sets(fact.gang.tree):
            running = _count(leaf, PodPhase.RUNNING)
            for queue in fact.bounding:
                for name, amount in leaf.requests.items():
                    key = queue, name
                    held[key] = held.get(key, 0) + running * amount
    return held


def _with_groups(
    gangs: Mapping[str, GangFacts], short: set[str]
) -> dict[str, GangFacts]:
    """
    Settle who starts with whom, and who waits because its group cannot start.
    """
    whole = {key: _group_holds(key, gangs) for key in gangs}
    result: dict[str, GangFacts] = {}
    for key, fact in gangs.items():
        needy = [m for m in fact.gang.mates if m != key and whole[key]]
        needy = [m for m in needy if m in gangs and gangs[m].needy]
        mates = tuple(sorted(needy)) if fact.needy else ()
        team = (key, *mates)
        ok = all(gangs[m].plannable and whole[m] for m in team)
        ok = ok and not (fact.needy and short.intersection(team))
        result[key] = replace(fact, mates=mates, plannable=ok)
    return result


def _group_holds(key: str, gangs: Mapping[str, GangFacts]) -> bool:
    """
    Tell whether all that a list names hold the same list, and exist if it matters.
    """
    names = set(gangs[key].gang.mates)
    if not names:
        return True
    there = {name for name in names if name in gangs}
    complete = there == names or not gangs[key].needy
    same = all(set(gangs[name].gang.mates) == names for name in there)
    return key in names and complete and same


def _short_of_minimum(
    snapshot: Snapshot, free: Mapping[str, Resources], gang: Gang
) -> bool:
    """
    Tell whether the free total of usable nodes is short of a gang's minResources.
    """
    usable = [free[node.name] for node in snapshot.nodes if not node.unschedulable]
    return any(
        sum(max(0, room.get(name, 0)) for room in usable) < amount
        for name, amount in gang.min_resources.items()
    )


def leaves_below(tree: Tree) -> list[str]:
    """
    Name the leaves below a tree node.
    """
    return [leaf.name for leaf in pod_sets(tree)]
