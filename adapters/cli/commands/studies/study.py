"""
``phalanx study``: how many nodes are enough, and which policy serves best.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options.common import only
from adapters.cli.options.trace_options import (
    Cluster,
    Estimates,
    Every,
    Evictions,
    Form,
    Saves,
    Until,
    judged,
    known_quotas,
    known_times,
    moment,
    moment_if_said,
    played_policy,
    saves_every,
)
from adapters.cli.terminal.output import Format, as_text, emit, note, say

if TYPE_CHECKING:
    from adapters.cli.commands.studies.study_run import Study
    from adapters.study.case import Case
    from adapters.study.grid import Variant
    from adapters.study.least_nodes import Target

app = typer.Typer(
    help="How many nodes are enough, and which policy serves best.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Jobs = Annotated[str, typer.Argument(metavar="TRACE", help="A file of jobs.")]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy", metavar="NAME", help="Which strategy; solver if not named."
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        min=1, max=1000, metavar="N", help="Traces for each: the one given, and drawn."
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", metavar="FILE", help="A policy; may be repeated."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=A,B", help="Values of one setting, waiting.heads=1,2."
    ),
]
Splits = Annotated[
    list[str] | None,
    typer.Option(
        "--quotas",
        metavar="gpu-hours|none",
        help="How queues get quotas; may be repeated.",
    ),
]
Aim = Annotated[
    str | None,
    typer.Option("--target", metavar="TEXT", help="The goal, such as 'wait.p99<=6h'."),
]
To = Annotated[
    str, typer.Option("-O", "--to", metavar="DIR", help="The folder for the results.")
]
Workers = Annotated[
    int, typer.Option(min=0, metavar="N", help="Replays at once; 0: one per core.")
]
OnRay = Annotated[
    bool, typer.Option("--ray", help="On a Ray cluster, or one started here.")
]
Counts = Annotated[
    str | None,
    typer.Option(
        "--nodes", metavar="N,M|A..B:S", help="Counts of the first kind of node."
    ),
]
Others = Annotated[
    list[str] | None,
    typer.Option("--other", metavar="WORD|FILE", help="Another cluster to try."),
]
Search = Annotated[
    bool, typer.Option("--search", help="Look for the fewest of --nodes by halving.")
]
Output = Annotated[Format, typer.Option("-o", "--output", metavar="table|json")]


@app.command()
def capacity(
    trace: Jobs,
    *,
    cluster: Cluster,
    to: To,
    nodes: Counts = None,
    other: Others = None,
    target: Aim = None,
    search: Search = False,
    form: Form = None,
    quotas: Splits = None,
    policy: Policies = None,
    setting: Settings = None,
    strategy: Strategies = None,
    seeds: Seeds = 1,
    every: Every = "5m",
    estimates: Estimates = None,
    evictions: Evictions = False,
    saves: Saves = None,
    until: Until = None,
    workers: Workers = 0,
    ray: OnRay = False,
    output: Output = Format.TABLE,
) -> None:
    """
    Play a trace on clusters of many sizes: what is enough, what would more change.

    If it is killed, the same command continues where it stopped.
    """
    only(output, Format.TABLE, Format.JSON)
    aim = _target(target)
    study = _study(
        "CapacityStudy",
        _case(trace, form, estimates, every, until, evictions=evictions, saves=saves),
        _Played(cluster, aim, strategy, quotas, seeds, to, workers, ray=ray),
        _variants(policy, setting, evictions=evictions),
    )
    _show(_of_sizes(study, cluster, nodes, other or [], search=search), output, to)


def _of_sizes(
    study: "Study",
    cluster: str,
    sizes: str | None,
    others: Sequence[str],
    *,
    search: bool,
) -> dict[str, Any]:
    """
    Play a cluster in many sizes and others beside it; by ``search``, halving.
    """
    from adapters.study.grid import StudyError, clusters, numbers

    if search and (study.target is None or not sizes):
        raise StudyError("--search needs --nodes and --target")
    if search and others:
        raise StudyError("--search halves --nodes: study --other without it")
    counts = [] if sizes is None else numbers(sizes)
    words = [*(clusters(cluster, counts) if counts else [cluster]), *others]
    if search:
        return study.searched(dict(zip(counts, words, strict=False)))
    return study.played(list(dict.fromkeys(words)))


@app.command()
def policy(
    trace: Jobs,
    *,
    cluster: Cluster,
    to: To,
    policy: Policies = None,
    setting: Settings = None,
    target: Aim = None,
    form: Form = None,
    quotas: Splits = None,
    strategy: Strategies = None,
    seeds: Seeds = 1,
    every: Every = "5m",
    estimates: Estimates = None,
    evictions: Evictions = False,
    saves: Saves = None,
    until: Until = None,
    workers: Workers = 0,
    ray: OnRay = False,
    output: Output = Format.TABLE,
) -> None:
    """
    Play a trace under many policies: tiers, ageing, heads, evictions, limits.
    """
    only(output, Format.TABLE, Format.JSON)
    aim = _target(target)
    study = _study(
        "PolicyStudy",
        _case(trace, form, estimates, every, until, evictions=evictions, saves=saves),
        _Played(cluster, aim, strategy, quotas, seeds, to, workers, ray=ray),
        _variants(policy, setting, evictions=evictions),
    )
    _show(study.played([cluster]), output, to)


@dataclass(frozen=True, slots=True)
class _Played:
    """
    On which cluster, by whom, how often and where a study is played.
    """

    cluster: str
    aim: "Target | None"
    strategy: Sequence[str] | None
    quotas: Sequence[str] | None
    seeds: int
    to: str
    workers: int
    _: KW_ONLY
    ray: bool


def _study(
    kind: str, base: "Case", played: _Played, variants: "list[Variant]"
) -> "Study":
    from adapters.cli.commands.studies.study_run import Study

    return Study(
        kind=kind,
        base=base,
        reference=played.cluster,
        target=played.aim,
        variants=variants,
        strategies=judged(played.strategy or ["solver"], base.estimates),
        quotas=_each_once(played.quotas),
        seeds=played.seeds,
        folder=Path(played.to),
        workers=played.workers,
        on="ray" if played.ray else "processes",
    )


def _each_once(quotas: Sequence[str] | None) -> list[str | None]:
    words: Sequence[str | None] = quotas or [None]
    return [*dict.fromkeys(known_quotas(word) for word in words)]


def _case(  # a case of what all replays of a study share
    trace: str,
    form: str | None,
    estimates: str | None,
    every: str,
    until: str | None,
    *,
    evictions: bool,
    saves: str | None,
) -> "Case":
    from adapters.study.case import Case
    from adapters.traces.rows import TraceFile

    return Case(
        trace=str(Path(trace).resolve()),
        digest=TraceFile(trace).digest(),
        form=form,
        cluster="",
        cluster_digest="",
        quotas=None,
        label="",
        policy="",
        strategy="",
        seed=0,
        every=moment(every, "--every"),
        evictions=evictions,
        estimates=known_times(estimates),
        until=moment_if_said(until, "--until"),
        saves=saves_every(saves, evictions=evictions),
    )


def _target(text: str | None) -> "Target | None":
    from adapters.study.least_nodes import target_of

    return None if text is None else target_of(text)


def _variants(
    files: Sequence[str] | None, settings: Sequence[str] | None, *, evictions: bool
) -> "list[Variant]":
    """
    Give every combination of the policies and the settings laid over them.
    """
    from adapters.study.grid import Variant, names_of, variants

    found = []
    names = names_of(files or ())
    each: Sequence[str | None] = [*names] or [None]
    for file in each:
        base = played_policy(file, evictions=evictions)
        for made in variants(base, settings or ()):
            label = made.label
            if file is not None:
                name = names[file]
                label = name if label == "as given" else f"{name} {label}"
            found.append(Variant(label, made.policy))
    return found


def _show(document: dict[str, Any], output: Format, to: str) -> None:
    from adapters.cli.views.study_view import lines_of

    if output is Format.JSON:
        emit(as_text(document, output))
        return
    say(*lines_of(document), "", f"results: {to}")
    for text in document["notes"]:
        note(f"note: {text}")
