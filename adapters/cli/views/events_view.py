"""
What happened to gangs, as rows.
"""

from adapters.cli.views.listing import ListColumn, Listing
from adapters.inventory.happened import Happening
from models.why.reasons import counted

_NOTHING = "–"


def events_of(path: str) -> Listing[Happening]:
    """
    Show what happened, one line for each gang, round and cause.
    """
    return Listing(
        kind="EventList",
        columns=[
            ListColumn("BEGAN", lambda row: row.began),
            ListColumn("EVENT", lambda row: row.event),
            ListColumn("GANG", lambda row: row.gang or _NOTHING),
            ListColumn("PODS", lambda row: f"{row.pods:,}", right=True),
            ListColumn("WHY", lambda row: row.why or _NOTHING),
            ListColumn("ROUND", lambda row: row.round, wide=True),
        ],
        name=lambda row: row.key,
        document=lambda row: row.document(),
        state=lambda row: row.event,
        foot=lambda rows: f"{counted(len(rows), 'event')} in {path}",
        empty=f"No such events in {path}.",
    )
