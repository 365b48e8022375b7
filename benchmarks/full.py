"""
Measured quality of rounds: nearly full clusters, planned until nothing changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from adapters.machine.clock import monotonic
from benchmarks.cases.full import full_case
from benchmarks.contract_evict import FullCases
from benchmarks.losses import Losses, losses_of, running_gpus, waiting_gangs
from benchmarks.planned import decide
from benchmarks.rows import Range, Row
from models.plan import Plan
from models.resources import num_gpus
from models.snapshot import Snapshot
from solver.next_snapshot import carry_out

STRATEGIES = ("solver", "greedy")


@dataclass(frozen=True, slots=True)
class Ended:
    """
    How rounds on one cluster ended: what they cost, and whether they ended at all.

    ``least`` GPUs are lost by all plans that gain as much: what was not idle was held.
    """

    losses: Losses
    least: int
    rounds: int
    settled: bool


@dataclass(slots=True)
class Sum:
    """
    What is counted over all clusters for one strategy.
    """

    losses: Losses = field(default_factory=Losses)
    least: int = 0
    longest: int = 0
    restless: list[int] = field(default_factory=list)

    def add(self, seed: int, ended: Ended) -> None:
        """
        Count one cluster.
        """
        self.losses += ended.losses
        self.least += ended.least
        self.longest = max(self.longest, ended.rounds)
        if not ended.settled:
            self.restless.append(seed)

    @property
    def least_per_gained(self) -> float:
        """
        GPUs that are lost at least for each GPU gained.
        """
        return self.least / max(1, self.losses.gained)


def measure_full(contract: FullCases) -> Iterator[Row]:
    """
    Plan every cluster to its end with both strategies.
    """
    sums = {strategy: Sum() for strategy in STRATEGIES}
    spent = dict.fromkeys(STRATEGIES, 0.0)
    for seed in range(contract.first_seed, contract.first_seed + contract.cases):
        snapshot = full_case(seed, contract.nodes)
        for strategy in STRATEGIES:
            began = monotonic()
            sums[strategy].add(seed, play(snapshot, contract, strategy))
            spent[strategy] += monotonic() - began
    mine, base = sums["solver"], sums["greedy"]
    yield Row(
        name=contract.name,
        seconds={"total": spent["solver"]},
        greedy_seconds=spent["greedy"],
        facts={
            "cases": contract.cases,
            "longest": mine.longest,
            **mine.losses.facts(),
            "leastLostPerGained": round(mine.least_per_gained, 4),
            **base.losses.facts("greedy"),
            "greedyNotSettled": len(base.restless),
        },
        notes=tuple(f"seed {seed} does not settle" for seed in mine.restless),
        ranges=_ranges(contract, mine, base),
    )


def _ranges(contract: FullCases, mine: Sum, base: Sum) -> tuple[Range, ...]:
    return (
        Range(what="clusters that do not settle", value=len(mine.restless), limit=0),
        Range(
            what="GPUs lost per gained",
            value=mine.losses.per_gained,
            limit=round(
                max(
                    contract.lost_per_gained,
                    contract.over_least * mine.least_per_gained,
                ),
                4,
            ),
        ),
        Range(
            what="GPUs gained",
            value=mine.losses.gained,
            limit=base.losses.gained,
            side="at least",
        ),
    )


def play(snapshot: Snapshot, contract: FullCases, strategy: str) -> Ended:
    """
    Plan and carry out, a minute further each time, until nothing changes.
    """
    waited = waiting_gangs(snapshot)
    idle = _idle_gpus(snapshot)
    losses = Losses()
    last: Plan | None = None
    rounds, settled = 0, False
    while rounds < contract.rounds and not settled:
        plan = decide(snapshot, contract.policy, strategy=strategy)
        settled = _is_still(plan, last)
        if not settled:
            losses += losses_of(snapshot, plan)
            snapshot = carry_out(snapshot, plan, contract.minute)
            rounds, last = rounds + 1, plan
    gained = running_gpus(snapshot, waited)
    return Ended(
        losses=replace(losses, gained=gained),
        least=max(0, gained - idle),
        rounds=rounds,
        settled=settled,
    )


def _idle_gpus(snapshot: Snapshot) -> int:
    """
    Sum the GPUs that nobody holds.
    """
    offered = sum(num_gpus(node.allocatable) for node in snapshot.nodes)
    return offered - running_gpus(snapshot, {gang.key for gang in snapshot.gangs})


def _is_still(plan: Plan, last: Plan | None) -> bool:
    """
    Tell whether a plan does nothing: at most it holds what the last one held.
    """
    if any(op.op != "Reserve" for op in plan.operations):
        return False
    return not plan.operations or (
        last is not None and plan.operations == last.operations
    )
