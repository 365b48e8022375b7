"""
Who may be planned at all: the reasons that need no look at capacity.
"""

from collections.abc import Mapping, Sequence

from models.gangs import Gang, MatchPolicy, PodPhase
from models.memory.aged_gangs import mates_by_name
from models.snapshot import Snapshot
from models.why.reasons import Facts, Reason, Waiting, listed
from solver.problem.gang_state import Leaf, Standing, least_need
from solver.problem.node_room import Room
from solver.shares.queue_tree import QueueTree


def blocked_gangs(
    snapshot: Snapshot,
    states: Mapping[str, Standing],
    queues: QueueTree,
    room: Room,
) -> dict[str, Waiting]:
    """
    Name every gang that cannot be planned as things are, with its first reason.
    """
    lists = mates_by_name(snapshot.gangs)
    blocked: dict[str, Waiting] = {}
    for key, state in states.items():
        if not state.num_pending and state.satisfied:
            continue
        waiting = (
            state.gang.refused
            or _group_conflict(state.gang, lists)
            or _queue_reason(state.gang.queue, queues)
            or _readiness(state)
            or _missing_mates(state, lists)
            or _held(state.gang)
            or _short_of_minimum(state, snapshot, room)
        )
        if waiting is not None:
            blocked[key] = waiting
    return spread_to_groups(states, blocked)


def takes_no_work(queue: str, queues: QueueTree) -> bool:
    """
    Tell whether no pod gets a place in a queue, not even for the one that it has.
    """
    return _queue_reason(queue, queues) is not None


def gets_no_place(gang: Gang, lists: Mapping[str, tuple[str, ...]]) -> bool:
    """
    Tell whether none of a gang's pods gets a place, not even for the one it has.
    """
    reason = gang.refused or _held(gang) or _group_conflict(gang, lists)
    return reason is not None


def spread_to_groups(
    states: Mapping[str, Standing], blocked: Mapping[str, Waiting]
) -> dict[str, Waiting]:
    """
    Block the unsatisfied members of a group in which one cannot start.
    """
    result = dict(blocked)
    for key, state in states.items():
        if key in blocked or state.satisfied:
            continue
        for mate in state.gang.mates:
            other = states.get(mate)
            if mate in blocked and other is not None and not other.satisfied:
                why = blocked[mate].reason.value
                facts: Facts = {
                    "mate": mate,
                    "why": f"cannot start: {why}",
                    "cause": why,
                }
                result[key] = Waiting(Reason.WAITING_FOR_GROUP, facts)
                break
    return result


def _group_conflict(gang: Gang, lists: Mapping[str, tuple[str, ...]]) -> Waiting | None:
    mates = gang.mates
    if not mates:
        return None
    wanted = set(mates)
    if gang.key not in mates:
        detail = "its group list does not name itself"
        return Waiting(Reason.CONFIG_CONFLICT, {"detail": detail})
    for mate in mates:
        held = lists.get(mate, mates)
        if held != mates and set(held) != wanted:
            detail = f"{mate} does not hold the same group list"
            return Waiting(Reason.CONFIG_CONFLICT, {"detail": detail, "mate": mate})
    return None


def _missing_mates(
    state: Standing, lists: Mapping[str, tuple[str, ...]]
) -> Waiting | None:
    for mate in state.gang.mates:
        if mate not in lists and not state.satisfied:
            facts: Facts = {"mate": mate, "why": "does not exist", "cause": "missing"}
            return Waiting(Reason.WAITING_FOR_GROUP, facts)
    return None


def _queue_reason(name: str, queues: QueueTree) -> Waiting | None:
    if not queues.queues:
        return None
    if name not in queues.queues:
        return _not_found(name, queues)
    if name in queues.parents:
        detail = f"queue {name} has queues below it, and gangs belong in leaf queues"
        return Waiting(Reason.INVALID_GANG, {"detail": detail, "queue": name})
    path = queues.chain(name)
    top = queues.queues[path[-1]]
    if top.parent is not None:
        return _not_found(top.parent, queues)
    for above in path:
        if not queues.queues[above].open:
            return Waiting(Reason.QUEUE_CLOSED, {"queue": above})
    return None


