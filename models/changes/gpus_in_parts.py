"""
A snapshot in which GPUs count with parts of them, as where somebody asks for parts.
"""

from collections.abc import Sequence
from dataclasses import replace

from models.devices.gpu_parts import with_shares, with_shares_of_others
from models.gangs import Gang, asking_otherwise
from models.queues import say_parts, with_shared_gpus
from models.resources import GPU_SHARE, Resources
from models.snapshot import Snapshot


def counts_parts(snapshot: Snapshot) -> bool:
    """
    Tell whether GPUs count with their parts.
    """
    offers = any(GPU_SHARE in node.allocatable for node in snapshot.nodes)
    return offers or say_parts(snapshot.queues)


def counting_parts(snapshot: Snapshot) -> Snapshot:
    """
    Let GPUs count with their parts; where they do it stays as it is.
    """
    if counts_parts(snapshot):
        return snapshot
    nodes = (
        replace(
            node,
            allocatable=with_shares(node.allocatable, ()),
            used=with_shares_of_others(node.used, node.taken, node.gpu_memory),
        )
        for node in snapshot.nodes
    )
    return replace(
        snapshot,
        nodes=tuple(nodes),
        gangs=_counted(snapshot),
        queues=tuple(map(with_shared_gpus, snapshot.queues)),
    )


def _counted(snapshot: Snapshot) -> Sequence[Gang]:
    memories = frozenset(node.gpu_memory for node in snapshot.nodes)

    def counted(asked: Resources) -> Resources:
        return with_shares(asked, memories)

    return tuple(
        replace(gang, tree=asking_otherwise(gang.tree, counted))
        for gang in snapshot.gangs
    )
