"""
The snapshot: everything one round may know, frozen at one moment.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass

from models.gangs import Budget, Gang
from models.nodes import Node
from models.queues import Queue
from models.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """
    Nodes, gangs, queues and topologies, each sorted by name.

    An empty ``queues`` means that no queue was said anywhere: one without bounds.
    """

    nodes: tuple[Node, ...] = ()
    gangs: tuple[Gang, ...] = ()
    queues: tuple[Queue, ...] = ()
    topologies: tuple[Topology, ...] = ()
    budgets: tuple[Budget, ...] = ()
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
        for record in part:
            digest.update(repr(_canonical(record)).encode())
    return f"sha256:{digest.hexdigest()}"


def _canonical(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(
            _canonical(getattr(value, name)) for name in value.__dataclass_fields__
        )
    if isinstance(value, Mapping):
        return tuple(sorted((str(k), _canonical(v)) for k, v in value.items()))
    if isinstance(value, tuple | list):
        return tuple(map(_canonical, value))
    return value
