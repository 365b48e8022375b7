"""
What people write in scenario and snapshot files, field by field.

Only the shape of a file is judged here; what must agree across it is judged where
files are read.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from models.dialects import DialectChoice
from models.documents.expect import Expect
from models.documents.place_specs import (
    AffinitySpec,
    DeviceNumber,
    GpuDeviceSpec,
    GpuSpec,
    HostPortSpec,
    MigSpec,
    NeighboursSpec,
    OthersSpec,
    PortNumber,
    ReachedSpec,
    Spec,
    TaintSpec,
    TakenSpec,
    TolerationSpec,
    VolumeSpec,
)
from models.documents.queue_specs import QueueSpec
from models.documents.run_time_specs import RunKindSpec, RunTimeLevelsSpec, RunTimesSpec
from models.documents.written import (
    Capacity,
    Count,
    Demand,
    DeviceMemory,
    GangName,
    LabelKey,
    Labels,
    LeafName,
    Number,
    PlainName,
    Priority,
    Seconds,
    SignedSeconds,
    Total,
)
from models.memory.run_times import ASKED, MOST_KINDS
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.reasons import Reason

MOST_MATES = 1000
OnDevices = list[DeviceNumber | GpuDeviceSpec]
"""
The devices that each of some pods has, or has parts of.
"""


class NodeSpec(Spec):
    """
    One node, or ``count`` of them that differ by name only.
    """

    name: PlainName
    count: Count = 1
    allocatable: Capacity
    labels: Labels = Field(default_factory=dict)
    taints: list[TaintSpec] = Field(default_factory=list)
    unschedulable: bool = False
    used: Demand = Field(default_factory=dict)
    tied: list[Demand] = Field(default_factory=list, max_length=64)
    gpu_model: str = Field("", alias="gpuModel")
    gpu_memory: DeviceMemory = Field(0, alias="gpuMemory")
    mig: MigSpec | None = None
    taken: list[TakenSpec] = Field(default_factory=list, max_length=64)
    others: list[OthersSpec] = Field(default_factory=list, max_length=1000)
    volumes: list[ReachedSpec] = Field(
        default_factory=list, alias="freeVolumes", max_length=1000
    )


class TopologySpec(Spec):
    """
    Node labels that name domains, outermost first.
    """

    name: PlainName
    levels: list[LabelKey] = Field(min_length=1, max_length=16)


class TopologyDemandSpec(Spec):
    """
    A level that must, or should, hold all pods below a tree node in one domain.
    """

    name: str | None = None
    required: str | None = None
    preferred: str | None = None


class RunningSpec(Spec):
    """
    Pods that run on a node, and for how long.
    """

    node: PlainName
    pods: Count = 1
    seconds: Seconds = Field(0, alias="for")
    devices: OnDevices = Field(default_factory=list)
    tied: list[DeviceNumber] = Field(default_factory=list, max_length=64)


class TerminatingSpec(Spec):
    """
    Pods that are leaving a node.
    """

    node: PlainName
    pods: Count = 1
    seconds: Seconds = Field(0, alias="since")
    devices: OnDevices = Field(default_factory=list)
    tied: list[DeviceNumber] = Field(default_factory=list, max_length=64)


class ReservedSpec(Spec):
    """
    Pods that have a place on a node and wait until it is free.
    """

    node: PlainName
    pods: Count = 1
    devices: OnDevices = Field(default_factory=list)


class TreeSpec(NeighboursSpec):
    """
    A node of a gang's tree: a leaf with pods, or an inner node with ``groups``.
    """

    topology: TopologyDemandSpec | None = None
    groups: "list[GroupSpec] | None" = None
    min_groups: Number | None = Field(None, alias="minGroups")
    min_pods: Number | None = Field(None, alias="minPods")
    min: Number | None = None
    replicas: Number | None = None
    created: Number | None = None
    names: list[PlainName] | None = None
    gated: Number = 0
    gates: list[str] = Field(default_factory=list)
    succeeded: Number = 0
    failed: Number = 0
    requests: Demand = Field(default_factory=dict)
    gpu: GpuSpec | None = None
    node_selector: Labels = Field(default_factory=dict, alias="nodeSelector")
    affinity: AffinitySpec | None = None
    tolerations: list[TolerationSpec] = Field(default_factory=list)
    volumes: list[VolumeSpec] = Field(default_factory=list)
    host_ports: list[PortNumber | HostPortSpec] = Field(
        default_factory=list, alias="hostPorts", max_length=32
    )
    exclusive: bool = False
    after: list[str] = Field(default_factory=list)
    running: list[RunningSpec] = Field(default_factory=list)
    terminating: list[TerminatingSpec] = Field(default_factory=list)
    reserved: list[ReservedSpec] = Field(default_factory=list)


LEAF_FIELDS = {
    "min": "min",
    "replicas": "replicas",
    "created": "created",
    "names": "names",
    "gated": "gated",
    "gates": "gates",
    "succeeded": "succeeded",
    "failed": "failed",
    "requests": "requests",
    "gpu": "gpu",
    "node_selector": "nodeSelector",
    "affinity": "affinity",
    "tolerations": "tolerations",
    "volumes": "volumes",
    "host_ports": "hostPorts",
    "selected": "selectedBy",
    "near": "podAffinity",
    "apart": "podAntiAffinity",
    "spread": "topologySpread",
    "claims": "claims",
    "shared": "sharedClaims",
    "exclusive": "exclusive",
    "after": "after",
    "running": "running",
    "terminating": "terminating",
    "reserved": "reserved",
}
INNER_FIELDS = {"min_groups": "minGroups", "min_pods": "minPods"}


class GroupSpec(TreeSpec):
    """
    A named child in a gang's tree.
    """

    name: LeafName


class RefusedSpec(Spec):
    """
    Why a gang cannot be planned as its own system says it.
    """

    reason: Annotated[Reason, Field(strict=False)]
    facts: dict[str, str | int] = Field(default_factory=dict)


class GangSpec(TreeSpec):
    """
    One gang, or ``count`` of them that differ by name only.
    """

    name: GangName
    namespace: LeafName = "default"
    count: Count = 1
    queue: PlainName = "default"
    priority: Priority = 0
    preemptible: bool = True
    age: Seconds = 0
    mates: list[str] = Field(default_factory=list, alias="group", max_length=MOST_MATES)
    match_policy: Literal[
        "only-waiting",
        "waiting-and-running",
        "waiting-running-succeed",
        "once-satisfied",
    ] = Field("waiting-and-running", alias="matchPolicy")
    mode: Literal["Strict", "NonStrict"] = "Strict"
    once_satisfied: bool = Field(default=False, alias="onceSatisfied")
    timed_out: bool = Field(default=False, alias="timedOut")
    backoff: Seconds = 0
    min_resources: Total = Field(default_factory=dict, alias="minResources")
    waiting_time: Seconds | None = Field(None, alias="waitingTime")
    max_runtime: Seconds | None = Field(None, alias="maxRuntime")
    stale_after: SignedSeconds | None = Field(None, alias="staleAfter")
    stale_since: Seconds | None = Field(None, alias="staleSince")
    evicted_ago: Seconds | None = Field(None, alias="evictedAgo")
    passed_over: Seconds = Field(0, alias="passedOver")
    held_for: Seconds = Field(0, alias="heldFor")
    held_first: Seconds | None = Field(None, alias="heldFirst")
    lent_by: list[str] = Field(default_factory=list, alias="lentBy", max_length=64)
    runs_like: RunKindSpec | None = Field(None, alias="runsLike")
    refused: RefusedSpec | None = None


class BudgetSpec(Spec):
    """
    How many pods of some gangs may still be disturbed.
    """

    name: PlainName
    gangs: list[str]
    allowed: Number


class AlsoWaitingSpec(Spec):
    """
    Gangs that wait and are not listed: how many there are that need so many GPUs.
    """

    gpus: Number
    gangs: Number

    @property
    def pair(self) -> tuple[int, int]:
        """
        Give both numbers.
        """
        return self.gpus, self.gangs


class Given(Spec):
    """
    What is: the snapshot, in any order; instead of all lists, objects as they are.
    """

    nodes: list[NodeSpec] = Field(default_factory=list)
    topologies: list[TopologySpec] = Field(default_factory=list)
    queues: list[QueueSpec] = Field(default_factory=list)
    gangs: list[GangSpec] = Field(default_factory=list)
    budgets: list[BudgetSpec] = Field(default_factory=list)
    unchanged_for: Seconds | None = Field(None, alias="unchangedFor")
    held: Seconds = 0
    also_waiting: list[AlsoWaitingSpec] = Field(
        default_factory=list, alias="alsoWaiting", max_length=MOST_KINDS
    )
    run_times: list[RunTimesSpec] = Field(
        default_factory=list, alias="runTimes", max_length=MOST_KINDS
    )
    run_time_levels: list[RunTimeLevelsSpec] = Field(
        default_factory=list, alias="runTimeLevels", max_length=len(ASKED)
    )
    manifests: list[dict[str, Any]] | None = None
    schedulers: list[PlainName] | None = None
    dialects: list[Annotated[DialectChoice, Field(strict=False)]] | None = None


class ScenarioFile(Spec):
    """
    A whole file: a scenario, or a snapshot that says when and whence it is.
    """

    api_version: Literal["phalanx/v1"] = Field(alias="apiVersion")
    kind: Literal["Scenario", "Snapshot"]
    rule: str | None = None
    observed: str | None = None
    source: str | None = None
    given: Given
    policy: Policy | None = None
    expect: Expect | None = None

    @property
    def is_observed(self) -> bool:
        """
        Tell whether somebody saw what is given: it may be incomplete, or wrong.
        """
        whence = self.observed or self.source
        return self.kind == "Snapshot" or whence is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    A file as read: what is, what is wanted, and what must come of it.
    """

    source: str
    kind: str
    snapshot: Snapshot
    policy: Policy
    rule: str | None = None
    expect: Expect | None = None
