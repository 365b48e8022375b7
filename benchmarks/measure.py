"""
Measured rounds: a synthetic cluster, planned by both strategies, phase by phase.
"""

import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from benchmarks.contract import Growth, Reach, Rounds, Run, World, load_contract
from benchmarks.planned import planned
from benchmarks.rows import Range, Row, tier_lines
from benchmarks.world import facts_of, make_world
from models.plan import Plan
from models.policy import Policy, TierName
from models.snapshot import Snapshot


def measure_rounds(contract: Rounds) -> Iterator[Row]:
    """
    Measure every run of a row; where memory is promised, in a process of its own.
    """
    for run in contract.runs:
        name = f"{contract.name} {run.name}".strip()
        if run.reach.gibibytes is None:
            yield _row(name, contract.world, run, contract.repeat)
            continue
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            yield pool.submit(_row, name, contract.world, run, contract.repeat).result()


def measure_growth(contract: Growth) -> Iterator[Row]:
    """
    Measure the same mix on growing clusters; the last row holds the promise.
    """
    base = load_contract(contract.base)
    if not isinstance(base, Rounds):
        raise TypeError(f"{contract.name}: {contract.base} is no row of rounds")
    totals: list[float] = []
    for nodes in contract.nodes:
        snapshot = make_world(scaled(base.world, nodes))
        row = _measured(f"{contract.name} {nodes}", snapshot, contract.policy, 1)
        totals.append(row.seconds["total"])
        if len(totals) == len(contract.nodes) > 1:
            before = contract.nodes[-2]
            promise = Range(
                what=f"seconds over those of {before} nodes",
                value=totals[-1] / totals[-2],
                limit=contract.at_most,
            )
            row = replace(row, ranges=(promise,))
        yield row


def scaled(world: World, nodes: int) -> World:
    """
    Give the same mix on another number of nodes.
    """
    old = world.cluster.nodes

    def grown(count: int) -> int:
        return max(1, round(count * nodes / old))

    running, pending = world.running, world.pending
    return world.model_copy(
        update={
            "cluster": world.cluster.model_copy(update={"nodes": nodes}),
            "running": running.model_copy(
                update={
                    "pods": grown(running.pods),
                    "without_gpus": round(running.without_gpus * nodes / old),
                }
            ),
            "pending": pending.model_copy(
                update={"gangs": grown(pending.gangs), "pods": grown(pending.pods)}
            ),
        }
    )


def _row(name: str, world: World, run: Run, repeat: int) -> Row:
    row = _measured(name, make_world(world), run.policy, repeat, run.reach.tiers)
    memory = peak_gibibytes() if run.reach.gibibytes is not None else None
    return replace(row, gibibytes=memory, ranges=_ranges(run.reach, row, memory))


def _measured(
    name: str,
    snapshot: Snapshot,
    policy: Policy,
    repeat: int,
    tiers: Sequence[TierName] | None = None,
) -> Row:
    """
    Plan with both strategies; the median run counts, and the worst gap of all runs.
    """
    plans = [planned(snapshot, policy) for _ in range(repeat)]
    greedy = planned(snapshot, policy, "greedy")
    middle = statistics.median_low([total_of(plan) for plan in plans])
    plan = next(plan for plan in plans if total_of(plan) == middle)
    return Row(
        name=name,
        seconds=dict(plan.seconds or {}),
        greedy_seconds=total_of(greedy),
        tiers=tier_lines(plan, greedy),
        worst_gap=max(worst_gap(plan, tiers) for plan in plans),
        facts={**facts_of(snapshot), "variables": plan.model.variables},
    )


def worst_gap(plan: Plan, tiers: Sequence[TierName] | None = None) -> float:
    """
    Give the widest gap of a plan's tiers, or of those of the given names.
    """
    return max(
        (tier.gap for tier in plan.tiers if tiers is None or tier.name in tiers),
        default=0.0,
    )


def total_of(plan: Plan) -> float:
    """
    Give the seconds of a whole round.
    """
    return (plan.seconds or {}).get("total", 0.0)


def _ranges(reach: Reach, row: Row, memory: float | None) -> tuple[Range, ...]:
    found = [
        Range(what="seconds", value=row.seconds["total"], limit=reach.seconds),
        Range(what="worst gap", value=row.worst_gap or 0.0, limit=reach.gap, unit="%"),
    ]
    if reach.gibibytes is not None and memory is not None:
        found.append(Range(what="GiB", value=memory, limit=reach.gibibytes))
    return tuple(found)


def peak_gibibytes() -> float | None:
    """
    Give the most memory this process has held; unknown where there is no /proc.

    ``ru_maxrss`` would not do: a child inherits the peak of the process it comes from.
    """
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    for line in status.read_text("utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**20
    return None
