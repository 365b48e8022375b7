"""
``phalanx describe``: all that is known of one gang, queue, node or round.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import typer

from adapters.cli.options.common import Dialects, Output, SchedulerNames, only
from adapters.cli.options.list_options import GangNamespace
from adapters.cli.terminal.output import Format, as_text, emit, say
from adapters.cli.views import listed_source
from adapters.cli.views.listed_source import (
    full_name,
    round_named,
    the_one,
    where_of,
)

app = typer.Typer(
    help="Show everything about one gang, queue, node or round.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name.")]


@app.command("gang")
@app.command("gangs", hidden=True)
def gang(
    name: Name,
    *,
    file: listed_source.Files = None,
    kubeconfig: listed_source.Kubeconfig = None,
    context: listed_source.Context = None,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    namespace: GangNamespace = None,
    output: Output = Format.TABLE,
) -> None:
    """
    Show a gang: its tree, its pods, where they are, why it waits.

    NAME is namespace/name, or a name that only one gang has.
    """
    from adapters.cli.views.describe_views import gang_document, gang_lines
    from adapters.compare.start_cost import with_cost
    from adapters.inventory.gangs import gang_rows
    from adapters.inventory.listed import proven

    wanted = full_name(name, namespace)
    where = where_of(file, scheduler_name, kubeconfig, context, dialect)
    with where.looking() as look:
        seen = look()
        row = the_one("gang", wanted, gang_rows(seen), lambda row: row.key, seen.source)
    seen = with_cost(proven(seen, [row.key]), row.key)
    row = next(one for one in gang_rows(seen) if one.key == row.key)
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
    dialect: Dialects = None,
    output: Output = Format.TABLE,
) -> None:
    """
    Show a queue: each resource with its bounds, and the gangs in it.
    """
    from adapters.cli.views.describe_views import queue_lines
    from adapters.inventory.gangs import gang_rows
    from adapters.inventory.listed import proven
    from adapters.inventory.queues import queue_rows

    where = where_of(file, scheduler_name, kubeconfig, context, dialect)
    with replace(where, over_time=True).looking() as look:
        seen = look()
        row = the_one(
            "queue", name, queue_rows(seen), lambda row: row.name, seen.source
        )
    within = sorted(one.key for one in gang_rows(seen) if one.queue == row.name)
    _write(
        output,
        lambda: {"kind": "Queue", **row.document()},
        lambda: queue_lines(proven(seen, within), row),
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
    dialect: Dialects = None,
    output: Output = Format.TABLE,
) -> None:
    """
    Show a node: what it has, who uses it, what keeps pods off it.
    """
    from adapters.cli.views.describe_views import node_lines
    from adapters.inventory.nodes import node_rows

    where = where_of(file, scheduler_name, kubeconfig, context, dialect)
    with where.looking() as look:
        seen = look()
        row = the_one("node", name, node_rows(seen), lambda row: row.name, seen.source)
    _write(
        output,
        lambda: {"kind": "Node", **row.document()},
        lambda: node_lines(seen, row),
    )


@app.command("round")
@app.command("rounds", hidden=True)
def described_round(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The round; last is the newest.")
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


def _write(
    form: Format, document: Callable[[], dict[str, Any]], lines: Callable[[], list[str]]
) -> None:
    only(form, Format.TABLE, Format.JSON, Format.YAML)
    if form is Format.TABLE:
        say(*lines())
    else:
        emit(as_text({"apiVersion": "phalanx/v1", **document()}, form))
