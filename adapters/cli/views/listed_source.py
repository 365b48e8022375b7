"""
Where ``get`` and ``describe`` look: a cluster, files, or the record of rounds.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from adapters.cli.terminal.output import warn
from models.dialects import DialectChoice
from models.errors import WrongUseError
from models.names import nearest

if TYPE_CHECKING:
    from adapters.inventory.listed import Seen
    from adapters.service.following import ClusterChoice

T = TypeVar("T")
Files = Annotated[
    list[str] | None,
    typer.Option(
        "-f",
        "--file",
        metavar="FILE",
        help="Read files, not the cluster: scenario, snapshot, manifests, a folder, -.",
    ),
]
Record = Annotated[
    str | None,
    typer.Option(
        "--rounds",
        metavar="PATH",
        help="Where the record of rounds is, if not where `run` keeps it.",
    ),
]
Round = Annotated[
    str | None,
    typer.Option(
        "--round",
        metavar="NAME",
        help="Show it as this recorded round saw it; last is the newest.",
    ),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option("--kubeconfig", metavar="PATH", help="The kubeconfig to use."),
]
Context = Annotated[
    str | None,
    typer.Option(
        "--context", metavar="NAME", help="The context of the kubeconfig to use."
    ),
]


class NotThereError(WrongUseError):
    """
    Nothing has the name that somebody asked for.
    """

    def __init__(self, kind: str, name: str, known: list[str], where: str) -> None:
        bare = [key.rpartition("/")[2] for key in known]
        meant = nearest(name, [*known, *bare])
        hint = f" (did you mean {meant}?)" if meant else ""
        super().__init__(f"there is no {kind} {name!r} in {where}{hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """
    What is looked at: files where some are named, else the cluster.

    With ``over_time`` queues of a cluster show what the scheduler remembers of them.
    """

    files: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    kubeconfig: str | None = None
    context: str | None = None
    dialects: tuple[DialectChoice, ...] = ()
    over_time: bool = False

    def __post_init__(self) -> None:
        if self.files and (self.kubeconfig or self.context):
            word = "--kubeconfig" if self.kubeconfig else "--context"
            raise WrongUseError(f"{word} is for the cluster, and -f looks at files")

    @contextmanager
    def looking(self) -> "Iterator[Callable[[], Seen]]":
        """
        Give a function that looks, again and again while the block lasts.
        """
        if self.files:
            yield self._read
            return
        from adapters.kube.watch.cluster_listing import seen_in
        from adapters.service.remembered import with_memory
        from models.policy import Policy

        with self.cluster().followed() as here:

            def look() -> "Seen":
                seen = seen_in(here.source, Policy(), here.server)
                return with_memory(seen, here) if self.over_time else seen

            yield look

    def cluster(self) -> "ClusterChoice":
        """
        Give the cluster, whatever files there are.
        """
        from adapters.service.following import ClusterChoice

        return ClusterChoice(
            kubeconfig=self.kubeconfig,
            context=self.context,
            schedulers=self.schedulers,
            dialects=self.dialects,
        )

    def _read(self) -> "Seen":
        from adapters.files import read_scenarios
        from adapters.inventory.listed import seen_with
        from adapters.loop.plan_round import planned
        from adapters.service.settings import effective

        scenario = read_scenarios(self.files, self.schedulers, self.dialects)
        warn(scenario.snapshot.warnings)
        policy = effective(scenario.policy, {}).policy
        plan = planned(scenario.snapshot, policy)
        return seen_with(scenario.snapshot, policy, scenario.source, plan)


def where_of(
    file: list[str] | None,
    schedulers: list[str] | None,
    kubeconfig: str | None,
    context: str | None,
    dialects: list[DialectChoice] | None = None,
) -> Where:
    """
    Gather the options that say what is looked at.
    """
    return Where(
        files=tuple(file or ()),
        schedulers=tuple(schedulers or ()),
        kubeconfig=kubeconfig,
        context=context,
        dialects=tuple(dialects or ()),
    )


def full_name(name: str, namespace: str | None) -> str:
    """
    Give a name with the namespace that was said beside it, if any.
    """
    return f"{namespace}/{name}" if namespace and "/" not in name else name


def names_of(key: str) -> set[str]:
    """
    Give the names that something answers to: with its namespace and without.
    """
    return {key, key.rpartition("/")[2]}


def the_one(
    kind: str, name: str, rows: Iterable[T], key: Callable[[T], str], where: str
) -> T:
    """
    Find what has a name, or the only one that has it in its namespace.
    """
    every = list(rows)
    found = [row for row in every if key(row) == name]
    found = found or [row for row in every if name in names_of(key(row))]
    if not found:
        raise NotThereError(kind, name, [key(row) for row in every], where)
    if len(found) > 1:
        keys = ", ".join(key(row) for row in found[:5])
        raise typer.BadParameter(f"{name!r} is the name of several {kind}s: {keys}")
    return found[0]


def record_path(said: str | None) -> Path:
    """
    Give the record of rounds: as said, be it by its folder, else where ``run`` has it.
    """
    from adapters.observe.round_file import is_record, kept_in

    if said is not None:
        path = Path(said)
        path = path / "rounds.jsonl" if path.is_dir() else path
        if not is_record(path):
            what = f"{said} is no record of rounds: no line of it is one"
            raise WrongUseError(what)
        return path
    from adapters.service.run_settings import as_run_here

    run = as_run_here()
    return kept_in(run.folder, run.shard)


def refuse_beside_round(files: Sequence[str] | None) -> None:
    """
    Refuse files that nobody would read.
    """
    if files:
        raise typer.BadParameter(
            f"--round shows what was recorded, so it reads no file: {files[0]}"
        )


def round_named(name: str, said: str | None) -> dict[str, Any]:
    """
    Find a recorded round; ``last`` is the newest.
    """
    from adapters.observe.round_file import whole_rounds

    path = record_path(said)
    found: dict[str, Any] | None = None
    names: list[str] = []
    for record in whole_rounds(path):
        names.append(str(record.get("name")))
        if name in {"last", names[-1]}:
            found = record
    if found is None:
        raise NotThereError("round", name, names, str(path))
    return found
