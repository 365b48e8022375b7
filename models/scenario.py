"""
What people write in scenario and snapshot files, field by field.

Only the shape of a file is judged here; what must agree across it is judged where
files are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)
from pydantic_core import PydanticCustomError

from models.errors import QuantityError
from models.expect import Expect
from models.policy import Policy
from models.resources import MEMORY, Resources, parse_duration, parse_quantity
from models.snapshot import Snapshot

MOST = 1_000_000
LARGEST_PRIORITY = 2**31 - 1
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
WORD = r"^[^\s/]+$"

Written = str | int | float


@lru_cache(maxsize=65536)
def _amounts(items: tuple[tuple[str, Written], ...], up: bool) -> Resources:
    amounts: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for name, text in items:
        try:
            amounts[name] = parse_quantity(name, text, up=up)
        except QuantityError as error:
            wrong[name] = str(error)
    if wrong:
        raise PydanticCustomError(
            "quantities", "{count} bad quantities", {"wrong": wrong, "count": len(wrong)}
        )
    return amounts


def _read_amounts(value: object, *, up: bool) -> Resources:
    if not isinstance(value, Mapping):
        raise PydanticCustomError("mapping", "must be a mapping of quantities")
    items = tuple(value.items())
    wrong = {
        str(name): f"{text!r} is not a quantity such as 4, 500m or 16Gi"
        for name, text in items
        if type(text) not in {int, str, float} or type(name) is not str
    }
    if wrong:
        raise PydanticCustomError("quantities", "bad quantities", {"wrong": wrong})
    return _amounts(items, up)


def _read_demand(value: object) -> Resources:
    return _read_amounts(value, up=True)


def _read_capacity(value: object) -> Resources:
    return _read_amounts(value, up=False)


def _read_bytes(value: object) -> int:
    if type(value) not in {int, str, float}:
        raise QuantityError(f"{value!r} is not a quantity such as 80Gi")
    return parse_quantity(MEMORY, value, up=False)  # type: ignore[arg-type]


def _read_seconds(value: object) -> int:
    if isinstance(value, str | int | float):
        return parse_duration(value)
    raise QuantityError(f"{value!r} is not a duration such as 90s, 10m or 1h30m")


def _read_signed_seconds(value: object) -> int:
    if isinstance(value, str) and value.startswith("-"):
        return -_read_seconds(value[1:])
    if isinstance(value, int | float) and value < 0:
        return -_read_seconds(-value)
    return _read_seconds(value)


def _check_quotas(value: "dict[str, QuotaSpec]") -> "dict[str, QuotaSpec]":
    wrong: dict[str, str] = {}
    for resource, rule in value.items():
        for word, text in (("quota", rule.quota), ("limit", rule.limit)):
            try:
                quota_amount(resource, text)
            except QuantityError as error:
                wrong[f"{resource}.{word}"] = str(error)
    if wrong:
        raise PydanticCustomError("quantities", "bad quantities", {"wrong": wrong})
    return value


def quota_amount(resource: str, text: Written | None) -> int | None:
    """
    Read a quota or limit; ``unlimited`` is ``None``, and so is nothing said.
    """
    if text is None or text == "unlimited":
        return None
    return parse_quantity(resource, text, up=False)


_Amounts = dict[str, Written]
Demand = Annotated[
    Resources, BeforeValidator(_read_demand, json_schema_input_type=_Amounts)
]
Capacity = Annotated[
    Resources, BeforeValidator(_read_capacity, json_schema_input_type=_Amounts)
]
Bytes = Annotated[int, BeforeValidator(_read_bytes, json_schema_input_type=Written)]
Seconds = Annotated[
    int, BeforeValidator(_read_seconds, json_schema_input_type=Written)
]
SignedSeconds = Annotated[
    int, BeforeValidator(_read_signed_seconds, json_schema_input_type=Written)
]
Number = Annotated[int, Field(ge=0, le=MOST)]
Count = Annotated[int, Field(ge=1, le=MOST)]
Priority = Annotated[int, Field(ge=-LARGEST_PRIORITY - 1, le=LARGEST_PRIORITY)]
GangName = Annotated[str, StringConstraints(pattern=SUBDOMAIN, max_length=253)]
LeafName = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=63)]
PlainName = Annotated[str, StringConstraints(pattern=WORD, max_length=253)]
Labels = dict[str, str]


class Spec(BaseModel):
    """
    The rules every part of a file keeps: nothing unknown, nothing converted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TaintSpec(Spec):
    """
    A taint as Kubernetes writes it.
    """

    key: str = Field(min_length=1)
    value: str = ""
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = "NoSchedule"


class NodeSpec(Spec):
    """
    One node, or ``count`` of them that differ by name only.
    """

    name: PlainName
    count: Count = 1
    allocatable: Capacity
    labels: Labels = {}
    taints: list[TaintSpec] = []
    unschedulable: bool = False
    used: Demand = {}
    gpu_memory: Bytes = Field(0, alias="gpuMemory")
    mig: dict[str, Number] = {}


