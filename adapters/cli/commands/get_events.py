"""
``phalanx get events``: what happened to gangs, from the record of rounds.
"""

from collections.abc import Iterable

from adapters.cli.options import list_options as options
from adapters.cli.options.common import NoColor, PlanOutput
from adapters.cli.terminal.output import Format
from adapters.cli.views import listed_source
from adapters.cli.views.listed_source import names_of, record_path
from adapters.cli.views.listing import look_of, show_or_follow
from adapters.inventory.happened import Happening


def events(
    names: options.Gangs = None,
    *,
    rounds_path: listed_source.Record = None,
    output: PlanOutput = Format.TABLE,
    event: options.Event = None,
    last: options.Most = None,
    watching: options.Watch = False,
    sort: options.Sort = None,
    no_headers: options.NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List what happened to gangs, oldest first: starts, evictions, refusals, ends.
    """
    from adapters.cli.views.events_view import events_of
    from adapters.inventory.happened import happenings
    from adapters.observe.round_file import whole_rounds

    path = record_path(rounds_path)

    def rows() -> Iterable[Happening]:
        found = [
            each
            for each in happenings(whole_rounds(path))
            if (not names or not names_of(each.gang).isdisjoint(names))
            and (event is None or event.lower() == each.event.lower())
        ]
        return found[-last:] if last else found

    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    show_or_follow(events_of(str(path)), rows, look, watching=watching)
