"""
Options and the exit code that several commands share.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from adapters.cli.terminal.output import Format
from models.dialects import DialectChoice, contradiction

DIFFERS = 3
"""
The exit code of an answer that is no, or of things that differ.
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """
    What is asked of every command.
    """

    debug: bool


def _output(words: str) -> Any:  # noqa: ANN401 - what the parser calls an option
    return typer.Option(
        "-o", "--output", metavar=words, help="The format of the answer."
    )


PlanOutput = Annotated[Format, _output("table|wide|json|yaml|name|csv")]
RowsOutput = Annotated[Format, _output("table|json|yaml|csv")]
Output = Annotated[Format, _output("table|json|yaml")]
Strategy = Annotated[
    str | None, typer.Option(help="Which strategy plans.", metavar="solver|greedy")
]
Seconds = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="S",
        help="Search by the clock, on all cores, instead of deterministically.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="The seed: it chooses between equal plans."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Search threads.")
]
NoColor = Annotated[bool, typer.Option("--no-color", help="Never use colour.")]


def _named(names: list[str] | None) -> list[str] | None:
    if any(not name.strip() for name in names or ()):
        raise typer.BadParameter("a scheduler has a name, such as phalanx")
    return names


SchedulerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--scheduler-name",
        metavar="NAME",
        callback=_named,
        help="Plan the pods of this scheduler; phalanx if none is named.",
    ),
]


def _agreed(choices: list[DialectChoice] | None) -> list[DialectChoice] | None:
    if what := contradiction(choices or ()):
        raise typer.BadParameter(what)
    return choices


Dialects = Annotated[
    list[DialectChoice] | None,
    typer.Option(
        "--dialect",
        metavar="NAME=WORD",
        envvar="PHALANX_DIALECT",
        callback=_agreed,
        help=f"How words of manifests are read: {', '.join(DialectChoice)}.",
    ),
]
STRATEGIES = ("solver", "greedy")


def chosen(strategy: str | None, default: str = "solver") -> str:
    """
    Judge the name of a strategy.
    """
    if strategy is None:
        return default
    if strategy not in STRATEGIES:
        raise typer.BadParameter(f"{strategy!r} is not solver or greedy")
    return strategy


def only(form: Format, *known: Format) -> None:
    """
    Refuse a format that a command does not write.
    """
    if form not in known:
        words = ", ".join(known)
        raise typer.BadParameter(f"-o {form} is not available here, only {words}")