class TopologySpec(Spec):
    """
    Node labels that name domains, outermost first.
    """

    name: PlainName
    levels: list[str] = Field(min_length=1, max_length=16)


class QuotaSpec(Spec):
    """
    One resource's numbers in one queue.
    """

    quota: Written | None = None
    limit: Written | None = None
    weight: Number = 1


class MinRuntimeSpec(Spec):
    """
    How long work must have run before it may be a victim.
    """

    preempt: Seconds = 0
    reclaim: Seconds = 0


class QueueSpec(Spec):
    """
    One node of the quota tree.
    """

    name: PlainName
    parent: str | None = None
    priority: Priority = 100
    state: Literal["Open", "Closed"] = "Open"
    resources: Annotated[dict[str, QuotaSpec], AfterValidator(_check_quotas)] = {}
    min_runtime: MinRuntimeSpec = Field(MinRuntimeSpec(), alias="minRuntime")


class TolerationSpec(Spec):
    """
    A toleration as Kubernetes writes it.
    """

    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: Literal["", "NoSchedule", "NoExecute", "PreferNoSchedule"] = ""
    seconds: int | None = Field(None, alias="tolerationSeconds")


class ExpressionSpec(Spec):
    """
    One requirement on a node's label.
    """

    key: str = Field(min_length=1)
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    values: list[str] = []


class TermSpec(Spec):
    """
    Requirements that must hold together.
    """

    expressions: list[ExpressionSpec] = Field([], alias="matchExpressions")


class SelectorSpec(Spec):
    """
    Terms of which one must hold.
    """

    terms: list[TermSpec] = Field(alias="nodeSelectorTerms", min_length=1)


class NodeAffinitySpec(Spec):
    """
    The required node affinity; preferred affinity is not read.
    """

    required: SelectorSpec | None = Field(
        None, alias="requiredDuringSchedulingIgnoredDuringExecution"
    )


class AffinitySpec(NodeAffinitySpec):
    """
    Node affinity, with or without the word ``nodeAffinity`` around it.
    """

    node: NodeAffinitySpec | None = Field(None, alias="nodeAffinity")


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

    node: str = Field(min_length=1)
    pods: Count = 1
    seconds: Seconds = Field(0, alias="for")


class TerminatingSpec(Spec):
    """
    Pods that are leaving a node.
    """

    node: str = Field(min_length=1)
    pods: Count = 1
    seconds: Seconds = Field(0, alias="since")


class ReservedSpec(Spec):
    """
    Pods that have a place on a node and wait until it is free.
    """

    node: str = Field(min_length=1)
    pods: Count = 1


class TreeSpec(Spec):
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
    gated: Number = 0
    succeeded: Number = 0
    failed: Number = 0
    requests: Demand = {}
    gpu: dict[str, Any] | None = None
    node_selector: Labels = Field({}, alias="nodeSelector")
    affinity: AffinitySpec | None = None
    tolerations: list[TolerationSpec] = []
    exclusive: bool = False
    after: list[str] = []
    running: list[RunningSpec] = []
    terminating: list[TerminatingSpec] = []
    reserved: list[ReservedSpec] = []


LEAF_FIELDS = {
    "min": "min",
    "replicas": "replicas",
    "created": "created",
    "gated": "gated",
    "succeeded": "succeeded",
    "failed": "failed",
    "requests": "requests",
    "gpu": "gpu",
    "node_selector": "nodeSelector",
    "affinity": "affinity",
    "tolerations": "tolerations",
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


class GangSpec(TreeSpec):
    """
    One gang, or ``count`` of them that differ by name only.
    """

    name: GangName
    namespace: LeafName = "default"
    count: Count = 1
    queue: str = "default"
    priority: Priority = 0
    preemptible: bool = True
    age: Seconds = 0
    mates: list[str] = Field([], alias="group")
    match_policy: Literal[
        "only-waiting",
        "waiting-and-running",
        "waiting-running-succeed",
        "once-satisfied",
    ] = Field("waiting-and-running", alias="matchPolicy")
    mode: Literal["Strict", "NonStrict"] = "Strict"
    once_satisfied: bool = Field(False, alias="onceSatisfied")
    timed_out: bool = Field(False, alias="timedOut")
    backoff: Seconds = 0
    min_resources: Demand = Field({}, alias="minResources")
    waiting_time: Seconds | None = Field(None, alias="waitingTime")
    max_runtime: Seconds | None = Field(None, alias="maxRuntime")
    stale_after: SignedSeconds | None = Field(None, alias="staleAfter")
    stale_since: Seconds | None = Field(None, alias="staleSince")
    evicted_ago: Seconds | None = Field(None, alias="evictedAgo")
    passed_over: Seconds = Field(0, alias="passedOver")


class BudgetSpec(Spec):
    """
    How many pods of some gangs may still be disturbed.
    """

    name: PlainName
    gangs: list[str]
    allowed: Number


class Given(Spec):
    """
    What is: the snapshot, in any order.
    """

    nodes: list[NodeSpec] = []
    topologies: list[TopologySpec] = []
    queues: list[QueueSpec] = []
    gangs: list[GangSpec] = []
    budgets: list[BudgetSpec] = []


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
