"""
Days: what the default policy holds for heads, against the same without any.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from adapters.replay.measures.intervals import interval_of_mean
from adapters.replay.play import Run, play
from adapters.traces.clusters import floor_of, with_queues
from benchmarks.cases.days import trace_of
from benchmarks.contract_days import Days, DayTrace
from benchmarks.rows import Range, Row
from models.policy import Policy

HELD, NONE = Policy(), Policy.model_validate({"waiting": {"heads": 0}})
Metrics = dict[str, Any]
_FAR = 100


@dataclass(frozen=True, slots=True)
class _Played:
    """
    What one trace came to: by the solver with heads and without, and by greedy.
    """

    held: Metrics
    none: Metrics
    greedy: Metrics


def measure_days(contract: Days, seeds: int = 1) -> Iterator[Row]:
    """
    Play every trace with heads and without; last, what it is on the mean of all.

    Parameters
    ----------
    contract
        The traces, and what must be reached.
    seeds
        How many traces of each sort are drawn; of several, means are told.
    """
    found: list[_Played] = []
    with TemporaryDirectory() as folder:
        for drawn in contract.traces:
            many = [
                _played(contract, again(drawn, seed), Path(folder) / f"{seed}")
                for seed in range(seeds)
            ]
            found += many
            yield _row(contract, drawn, many)
    yield _mean_row(contract, found)


def again(drawn: DayTrace, seed: int) -> DayTrace:
    """
    Draw a trace of the same sort anew; the first is as the contract has it.
    """
    return drawn.model_copy(update={"seed": drawn.seed + _FAR * seed})


def _played(contract: Days, drawn: DayTrace, folder: Path) -> _Played:
    return _Played(
        held=played(contract, drawn, "solver", HELD, folder / "held"),
        none=played(contract, drawn, "solver", NONE, folder / "none"),
        greedy=played(contract, drawn, "greedy", HELD, folder / "greedy"),
    )


def _mean_row(contract: Days, found: Sequence[_Played]) -> Row:
    """
    Hold what heads make of the tail, and tell what the solver is beside greedy.
    """
    facts: dict[str, float] = {}
    for word, measure in _MEASURES.items():
        ratios = [_ratio(each.held, each.greedy, measure) for each in found]
        facts[f"{word}ToGreedy"] = fmean(ratios)
        if (interval := interval_of_mean(np.array(ratios))) is not None:
            low, high = interval
            facts |= {f"{word}ToGreedyLow": low, f"{word}ToGreedyHigh": high}
    return Row(
        name=contract.name,
        facts=facts,
        ranges=tuple(
            Range(
                what=what,
                value=fmean(_ratio(each.held, each.none, measure) for each in found),
                limit=contract.reach.tail,
            )
            for what, measure in (
                ("longest wait", _longest),
                ("99th percentile, 8 GPUs and more", _tail),
            )
        ),
    )


def played(
    contract: Days, drawn: DayTrace, strategy: str, policy: Policy, folder: Path
) -> Metrics:
    """
    Play one trace on its cluster under a policy.
    """
    trace = trace_of(contract, drawn)
    cluster = floor_of(f"{drawn.nodes}x{contract.per_node}")
    floor = with_queues(trace, cluster, "gpu-hours" if drawn.queues else "none")
    run = Run(
        trace=trace,
        floor=floor,
        policy=policy,
        strategy=strategy,
        every=contract.every,
    )
    found: Metrics = play(run, folder / drawn.name)["metrics"]
    return found


def _row(contract: Days, drawn: DayTrace, many: Sequence[_Played]) -> Row:
    reach = contract.reach
    return Row(
        name=f"{contract.name} {drawn.name}",
        facts={
            word: fmean(measure(each.held) for each in many)
            for word, measure in _MEASURES.items()
        },
        ranges=(
            Range(
                what="mean wait",
                value=fmean(_ratio(each.held, each.none, _mean) for each in many),
                limit=reach.mean,
            ),
            Range(
                what="held",
                value=fmean(_idle(each.held) for each in many),
                limit=reach.held,
                unit="%",
            ),
        ),
    )


def _ratio(one: Metrics, other: Metrics, measure: Callable[[Metrics], float]) -> float:
    return float(measure(one) / max(1, measure(other)))


def _idle(metrics: Metrics) -> float:
    """
    Give the part of the GPU time that is held or between rounds.
    """
    return float(metrics["gpus"]["held"] + metrics["gpus"]["freed"])


def _mean(metrics: Metrics) -> float:
    return float(metrics["wait"]["mean"])


def _longest(metrics: Metrics) -> float:
    return float(metrics["starved"]["longest"])


def _tail(metrics: Metrics) -> float:
    return float(next(r for r in metrics["wait"]["bySize"] if r["size"] == "8+")["p99"])


_MEASURES = {"meanWait": _mean, "longest": _longest, "p99Large": _tail}
