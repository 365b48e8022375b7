"""
The performance contract: what ``scenarios/perf/*.yaml`` may say.

Every number that shapes a case or bounds a result is data in those files.  This module
only reads them; it generates and measures nothing.
"""

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from benchmarks.contract_days import Days
from benchmarks.contract_devices import OfDevices, WaitingParts
from benchmarks.contract_evict import Evictions, FullCases, VictimCases
from benchmarks.contract_parts import Cluster, Part, Ratio, Weights
from benchmarks.contract_steady import Steady
from benchmarks.contract_why import Why
from models.errors import InputRejectedError, Problem
from models.policy import Policy, TierName

FOLDER = Path(__file__).resolve().parents[1] / "scenarios" / "perf"


class Running(Part):
    """
    Single pods that run: as many, holding this part of all GPUs.

    ``choices`` says among how many random nodes the fullest is taken: 1 spreads evenly,
    more leaves empty nodes.  ``shapes`` draws so many odd shapes instead of the product
    of sizes and ratios; ``without_gpus`` of the pods then ask for none.
    """

    pods: int
    load: float
    sizes: Weights
    ratios: list[Ratio]
    choices: int = 1
    shapes: int | None = None
    without_gpus: int = 0
    priority: int = 50


class Queues(Part):
    """
    Departments with leaves; ``binding`` leaves may hold ``part`` of what they ask.
    """

    departments: int
    leaves: int
    binding: int
    part: float
    weights: tuple[int, ...] = (1,)


class Required(Part):
    """
    The share of gangs that must stay inside one domain, and of which levels.
    """

    share: float
    levels: list[str]
    most: int = 16


class Giant(Part):
    """
    One gang of its own: many pods that prefer one domain.
    """

    pods: int
    gpus: int
    preferred: str


class Trees(Part):
    """
    Gangs as trees: leaves per group, and the share that has an inner level.
    """

    children: tuple[int, int]
    deep: float
    required: Required


class Pending(Part):
    """
    What waits: gangs and pods, and their demand as a multiple of the free GPUs.
    """

    gangs: int
    pods: int
    demand: float
    sizes: Weights
    members: Weights
    ratios: list[Ratio]
    elastic: float
    priorities: Weights
    minutes: int = 600
    required: Required | None = None
    giant: Giant | None = None
    trees: Trees | None = None


class World(Part):
    """
    A whole synthetic cluster.
    """

    seed: int
    cluster: Cluster
    running: Running
    queues: Queues | None
    pending: Pending
    parts: WaitingParts | None = None


class Reach(Part):
    """
    The ranges a run must hold: seconds, the worst gap of the tiers, memory.
    """

    seconds: float
    gap: float
    tiers: list[TierName] | None = None
    gibibytes: float | None = None


class Run(Part):
    """
    One policy on the world, and what it must reach.
    """

    name: str = ""
    policy: Policy = Policy()
    reach: Reach


class Rounds(Part):
    """
    Rounds on one synthetic cluster; the median of ``repeat`` runs counts.
    """

    kind: Literal["Rounds"]
    name: str
    about: str
    repeat: int = 1
    world: World
    runs: list[Run]


class Growth(Part):
    """
    The same mix on growing clusters; the last step may cost so many times more.
    """

    kind: Literal["Growth"]
    name: str
    about: str
    base: str
    nodes: list[int]
    policy: Policy = Policy()
    at_most: float


class Small(Part):
    """
    Random small cases, held against the exact model; ``parts`` asks for parts of GPUs.

    ``neighbours`` and ``volumes`` are the parts of the cases in which pods have some.
    """

    kind: Literal["Small"]
    name: str
    about: str
    first_seed: int
    cases: int
    parts: bool = False
    neighbours: float = 0.0
    volumes: float = 0.0
    policy: Policy = Policy()
    not_greedy: float
    rich: float
    greedy_gpus: float


class Cell(Part):
    """
    One cell of the priority-matters grid.
    """

    nodes: int
    pods_per_node: int
    seeds: int
    mean: float | None = None


class PriorityMatters(Part):
    """
    The published instances of "Priority Matters", all pods pending.
    """

    kind: Literal["PriorityMatters"]
    name: str
    about: str
    seeds_file: str
    usage: int
    policy: Policy
    cells: list[Cell]


Quality = Small | VictimCases | FullCases | PriorityMatters | OfDevices
Contract = Rounds | Growth | Evictions | Quality | Days | Steady | Why
_ADAPTER: TypeAdapter[Contract] = TypeAdapter(
    Annotated[Contract, Field(discriminator="kind")]
)


def contract_names() -> list[str]:
    """
    Name the rows of the contract, in order.
    """
    return sorted(load_file(path).name for path in FOLDER.glob("*.yaml"))


def load_contract(name: str) -> Contract:
    """
    Read the row of a name such as ``rounds/1k``.
    """
    path = FOLDER / f"{name.replace('/', '-')}.yaml"
    if not path.is_file():
        known = ", ".join(contract_names())
        problem = Problem(where="bench", what=f"no row {name!r}", hint=known)
        raise InputRejectedError(str(path), [problem])
    return load_file(path)


def load_file(path: Path) -> Contract:
    """
    Read one file of the contract.
    """
    try:
        said = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
        return _ADAPTER.validate_python(said)
    except ValidationError as error:
        problems = [
            Problem(where=".".join(map(str, e["loc"])), what=e["msg"])
            for e in error.errors()
        ]
        raise InputRejectedError(str(path), problems) from error
