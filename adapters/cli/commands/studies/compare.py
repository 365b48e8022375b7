"""
``phalanx compare``: solver against greedy on the same input, in pairs.
"""

from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.common import (
    Dialects,
    RowsOutput,
    SchedulerNames,
    Seconds,
    Seed,
    Workers,
    only,
)
from adapters.cli.options.report_options import HtmlFile, MarkdownFile, ready, write
from adapters.cli.terminal.output import Format, Table, as_text, emit, say, warn
from models.devices.gpu_counts import shown_gpus, signed_gpus
from models.why.reasons import counted

if TYPE_CHECKING:
    from adapters.compare.pairs import Pair
    from adapters.service.settings import Flags
    from models.dialects import DialectChoice


def compare(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files or folders.")
    ],
    *,
    output: RowsOutput = Format.TABLE,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
) -> None:
    """
    Compare the solver with greedy, input by input.

    Every file is planned twice, with one policy and seed.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML, Format.CSV)
    ready(html, markdown)
    flags = {"seconds": seconds, "seed": seed, "workers": workers}
    reports = html is not None or markdown is not None
    read = scheduler_name or (), dialect or ()
    pairs = _pairs(paths, read, flags, explained=reports)
    if reports:
        from adapters.reports.comparison.comparison_page import comparison_page

        write(comparison_page(pairs), html, markdown)
    if output in {Format.JSON, Format.YAML}:
        from adapters.compare.pairs import comparison_document

        emit(as_text(comparison_document(pairs), output))
    elif output is Format.CSV:
        emit(Table(_FIELDS, [_fields(pair) for pair in pairs]).csv())
    else:
        say(*_table(pairs), "", *_summary(pairs))


def _pairs(
    paths: Sequence[str],
    read: "tuple[Sequence[str], Sequence[DialectChoice]]",
    flags: "Flags",
    *,
    explained: bool,
) -> "list[Pair]":
    """
    Plan every input twice; ``read`` says whose pods are planned, in whose words.
    """
    from adapters.cli.terminal.progress import Progress
    from adapters.compare.pairs import paired
    from adapters.files import read_scenario
    from adapters.files.folders import inputs
    from adapters.service.settings import effective

    found = []
    with Progress() as progress:
        for file in inputs(paths):
            progress.say(file)
            scenario = read_scenario(file, *read)
            warn(scenario.snapshot.warnings, f"{file}: ")
            policy = effective(scenario.policy, flags).policy
            found.append(paired(file, scenario.snapshot, policy, explained=explained))
    return found


_FIELDS = (
    "input",
    "greedy_gpus",
    "solver_gpus",
    "greedy_pods",
    "solver_pods",
    "greedy_gangs",
    "solver_gangs",
    "greedy_seconds",
    "solver_seconds",
    "gap",
    "better",
    "tier",
)
_HEAD = ("INPUT", *("GREEDY", "SOLVER") * 4, "GAP", "BETTER")
_GROUPS = ("GPUS", "PODS", "GANGS", "SECONDS")


def _numbers(pair: "Pair") -> tuple[int, ...]:
    pairs = zip(astuple(pair.greedy.totals), astuple(pair.solver.totals), strict=True)
    return tuple(number for both in pairs for number in both)


def _seconds(pair: "Pair") -> tuple[str, str]:
    return f"{pair.greedy.seconds:.2f}", f"{pair.solver.seconds:.2f}"


def _better(pair: "Pair") -> tuple[str, str]:
    """
    Name who is better, and the first tier that says so.
    """
    who = {1: "solver", -1: "greedy", 0: "equal"}[pair.sign]
    return who, pair.better_in or ""


def _fields(pair: "Pair") -> tuple[str, ...]:
    numbers = map(str, _numbers(pair))
    return pair.name, *numbers, *_seconds(pair), pair.certainty, *_better(pair)


def _row(pair: "Pair") -> tuple[str, ...]:
    numbers = (f"{number:,}" for number in _numbers(pair))
    better = ", ".join(filter(None, _better(pair)))
    return pair.name, *numbers, *_seconds(pair), pair.certainty, better


def _table(pairs: "list[Pair]") -> list[str]:
    """
    Lay the pairs out below a line that says what each two columns count.
    """
    table = Table(_HEAD, [_row(pair) for pair in pairs], frozenset(range(1, 10)))
    head, *rows = table.lines()
    starts = [at for at in range(len(head)) if head.startswith("GREEDY", at)]
    above = " " * len(head)
    for at, name in zip(starts, _GROUPS, strict=True):
        above = f"{above[:at]}{name}{above[at + len(name) :]}"
    return [above.rstrip(), head, *rows]


def _summary(pairs: "list[Pair]") -> list[str]:
    better = sum(pair.sign > 0 for pair in pairs)
    worse = sum(pair.sign < 0 for pair in pairs)
    proven = sum(pair.certainty == "proven" for pair in pairs)
    gpus = sum(pair.solver.totals.gpus - pair.greedy.totals.gpus for pair in pairs)
    base = sum(pair.greedy.totals.gpus for pair in pairs)
    share = f", {100 * gpus / base:+.1f} %" if base else ""
    inputs = (
        f"{counted(len(pairs), 'input')}, each planned twice with one policy and seed"
    )
    equal = len(pairs) - better - worse
    found = f"solver better in {better}, equal in {equal}, worse in {worse}"
    after = "GPUs of pods that run or are bound after the plans"
    sums = (
        f"{shown_gpus(base)} with greedy, {shown_gpus(base + gpus)} with the solver "
        f"({signed_gpus(gpus)}{share})"
    )
    return [
        f"{inputs}: {found}; every tier proven in {proven}",
        f"{after}: {sums}",
    ]
