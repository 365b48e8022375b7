"""
``phalanx replay``: a trace, played by several strategies, compared in pairs.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.common import only
from adapters.cli.options.trace_options import (
    Cluster,
    Estimates,
    Every,
    Evictions,
    Form,
    PolicyFile,
    Quotas,
    Saves,
    Until,
    judged,
    known_times,
    moment,
    moment_if_said,
    played_policy,
    saves_every,
    trace_and_floor,
)
from adapters.cli.terminal.output import Format, as_text, emit, note, say

if TYPE_CHECKING:
    from adapters.replay.play import Run

MOST_SEEDS = 1000
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="solver, greedy, fifo, easy, conservative, best-fit or per-pod; "
        "several are compared with the first of them that is not solver.",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "-O", "--to", metavar="DIR", help="Where results go; replays/… if not given."
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        min=1,
        max=MOST_SEEDS,
        metavar="N",
        help="How many traces: the one given, and others drawn from its weeks.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Replays at once; 0: one for each core."),
]
Output = Annotated[Format, typer.Option("-o", "--output", metavar="table|json")]
Jobs = Annotated[
    str, typer.Argument(metavar="TRACE", help="A file of jobs; see `trace check`.")
]


def replay(
    trace: Jobs,
    *,
    cluster: Cluster,
    strategy: Strategies = None,
    to: To = None,
    form: Form = None,
    quotas: Quotas = None,
    policy: PolicyFile = None,
    every: Every = "5m",
    seeds: Seeds = 1,
    estimates: Estimates = None,
    evictions: Evictions = False,
    saves: Saves = None,
    until: Until = None,
    workers: Workers = 0,
    output: Output = Format.TABLE,
) -> None:
    """
    Play a trace on a cluster in memory and compare who starts what, when.

    If it is killed, the same command continues where it stopped.
    """
    only(output, Format.TABLE, Format.JSON)
    from adapters.replay.play import Run

    names = judged(strategy or ["greedy", "solver"], known_times(estimates))
    jobs, floor = trace_and_floor(trace, form, cluster, quotas)
    each = Run(
        trace=jobs,
        floor=floor,
        policy=played_policy(policy, evictions=evictions),
        strategy=names[0],
        every=moment(every, "--every"),
        evictions=evictions,
        saves=saves_every(saves, evictions=evictions),
        estimates=known_times(estimates),
        until=moment_if_said(until, "--until"),
    )
    _play(_runs(each, names, seeds), to or _folder_of(each), workers, output)


def _folder_of(run: "Run") -> str:
    return f"replays/{run.trace.name.partition('.')[0]}-{_safe(run.floor.name)}"


def _runs(each: "Run", names: list[str], seeds: int) -> "list[Run]":
    """
    List what is played: each strategy with each seed.
    """
    return [
        replace(each, strategy=name, seed=seed)
        for name in names
        for seed in range(seeds)
    ]


def _warn(runs: "list[Run]") -> None:
    from adapters.replay.drawn_traces import poorly_drawn
    from adapters.replay.play import BLOCK

    seeds = len({run.seed for run in runs})
    drawn = poorly_drawn(runs[0].trace, seeds, BLOCK)
    for doubt in (drawn, _idle_for_heads(runs), _may_be_lost(runs[0])):
        if doubt is not None:
            note(f"note: {doubt}")


def _play(runs: "list[Run]", to: str, workers: int, output: Format) -> None:
    """
    Play what was not played before, and write what came of all.
    """
    from pathlib import Path

    from adapters.cli.terminal.bar import Bar
    from adapters.cli.views.replay_view import lines_of
    from adapters.machine.folder_lock import alone_in
    from adapters.replay.play_all import play_all, reached
    from adapters.replay.results_file import write_results

    _warn(runs)
    folder = Path(to)
    with alone_in(folder):
        with Bar(_what(runs), reached(runs, folder)):
            played = play_all(runs, folder, workers=workers)
        if played < len(runs):
            note(f"note: {len(runs) - played} of {len(runs)} were played before")
        document = write_results(runs, folder)
    if output is Format.JSON:
        emit(as_text(document, output))
    else:
        say(*lines_of(document), "", f"results: {folder}")


def _idle_for_heads(runs: "list[Run]") -> str | None:
    """
    Say what it costs to hold nodes where nobody knows how long anything runs.
    """
    waiting = runs[0].policy.waiting
    holding = [run for run in runs if run.strategy in {"solver", "greedy"}]
    if runs[0].estimates is not None or not waiting.heads or not holding:
        return None
    return (
        "no run times are known, so nodes held for gangs that were passed over for "
        f"long stay idle until these start, at most {waiting.budget:.0%} of all GPU "
        "time; --estimates 1 makes them known, waiting.heads: 0 holds nothing"
    )


def _may_be_lost(run: "Run") -> str | None:
    """
    Say how much work evictions may cost, wherever the bound is from.
    """
    from models.resources import format_duration

    most = run.policy.evict.max_lost_per_gpu
    if not run.evictions:
        return None
    if most is None:
        return "nothing bounds the work that evictions lose (evict.maxLostPerGpu: null)"
    return (
        f"evictions lose at most {format_duration(most)} of work for each GPU that is "
        "gained; evict.maxLostPerGpu in a policy says another bound"
    )


def _what(runs: "list[Run]") -> str:
    return runs[0].strategy if len(runs) == 1 else f"{len(runs)} replays"


def _safe(name: str) -> str:
    from adapters.traces.cells import safe

    return safe(name)
