"""
Parts of GPUs in traces: a cluster counts pieces of its GPUs where a job asks for some.
"""

from dataclasses import replace

from models.devices.gpu_parts import (
    part_of,
    with_claimed,
    with_shares,
    with_shares_of_others,
)
from models.nodes import Node
from models.queues import with_shared_gpus
from models.resources import pieces_per_gpu
from models.trace import Floor, Job, Role, Trace

Roles = tuple[Role, ...]


def counting_parts(trace: Trace, floor: Floor) -> tuple[Trace, Floor]:
    """
    Let jobs, nodes and queues count parts of GPUs, if anybody asks for some.
    """
    offers = (node.allocatable for node in floor.nodes)
    if not (_asks_for_parts(trace) or pieces_per_gpu(offers) > 1):
        return trace, floor
    memories = frozenset(node.gpu_memory for node in floor.nodes if node.gpu_memory)
    known: dict[int, Roles] = {}

    def counted(job: Job) -> Job:
        roles = known.get(id(job.roles))
        if roles is None:
            roles = tuple(_counted(role, memories) for role in job.roles)
            known[id(job.roles)] = roles
        return replace(job, roles=roles)

    return (
        replace(trace, jobs=tuple(map(counted, trace.jobs))),
        replace(
            floor,
            nodes=tuple(map(_shared, floor.nodes)),
            queues=tuple(map(with_shared_gpus, floor.queues)),
        ),
    )


def _asks_for_parts(trace: Trace) -> bool:
    kinds = {id(job.roles): job.roles for job in trace.jobs}
    return any(part_of(role.requests) for roles in kinds.values() for role in roles)


def _counted(role: Role, memories: frozenset[int]) -> Role:
    asked = with_claimed(role.requests)
    return replace(role, requests=with_shares(asked, memories))


def _shared(node: Node) -> Node:
    return replace(
        node,
        allocatable=with_shares(node.allocatable, ()),
        used=with_shares_of_others(node.used, node.taken, node.gpu_memory),
    )
