"""
Traces: jobs with their moments, as somebody recorded them or made them up.

A job is a gang that is submitted, runs for its duration once it has started, and ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from models.devices.gpu_counts import in_gpus
from models.devices.gpu_parts import counts_as, part_of
from models.nodes import ANYWHERE, Node, NodeDemand
from models.queues import Queue
from models.resources import GPU, GPU_SHARE, SHARES_PER_GPU, Resources
from models.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """
    The identical pods of a job: how many, how many are needed, what each asks for.
    """

    name: str = ""
    pods: int
    minimum: int
    requests: Resources
    demand: NodeDemand = ANYWHERE
    exclusive: bool = False

    @property
    def shares(self) -> int:
        """
        Count the GPUs of one pod in 1/7000 of one, with parts of them.

        Until the GPUs of a cluster are known, memory of one counts as all of it.
        """
        if GPU_SHARE in self.requests:
            return self.requests[GPU_SHARE]
        part = part_of(self.requests)
        whole = self.requests.get(GPU, 0) * SHARES_PER_GPU
        return whole if part is None else whole + counts_as(part, ())

    @property
    def gpus(self) -> float:
        """
        Count the GPUs of one pod.
        """
        return in_gpus(self.shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    A gang with its moments, in whole seconds.

    ``failures`` are the seconds after which its first attempts fail; ``estimate`` is
    how long somebody said it would run at most.
    """

    name: str
    submit: int
    duration: int
    queue: str = "default"
    priority: int = 0
    preemptible: bool = True
    roles: tuple[Role, ...]
    failures: tuple[int, ...] = ()
    estimate: int | None = None

    @property
    def pods(self) -> int:
        """
        Count the pods of all roles.
        """
        return sum(role.pods for role in self.roles)

    @property
    def shares(self) -> int:
        """
        Count the GPUs of all pods in 1/7000 of one.
        """
        return sum(role.pods * role.shares for role in self.roles)

    @property
    def gpus(self) -> float:
        """
        Count the GPUs of all pods, with parts of them.
        """
        return in_gpus(self.shares)

    def asked(self, resource: str) -> int:
        """
        Add up what all pods ask for of a resource.
        """
        return sum(role.pods * role.requests.get(resource, 0) for role in self.roles)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """
    Jobs in the order of their submission, the first at second 0, with what was done.

    ``begins`` is when that was, where the trace knows; ``notes`` say what is not as it
    was recorded; ``repaired`` and ``left_out`` count rows by what was wrong with them;
    ``parts`` say where each part of a composite workload is from.
    """

    name: str
    form: str
    digest: str = ""
    begins: str | None = None
    jobs: tuple[Job, ...] = ()
    notes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    repaired: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def span(self) -> int:
        """
        Give the seconds from the first to the last submission.
        """
        return self.jobs[-1].submit if self.jobs else 0

    @cached_property
    def gpu_seconds(self) -> float:
        """
        Add up the work of all jobs.
        """
        return in_gpus(sum(job.shares * job.duration for job in self.jobs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """
    The cluster on which a trace is played: nodes, queues and topologies.
    """

    name: str
    nodes: tuple[Node, ...]
    queues: tuple[Queue, ...] = ()
    topologies: tuple[Topology, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def gpus(self) -> int:
        """
        Count the GPUs of all nodes.
        """
        return sum(node.allocatable.get(GPU, 0) for node in self.nodes)
