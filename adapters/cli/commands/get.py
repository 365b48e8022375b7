"""
``phalanx get``: gangs, queues, nodes and rounds, once or as they change.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from threading import Event
from time import time
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from adapters.cli.options.shared import NoColor, PlanOutput, SchedulerNames
from adapters.cli.terminal.output import Format, Paint
from adapters.cli.views import listed_source
from adapters.cli.views.listed_source import Where, record_path, round_named
from adapters.cli.views.listing import Listing, Look, show, watch
from adapters.inventory.selectors import Labels, SelectorError, selector

if TYPE_CHECKING:
    from adapters.inventory.listed import Seen

T = TypeVar("T")
INTERRUPTED = 130
_EVERY = 1.0
app = typer.Typer(
    help="List gangs, queues, nodes, rounds or events.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Names = Annotated[
    list[str] | None, typer.Argument(metavar="NAME", help="Only these; else all.")
]
Namespace = Annotated[
    str | None,
    typer.Option("-n", "--namespace", metavar="NAME", help="Only of one namespace."),
]
Everywhere = Annotated[
    bool,
    typer.Option("-A", "--all-namespaces", help="Of all namespaces: as without it."),
]
Labelled = Annotated[
    str | None,
    typer.Option(
        "-l", "--selector", metavar="LABELS", help="Only with these: a=b,c!=d,e in (f)."
    ),
]
InQueue = Annotated[
    str | None,
    typer.Option("-q", "--queue", metavar="NAME", help="Only of one queue."),
]
State = Annotated[
    str | None, typer.Option("--state", metavar="STATE", help="Only in one state.")
]
Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="REASON", help="Only that wait for one reason."),
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
NoHeaders = Annotated[bool, typer.Option("--no-headers", help="Print no heads.")]
Most = Annotated[
    int | None,
    typer.Option("--last", min=1, metavar="N", help="Only the newest N rounds."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WantedRows:
    """
    Which rows are wanted; what is not said lets every row through.
    """

    names: tuple[str, ...] = ()
    namespace: str | None = None
    labels: str | None = None
    queue: str | None = None
    state: str | None = None
    reason: str | None = None

    def labelled(self) -> Callable[[Labels], bool]:
        """
        Give the test of labels.
        """
        try:
            return selector(self.labels or "")
        except SelectorError as error:
            raise typer.BadParameter(str(error)) from error

    def is_named(self, name: str) -> bool:
        """
        Tell whether a name was asked for, with its namespace or without.
        """
        bare = name.rpartition("/")[2]
        return not self.names or name in self.names or bare in self.names


@app.command("gangs")
@app.command("gang", hidden=True)
def gangs(
    names: Names = None,
    *,
    file: listed_source.Files = None,
    round_name: listed_source.Round = None,
    rounds_path: listed_source.Record = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    output: PlanOutput = Format.TABLE,
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    labels: Labelled = None,
    queue: InQueue = None,
    state: State = None,
    reason: Reason = None,
    watching: Watch = False,
    sort: Sort = None,
    no_headers: NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List gangs: how each stands, and why it waits.
    """
    del everywhere
    wanted = _WantedRows(
        names=tuple(names or ()),
        namespace=namespace,
        labels=labels,
        queue=queue,
        state=state,
        reason=reason,
    )
    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    if round_name is not None:
        _recorded(round_named(round_name, rounds_path), wanted, look, watching)
        return
    from adapters.cli.views.get_views import gangs_of
    from adapters.inventory.gangs import gang_rows

    def rows(seen: "Seen") -> Iterable[Any]:
        has, labelled = _labels_of(seen, wanted), wanted.labelled()
        found = [
            row
            for row in gang_rows(seen)
            if wanted.namespace in {None, row.namespace}
            and wanted.queue in {None, row.queue}
            and _is(wanted.state, row.state)
            and _is(wanted.reason, row.why.reason if row.why else "")
            and labelled(has.get(row.key, {}))
            and wanted.is_named(row.key)
        ]
        gangs = seen.snapshot.gangs
        _all_there("gang", wanted, [gang.key for gang in gangs], seen.source)
        queues = {gang.queue for gang in gangs}
        queues |= {each.name for each in seen.snapshot.queues}
        if wanted.queue is not None and wanted.queue not in queues:
            known = sorted(queues)
            raise listed_source.NotThereError("queue", wanted.queue, known, seen.source)
        return found

    where = _where(file, scheduler_name, kubeconfig, context)
    _shown(where, gangs_of, rows, look, watching=watching)


