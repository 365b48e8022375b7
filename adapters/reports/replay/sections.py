"""
The last parts of a replay's report: proofs, single jobs, limits, and what was run.
"""

from collections.abc import Mapping

from adapters.reports.charts.number_text import NOTHING, amount, period, share, span
from adapters.reports.page.page import (
    Block,
    Cell,
    Column,
    Facts,
    Grid,
    Items,
    Text,
    Tone,
)
from adapters.reports.replay.measures import mean_of
from adapters.reports.replay.results import Folder, LargestRounds
from models.errors import printable
from models.why.reasons import Reason, counted
from models.why.verdicts import verdict_named

_ROUNDS = (
    "Rounds in which nobody waits, nothing fits or nothing is new need no plan. Proven "
    "and gaps are of the planned ones; a strategy without bounds has none. A gap is "
    "what a plan may lack to the best plan of its round that keeps the tiers above."
)


def rounds(folder: Folder) -> Grid:
    """
    Count the rounds, and say how sure their plans are.
    """
    heads = (
        *("Rounds", "Planned", "Nobody waits", "Nothing fits"),
        *("Nothing new", "Proven", "Mean gap", "Widest gap"),
    )
    return Grid(
        caption="Rounds, and how sure their plans are",
        columns=[Column("Strategy"), *(Column(head, right=True) for head in heads)],
        rows=[_rounds_of(folder, name) for name in folder.results.strategies],
        stacked=True,
        notes=[_ROUNDS],
    )


def _rounds_of(folder: Folder, name: str) -> list[Cell]:
    counts = [
        mean_of(folder, name, f"rounds.{key}")
        for key in ("all", "planned", "empty", "full", "same")
    ]
    proven, planned = mean_of(folder, name, "rounds.proven"), counts[1]
    part = proven / planned if planned and proven is not None else None
    gaps = [mean_of(folder, name, f"rounds.{key}") for key in ("meanGap", "worstGap")]
    if gaps == [None, None]:
        part = None
    return [
        Cell(name),
        *(Cell(amount(count), count) for count in counts),
        Cell(share(part), part),
        *(Cell(share(gap, 2), gap) for gap in gaps),
    ]


def largest(folder: Folder) -> list[Block]:
    """
    List the jobs whose waits differ most from the baseline's, and why they waited.
    """
    lines = folder.results.largest
    if not lines:
        return [
            Text(["No job waited differently, or there is nothing to compare with."])
        ]
    blocks: list[Block] = []
    for name in folder.results.strategies:
        mine = [line for line in lines if line.strategy == name][:10]
        if mine:
            blocks.append(
                _largest_of(name, folder.results.baseline or "baseline", mine)
            )
    return blocks


def _largest_of(name: str, baseline: str, lines: list[LargestRounds]) -> Grid:
    return Grid(
        caption=f"The {counted(len(lines), 'job')} whose waits differ most: "
        f"{name} beside {baseline}",
        columns=[
            Column("Job"),
            Column("Queue"),
            Column("GPUs", right=True),
            Column(baseline, right=True),
            Column(name, right=True),
            Column("Difference", right=True),
            Column("Why it waited"),
        ],
        rows=[
            [
                Cell(line.job),
                Cell(line.queue),
                Cell(amount(line.gpus), line.gpus),
                Cell(span(line.baseline_wait), line.baseline_wait),
                Cell(span(line.wait), line.wait),
                _apart(line.baseline_wait, line.wait),
                Cell(_both_why(baseline, name, line)),
            ]
            for line in lines
        ],
        notes=["Why: the last reason that a plan gave while the job waited."],
        stacked=True,
    )


def _apart(before: float | None, after: float | None) -> Cell:
    if before is None or after is None:
        return Cell(NOTHING)
    text = span(after - before)
    if after == before:
        return Cell("none", 0.0)
    tone: Tone = "good" if after < before else "bad"
    return Cell(f"+{text}" if after > before else text, after - before, tone)


