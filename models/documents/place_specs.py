"""
What people write of where a pod may be: taints, tolerations, affinity, volumes.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from models.devices.gpu_parts import CONTRACTS, PHALANX
from models.documents.written import (
    Count,
    LabelKey,
    Labels,
    Mebibytes,
    PlainName,
    Thousandths,
    UpToAll,
)


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
    values: list[str] = Field(default_factory=list)


class TermSpec(Spec):
    """
    Requirements that must hold together.
    """

    expressions: list[ExpressionSpec] = Field(
        default_factory=list, alias="matchExpressions"
    )


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


class VolumeSpec(Spec):
    """
    Where a volume may be used: on some nodes, inside a domain, or as terms say.
    """

    claim: str | None = None
    nodes: list[PlainName] | None = Field(None, min_length=1)
    topology: Labels = Field(default_factory=dict)
    terms: list[TermSpec] | None = Field(None, alias="nodeSelectorTerms")


SelectorName = Annotated[str, Field(min_length=1, max_length=253)]
KindOfClaim = Annotated[str, Field(min_length=1, max_length=253)]


class NearSpec(Spec):
    """
    Pods to be near to: in the same domain of each key.
    """

    pods: SelectorName
    keys: list[LabelKey] = Field(alias="topologyKeys", min_length=1, max_length=16)


class ApartSpec(Spec):
    """
    Pods not to be in one domain with.
    """

    pods: SelectorName
    key: LabelKey = Field(alias="topologyKey")


class SpreadSpec(ApartSpec):
    """
    Pods to be spread among, over the domains of a key.
    """

    skew: Count = Field(1, alias="maxSkew")
    domains: Count = Field(1, alias="minDomains")
    affinity: Literal["Honor", "Ignore"] = Field("Honor", alias="nodeAffinityPolicy")
    taints: Literal["Honor", "Ignore"] = Field("Ignore", alias="nodeTaintsPolicy")


class PreferredSpec(ApartSpec):
    """
    Pods that others would like to be in one domain with, or not to be.
    """

    weight: Annotated[int, Field(ge=1, le=100)] = 1


class NeighboursSpec(Spec):
    """
    Who selects the pods of a leaf, and what these ask of the pods around them.
    """

    selected: list[SelectorName] = Field(
        default_factory=list, alias="selectedBy", max_length=1000
    )
    near: NearSpec | None = Field(None, alias="podAffinity")
    apart: list[ApartSpec] = Field(
        default_factory=list, alias="podAntiAffinity", max_length=100
    )
    spread: list[SpreadSpec] = Field(
        default_factory=list, alias="topologySpread", max_length=16
    )
    claims: dict[KindOfClaim, Count] = Field(default_factory=dict, max_length=100)
    shared: dict[SelectorName, KindOfClaim] = Field(
        default_factory=dict, alias="sharedClaims", max_length=100
    )
    preferred_by: list[SelectorName] = Field(
        default_factory=list, alias="preferredBy", max_length=1000
    )
    liked: list[PreferredSpec] = Field(
        default_factory=list, alias="preferredPodAffinity", max_length=100
    )
    disliked: list[PreferredSpec] = Field(
        default_factory=list, alias="preferredPodAntiAffinity", max_length=100
    )


class ReachedSpec(Spec):
    """
    Free volumes that a node reaches; nodes that say the same reach the same ones.
    """

    name: SelectorName
    kinds: list[KindOfClaim] = Field(alias="for", min_length=1, max_length=1000)
    count: Count = 1


class OthersSpec(Spec):
    """
    Pods of others on a node that ours are neighbours to.
    """

    selected: list[SelectorName] = Field(default_factory=list, alias="selectedBy")
    apart: list[ApartSpec] = Field(default_factory=list, alias="podAntiAffinity")
    preferred_by: list[SelectorName] = Field(default_factory=list, alias="preferredBy")
    count: Count = 1


PortNumber = Annotated[int, Field(ge=1, le=65535)]
DeviceNumber = Annotated[int, Field(ge=0, le=63)]
Devices = Annotated[int, Field(ge=1, le=64)]


class GpuSpec(Spec):
    """
    A part of GPUs: a share of one or of several devices, some memory, or instances.

    ``share`` is of the memory alone.
    """

    fraction: Thousandths | None = None
    cores: UpToAll | None = None
    memory: Mebibytes | None = None
    share: UpToAll | None = None
    devices: Devices | None = None
    mig: str | None = None
    count: Devices | None = None
    contract: Literal[CONTRACTS] = PHALANX  # type: ignore[valid-type]


class GpuDeviceSpec(Spec):
    """
    A MIG instance that runs: its device, and the slice at which it begins.
    """

    device: DeviceNumber
    start: Annotated[int, Field(ge=0, le=7)]


class TakenSpec(Spec):
    """
    A device that others have: whole, or of which they have parts under a contract.
    """

    device: DeviceNumber
    contract: Literal[CONTRACTS] | None = None  # type: ignore[valid-type]
    cores: UpToAll | None = None
    memory: Mebibytes | None = None


class MigSpec(Spec):
    """
    The devices of a node that may be cut, and what kind of GPU they are.
    """

    model: str
    devices: list[DeviceNumber] = Field(min_length=1, max_length=64)


class HostPortSpec(Spec):
    """
    A port of its host that a pod uses, on one address or on all.
    """

    port: PortNumber
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    address: str = Field("", pattern=r"^[0-9A-Fa-f.:]*$")
