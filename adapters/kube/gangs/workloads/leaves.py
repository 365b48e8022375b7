"""
Pods of one leaf: their order, their shapes, and what planning counts of each.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from adapters.kube.dialects.defaults import INDEX_LABELS
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import FINISHED, ON_A_NODE, Pod, PodPhase
from models.neighbours import ALONE, Neighbours
from models.nodes import ANYWHERE, NodeDemand
from models.resources import LONGEST_SECONDS, PODS, Resources

ROOT = ""
_LAST_NUMBER = re.compile(r"(\d{1,18})\D*$", re.ASCII)
_NO_INDEX = 10**18
_UNKNOWN: Resources = {PODS: 1}


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
    neighbours: Neighbours = ALONE


def with_labels(
    labels: tuple[tuple[str, str], ...], members: list[Member]
) -> list[Member]:
    """
    Let pods demand the labels of nodes that their gang demands.
    """
    if not labels:
        return members
    return [
        replace(
            m,
            pod=replace(
                m.pod,
                demand=replace(
                    m.pod.demand,
                    selector=tuple(sorted({*m.pod.demand.selector, *labels})),
                ),
            ),
        )
        for m in members
    ]


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


by_index = attrgetter("index")
"""
The place of a member among those of its leaf, as a key to sort by.
"""


def is_unfinished(pod: PodRecord) -> bool:
    """
    Tell whether a pod is not finished.
    """
    return pod.phase not in FINISHED


def shapes_of(members: Sequence[Member]) -> list[Sequence[Member]]:
    """
    Part a leaf's pods by shape, in index order; at least one part, be it empty.

    Placed pods ask for nothing but their room and where their volumes are, and finished
    ones for nothing at all: they go with others where they can.
    """
    if len({id(m.pod.requests) for m in members}) <= 1 and (
        len({(id(m.pod.demand), m.exclusive, m.neighbours) for m in members}) <= 1
    ):
        return [members]
    finished = [member for member in members if member.pod.phase in FINISHED]
    parts = _by_shape(m for m in members if m.pod.phase not in FINISHED)
    if not parts:
        return [finished]
    shapes = sorted(
        (sorted(part, key=by_index) for part in parts.values()),
        key=lambda part: part[0].index,
    )
    if finished:
        shapes[0] = sorted([*shapes[0], *finished], key=by_index)
    return [*shapes]


def _by_shape(members: Iterable[Member]) -> dict[object, list[Member]]:
    """
    Part pods by what they ask for; placed ones go with others that want their room.
    """
    amounts: dict[int, frozenset[tuple[str, int]]] = {}
    parts: dict[object, list[Member]] = {}
    placed: list[tuple[object, Member]] = []
    homes: dict[object, object] = {}
    for member in members:
        pod = member.pod
        wanted = amounts.get(id(pod.requests))
        if wanted is None:
            wanted = amounts[id(pod.requests)] = frozenset(pod.requests.items())
        # What is only preferred parts no pods.
        room = wanted, member.exclusive, member.neighbours.required()
        if pod.phase in ON_A_NODE and not pod.demand.volumes:
            placed.append((room, member))
            continue
        shape = room, pod.demand
        homes.setdefault(room, shape)
        parts.setdefault(shape, []).append(member)
    for at, member in placed:
        parts.setdefault(homes.setdefault(at, (at, None)), []).append(member)
    return parts


def wanted_by(members: Sequence[Member]) -> tuple[Resources, NodeDemand]:
    """
    Give what the pods of one shape ask for: one that waits says it best.
    """
    best: PodRecord | None = None
    for member in members:
        pod = member.pod
        if pod.phase not in FINISHED and pod.phase not in ON_A_NODE:
            return pod.requests, pod.demand
        if best is None or (best.phase in FINISHED and is_unfinished(pod)):
            best = pod
    return (best.requests, best.demand) if best is not None else (_UNKNOWN, ANYWHERE)


def neighbours_of(members: Sequence[Member]) -> Neighbours:
    """
    Give what is said of the pods of one shape that are not finished.

    What they prefer may differ: that of the first that waits is taken.
    """
    alive = [m for m in members if is_unfinished(m.pod)]
    first = next((m for m in alive if m.pod.node is None), alive[0] if alive else None)
    return ALONE if first is None else first.neighbours


def gates_of(members: Sequence[Member]) -> tuple[str, ...]:
    """
    Name the gates that hold pods back, each once.
    """
    gated = (m.pod for m in members if m.pod.phase is PodPhase.GATED)
    return tuple(sorted({gate for pod in gated for gate in pod.gates}))


def pod_of(pod: PodRecord, now: float) -> Pod:
    """
    Make the record of a pod as planning counts it.
    """
    phase = pod.phase
    if phase is PodPhase.RUNNING:
        since = pod.created if pod.started is None else pod.started
        ran, uid = elapsed(since, now), pod.uid or None
        return Pod(pod.name, phase, pod.node, ran, uid, tied=pod.tied)
    if phase is PodPhase.TERMINATING:
        left = elapsed(pod.deleted, now)
        return Pod(pod.name, phase, pod.node, left, pod.uid or None, tied=pod.tied)
    return Pod(pod.name, phase, None, 0, pod.uid or None)


def ages(since: float, now: int) -> bool:
    """
    Tell whether the time since then grows as the clock goes, also in years.
    """
    return since < now < since + LONGEST_SECONDS / 2


def elapsed(since: float | None, now: float) -> int:
    """
    Give the whole seconds since a time; none where it is not known, or not yet.

    What is longer than any duration that we count is as long as that.
    """
    if since is None or now <= since:
        return 0
    return int(min(now - since, LONGEST_SECONDS))