def _not_found(name: str, queues: QueueTree) -> Waiting:
    facts: Facts = {"queue": name}
    if near := queues.nearest(name):
        facts["nearest"] = near
    return Waiting(Reason.QUEUE_NOT_FOUND, facts)


def _readiness(state: Standing) -> Waiting | None:
    if state.satisfied:
        return None
    if least_need(state, lambda _: 1) is not None:
        return None
    leaf = next((x for x in state.leaves if x.need > len(x.pending)), None)
    facts = _short_node(state) if leaf is None else _short_leaf(leaf)
    facts |= _held_back(state.leaves if leaf is None else (leaf,))
    is_running = any(leaf.running for leaf in state.leaves)
    if is_running and state.gang.match_policy is MatchPolicy.ONLY_WAITING:
        facts["where"] = f"{facts.get('where', '')} (running pods do not count)"
    return Waiting(Reason.WAITING_FOR_PODS, facts)


def _short_leaf(leaf: Leaf) -> Facts:
    facts: Facts = {
        "have": leaf.counted + len(leaf.pending),
        "needs": leaf.minimum,
    }
    return facts | ({"where": f" in {leaf.path}"} if leaf.path else {})


def _held_back(leaves: Sequence[Leaf]) -> Facts:
    """
    Count the pods that gates hold back, that terminate, and that do not exist yet.
    """
    sets = [leaf.pod_set for leaf in leaves]
    gated = sum(pod.phase is PodPhase.GATED for x in sets for pod in x.pods)
    ends = sum(pod.phase is PodPhase.TERMINATING for x in sets for pod in x.pods)
    missing = sum(max(0, x.replicas - len(x.pods)) for x in sets)
    gates = sorted({gate for x in sets for gate in x.gates})
    facts: Facts = {"gated": gated} if gated else {}
    facts |= {"gates": listed(gates, "gate")} if gated and gates else {}
    facts |= {"terminating": ends} if ends else {}
    return facts | ({"missing": missing} if missing else {})


def _short_node(state: Standing) -> Facts:
    """
    Find the tree node that all pending pods together do not satisfy, from below.
    """
    pods = [leaf.counted + len(leaf.pending) for leaf in state.leaves]
    for node in reversed(state.nodes):
        have = sum(pods[i] for i in node.leaves)
        where = f" in {node.path}" if node.path else ""
        if have < node.min_pods:
            return {"have": have, "needs": node.min_pods, "where": where}
        below = [state.nodes[child] for child in node.children]
        filled = sum(any(pods[i] for i in child.leaves) for child in below)
        if filled < node.min_groups:
            return {
                "have": filled,
                "needs": node.min_groups,
                "where": f"{where} in as many groups",
            }
    return {"have": sum(pods), "needs": sum(pods) + 1}


def _held(gang: Gang) -> Waiting | None:
    if gang.timed_out:
        return Waiting(Reason.TIMED_OUT)
    if gang.backoff > 0:
        return Waiting(Reason.BIND_REJECTED, {"seconds": gang.backoff})
    return None


def _short_of_minimum(
    state: Standing, snapshot: Snapshot, room: Room
) -> Waiting | None:
    """
    Hold a gang whose ``minResources`` exceed the free total.
    """
    if state.satisfied:
        return None
    for name, least in state.gang.min_resources.items():
        if name in room.resources:
            column = room.resources.index(name)
            usable = [i for i, n in enumerate(room.nodes) if not n.unschedulable]
            free = int(room.now[usable, column].clip(min=0).sum())
        else:
            free = sum(
                max(0, n.offers(name)) for n in snapshot.nodes if not n.unschedulable
            )
        if free < least:
            facts: Facts = {"resource": name, "needs": least, "free": free}
            facts["where"] = " as its minResources"
            return Waiting(Reason.INSUFFICIENT_CAPACITY, facts)
    return None
