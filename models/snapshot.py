"""
The snapshot: everything one round may know, frozen at one moment.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from json import JSONEncoder

from models.gangs import DisruptionBudget, Gang
from models.memory.aged_gangs import ages_of, still
from models.memory.gang_digest import GangDigests, written
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
        self.of_gangs = GangDigests()
        self.gangs: Kept[Gang, bytes] = Kept(self.of_gangs.of)
        self.run_times: Kept[RunTimes, bytes] = Kept(_record_digest)


def hashed_ahead(snapshot: Snapshot, memo: HashMemo) -> Iterator[None]:
    """
    Hash nodes and gangs, a few at a time, so that ``content_hash`` finds them done.
    """
    yield from memo.nodes.ahead(snapshot.nodes)
    yield from memo.gangs.ahead(still(snapshot.gangs))


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
    memo.of_gangs.forget()
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


def _record_digest(record: RunTimes) -> bytes:
    rows = [(*kind, sorted(counts.items())) for kind, counts in record.ended.items()]
    said: list[object] = [*sorted(rows)]
    if record.levels:
        said.append(sorted(record.levels.items()))
    return hashlib.sha256(_WRITER.encode(said).encode()).digest()


def _digest(value: object) -> bytes:
    return hashlib.sha256(_WRITER.encode(value).encode()).digest()


_WRITER = JSONEncoder(
    sort_keys=True, separators=(",", ":"), check_circular=False, default=written
)
