"""
``phalanx get``: gangs, queues, nodes and rounds, once or as they change.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from adapters.cli.options import list_options as options
from adapters.cli.options.common import Dialects, NoColor, PlanOutput, SchedulerNames
from adapters.cli.terminal.output import Format
from adapters.cli.views import listed_source
from adapters.cli.views.listed_source import (
    Where,
    names_of,
    record_path,
    refuse_beside_round,
    round_named,
    where_of,
)
from adapters.cli.views.listing import Listing, Look, look_of, show, show_or_follow
from adapters.inventory.selectors import Labels, SelectorError, selector

if TYPE_CHECKING:
    from adapters.inventory.listed import Seen

T = TypeVar("T")
app = typer.Typer(
    help="List gangs, queues, nodes, rounds or events.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@dataclass(frozen=True, slots=True)
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
        return not self.names or not names_of(name).isdisjoint(self.names)

    def gangs(self, seen: "Seen") -> Iterable[Any]:
        """
        Give the gangs that are wanted; refuse names that none of them has.
        """
        from adapters.inventory.gangs import gang_rows
        from adapters.inventory.listed import proven

        has, labelled = _labels_of(seen, self), self.labelled()
        gangs = seen.snapshot.gangs
        _all_there("gang", self, [gang.key for gang in gangs], seen.source)
        queues = {gang.queue for gang in gangs}
        queues |= {each.name for each in seen.snapshot.queues}
        if self.queue is not None and self.queue not in queues:
            known = sorted(queues)
            raise listed_source.NotThereError("queue", self.queue, known, seen.source)
        wanted = {
            row.key
            for row in gang_rows(seen)
            if self.namespace in {None, row.namespace}
            and self.queue in {None, row.queue}
            and _is(self.state, row.state)
            and _is(self.reason, row.why.reason if row.why else "")
            and labelled(has.get(row.key, {}))
            and self.is_named(row.key)
        }
        told = proven(seen, sorted(wanted))
        return [row for row in gang_rows(told) if row.key in wanted]


@app.command("gangs")
@app.command("gang", hidden=True)
def gangs(
    names: options.Names = None,
    *,
    file: listed_source.Files = None,
    round_name: listed_source.Round = None,
    rounds_path: listed_source.Record = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    output: PlanOutput = Format.TABLE,
    namespace: options.Namespace = None,
    everywhere: options.Everywhere = False,
    labels: options.Labelled = None,
    queue: options.InQueue = None,
    state: options.State = None,
    reason: options.Reason = None,
    watching: options.Watch = False,
    sort: options.Sort = None,
    no_headers: options.NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List gangs: how each stands, and why it waits.
    """
    del everywhere
    chosen = tuple(names or ())
    wanted = _WantedRows(chosen, namespace, labels, queue, state, reason)
    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    if round_name is not None:
        refuse_beside_round(file)
        _recorded(round_named(round_name, rounds_path), wanted, look, watching)
        return
    from adapters.cli.views.get_views import gangs_of

    where = where_of(file, scheduler_name, kubeconfig, context, dialect)
    _shown(where, gangs_of, wanted.gangs, look, watching=watching)


@app.command("queues")
@app.command("queue", hidden=True)
def queues(
    names: options.Names = None,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    output: PlanOutput = Format.TABLE,
    state: options.State = None,
    watching: options.Watch = False,
    sort: options.Sort = None,
    no_headers: options.NoHeaders = False,
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

    where = where_of(file, scheduler_name, kubeconfig, context, dialect)
    where = replace(where, over_time=True)
    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    _shown(where, queues_of, rows, look, watching=watching)


@app.command("nodes")
@app.command("node", hidden=True)
def nodes(
    names: options.Names = None,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    output: PlanOutput = Format.TABLE,
    labels: options.Labelled = None,
    state: options.State = None,
    watching: options.Watch = False,
    sort: options.Sort = None,
    no_headers: options.NoHeaders = False,
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

    where = where_of(file, scheduler_name, kubeconfig, context, dialect)
    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    _shown(where, nodes_of, rows, look, watching=watching)


@app.command("rounds")
@app.command("round", hidden=True)
def rounds(
    names: options.Names = None,
    *,
    rounds_path: listed_source.Record = None,
    output: PlanOutput = Format.TABLE,
    outcome: options.Outcome = None,
    last: options.Most = None,
    watching: options.Watch = False,
    sort: options.Sort = None,
    no_headers: options.NoHeaders = False,
    no_color: NoColor = False,
) -> None:
    """
    List the rounds that were recorded, oldest first.
    """
    from adapters.cli.views.record_views import rounds_of
    from adapters.observe.round_file import whole_rounds

    path = record_path(rounds_path)
    wanted = _WantedRows(names=tuple(names or ()), state=outcome)

    def rows() -> Iterable[Any]:
        every = list(whole_rounds(path))
        _all_there("round", wanted, [str(row["name"]) for row in every], str(path))
        found = [
            row
            for row in every
            if _is(wanted.state, str(row["outcome"]))
            and wanted.is_named(str(row["name"]))
        ]
        return found[-last:] if last else found

    look = look_of(output, sort, no_color=no_color, no_headers=no_headers)
    show_or_follow(rounds_of(time(), str(path)), rows, look, watching=watching)


def _recorded(
    record: dict[str, Any],
    wanted: _WantedRows,
    look: Look,
    watching: bool,
) -> None:
    """
    List the gangs of a recorded round.
    """
    from adapters.cli.views.record_views import recorded_gangs

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
        looks = chain([first := seen()], iter(seen, None))
        listed = map(rows, looks)
        show_or_follow(listing(first), lambda: next(listed), look, watching=watching)


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
    names = {name for key in known for name in names_of(key)}
    for name in wanted.names:
        if name not in names:
            raise listed_source.NotThereError(kind, name, known, where)