def _both_why(baseline: str, name: str, line: LargestRounds) -> str:
    before = _why(line.baseline_reason, line.baseline_wait)
    after = _why(line.reason, line.wait)
    if before == after:
        return f"both: {after}"
    return f"{baseline}: {before}; {name}: {after}"


_WHY = {
    Reason.INSUFFICIENT_CAPACITY: "too few free GPUs",
    Reason.FRAGMENTED: "enough free GPUs, in pieces too small",
    Reason.QUOTA_LIMIT_REACHED: "its queue was at its limit",
    Reason.LOWER_TIER_OR_PRIORITY: "others were given what it needs",
    Reason.SEARCH_LIMIT_REACHED: "undecided within the limit",
    Reason.PREEMPTION_PROTECTED: "protected work in its way",
    Reason.WAITING_FOR_PREEMPTION: "others had to leave first",
}


def _why(reason: str | None, wait: float | None) -> str:
    """
    Say a reason in few words; one that is not known stays as it is.
    """
    if not reason:
        return "no reason noted" if wait else "did not wait"
    if reason == "BehindOlder":
        return "behind older ones of its kind"
    verdict = verdict_named(reason)
    words = _WHY.get(Reason(reason)) if verdict else None
    said = ": ".join(word for word in (verdict, words) if word)
    return f"{said} ({reason})" if said else reason


def limits(folder: Folder) -> list[Block]:
    """
    Say what was not modelled, and what of the trace was repaired or left out.
    """
    results = folder.results
    items = list(results.not_modelled)
    blocks: list[Block] = [
        Items(items) if items else Text(["The results name nothing that is left out."])
    ]
    rows = [
        [Cell(what), Cell(kind), Cell(amount(count), count)]
        for kind, counts in (
            ("repaired", results.trace.repaired),
            ("left out", results.trace.left_out),
        )
        for what, count in counts.items()
    ]
    if rows:
        blocks.append(
            Grid(
                caption="What of the trace was repaired or left out",
                columns=[Column("What"), Column("Done"), Column("Number", right=True)],
                rows=rows,
            )
        )
    notes = [*results.trace.notes, *results.cluster.notes]
    if notes:
        blocks.append(Items(notes))
    return blocks


def inputs(folder: Folder) -> Facts:
    """
    Say what was run, so that it can be run again.
    """
    results = folder.results
    trace, settings, cluster = results.trace, results.settings, results.cluster
    classes = ", ".join(f"{c.nodes:,} × {amount(c.gpus)} GPUs" for c in cluster.classes)
    pairs = [
        ("Trace", f"{trace.name} ({trace.form})" if trace.form else trace.name),
        ("SHA-256", trace.sha256 or NOTHING),
        ("Begins", trace.begins or "unknown"),
        ("Cluster", classes or counted(cluster.nodes, "node")),
        ("Queues", amount(len(cluster.queues))),
        (
            "Rounds",
            f"every {period(settings.every)}" if settings.every else "at events",
        ),
        ("Run times known to the strategies", settings.estimates or "none"),
        ("Evictions", "yes" if settings.evictions else "no"),
        ("Ends when", _end(settings.until)),
        ("Seeds", ", ".join(map(str, results.seeds)) or NOTHING),
        ("Policy", _policy(settings.policy)),
    ]
    return Facts(pairs)


def _end(until: float | str | None) -> str:
    if isinstance(until, float):
        return f"{period(until)} have passed"
    return until or NOTHING


def _tier(tier: object) -> str:
    name = tier.get("name") if isinstance(tier, Mapping) else tier
    return printable(str(name))


def _policy(policy: dict[str, object]) -> str:
    if not policy:
        return "as Phalanx comes"
    tiers = policy.get("tiers")
    names = ", ".join(_tier(each) for each in tiers) if isinstance(tiers, list) else ""
    return f"tiers {names}; all of it in results.json" if names else "in results.json"
