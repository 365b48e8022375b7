"""
``phalanx describe``: all that is known of one gang, queue, node or round.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from adapters.cli.options.shared import Output, SchedulerNames, only
from adapters.cli.terminal.output import Format, as_text, emit, say
from adapters.cli.views import listed_source
from adapters.cli.views.listed_source import NotThereError, Where, round_named

if TYPE_CHECKING:
    from adapters.inventory.listed import Seen

T = TypeVar("T")
app = typer.Typer(
    help="Show everything about one gang, queue, node or round.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Whose.")]
Namespace = Annotated[
    str | None,
    typer.Option("-n", "--namespace", metavar="NAME", help="Where the gang is."),
]


@app.command("gang")
@app.command("gangs", hidden=True)
def gang(
    name: Name,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    namespace: Namespace = None,
    output: Output = Format.TABLE,
) -> None:
    """
    Show a gang: its tree, its pods, where they are, why it waits.

    NAME is namespace/name, or a name that only one gang has.
    """
    from adapters.cli.views.describe_views import gang_document, gang_lines
    from adapters.inventory.gangs import gang_rows

    wanted = f"{namespace}/{name}" if namespace and "/" not in name else name
    with _where(file, scheduler_name, kubeconfig, context).looking() as look:
        seen = look()
        row = _one("gang", wanted, gang_rows(seen), lambda row: row.key, seen)
    _write(output, lambda: gang_document(seen, row), lambda: gang_lines(seen, row))


@app.command("queue")
@app.command("queues", hidden=True)
def queue(
    name: Name,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    output: Output = Format.TABLE,
) -> None:
    """
    Show a queue: each resource with its bounds, and the gangs in it.
    """
    from adapters.cli.views.describe_views import queue_lines
    from adapters.inventory.queues import queue_rows

    where = _where(file, scheduler_name, kubeconfig, context)
    with replace(where, over_time=True).looking() as look:
        seen = look()
        row = _one("queue", name, queue_rows(seen), lambda row: row.name, seen)
    _write(
        output,
        lambda: {"kind": "Queue", **row.document()},
        lambda: queue_lines(seen, row),
    )


@app.command("node")
@app.command("nodes", hidden=True)
def node(
    name: Name,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    output: Output = Format.TABLE,
) -> None:
    """
    Show a node: what it has, who uses it, what keeps pods off it.
    """
    from adapters.cli.views.describe_views import node_lines
    from adapters.inventory.nodes import node_rows

    with _where(file, scheduler_name, kubeconfig, context).looking() as look:
        seen = look()
        row = _one("node", name, node_rows(seen), lambda row: row.name, seen)
    _write(
        output,
        lambda: {"kind": "Node", **row.document()},
        lambda: node_lines(seen, row),
    )


@app.command("round")
@app.command("rounds", hidden=True)
def described_round(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Which; last is the newest.")
    ] = "last",
    *,
    rounds_path: listed_source.Record = None,
    output: Output = Format.TABLE,
) -> None:
    """
    Show a recorded round: its tiers, who started, who waits, what failed.
    """
    from adapters.cli.views.describe_views import round_lines

    record = round_named(name, rounds_path)
    _write(output, lambda: record, lambda: round_lines(record))


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


def _one(
    kind: str, name: str, rows: Iterable[T], key: Callable[[T], str], seen: "Seen"
) -> T:
    """
    Find what has a name, or the only one that has it in its namespace.
    """
    every = list(rows)
    found = [row for row in every if key(row) == name]
    found = found or [row for row in every if key(row).rpartition("/")[2] == name]
    if not found:
        raise NotThereError(kind, name, [key(row) for row in every], seen.source)
    if len(found) > 1:
        keys = ", ".join(key(row) for row in found[:5])
        raise typer.BadParameter(f"{name!r} is the name of several {kind}s: {keys}")
    return found[0]


def _write(
    form: Format, document: Callable[[], dict[str, Any]], lines: Callable[[], list[str]]
) -> None:
    only(form, Format.TABLE, Format.JSON, Format.YAML)
    if form is Format.TABLE:
        say(*lines())
    else:
        emit(as_text({"apiVersion": "phalanx/v1", **document()}, form))
