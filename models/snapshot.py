"""
The snapshot: everything one round may know, frozen at one moment.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from json import JSONEncoder
from operator import attrgetter

from models.gangs import DisruptionBudget, Gang, Pod, pod_sets
from models.memory.aged_gangs import PLACED, ages_of, still
from models.memory.kept import Kept
from models.memory.run_times import NOTHING_SEEN, RunTimes
from models.memory.start_record import NO_STARTS, StartRecord
from models.nodes import Node
from models.queues import Queue
from models.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """
    Nodes, gangs, queues and topologies, each sorted by name.

    An empty ``queues`` means that no queue was said anywhere: one without bounds.
    ``unchanged_for`` is for how many seconds nothing but our own plans changed what is
    here: no gang came, ended or failed, and no node, queue or budget changed.
    ``held`` are the GPU-seconds of the policy's last window that idled, held for heads,
    while work waited that fits.  ``also_waiting`` says of how many GPUs how
    many gangs wait that are not listed.
    ``run_times`` is for how long gangs ran that have ended; ``starts``, by which nobody
    plans, how those that waited started.
    """

    nodes: tuple[Node, ...] = ()
    gangs: Sequence[Gang] = ()
    queues: tuple[Queue, ...] = ()
    topologies: tuple[Topology, ...] = ()
    budgets: tuple[DisruptionBudget, ...] = ()
    unchanged_for: int | None = None
    held: int = 0
    also_waiting: tuple[tuple[int, int], ...] = ()
    run_times: RunTimes = NOTHING_SEEN
    starts: StartRecord = field(default=NO_STARTS, compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)


class HashMemo:
    """
    The digests of nodes and gangs, kept for as long as these are the same.
    """

    def __init__(self) -> None:
        self.nodes: Kept[Node, bytes] = Kept(_digest)
        self.gangs: Kept[Gang, bytes] = Kept(_gang_digest)
        self.run_times: Kept[RunTimes, bytes] = Kept(_record_digest)


def content_hash(snapshot: Snapshot, memo: HashMemo | None = None) -> str:
    """
    Hash what the snapshot says, whatever order it was written in.

    A gang counts as it was when its age was nought, and its age beside that, so that
    little is new where only time has passed.  With any ``memo`` it is the same.
    """
    memo = memo or HashMemo()
    digest = hashlib.sha256()
    for row in (memo.nodes.of(snapshot.nodes), memo.gangs.of(still(snapshot.gangs))):
        digest.update(b"".join(row))
        digest.update(f"\n{len(row)}\n".encode())
    digest.update(_WRITER.encode(ages_of(snapshot.gangs)).encode())
    for part in (snapshot.queues, snapshot.topologies, snapshot.budgets):
        digest.update(_WRITER.encode(part).encode())
        digest.update(b"\n")
    if snapshot.unchanged_for is not None:
        digest.update(str(snapshot.unchanged_for).encode())
    if snapshot.held or snapshot.also_waiting:
        digest.update(f"\n{snapshot.held} {snapshot.also_waiting}".encode())
    if snapshot.run_times:
        digest.update(memo.run_times.of([snapshot.run_times])[0])
    return f"sha256:{digest.hexdigest()}"


def _gang_digest(gang: Gang) -> bytes:
    """
    Hash a gang with its times before or after those of its age: these never change.
    """
    born, stale = -gang.age, gang.stale_since
    times = [None if stale is None else stale + born]
    times += [
        pod.seconds + born if pod.phase in PLACED else pod.seconds
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    ]
    text = f"{_TIMELESS.encode(gang)}\n{times}"
    return hashlib.sha256(text.encode()).digest()


def _record_digest(record: RunTimes) -> bytes:
    rows = [(*kind, sorted(counts.items())) for kind, counts in record.ended.items()]
    return hashlib.sha256(_WRITER.encode(sorted(rows)).encode()).digest()


def _timeless(value: object) -> object:
    """
    Give the fields of a gang or pod that time does not change, all those of others.
    """
    if isinstance(value, Pod):
        said = value.name, value.phase, value.node, value.uid
        return (*said, value.devices) if value.devices else said
    if isinstance(value, Gang):
        return _OF_GANG(value)
    return _written(value)


def _digest(value: object) -> bytes:
    return hashlib.sha256(_WRITER.encode(value).encode()).digest()


def _written(value: object) -> object:
    """
    Give the fields of a record that decide anything, in their order.
    """
    getter = _FIELDS.get(type(value))
    if getter is not None:
        return getter(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value):
        names = (entry.name for entry in fields(value) if entry.compare)
        _FIELDS[type(value)] = attrgetter(*names)
    return _FIELDS[type(value)](value)


_AGES = frozenset({"age", "stale_since"})
_OF_GANG = attrgetter(*(f.name for f in fields(Gang) if f.name not in _AGES))
_FIELDS: dict[type, Callable[[object], object]] = {}
_WRITER = JSONEncoder(
    sort_keys=True, separators=(",", ":"), check_circular=False, default=_written
)
_TIMELESS = JSONEncoder(
    sort_keys=True, separators=(",", ":"), check_circular=False, default=_timeless
)
