"""
The snapshot: everything one round may know, frozen at one moment.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from json import JSONEncoder
from operator import attrgetter

from models.gangs import Budget, Gang
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
    while work waited that fits.  ``also_waiting`` gangs wait and are not listed.
    """

    nodes: tuple[Node, ...] = ()
    gangs: Sequence[Gang] = ()
    queues: tuple[Queue, ...] = ()
    topologies: tuple[Topology, ...] = ()
    budgets: tuple[Budget, ...] = ()
    unchanged_for: int | None = None
    held: int = 0
    also_waiting: int = 0
    warnings: tuple[str, ...] = field(default=(), compare=False)


def content_hash(snapshot: Snapshot) -> str:
    """
    Hash what the snapshot says, whatever order it was written in.
    """
    digest = hashlib.sha256()
    for part in (
        snapshot.nodes,
        snapshot.gangs,
        snapshot.queues,
        snapshot.topologies,
        snapshot.budgets,
    ):
        for at in range(0, len(part), _AT_ONCE):
            digest.update(_WRITER.encode(part[at : at + _AT_ONCE]).encode())
        digest.update(b"\n")
    if snapshot.unchanged_for is not None:
        digest.update(str(snapshot.unchanged_for).encode())
    if snapshot.held or snapshot.also_waiting:
        digest.update(f"\n{snapshot.held} {snapshot.also_waiting}".encode())
    return f"sha256:{digest.hexdigest()}"


_AT_ONCE = 1000


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


_FIELDS: dict[type, Callable[[object], object]] = {}
_WRITER = JSONEncoder(sort_keys=True, separators=(",", ":"), default=_written)
