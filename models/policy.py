"""
The policy: what we want, as an ordered list of tiers, and how long we may think.
"""

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from models.devices.gpu_parts import WHOLE, GpuPart
from models.documents.written import (
    Count,
    Demand,
    Mebibytes,
    Number,
    Priority,
    Seconds,
    Thousandths,
)
from models.resources import LONGEST_SECONDS, Resources, format_quantity

TierName = Literal[
    "entitled",
    "disruption",
    "borrowing",
    "topology",
    "neighbours",
    "surplus",
    "expected-fragments",
    "packing",
    "gpus",
    "pods",
    "gangs",
    "late",
    "order",
]
DEFAULT_TIERS: tuple[TierName, ...] = (
    "entitled",
    "disruption",
    "borrowing",
    "topology",
    "surplus",
    "packing",
)

MOST_TIERS = 8
"""
Bands of priority that have tiers of their own; of more bands, some share one.
"""
LONGEST_LEAVING = 120
"""
Seconds after which a terminating pod is no longer counted on to go.
"""


class PolicyPart(BaseModel):
    """
    The rules every part of a policy keeps: frozen, and nothing unknown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: object, info: ValidationInfo) -> object:
        items = value if isinstance(value, list | tuple) else (value,)
        truths = [str(one).lower() for one in items if isinstance(one, bool)]
        if truths and info.field_name not in cls._truths():
            found = {"value": truths[0]}
            raise PydanticCustomError("truth", "{value} is not a number", found)
        return value

    @classmethod
    def _truths(cls) -> frozenset[str]:
        return frozenset()


class Evict(PolicyPart):
    """
    Who may make room for whom, and what it may cost; ``None`` is no bound.

    Held nodes are lent to preemptible gangs that will have run for at most ``lent_for``
    seconds when the head is expected to start; for no longer they leave for it.
    """

    preempt: bool = True
    reclaim: bool = True
    consolidate: bool = True
    stale: bool = True
    stale_after: Seconds = Field(60, alias="staleAfter")
    max_pods: Number | None = Field(None, alias="maxPods")
    max_gangs: Number | None = Field(None, alias="maxGangs")
    max_moves: Number | None = Field(16, alias="maxMoves")
    max_lost_per_gpu: int | None = Field(
        None, alias="maxLostPerGpu", ge=0, le=LONGEST_SECONDS
    )
    again: Seconds = 0
    lent_for: Seconds = Field(0, alias="lentFor")

    @classmethod
    def _truths(cls) -> frozenset[str]:
        return frozenset({"preempt", "reclaim", "consolidate", "stale"})


class WaitingPolicy(PolicyPart):
    """
    When a gang that is passed over becomes the protected head.

    ``heads`` are those of each leaf queue or of the whole cluster; of all heads the
    first ``firm`` hold their nodes against what is entitled elsewhere, too: of those
    that are entitled themselves, or were passed over for ``firm_after``.  Who needs
    fewer ``gpus`` to start is no head.  Of the GPU time of a ``window`` the part
    ``budget`` may idle since it is held.  Nothing is held for more than ``slip`` times
    as long as was expected at first.  A head has its turn once it was passed over for
    ``outweigh`` times as long as its turn holds up all others together.  Held nodes may
    be used by what ends in time for sure, or with ``lend`` per cent.
    """

    protect_after: Seconds = Field(3600, alias="protectAfter")
    heads: Number = 1
    heads_of: Literal["queue", "cluster"] = Field("queue", alias="headsOf")
    firm: Number = 1
    firm_after: Seconds | None = Field(None, alias="firmAfter")
    gpus: Number = 0
    slip: float = Field(2.0, ge=1, le=1000)
    budget: float = Field(0.02, ge=0, le=1)
    window: Seconds = Field(86400, gt=0)
    outweigh: float = Field(4.0, ge=0, le=1000)
    idle: Literal["hold", "backfill"] = "backfill"
    lend: Literal[50, 80, 95] | None = None

    @property
    def clocks(self) -> tuple[int, ...]:
        """
        The times of being passed over at which a gang gets more rights.
        """
        after = (self.protect_after, self.firm_after)
        return tuple(time for time in after if time is not None)


class SharesPolicy(PolicyPart):
    """
    What fair shares remember: usage counts half after ``half_life``; ``None``: nothing.
    """

    half_life: Seconds | None = Field(None, alias="halfLife", gt=0)


class Limits(PolicyPart):
    """
    How long a round may search; ``seconds`` makes the clock decide.
    """

    deterministic: float = Field(4.0, ge=0, le=1e6)
    seconds: float | None = Field(None, ge=0, le=1e6)
    workers: int = Field(1, ge=1, le=64)
    gap: float = Field(0.001, ge=0, lt=1)


class TypicalGpu(PolicyPart):
    """
    The part of GPUs that a typical pod asks for, as a leaf of a file says it.
    """

    fraction: Thousandths | None = None
    memory: Mebibytes | None = None
    mig: str | None = None
    devices: int = Field(1, ge=1, le=64)

    @property
    def part(self) -> GpuPart:
        """
        The part by its amounts.
        """
        share = self.fraction or 0
        return GpuPart(
            cores=share,
            share=share,
            memory=self.memory or 0,
            profile=self.mig or "",
            count=self.devices,
        )

    @field_serializer("fraction")
    def _as_fraction(self, value: int | None) -> float | None:
        return None if value is None else value / WHOLE

    @field_serializer("memory")
    def _as_memory(self, value: int | None) -> str | None:
        return None if value is None else f"{value}Mi"

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> "TypicalGpu":
        if sum(x is not None for x in (self.fraction, self.memory, self.mig)) != 1:
            raise ValueError("say one of fraction, memory and mig")
        return self


class ListedPod(PolicyPart):
    """
    A typical pod, how many of all there are, and the GPU models it may be on.
    """

    requests: Demand = Field(default_factory=dict)
    gpu: TypicalGpu | None = None
    models: tuple[str, ...] = ()
    count: Count = 1

    @field_serializer("requests")
    def _as_written(self, value: Resources) -> dict[str, str]:
        return {name: format_quantity(name, amount) for name, amount in value.items()}


class Tier(PolicyPart):
    """
    One listed tier; a mapping in the file may carry its options.

    ``after`` and ``gpus`` are of ``late`` only: how long a gang is passed over before
    it counts there, and how many GPUs it needs at least.  ``pods`` are the typical ones
    of ``expected-fragments``, in place of those that wait and run.
    """

    name: TierName
    gap: float | None = Field(None, ge=0, lt=1)
    after: Seconds | None = None
    gpus: Number | None = None
    pods: tuple[ListedPod, ...] = ()

    @model_validator(mode="after")
    def _no_options_of_others(self) -> "Tier":
        if self.pods and self.name != "expected-fragments":
            raise ValueError("pods are an option of expected-fragments only")
        if self.name == "late" and self.after is None:
            raise ValueError("say after how long late is, as {name: late, after: 10d}")
        if self.name != "late" and (self.after, self.gpus) != (None, None):
            raise ValueError("after and gpus are options of the tier late only")
        return self


def _from_name(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


TierEntry = Annotated[
    Tier, BeforeValidator(_from_name, json_schema_input_type=TierName | Tier)
]


class AgeStep(PolicyPart):
    """
    From this age on, a gang's value counts so many quarters.
    """

    after: Seconds
    quarters: int = Field(ge=1, le=64)


DEFAULT_AGEING = (
    AgeStep(after=0, quarters=4),
    AgeStep(after=600, quarters=5),
    AgeStep(after=3600, quarters=6),
    AgeStep(after=21600, quarters=8),
)


class Prices(PolicyPart):
    """
    What a change that would help a gang costs, to put the cheapest first.

    Of ``quota`` and ``limit`` a unit, of ``nodes`` and ``evict`` a GPU, of ``wait`` an
    hour, of ``move`` and ``pods`` a pod, else a change.
    """

    quota: Number = 1
    limit: Number = 1
    open: Number = 2
    tolerate: Number = 2
    label: Number = 2
    wait: Number = 1
    move: Number = 3
    level: Number = 4
    pods: Number = 4
    weight: Number = 5
    priority: Number = 6
    evict: Number = 8
    nodes: Number = 20


class Policy(PolicyPart):
    """
    What is wanted, in tiers of falling importance.
    """

    tiers: tuple[TierEntry, ...] = tuple(Tier(name=name) for name in DEFAULT_TIERS)
    evict: Evict = Evict()
    bands: tuple[Priority, ...] | None = Field(None, max_length=MOST_TIERS - 1)
    ageing: tuple[AgeStep, ...] = Field(DEFAULT_AGEING, min_length=1, max_length=8)
    waiting: WaitingPolicy = WaitingPolicy()
    shares: SharesPolicy = SharesPolicy()
    limits: Limits = Limits()
    prices: Prices = Prices()
    seed: int = Field(0, ge=0, le=2**31 - 1)

    @model_validator(mode="after")
    def _names_once(self) -> "Policy":
        names = [tier.name for tier in self.tiers]
        if len(set(names)) != len(names):
            raise ValueError("a tier is listed twice")
        if "order" in names and names[-1] != "order":
            raise ValueError("order is always the last tier")
        return self

    @model_validator(mode="after")
    def _ages_rise(self) -> "Policy":
        ages = [step.after for step in self.ageing]
        if sorted(set(ages)) != ages:
            raise ValueError("the ages in ageing must rise from step to step")
        return self

    def has(self, name: TierName) -> bool:
        """
        Tell whether a tier is listed.
        """
        return any(tier.name == name for tier in self.tiers)

    @property
    def late(self) -> Tier | None:
        """
        Give the tier of those who are late, if it is listed.
        """
        return next((tier for tier in self.tiers if tier.name == "late"), None)

    @property
    def fragments(self) -> Tier | None:
        """
        Give the tier of what typical pods cannot use, if it is listed.
        """
        names = (tier for tier in self.tiers if tier.name == "expected-fragments")
        return next(names, None)

    @property
    def clocks(self) -> tuple[int, ...]:
        """
        The times of being passed over at which a gang gets more rights.
        """
        waiting = self.waiting.clocks if self.waiting.heads else ()
        late = None if self.late is None else self.late.after
        return waiting if late is None else (*waiting, late)

    def evicts(self, *, borrowing: bool) -> bool:
        """
        Tell whether starts may make others leave: entitled ones, or those that borrow.

        What is lost must count right after what it is lost for.
        """
        evict = self.evict
        rules = evict.preempt or evict.consolidate or (evict.reclaim and not borrowing)
        return rules and self._weighs(borrowing=borrowing)

    def makes_leave(self, *, borrowing: bool) -> bool:
        """
        Tell whether anybody leaves for such starts, by whatever rule.
        """
        return self.evicts(borrowing=borrowing) or self.lends(borrowing=borrowing)

    def lends(self, *, borrowing: bool) -> bool:
        """
        Tell whether gangs leave for heads whose nodes they were lent.

        That is for entitled heads, or for those that borrow.
        """
        return self.evict.lent_for > 0 and self._weighs(borrowing=borrowing)

    def _weighs(self, *, borrowing: bool) -> bool:
        """
        Tell whether what is lost counts right after what it is lost for.
        """
        order: list[TierName] = ["entitled", "disruption"]
        if borrowing:
            order.append("borrowing")
        return [tier.name for tier in self.tiers[: len(order)]] == order

    def quarters(self, age: int) -> int:
        """
        Give the age step of a gang, in quarters of its value.
        """
        for step in reversed(self.ageing):
            if step.after <= age:
                return step.quarters
        return self.ageing[0].quarters
