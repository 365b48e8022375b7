"""
``phalanx compare``: solver against greedy on the same input, in pairs.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options import Output, Seconds, Seed, Workers, only
from adapters.cli.output import Format, Table, as_text, emit

if TYPE_CHECKING:
    from adapters.comparison import Pair


def compare(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Files or folders.")
    ],
    *,
    output: Output = Format.TABLE,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
) -> None:
    """
    Plan every input with both strategies and print what differs, in pairs.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML, Format.CSV)
    from adapters.cli.progress import Progress
    from adapters.cli.settings import effective
    from adapters.comparison import paired
    from adapters.files import read_scenario
    from adapters.files.folders import scenario_files

    flags = {"seconds": seconds, "seed": seed, "workers": workers}
    pairs: list[Pair] = []
    with Progress() as progress:
        for file in scenario_files(paths, frozenset({"Scenario", "Snapshot"})):
            progress.say(file)
            scenario = read_scenario(file)
            policy = effective(scenario.policy, flags).policy
            pairs.append(paired(file, scenario.snapshot, policy))
    if output in {Format.JSON, Format.YAML}:
        emit(as_text(_document(pairs), output))
        return
    table = Table(_HEAD, [_row(pair) for pair in pairs], frozenset(range(1, 10)))
    if output is Format.CSV:
        emit(table.csv())
        return
    emit("\n".join([*table.lines(), "", _summary(pairs)]))


_HEAD = (
    "INPUT",
    "GPUS GREEDY",
    "SOLVER",
    "PODS GREEDY",
    "SOLVER",
    "GANGS GREEDY",
    "SOLVER",
    "GAP",
    "S GREEDY",
    "SOLVER",
    "BETTER",
)


def _row(pair: "Pair") -> tuple[str, ...]:
    ours, theirs = pair.solver, pair.greedy
    return (
        pair.name,
        f"{theirs.totals.gpus:,}",
        f"{ours.totals.gpus:,}",
        f"{theirs.totals.pods:,}",
        f"{ours.totals.pods:,}",
        f"{theirs.totals.gangs:,}",
        f"{ours.totals.gangs:,}",
        pair.certainty,
        f"{theirs.seconds:.2f}",
        f"{ours.seconds:.2f}",
        pair.better_in or "same",
    )


def _summary(pairs: "list[Pair]") -> str:
    better = sum(pair.sign > 0 for pair in pairs)
    worse = sum(pair.sign < 0 for pair in pairs)
    proven = sum(pair.certainty == "proven" for pair in pairs)
    gpus = sum(pair.solver.totals.gpus - pair.greedy.totals.gpus for pair in pairs)
    base = sum(pair.greedy.totals.gpus for pair in pairs)
    share = f" ({gpus / base:+.1%} of greedy's {base:,})" if base else ""
    return (
        f"{len(pairs)} pairs, same input, policy and seed: solver better in {better}, "
        f"equal in {len(pairs) - better - worse}, worse in {worse}; "
        f"every tier proven in {proven}; GPUs in use {gpus:+,}{share}"
    )


def _document(pairs: "list[Pair]") -> dict[str, Any]:
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Comparison",
        "items": [pair.document() for pair in pairs],
        "summary": {
            "pairs": len(pairs),
            "better": sum(pair.sign > 0 for pair in pairs),
            "equal": sum(pair.sign == 0 for pair in pairs),
            "worse": sum(pair.sign < 0 for pair in pairs),
            "proven": sum(pair.certainty == "proven" for pair in pairs),
            "gpusGreedy": sum(pair.greedy.totals.gpus for pair in pairs),
            "gpusSolver": sum(pair.solver.totals.gpus for pair in pairs),
        },
    }
