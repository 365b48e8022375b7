"""
``phalanx plan diff``: what two plans do differently.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options.common import DIFFERS, NoColor, only
from adapters.cli.terminal.output import (
    Format,
    Paint,
    as_text,
    emit,
    say,
    screen_width,
)

if TYPE_CHECKING:
    from models.plan import Plan


def plan_diff(
    before: Annotated[str, typer.Argument(metavar="A.json", help="The first plan.")],
    after: Annotated[str, typer.Argument(metavar="B.json", help="The second plan.")],
    *,
    output: Annotated[
        Format,
        typer.Option(
            "-o",
            "--output",
            metavar="table|wide|json|yaml",
            help="The format of the answer.",
        ),
    ] = Format.TABLE,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 3 if they differ.")
    ] = False,
    no_color: NoColor = False,
) -> int:
    """
    Compare two plans: values with bounds, who starts, waits or leaves in the second.
    """
    only(output, Format.TABLE, Format.WIDE, Format.JSON, Format.YAML)
    from adapters.compare.plan_difference import difference_document, difference_of
    from adapters.files import read_plan

    one, other = read_plan(before), read_plan(after)
    found = difference_of(one, other)
    if output in {Format.TABLE, Format.WIDE}:
        known = one.snapshot and other.snapshot and one.snapshot != other.snapshot
        of = ", of different snapshots" if known else ""
        say(f"{before} and {after}: {one.status} and {other.status}{of}", "")
        _show(one, other, Paint(no_color=no_color), wide=output is Format.WIDE)
    else:
        document = _document(one, other) | difference_document(found)
        emit(as_text(document, output))
    return DIFFERS if detailed_exitcode and found.is_any else 0


def _show(one: "Plan", other: "Plan", paint: Paint, *, wide: bool) -> None:
    from adapters.cli.views.difference_view import gang_lines, tier_lines
    from adapters.compare.plan_difference import difference_of

    width = screen_width()
    found = difference_of(one, other)
    say(
        *tier_lines(one, other, ("A", "B"), width),
        *gang_lines(found, ("A", "B"), paint, wide=wide, width=width),
    )


def _document(one: "Plan", other: "Plan") -> dict[str, Any]:
    from adapters.files import plan_document

    return {
        "apiVersion": "phalanx/v1",
        "kind": "PlanDiff",
        "sameSnapshot": one.snapshot == other.snapshot,
        "before": {"tiers": plan_document(one)["tiers"]},
        "after": {"tiers": plan_document(other)["tiers"]},
    }
