"""
``phalanx bench``: the performance contract, measured.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.common import DIFFERS, RowsOutput, only
from adapters.cli.terminal.output import Format, Table, as_text, emit, say

if TYPE_CHECKING:
    from benchmarks import BenchReport
    from solver import Tuning

Seeds = Annotated[
    int,
    typer.Option(
        "--seeds", min=1, metavar="N", help="How many traces of each sort `days` draws."
    ),
]


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Rows; all if none, rounds/ is all below."),
    ] = None,
    *,
    tuning: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Try another number of the search, as solver/tuning.py names them.",
        ),
    ] = None,
    seeds: Seeds = 1,
    output: RowsOutput = Format.TABLE,
) -> int:
    """
    Measure the performance contract.

    Its rows are in scenarios/perf/; exit 3 when a range is broken.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML, Format.CSV)
    from adapters.cli.terminal.progress import Progress

    run = _measured()
    _known(names or [])
    tried = _tried(tuning or [])
    with Progress() as progress:
        report = run(names or [], progress=progress.say, tuning=tried, seeds=seeds)
    if output in {Format.JSON, Format.YAML}:
        emit(as_text(report.document(), output))
    else:
        head = report.head()
        table = Table(head, report.rows(), frozenset(range(1, len(head) - 2)))
        csv = output is Format.CSV
        if csv:
            emit(table.csv())
        else:
            say(*table.lines())
    return 0 if report.holds else DIFFERS


def _measured() -> "Callable[..., BenchReport]":
    """
    Find the bench, which a checkout has and an installed package has not.
    """
    try:
        from benchmarks import run
    except ModuleNotFoundError as error:
        if error.name != "benchmarks":
            raise
        raise typer.BadParameter(
            "the performance contract is part of the source, not of this installation; "
            "run `phalanx bench` from the top of a checkout"
        ) from error
    return run


def _tried(words: list[str]) -> "Tuning":
    """
    Read the numbers to try.
    """
    from benchmarks.tuning import TuningError, tuning_of

    try:
        return tuning_of(words)
    except TuningError as error:
        raise typer.BadParameter(str(error)) from None


def _known(names: list[str]) -> None:
    """
    Refuse a row that the contract does not have.
    """
    from benchmarks.contract import contract_names

    known = contract_names()
    for name in names:
        below = name.endswith("/") and any(row.startswith(name) for row in known)
        if not below and name not in known:
            raise typer.BadParameter(f"no row {name!r}, only {', '.join(known)}")
