"""
Measured quality: small cases against the exact model, and "Priority Matters".
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.machine.clock import monotonic
from benchmarks.cases.beside import with_neighbours
from benchmarks.cases.device_parts import with_parts
from benchmarks.cases.small import features, random_snapshot
from benchmarks.cases.storage import with_volumes
from benchmarks.contract import FOLDER, Cell, PriorityMatters, Small
from benchmarks.planned import decide, planned
from benchmarks.priority_matters import make_instance, snapshot_of
from benchmarks.rows import Range, Row
from exact import UndecidedError, best
from models.errors import PlanRejectedError
from models.plan import Plan
from models.policy import Policy, Tier
from models.snapshot import Snapshot
from solver.problem.when_empty.shared_out import shared_out

Vector = dict[tuple[str, int | None], int]
_TIE_TIERS = frozenset({"packing", "order"})
_EVERYTHING = 3
_MOST_UNDECIDED = 0.01


@dataclass(slots=True)
class Tally:
    """
    What is counted over the small cases.
    """

    different: list[int] = field(default_factory=list)
    undecided: list[int] = field(default_factory=list)
    greedy_short: int = 0
    rich: int = 0
    proven: int = 0
    greedy_gpus: list[float] = field(default_factory=list)


def measure_small(contract: Small) -> Iterator[Row]:
    """
    Hold the solver's whole vector against the exact model, case by case.
    """
    tally = Tally()
    began = monotonic()
    seeds = range(contract.first_seed, contract.first_seed + contract.cases)
    for seed in seeds:
        _count_case(tally, seed, small_case(contract, seed), contract.policy)
    count = contract.cases - len(tally.undecided)
    gpus = statistics.fmean(tally.greedy_gpus or [1.0])
    short = tally.greedy_short / count
    yield Row(
        name=contract.name,
        seconds={"total": monotonic() - began},
        facts={"cases": count, "proven": tally.proven},
        notes=(
            *(f"seed {seed} differs" for seed in tally.different),
            *(
                f"seed {seed} takes the exact model too long"
                for seed in tally.undecided
            ),
        ),
        ranges=(
            Range(what="cases that differ", value=len(tally.different), limit=0),
            Range(
                what="share of cases that the exact model leaves open",
                value=len(tally.undecided) / contract.cases,
                limit=_MOST_UNDECIDED,
            ),
            _least("share where greedy is not optimal", short, contract.not_greedy),
            _least("share of rich cases", tally.rich / count, contract.rich),
            _least("greedy over optimal GPUs", gpus, contract.greedy_gpus),
        ),
    )


def small_case(contract: Small, seed: int) -> Snapshot:
    """
    Make one case of a row, with what the row asks for beside the rest.
    """
    given, name = random_snapshot(seed), f"case-{seed}"
    if contract.parts:
        given = with_parts(given, seed)
    gangs = with_neighbours(name, given.gangs, contract.neighbours)
    return with_volumes(name, replace(given, gangs=tuple(gangs)), contract.volumes)


def _least(what: str, value: float, limit: float) -> Range:
    return Range(what=what, value=value, limit=limit, side="at least")


def _count_case(tally: Tally, seed: int, snapshot: Snapshot, policy: Policy) -> None:
    only = policy.model_copy(update={"tiers": (Tier(name="gpus"),)})
    try:
        exact = exact_vector(snapshot, policy)
        most = exact_vector(snapshot, only).get(("gpus", None), 0)
    except UndecidedError:
        tally.undecided.append(seed)
        return
    try:
        plan = decide(snapshot, policy)
    except PlanRejectedError:
        tally.different.append(seed)
        return
    if vector_of(plan) != exact:
        tally.different.append(seed)
    greedy = vector_of(decide(snapshot, policy, strategy="greedy"))
    names = {key for key in {*greedy, *exact} if key[0] not in _TIE_TIERS}
    tally.greedy_short += any(greedy.get(k, 0) != exact.get(k, 0) for k in names)
    tally.rich += len(features(snapshot)) == _EVERYTHING
    tally.proven += plan.status != "feasible"
    if most:
        have = vector_of(decide(snapshot, only, strategy="greedy"))
        tally.greedy_gpus.append(have.get(("gpus", None), 0) / most)


def exact_vector(snapshot: Snapshot, policy: Policy) -> Vector:
    """
    Give the best values by the exact model; what is zero is left out.
    """
    shares = shared_out(snapshot, policy, devices=False).shares
    found = best(snapshot, policy, shares)
    return {(name, band): value for name, band, value in found if value}


def vector_of(plan: Plan) -> Vector:
    """
    Give a plan's values; what is zero is left out.
    """
    return {(tier.name, tier.band): tier.value for tier in plan.tiers if tier.value}


# --- Priority Matters -------------------------------------------------------------


def measure_priority_matters(contract: PriorityMatters) -> Iterator[Row]:
    """
    Place the published instances, cell by cell; skip them where their seeds are not.
    """
    path = (FOLDER.parents[1] / contract.seeds_file).resolve()
    if not path.is_file():
        yield Row(name=contract.name, skipped=f"no seeds at {path}")
        return
    seeds = published_seeds(path)
    for cell in contract.cells:
        yield _cell_row(contract, cell, seeds[: cell.seeds])


def published_seeds(path: Path) -> list[int]:
    """
    Read the saved list of seeds.
    """
    return [int(line) for line in path.read_text("utf-8").split()]


def _cell_row(contract: PriorityMatters, cell: Cell, seeds: list[int]) -> Row:
    placed: list[int] = []
    greedy: list[int] = []
    seconds: list[float] = []
    for seed in seeds:
        instance = make_instance(
            seed, cell.nodes, cell.pods_per_node, usage=contract.usage
        )
        snapshot = snapshot_of(instance)
        plan = planned(snapshot, contract.policy)
        placed.append(len(plan.operations))
        seconds.append((plan.seconds or {}).get("total", 0.0))
        base = decide(snapshot, contract.policy, strategy="greedy")
        greedy.append(len(base.operations))
    mean = statistics.fmean(placed)
    ranges = [_least("answers", sum(n > 0 for n in placed), len(seeds))]
    if cell.mean is not None:
        ranges.append(_least("mean pods placed", mean, cell.mean))
    pods = cell.nodes * cell.pods_per_node
    return Row(
        name=f"{contract.name} {cell.nodes} x {cell.pods_per_node}",
        seconds={"total": statistics.fmean(seconds)},
        facts={
            "pods": pods,
            "placed": mean,
            "placedByGreedy": statistics.fmean(greedy),
            "longest": max(seconds),
            "seeds": len(seeds),
        },
        notes=(f"placed {mean:.2f} of {pods}",),
        ranges=tuple(ranges),
    )
