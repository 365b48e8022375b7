"""
``phalanx bench``: the performance contract, measured.
"""

from typing import Annotated

import typer

from adapters.cli.options import Output, only
from adapters.cli.output import Format, Table, as_text, emit


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Rows; all if none.")
    ] = None,
    *,
    output: Output = Format.TABLE,
) -> int:
    """
    Measure the rows of scenarios/perf; exit 3 when a range is broken.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML, Format.CSV)
    from adapters.bench import run

    report = run(names or [])
    if output in {Format.JSON, Format.YAML}:
        emit(as_text(report.document(), output))
    else:
        table = Table(report.head(), report.rows())
        csv = output is Format.CSV
        emit(table.csv() if csv else "\n".join(table.lines()))
    return 0 if report.holds else 3
