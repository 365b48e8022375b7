"""
Days: what the default policy holds for heads, against the same without any.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapters.replay.play import Run, play
from adapters.traces.clusters import floor_of, with_queues
from benchmarks.cases.days import trace_of
from benchmarks.contract_days import Days, DayTrace
from benchmarks.rows import Range, Row
from models.policy import Policy

HELD, NONE = Policy(), Policy.model_validate({"waiting": {"heads": 0}})
Metrics = dict[str, Any]


def measure_days(contract: Days) -> Iterator[Row]:
    """
    Play every trace with heads and without; last, what it is on the mean of them.
    """
    ratios: list[tuple[float, float]] = []
    with TemporaryDirectory() as folder:
        for drawn in contract.traces:
            pair = [
                played(contract, drawn, "solver", policy, Path(folder) / name)
                for name, policy in (("held", HELD), ("none", NONE))
            ]
            ratios.append((_ratio(pair, _longest), _ratio(pair, _tail)))
            yield _row(contract, drawn, pair)
    names = ("longest wait", "99th percentile, 8 GPUs and more")
    yield Row(
        name=contract.name,
        ranges=tuple(
            Range(
                what=name,
                value=sum(column) / len(column),
                limit=contract.reach.tail,
            )
            for name, column in zip(names, zip(*ratios, strict=True), strict=True)
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


def _row(contract: Days, drawn: DayTrace, pair: list[Metrics]) -> Row:
    reach = contract.reach
    return Row(
        name=f"{contract.name} {drawn.name}",
        facts={
            "meanWait": pair[0]["wait"]["mean"],
            "longest": _longest(pair[0]),
            "p99Large": _tail(pair[0]),
        },
        ranges=(
            Range(
                what="mean wait",
                value=_ratio(pair, lambda m: float(m["wait"]["mean"])),
                limit=reach.mean,
            ),
            Range(
                what="held",
                value=pair[0]["gpus"]["held"],
                limit=reach.held,
                unit="%",
            ),
        ),
    )


def _ratio(pair: list[Metrics], measure: Callable[[Metrics], float]) -> float:
    return float(measure(pair[0]) / max(1, measure(pair[1])))


def _longest(metrics: Metrics) -> float:
    return float(metrics["starved"]["longest"])


def _tail(metrics: Metrics) -> float:
    return float(next(r for r in metrics["wait"]["bySize"] if r["size"] == "8+")["p99"])
