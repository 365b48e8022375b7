"""
The report of a replay: one page about the strategies that were played.
"""

from collections.abc import Sequence

from adapters.reports.charts.number_text import DAY, amount, period, share, span
from adapters.reports.page.page import Block, Page, Section
from adapters.reports.replay.decisions import decisions
from adapters.reports.replay.found_better import found_better
from adapters.reports.replay.longest_waits import long_waits
from adapters.reports.replay.measures import every_grid, listed, paired_grid
from adapters.reports.replay.over_time import fairness, use
from adapters.reports.replay.replay_summary import (
    best_of_all,
    certainty,
    composite,
    subject_of,
    tiles_of,
    verdict,
)
from adapters.reports.replay.results import Folder
from adapters.reports.replay.sections import inputs, largest, limits, rounds
from adapters.reports.replay.strips import strips
from adapters.reports.replay.waits import waits
from models.why.reasons import counted

MOST_NAMED = 3
_REGIMES = {
    "rounds": "rounds over a queue",
    "online": "a round at every event",
    "offline": "one plan for the whole trace, with all of it known",
}


def replay_page(
    folder: Folder,
    windows: Sequence[tuple[float, float]] = (),
    study: str | None = None,
) -> Page:
    """
    Make the page of a replay.

    Parameters
    ----------
    folder
        What was found.
    windows
        What is shown of the nodes, from and to seconds.
    study
        The folder of a study of policies to compare the played one with.
    """
    results = folder.results
    names = results.strategies
    subject = subject_of(folder)
    return Page(
        kind="replay",
        title=f"{_who(names)}: {results.trace.name} on {_on(folder)}",
        lead=[
            line
            for line in (
                *(_played(folder), composite(folder), best_of_all(folder)),
                *found_better(folder, study),
            )
            if line
        ],
        verdict=verdict(folder, subject),
        certainty=certainty(folder, subject),
        tiles=tiles_of(folder, subject or names[0], results.baseline),
        sections=_sections(folder, windows, subject),
        document={**folder.document, "timings": folder.timings_document},
        beside=True,
        made_by=[(name, text or "not installed") for name, text in _versions(folder)],
    )


def _sections(
    folder: Folder, windows: Sequence[tuple[float, float]], subject: str | None
) -> list[Section]:
    return [
        Section(name=name, heading=heading, blocks=blocks)
        for name, heading, blocks in (
            ("measures", "The comparison", _measures(folder, subject)),
            ("by-size", "Waits by gang size", waits(folder)),
            ("over-time", "Use of the GPUs", use(folder)),
            ("node-strips", "Nodes", strips(folder, windows)),
            ("shares", "Fairness", fairness(folder)),
            ("times", "Decision time and proofs", _times(folder)),
            ("largest", "Largest differences", largest(folder)),
            ("long-waits", "Why the longest waited", long_waits(folder)),
            ("limits", "What was not modelled", limits(folder)),
            ("inputs", "What was run", [inputs(folder)]),
        )
    ]


def _versions(folder: Folder) -> list[tuple[str, str | None]]:
    return list(folder.results.versions.items())


def _who(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= MOST_NAMED else f"{len(names)} strategies"


def _on(folder: Folder) -> str:
    cluster = folder.results.cluster
    size = f"{counted(cluster.nodes, 'node')}, {amount(cluster.gpus)} GPUs"
    return f"{cluster.name} ({size})" if cluster.name else size


def _played(folder: Folder) -> str:
    """
    Say what was played, in numbers.
    """
    results = folder.results
    trace = results.trace
    parts = [counted(trace.jobs, "job")]
    if trace.gpu_hours is not None:
        parts.append(f"{amount(round(trace.gpu_hours))} GPU-hours")
    if trace.span is not None:
        days = trace.span / DAY
        parts.append(f"{days:,.1f} days" if days >= 2 else span(trace.span))
    text = " · ".join(parts)
    if results.cluster.load is not None:
        text += f" · mean load {share(results.cluster.load, 0)}"
    text += f" · {_REGIMES.get(results.regime, results.regime) or 'regime unknown'}"
    if results.regime == "rounds" and results.settings.every:
        text += f" every {period(results.settings.every)} of virtual time"
    seeds = len(results.seeds)
    return f"{text} · {counted(seeds, 'seed')}" if seeds > 1 else text


def _measures(folder: Folder, subject: str | None) -> list[Block]:
    names = sorted(folder.results.strategies, key=lambda name: name != subject)
    grids: list[Block] = [
        grid for name in names if (grid := paired_grid(folder, name)) is not None
    ]
    return [*grids, every_grid(folder)]


def _times(folder: Folder) -> list[Block]:
    return [*decisions(folder), rounds(folder)]
