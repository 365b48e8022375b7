"""
``phalanx get events``: what happened to gangs, from the record of rounds.
"""

from collections.abc import Iterable
from typing import Annotated

import typer

from adapters.cli.commands.get import (
    Most,
    NoHeaders,
    Sort,
    Watch,
    follow,
    look_of,
)
from adapters.cli.options.shared import NoColor, PlanOutput
from adapters.cli.terminal.output import Format
from adapters.cli.views import listed_source
from adapters.cli.views.listed_source import record_path
from adapters.cli.views.listing import show
from adapters.inventory.happened import Happening

Gangs = Annotated[
    list[str] | None, typer.Argument(metavar="GANG", help="Only of these; else all.")
]
Event = Annotated[
    str | None, typer.Option("--event", metavar="WORD", help="Only of one kind.")
]


def events(
    names: Gangs = None,
    *,
    rounds_path: listed_source.Record = None,
    output: PlanOutput = Format.TABLE,
    event: Event = None,
    last: Most = None,
    watching: Watch = False,
    sort: Sort = None,
    no_headers: NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List what happened to gangs, oldest first: starts, evictions, refusals, ends.
    """
    from adapters.cli.views.events_view import events_of
    from adapters.inventory.happened import happenings
    from adapters.observe.round_file import read_rounds

    path = record_path(rounds_path)
    wanted = set(names or ())

    def rows() -> Iterable[Happening]:
        found = [
            each
            for each in happenings(read_rounds(path))
            if (not wanted or wanted & {each.gang, each.gang.rpartition("/")[2]})
            and (event is None or event.lower() == each.event.lower())
        ]
        return found[-last:] if last else found

    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    if watching:
        follow(events_of(str(path)), rows, look)
    else:
        show(events_of(str(path)), rows(), look)
