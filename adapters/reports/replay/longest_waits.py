"""
Why those wait who have waited longest, in the sentence of ``phalanx why``.
"""

from adapters.reports.charts.number_text import amount, span
from adapters.reports.page.page import Block, Cell, Column, Grid, Text
from adapters.reports.replay.results import Folder
from adapters.reports.replay.tables import LongWait, TableError, read_waits
from models.errors import printable

MOST_LISTED = 40
_NOTE = (
    "Asked each time that somebody had waited twice as long as anybody before, apart "
    "for gangs of 8 GPUs and more; of the first run of each strategy that plans by all "
    "rules."
)


def long_waits(folder: Folder) -> list[Block]:
    """
    List why the longest waits were so long, moment by moment.
    """
    rows, missing = [], []
    for name in folder.results.strategies:
        run = folder.run(name)
        if run is None:
            continue
        try:
            told = read_waits(folder.file(run, "waits.csv"))
        except TableError as error:
            missing.append(f"{run.folder}/waits.csv {error}.")
            continue
        rows += [_row(name, one) for one in told]
    if not rows:
        return [Text(["Nobody waited for an hour, or nobody was asked.", *missing])]
    grid = Grid(
        caption="Who had waited longest, and why",
        columns=[
            Column("Strategy"),
            Column("At", right=True, hint="since the first submission"),
            Column("Job"),
            Column("GPUs", right=True),
            Column("Had waited", right=True),
            Column("Why"),
        ],
        rows=rows[:MOST_LISTED],
        stacked=True,
        notes=[_NOTE, *missing],
    )
    return [grid]


def _row(strategy: str, one: LongWait) -> list[Cell]:
    return [
        Cell(strategy),
        Cell(span(one.moment), one.moment),
        Cell(printable(one.job)),
        Cell(amount(one.gpus), one.gpus),
        Cell(span(one.waited), one.waited),
        Cell(printable(one.why)),
    ]
