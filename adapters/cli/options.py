"""
Options that several commands share.
"""

from typing import Annotated

import typer

from adapters.cli.output import Format

Output = Annotated[
    Format, typer.Option("-o", "--output", help="How the answer is written.")
]
Strategy = Annotated[
    str | None, typer.Option(help="solver or greedy.", metavar="solver|greedy")
]
Seconds = Annotated[
    float | None,
    typer.Option(
        min=0, help="Search by the clock, on all cores, instead of deterministically."
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Decides what is equal.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Search threads.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="Never use colour.")]
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
        raise typer.BadParameter(f"-o {form} is not written here, only {words}")
