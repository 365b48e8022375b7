"""
The options of ``get`` and ``describe``, and of all that look at one gang.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from models.names import nearest


def _no_file(names: list[str] | None) -> list[str] | None:
    """
    Refuse a file where names are meant: files are named with -f.
    """
    for name in names or ():
        if name.endswith((".yaml", ".yml", ".json")) and Path(name).is_file():
            raise typer.BadParameter(f"{name} is a file; look at it with -f {name}")
    return names


STATES = (
    *("Running", "Reserved", "Leaving", "Finished", "Waiting"),
    *("Starting", "Growing", "Evicting", "Open", "Closed", "Gone"),
)
"""
The states of gangs, now and by a round, and of queues and nodes.
"""


def _known(said: str | None, what: str, words: Iterable[str]) -> str | None:
    """
    Refuse a word that nothing can have.
    """
    known = list(words)
    if said is None or said.lower() in {word.lower() for word in known}:
        return said
    near = nearest(said, known)
    hint = f"did you mean {near}?" if near else f"there is {', '.join(known)}"
    raise typer.BadParameter(f"there is no {what} {said!r} ({hint})")


def _state(said: str | None) -> str | None:
    return _known(said, "state", STATES)


def _reason(said: str | None) -> str | None:
    if said is None:
        return None
    from models.why.reasons import Reason

    return _known(said, "reason", [reason.value for reason in Reason])


def _outcome(said: str | None) -> str | None:
    from adapters.inventory.happened import OUTCOMES

    return _known(said, "outcome", OUTCOMES)


def _event(said: str | None) -> str | None:
    from adapters.inventory.happened import EVENTS

    return _known(said, "event", EVENTS)


Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME", help="List only these; all if none is named.", callback=_no_file
    ),
]
Gangs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="GANG", help="List only events of these; all if none is named."
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option("-n", "--namespace", metavar="NAME", help="List only one namespace."),
]
Everywhere = Annotated[
    bool,
    typer.Option(
        "-A", "--all-namespaces", help="List all namespaces, which is the default."
    ),
]
Labelled = Annotated[
    str | None,
    typer.Option(
        "-l",
        "--selector",
        metavar="LABELS",
        help="List only what has these labels: a=b,c!=d,e in (f).",
    ),
]
InQueue = Annotated[
    str | None,
    typer.Option("-q", "--queue", metavar="NAME", help="List only one queue."),
]
State = Annotated[
    str | None,
    typer.Option(
        "--state", metavar="STATE", help="List only this state.", callback=_state
    ),
]
Reason = Annotated[
    str | None,
    typer.Option(
        "--reason",
        metavar="REASON",
        help="List only gangs that wait for this reason.",
        callback=_reason,
    ),
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="WORD",
        help="List only rounds with this outcome.",
        callback=_outcome,
    ),
]
Event = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="WORD",
        help="List only events of this kind.",
        callback=_event,
    ),
]
Watch = Annotated[
    bool, typer.Option("-w", "--watch", help="Print what changes, until interrupted.")
]
Sort = Annotated[
    str | None,
    typer.Option(
        "--sort-by", metavar="COLUMN", help="Sort by a column, -COLUMN downwards."
    ),
]
NoHeaders = Annotated[
    bool, typer.Option("--no-headers", help="Print no column headings.")
]
Most = Annotated[
    int | None,
    typer.Option("--last", min=1, metavar="N", help="List only the newest N."),
]
GangNamespace = Annotated[
    str | None,
    typer.Option(
        "-n", "--namespace", metavar="NAME", help="The namespace of the gang."
    ),
]
