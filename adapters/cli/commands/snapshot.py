"""
``phalanx snapshot``: save, show, compare, check and anonymise what a round would see.
"""

from collections.abc import Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options.common import DIFFERS, Dialects, Output, SchedulerNames, only
from adapters.cli.terminal.output import Format, as_text, emit, note, say, warn
from models.why.reasons import counted

if TYPE_CHECKING:
    from models.dialects import DialectChoice
    from models.snapshot import Snapshot

app = typer.Typer(
    help="Save, show, compare, check and anonymise snapshots.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Scenario, snapshot, manifests, a folder, or -; the cluster if none.",
    ),
]
Written = Annotated[
    Format,
    typer.Option(
        "-o", "--output", metavar="yaml|json", help="The format of the answer."
    ),
]


@app.command("show")
def show(
    files: Files = None,
    *,
    output: Written = Format.YAML,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
) -> None:
    """
    Print a snapshot as records: nodes, queues, gangs.
    """
    only(output, Format.YAML, Format.JSON)
    snapshot = _read(files, scheduler_name, dialect)
    emit(_text(snapshot, files, output))


@app.command("save")
def save(
    files: Files = None,
    *,
    path: Annotated[
        str, typer.Option("--to", metavar="PATH", help="The file that is written.")
    ],
    raw: Annotated[
        bool, typer.Option("--raw", help="Write the objects as they are, as a List.")
    ] = False,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
) -> None:
    """
    Write a snapshot to a file, to be planned later or elsewhere.

    A file that exists is not written over.
    """
    if raw:
        if not files:
            raise typer.BadParameter("--raw needs files of manifests")
        text = as_text(_objects(files), _format_of(path))
    else:
        snapshot = _read(files, scheduler_name, dialect)
        text = _text(snapshot, files, _format_of(path))
    with Path(path).open("x", encoding="utf-8") as stream:
        stream.write(text)
    note(f"written: {path}")


@app.command("diff")
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="One snapshot.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The other.")],
    *,
    output: Output = Format.TABLE,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
) -> int:
    """
    Say what differs between two snapshots.

    Exit 3 when something does.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML)
    from adapters.files.snapshot_diff import changes

    one, other = (_read([file], scheduler_name, dialect) for file in (before, after))
    found = list(changes(one, other))
    if output is Format.TABLE:
        lines = [str(change) for change in found]
        say(*lines, counted(len(found), "difference"))
    else:
        items = [change.document() for change in found]
        head = {"apiVersion": "phalanx/v1", "kind": "Difference"}
        emit(as_text({**head, "items": items}, output))
    return DIFFERS if found else 0


@app.command("check")
def check(
    files: Files = None,
    *,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
) -> int:
    """
    Print everything that is wrong or not obeyed.

    Exit 3 when a gang cannot be planned as it is written, 4 when a file is rejected.
    """
    snapshot = _read(files, scheduler_name, dialect, quiet=True)
    refused = [gang for gang in snapshot.gangs if gang.refused is not None]
    for gang in refused:
        if gang.refused is not None:
            say(f"{gang.key}: {gang.refused.reason}: {gang.refused.message}")
    for warning in snapshot.warnings:
        say(f"warning: {warning}")
    parts = [
        counted(len(snapshot.nodes), "node"),
        counted(len(snapshot.gangs), "gang"),
        f"{len(refused):,} cannot be planned as written",
        counted(len(snapshot.warnings), "warning"),
    ]
    say(", ".join(parts))
    return DIFFERS if refused else 0


@app.command("anonymise")
def anonymise(
    files: Files = None,
    *,
    output: Written = Format.YAML,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
) -> None:
    """
    Print a snapshot without names, label values and images; its plan stays the same.

    Resources and well-known label keys keep their names.
    """
    only(output, Format.YAML, Format.JSON)
    from adapters.files.anonymise import anonymised
    from adapters.files.writing.snapshot_writer import snapshot_document

    snapshot = anonymised(_read(files, scheduler_name, dialect, quiet=True))
    emit(_written(snapshot_document(snapshot), output))


def _read(
    files: list[str] | None,
    schedulers: list[str] | None,
    choices: "list[DialectChoice] | None",
    *,
    quiet: bool = False,
) -> "Snapshot":
    from adapters.files import read_scenarios

    if files:
        snapshot = read_scenarios(files, schedulers or (), choices or ()).snapshot
    else:
        snapshot = _observed(schedulers or (), choices or ())
    if not quiet:
        warn(snapshot.warnings)
    return snapshot


def _observed(
    schedulers: Sequence[str], choices: "Sequence[DialectChoice]"
) -> "Snapshot":
    """
    Read the cluster that the kubeconfig names, once.
    """
    from adapters.service.following import ClusterChoice

    cluster = ClusterChoice(schedulers=tuple(schedulers), dialects=tuple(choices))
    with cluster.followed() as here:
        return here.snapshot()


def _text(snapshot: "Snapshot", files: list[str] | None, form: Format) -> str:
    """
    Write a snapshot with whence it is, and one of a cluster with when as well.
    """
    from adapters.files.writing.snapshot_writer import snapshot_document

    if files:
        return _written(snapshot_document(snapshot, ", ".join(files)), form)
    from adapters.kube.api.connect import connect
    from adapters.kube.dialects.notes import moment

    document = snapshot_document(snapshot, connect().server, moment(time()))
    return _written(document, form)


def _written(document: dict[str, Any], form: Format) -> str:
    from adapters.files.writing.yaml_writer import yaml_text

    return yaml_text(document) if form is Format.YAML else as_text(document, form)


def _objects(files: list[str]) -> dict[str, object]:
    from adapters.files.foreign import raw_objects

    return {"apiVersion": "v1", "kind": "List", "items": raw_objects(files)}


def _format_of(path: str) -> Format:
    return Format.JSON if path.endswith(".json") else Format.YAML
