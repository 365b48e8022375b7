"""
``phalanx trace``: check, describe and convert files of jobs.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options.common import DIFFERS, only
from adapters.cli.options.trace_options import Form, say_what_was_done
from adapters.cli.terminal.output import Format, Table, as_text, emit, note, say
from models.why.reasons import counted

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.traces.row_faults import Tally

app = typer.Typer(
    help="Check, describe and convert files of jobs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
File = Annotated[str, typer.Argument(metavar="TRACE", help="A file of jobs.")]
_WEIGHT = re.compile(r" *(-?[0-9]{1,9})=([0-9]{1,9}) *")
Output = Annotated[Format, typer.Option("-o", "--output", metavar="table|json")]

To = Annotated[
    str, typer.Option("--to", metavar="FILE", help="A new .csv, .csv.gz or .parquet.")
]
Composite = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Draw CPU and memory from the pods of another trace, by their GPUs.",
    ),
]
Priorities = Annotated[
    str | None,
    typer.Option(
        metavar="P=N,…",
        help="Draw priorities, such as 100=20,0=80: 100 for 20 in 100 jobs.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="Another seed is another draw; 0 first."),
]


@app.command()
def check(trace: File, *, form: Form = None, output: Output = Format.TABLE) -> None:
    """
    Read a file of any size, row by row, and list what was repaired or left out.

    Exits with 3 when a row was left out.
    """
    only(output, Format.TABLE, Format.JSON)
    from adapters.cli.terminal.bar import Bar
    from adapters.traces import stream_trace
    from adapters.traces.cells import MOST_NAMES

    stream = stream_trace(trace, form)
    tally = stream.tally
    with Bar("reading", stream.part):
        count = sum(1 for _ in stream.jobs)
    tally.judge()
    if count > MOST_NAMES:
        note(f"note: names were compared among the first {MOST_NAMES:,} jobs only")
    if output is Format.JSON:
        emit(as_text(_checked(stream.form, tally, count), output))
    else:
        say(*_check_lines(stream.form, tally, count))
    if tally.left_out:
        raise typer.Exit(DIFFERS)


def _checked(form: str, tally: "Tally", count: int) -> dict[str, object]:
    return {
        "form": form,
        "rows": tally.rows,
        "jobs": count,
        "repaired": dict(tally.repaired),
        "leftOut": dict(tally.left_out),
        "examples": tally.examples,
    }


def _check_lines(form: str, tally: "Tally", count: int) -> list[str]:
    """
    Say by which rules how many rows were repaired or left out, and then all in one.
    """
    from adapters.traces.row_faults import OMISSIONS, REPAIRS

    rows = [
        [what, rule, f"{number:,}", rules[rule], "; ".join(tally.examples[rule])]
        for what, counts, rules in (
            ("repaired", tally.repaired, REPAIRS),
            ("left out", tally.left_out, OMISSIONS),
        )
        for rule, number in counts.most_common()
    ]
    head = ("WHAT", "RULE", "ROWS", "WHY", "FIRST")
    table = [*Table(head, rows, frozenset({2})).lines(), ""] if rows else []
    rest = counted(sum(tally.left_out.values()), "row")
    return [
        *table,
        (
            f"{counted(tally.rows, 'row')} in form {form}: {counted(count, 'job')}, "
            f"{counted(sum(tally.repaired.values()), 'repair')}, {rest} left out"
        ),
    ]


@app.command()
def describe(trace: File, *, form: Form = None, output: Output = Format.TABLE) -> None:
    """
    Say what a trace holds: jobs and work by size and by queue, times, notes.
    """
    only(output, Format.TABLE, Format.JSON)
    from adapters.cli.terminal.bar import Bar
    from adapters.traces import stream_trace
    from adapters.traces.description import portrait_of

    stream = stream_trace(trace, form)
    with Bar("reading", stream.part):
        document = portrait_of(stream)
    if output is Format.JSON:
        emit(as_text(document, output))
        return
    say_what_was_done(stream.tally)
    say(*_described(document))


def _described(document: Mapping[str, Any]) -> list[str]:
    from adapters.cli.views.replay_view import time

    begins = f" from {document['begins']}" if document["begins"] else ""
    work = f"{counted(document['jobs'], 'job')}, {document['gpuHours']:,.0f} GPU-h"
    lines = [
        f"{document['name']} · form {document['form']} · {work}",
        f"submitted within {time(document['span'])}{begins}",
        *(f"composite workload: {part}" for part in document["composite"]),
        "",
    ]
    for key, head in (("bySize", "GPUS"), ("byQueue", "QUEUE")):
        rows = [
            [
                *(row["name"], f"{row['jobs']:,}", f"{row['gpuHours']:,.0f}"),
                *(f"{100 * row['part']:.1f} %", time(row["median"])),
                time(row["longest"]),
            ]
            for row in document[key]
        ]
        head_row = (head, "JOBS", "GPU-H", "OF ALL", "MEDIAN RUN", "LONGEST RUN")
        lines += [*Table(head_row, rows, frozenset(range(1, 6))).lines(), ""]
    lines += [f"note: {text}" for text in document["notes"]]
    return lines


@app.command()
def convert(
    trace: File,
    *,
    to: To,
    form: Form = None,
    composite: Composite = None,
    priorities: Priorities = None,
    seed: Seed = None,
) -> None:
    """
    Write a trace in our own form, sorted and with what was repaired.

    With --composite or --priorities it is a composite workload, and always says so.
    """
    from adapters.traces import read_trace
    from adapters.traces.composite import with_priorities, with_requests
    from adapters.traces.own import write_own

    path = _new_file(to)
    weights = None if priorities is None else _weights(priorities)
    if seed is not None and composite is None and weights is None:
        raise typer.BadParameter(
            "--seed: nothing is drawn without --composite or --priorities"
        )
    found = read_trace(trace, form)
    if composite is not None:
        found = with_requests(found, read_trace(composite), seed or 0)
    if weights is not None:
        found = with_priorities(found, weights, seed or 0)
    write_own(found, path)
    say_what_was_done(found)
    for text in found.parts:
        note(f"composite workload: {text}")
    for text in found.notes:
        note(f"note: {text}")
    say(f"{counted(len(found.jobs), 'job')} in {to}")


def _new_file(name: str) -> "Path":
    """
    Refuse a file that exists, or whose form nobody knows.
    """
    from pathlib import Path

    path = Path(name)
    if not path.name.endswith((".csv", ".csv.gz", ".parquet")):
        raise typer.BadParameter(
            f"--to {name!r} ends with none of .csv, .csv.gz, .parquet"
        )
    if path.exists():
        raise FileExistsError(17, "exists already", str(path))
    return path


def _weights(text: str) -> dict[int, int]:
    """
    Read priorities with their weights.
    """
    found: dict[int, int] = {}
    for word in text.split(","):
        match = _WEIGHT.fullmatch(word)
        if match is None or int(match[1]) in found or not int(match[2]):
            raise typer.BadParameter(
                f"--priorities {text!r}: {word!r} is not a priority with its weight, "
                "such as 100=20, or names one twice"
            )
        found[int(match[1])] = int(match[2])
    return found