@app.command("queues")
@app.command("queue", hidden=True)
def queues(
    names: Names = None,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    output: PlanOutput = Format.TABLE,
    state: State = None,
    watching: Watch = False,
    sort: Sort = None,
    no_headers: NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List queues: what each is entitled to, and what it uses.
    """
    from adapters.cli.views.get_views import queues_of
    from adapters.inventory.queues import queue_rows

    wanted = _WantedRows(names=tuple(names or ()), state=state)

    def rows(seen: "Seen") -> Iterable[Any]:
        known = [queue.name for queue in seen.snapshot.queues]
        _all_there("queue", wanted, known, seen.source)
        found = (row for row in queue_rows(seen) if _is(wanted.state, row.state))
        return [row for row in found if wanted.is_named(row.name)]

    where = replace(_where(file, scheduler_name, kubeconfig, context), over_time=True)
    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    _shown(where, queues_of, rows, look, watching=watching)


@app.command("nodes")
@app.command("node", hidden=True)
def nodes(
    names: Names = None,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    output: PlanOutput = Format.TABLE,
    labels: Labelled = None,
    state: State = None,
    watching: Watch = False,
    sort: Sort = None,
    no_headers: NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List nodes: what each has, and what is left.
    """
    from adapters.cli.views.get_views import nodes_of
    from adapters.inventory.nodes import node_rows

    wanted = _WantedRows(names=tuple(names or ()), state=state, labels=labels)

    def rows(seen: "Seen") -> Iterable[Any]:
        known = [node.name for node in seen.snapshot.nodes]
        _all_there("node", wanted, known, seen.source)
        labelled = wanted.labelled()
        return [
            row
            for row in node_rows(seen)
            if _is(wanted.state, row.state)
            and labelled(row.node.labels)
            and wanted.is_named(row.name)
        ]

    where = _where(file, scheduler_name, kubeconfig, context)
    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    _shown(where, nodes_of, rows, look, watching=watching)


@app.command("rounds")
@app.command("round", hidden=True)
def rounds(
    names: Names = None,
    *,
    rounds_path: listed_source.Record = None,
    output: PlanOutput = Format.TABLE,
    state: Annotated[
        str | None,
        typer.Option("--outcome", metavar="WORD", help="Only with one outcome."),
    ] = None,
    last: Most = None,
    watching: Watch = False,
    sort: Sort = None,
    no_headers: NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List the rounds that were recorded, oldest first.
    """
    from adapters.cli.views.get_views import rounds_of
    from adapters.observe.round_file import read_rounds

    path = record_path(rounds_path)
    wanted = _WantedRows(names=tuple(names or ()), state=state)

    def rows() -> Iterable[Any]:
        every = list(read_rounds(path))
        _all_there("round", wanted, [str(row["name"]) for row in every], str(path))
        found = [
            row
            for row in every
            if _is(wanted.state, str(row["outcome"]))
            and wanted.is_named(str(row["name"]))
        ]
        return found[-last:] if last else found

    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    listing = rounds_of(time(), str(path))
    if watching:
        follow(listing, rows, look)
    else:
        show(listing, rows(), look)


def _recorded(
    record: dict[str, Any],
    wanted: _WantedRows,
    look: Look,
    watching: bool,
) -> None:
    """
    List the gangs of a recorded round.
    """
    from adapters.cli.views.get_views import recorded_gangs

    if watching or wanted.labels:
        word = "--watch" if watching else "--selector"
        raise typer.BadParameter(f"a recorded round has nothing for {word}")
    rows = [
        row
        for row in record.get("gangs", {}).get("items", ())
        if wanted.namespace in {None, row["name"].partition("/")[0]}
        and wanted.queue in {None, row["queue"]}
        and _is(wanted.state, row["state"])
        and _is(wanted.reason, row["reason"] or "")
        and wanted.is_named(row["name"])
    ]
    show(recorded_gangs(record), rows, look)


def _shown(
    where: Where,
    listing: "Callable[[Seen], Listing[T]]",
    rows: "Callable[[Seen], Iterable[T]]",
    look: Look,
    *,
    watching: bool,
) -> None:
    """
    Look once and write, or again and again.
    """
    if watching and where.files:
        raise typer.BadParameter("files do not change by themselves: leave out --watch")
    with where.looking() as seen:
        first = seen()
        if watching:
            follow(listing(first), lambda: rows(seen()), look)
        else:
            show(listing(first), rows(first), look)


def follow(listing: Listing[T], rows: Callable[[], Iterable[T]], look: Look) -> None:
    """
    Write what changes until somebody interrupts, which is how a watch ends.
    """

    def looks() -> Iterator[Iterable[T]]:
        while True:
            yield rows()

    pause = Event()
    try:
        for _ in watch(listing, looks(), look):
            pause.wait(_EVERY)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def _where(
    file: list[str] | None,
    schedulers: list[str] | None,
    kubeconfig: str | None,
    context: str | None,
) -> Where:
    return Where(
        files=tuple(file or ()),
        schedulers=tuple(schedulers or ()),
        kubeconfig=kubeconfig,
        context=context,
    )


def look_of(
    form: Format, sort: str | None, *, no_color: bool, no_headers: bool
) -> Look:
    """
    Say how rows are to be written.
    """
    return Look(
        form=form, sort=sort, head=not no_headers, paint=Paint(no_color=no_color)
    )


def _labels_of(seen: "Seen", wanted: _WantedRows) -> "dict[str, Labels]":
    if wanted.labels and seen.labels is None:
        raise typer.BadParameter("the gangs of files have no labels to select by")
    return dict(seen.labels or {})


def _is(wanted: str | None, word: str) -> bool:
    return wanted is None or wanted.lower() == word.lower()


def _all_there(kind: str, wanted: _WantedRows, known: list[str], where: str) -> None:
    """
    Refuse a name that nothing has.
    """
    names = {*known, *(name.rpartition("/")[2] for name in known)}
    for name in wanted.names:
        if name not in names:
            raise listed_source.NotThereError(kind, name, known, where)
