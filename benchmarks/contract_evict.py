"""
The rows about evictions: full clusters, who waits in front of them, what must be held.

As in the rest of the contract, this only names the numbers; it makes and measures
nothing.
"""

from typing import Annotated, Literal

from pydantic import Field

from benchmarks.contract_parts import Cluster, Part, Ratio, Weights
from models.policy import Limits, Policy, TierName


class Singles(Part):
    """
    On every node the same number of single running pods of one size.
    """

    kind: Literal["Singles"]
    per_node: int
    gpus: int = 1
    minutes: tuple[int, int] = (60, 60)


class Mixed(Part):
    """
    Nodes full of single pods, and a ``wide`` part of them in gangs over whole nodes.

    Each pod has run its own time, between the two ``minutes``.  A ``spare`` part of the
    single pods is left out again, so that a full cluster is not full to the last GPU.
    """

    kind: Literal["Mixed"]
    sizes: Weights
    wide: float
    over: tuple[int, int]
    minutes: tuple[int, int]
    spare: float = 0


class Scattered(Part):
    """
    Nodes full of 1-GPU pods in gangs, each pod of a gang on another random node.
    """

    kind: Literal["Scattered"]
    members: int
    minutes: tuple[int, int] = (60, 60)


Victims = Annotated[Singles | Mixed | Scattered, Field(discriminator="kind")]


class Tenant(Part):
    """
    A queue: a quota of so many GPUs, or of a ``part`` of what runs and waits in it.
    """

    name: str
    quota: int = 0
    part: float | None = None
    weight: int = 1
    preemptible: bool = True


class Wanted(Part):
    """
    The gangs that wait in one queue; all other queues hold the victims.
    """

    queue: str
    gangs: int
    members: Weights
    sizes: Weights
    minutes: int = 1
    required: str | None = None
    exclusive: bool = False


class FullWorld(Part):
    """
    A cluster full of running pods, and who would like to have their place.
    """

    seed: int = 1
    cluster: Cluster
    ratio: Ratio
    victims: Victims
    queues: list[Tenant]
    wanted: Wanted


class Bounds(Part):
    """
    What a run must hold, in every repetition; of the seconds the fastest counts.

    ``tiers`` must be closed to ``gap``, and the bound of ``disruption`` must be
    ``bound`` of its value or more.  ``evicted`` and ``moved`` are pods, ``gained`` are
    GPUs, and these three are exact.  ``lost_per_gained`` counts GPUs, ``over_greedy``
    compares the GPU-seconds lost per gained GPU.
    """

    seconds: float
    gap: float = 0
    tiers: tuple[TierName, ...] = ()
    optimal: bool = False
    evicted: int | None = None
    moved: int | None = None
    gained: int | None = None
    bound: float | None = None
    lost_per_gained: float | None = None
    over_greedy: float | None = None
    greedy_per_gained: float | None = None


class Eviction(Part):
    """
    One full cluster, the policy for it, and what it must reach.
    """

    name: str = ""
    world: FullWorld
    policy: Policy = Policy()
    reach: Bounds


class Evictions(Part):
    """
    Single rounds on full clusters; the fastest of ``repeat`` runs counts.
    """

    kind: Literal["Evictions"]
    name: str
    about: str
    repeat: int = 1
    runs: list[Eviction]


class VictimCases(Part):
    """
    Random small full cases, each with its own policy, held against the exact model.

    With ``parts`` much of what runs and waits has or asks for parts of GPUs.
    """

    kind: Literal["VictimCases"]
    name: str
    about: str
    first_seed: int
    cases: int
    parts: bool = False
    most_outcomes: int = 30
    limits: Limits = Limits()
    not_greedy: float


class FullCases(Part):
    """
    Random nearly full clusters, planned until nothing changes.

    Held is ``lost_per_gained``, or ``over_least`` times the least that any plan with as
    many GPUs gained loses, if that is more.
    """

    kind: Literal["FullCases"]
    name: str
    about: str
    first_seed: int
    cases: int
    nodes: tuple[int, int]
    rounds: int
    minute: int = 60
    policy: Policy = Policy()
    lost_per_gained: float
    over_least: float
