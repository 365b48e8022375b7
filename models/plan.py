"""
What leaves: a placement, its score tier by tier, and the plan made of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from models.devices.gpu_parts import DeviceAmounts, GpuDevice
from models.why.reasons import Waiting

Direction = Literal["max", "min"]
Proof = Literal["proven", "conditional", "gap"]
Op = Literal["Bind", "Evict", "Move", "Reserve"]
Rule = Literal["reclaim", "preempt", "consolidate", "stale", "lend"]
Way = Literal["as-asked", "without-evictions", "greedy"]
State = Literal[
    "Evicting", "Starting", "Growing", "Reserved", "Waiting", "Finished", "Running"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """
    Why a running pod leaves its node, for whom, and where it has a new place if any.
    """

    rule: Rule
    beneficiaries: tuple[str, ...] = ()
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """
    Who goes where: pod keys (``namespace/pod``) to nodes, and who is entitled.

    ``binds`` have room now, ``reserves`` as soon as somebody has left; ``departures``
    are running pods that are evicted, or moved where they have a target.  Some lose
    their share for those that are ``guaranteed``.  Pods that get parts of GPUs have
    their ``devices``.
    """

    binds: Mapping[str, str] = field(default_factory=dict)
    reserves: Mapping[str, str] = field(default_factory=dict)
    departures: Mapping[str, Departure] = field(default_factory=dict)
    devices: Mapping[str, tuple[GpuDevice, ...]] = field(default_factory=dict)
    entitled: frozenset[str] = frozenset()
    guaranteed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TierResult:
    """
    One tier's decoded value, its bound, and what is known about the difference.

    Both count ``pieces`` of what people count: entitled starts in quarters, and GPUs
    in parts where anybody has parts.
    """

    name: str
    band: int | None
    direction: Direction
    value: int
    bound: int
    proof: Proof
    pieces: int = 1

    def counted(self, value: int) -> int | float:
        """
        Give a value as people count it.
        """
        whole, rest = divmod(value, self.pieces)
        return round(value / self.pieces, 4) if rest else whole

    @property
    def gap(self) -> float:
        """
        What may be missing, as a part of the larger of value and bound.

        A value of nothing below a bound that is something has all of it missing.
        """
        return gap_between(self.value, self.bound)


def gap_between(one: int, other: int) -> float:
    """
    Give how far two values are apart, as a part of the larger one.
    """
    return abs(one - other) / max(1, abs(one), abs(other))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSize:
    """
    How large the model of a round was; all zero when none was built.
    """

    variables: int = 0
    constraints: int = 0
    node_classes: int = 0
    pod_shapes: int = 0
    gang_types: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """
    One step of a plan; ``source`` is only used by moves.

    ``devices`` are the GPUs of the node of which the pod gets parts, and ``of_each``
    says how much; a plan made elsewhere need not.
    """

    op: Op
    pod: str
    gang: str
    node: str
    uid: str | None = None
    source: str | None = None
    beneficiaries: tuple[str, ...] = ()
    rule: str | None = None
    devices: tuple[GpuDevice, ...] = ()
    of_each: DeviceAmounts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodCounts:
    """
    How many pods a gang has, in which phase, before and in this plan.
    """

    total: int
    minimum: int
    running: int
    succeeded: int = 0
    failed: int = 0
    binding: int = 0
    evicting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GangLine:
    """
    What the plan says about one gang.
    """

    name: str
    queue: str
    state: State
    entitled: bool
    guaranteed: bool = False
    waiting: Waiting | None
    pods: PodCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """
    Nodes held for a gang that waits, and in how many seconds it is expected to start.

    The gangs that start there now and were ``lent`` them will leave for it.
    """

    gang: str
    nodes: tuple[str, ...]
    expected: int
    lent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    Ordered operations with what they were made from and how good they are.

    ``held`` are GPUs that idle since nodes are held, while work waits that fits there;
    ``holds`` say which, and for whom.  In ``turn`` seconds, nothing else changing, they
    may be held for others; a plan's file does not say it.
    """

    strategy: str
    status: Literal["optimal", "feasible", "idle"]
    deterministic: bool
    snapshot: str
    seed: int
    versions: Mapping[str, str]
    tiers: tuple[TierResult, ...]
    gangs: tuple[GangLine, ...]
    operations: tuple[Operation, ...]
    model: ModelSize
    seconds: Mapping[str, float] | None = None
    fallback: "Fallback | None" = None
    cut: tuple[str, ...] = ()
    held: int = 0
    holds: tuple[Hold, ...] = ()
    turn: int | None = field(default=None, compare=False)

    @property
    def states(self) -> dict[str, str]:
        """
        Give the state of each gang by its name.
        """
        return {line.name: str(line.state) for line in self.gangs}

    def paid_holds(self) -> tuple[Hold, ...]:
        """
        Give the holds that count: while nothing idles for them, they keep nobody off.
        """
        return self.holds if self.held else ()

    def lenders(self) -> dict[str, tuple[str, ...]]:
        """
        Name for each gang that starts on nodes lent to it for whom it leaves again.
        """
        found: dict[str, list[str]] = {}
        for hold in self.holds:
            for gang in hold.lent:
                found.setdefault(gang, []).append(hold.gang)
        return {gang: tuple(sorted(heads)) for gang, heads in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTry:
    """
    A way of planning a round that gave nothing: rules broken by its plan, or an error.

    ``frames`` say where an error was raised, outermost first: file, line, function.
    """

    way: Way
    violations: tuple[str, ...] = ()
    plan: Plan | None = None
    error: str | None = None
    frames: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """
    The way in which a round was planned after all, and those tried before it.
    """

    way: Way
    failed: tuple[FailedTry, ...]
