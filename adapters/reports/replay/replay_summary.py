"""
The first screen of a replay's report: what won, by how much, and how sure that is.
"""

from collections.abc import Iterator, Sequence

from adapters.replay.measures.paired_measures import LEAST_SHARE
from adapters.reports.charts.number_text import (
    NOTHING,
    amount,
    period,
    share,
    short_time,
    span,
)
from adapters.reports.page.page import Tile, Tone
from adapters.reports.replay.measures import (
    FEWEST_PAIRS,
    NOT_COMPARABLE,
    OPEN,
    change,
    interval_of,
    is_comparable,
    listed,
    mean_of,
    points,
    unfinished,
    verdict_of,
)
from adapters.reports.replay.results import Folder, Paired
from models.why.reasons import counted

LARGE = "wait.bySize.8+.p99"
_LARGE_WAIT = "the 99th-percentile wait of jobs of 8 GPUs and more"


LEAST_CHANGE = 0.005
"""
What changes by less is left where it was, in the words of the verdict.
"""
FEWEST_BLOCKS = 4
"""
Traces that are drawn from fewer parts of one trace hardly differ.
"""


def subject_of(folder: Folder) -> str | None:
    """
    Name the strategy that is spoken of first: the solver, or else what was played.
    """
    others = [n for n in folder.results.strategies if n != folder.results.baseline]
    if folder.results.baseline is None or not others:
        return None
    return "solver" if "solver" in others else others[0]


def verdict(folder: Folder, subject: str | None) -> str:
    """
    Say what the first strategy changes against the baseline, in its main measures.
    """
    results = folder.results
    if subject is None or results.baseline is None:
        verb = "was" if len(results.strategies) == 1 else "were"
        return (
            f"{listed(results.strategies)} {verb} played, without a baseline: "
            "there is nothing to compare with."
        )
    sides = (results.baseline, subject)
    words: dict[str, list[str]] = {}
    for what, metric in (("the mean wait", "wait.mean"), (_LARGE_WAIT, LARGE)):
        if not is_comparable(folder, subject, metric):
            continue
        before, after = (mean_of(folder, name, metric) for name in sides)
        verb, tail = _changed(what, before, after)
        if verb:
            tail += _doubt(folder, subject, metric) if verb != "leaves" else ""
            words.setdefault(verb, []).append(tail)
    known = [f"{verb} {' and '.join(tails)}" for verb, tails in words.items()]
    text = (
        f"Against {results.baseline}, {subject} {', and '.join(known)}"
        if known
        else f"{listed(results.strategies)} were played"
    )
    if not is_comparable(folder, subject, "wait.mean"):
        why = unfinished(folder, sides)
        return f"{text}; their waits are not comparable, since {why}."
    return f"{text}{_starved(folder, sides)}."


def _doubt(folder: Folder, subject: str, metric: str) -> str:
    """
    Say that a difference is none that the pairs of replays tell apart.
    """
    words = {
        verdict_of(row)[0]
        for row in folder.results.paired
        if (row.strategy, row.metric) == (subject, metric)
    }
    return f" ({OPEN})" if OPEN in words else ""


def _starved(folder: Folder, sides: tuple[str, str]) -> str:
    before, after = (mean_of(folder, name, "starved.over12h") for name in sides)
    if before is None or after is None:
        return ""
    was, now = (amount(round(value)) for value in (before, after))
    if was == now == "0":
        return "; no job waited over 12 hours"
    if was == now:
        return f"; as many jobs waited over 12 hours, {now}"
    return f"; {now} jobs waited over 12 hours, instead of {was}"


def _changed(what: str, before: float | None, after: float | None) -> tuple[str, str]:
    """
    Give a verb, and what it is said of.
    """
    if before is None or after is None:
        return "", ""
    if abs(after - before) <= LEAST_CHANGE * before:
        return "leaves", f"{what} at {span(after)}"
    verb = "lowers" if after < before else "raises"
    if not before:
        return verb, f"{what} from nothing to {span(after)}"
    part = abs(after - before) / before
    if part >= 10:
        return verb, f"{what} to {after / before:,.0f} times as much"
    return verb, f"{what} by {share(part, 0 if part >= 0.1 else 1)}"


def best_of_all(folder: Folder) -> str:
    """
    Name the best of more than two strategies, measure by measure.
    """
    names = folder.results.strategies
    if len(names) < 3:
        return ""
    parts = []
    for what, metric in (
        ("mean wait", "wait.mean"),
        ("99th-percentile wait of jobs of 8 GPUs and more", LARGE),
    ):
        known = {name: mean_of(folder, name, metric) for name in names}
        found = {name: value for name, value in known.items() if value is not None}
        lowest = span(min(found.values(), default=None))
        best = [name for name, value in found.items() if span(value) == lowest]
        if found and len(best) < len(found):
            parts.append(f"{what}: {listed(best)}, {lowest}")
    text = f"Lowest of all {len(names)} strategies: {'; '.join(parts)}."
    return text if parts else ""


def composite(folder: Folder) -> str:
    """
    Say that nobody recorded the workload as it is, and where its parts are from.
    """
    parts = folder.results.trace.composite
    if not parts:
        return ""
    return f"A composite workload, not a recorded one. {'; '.join(parts)}."


_VERDICTS = ("better", "worse", "equal", OPEN, NOT_COMPARABLE)


def certainty(folder: Folder, subject: str | None) -> str:
    """
    Say how sure the verdict is, and count the measures for and against.
    """
    results = folder.results
    rows = [row for row in results.paired if row.strategy == subject]
    parts = []
    if rows:
        counts = dict.fromkeys(_VERDICTS, 0)
        for row in rows:
            words = verdict_of(row)[0].removeprefix("about ")
            if words in counts:
                counts[words] += 1
        text = (
            f"{subject} is better in {counts['better']} of "
            f"{counted(len(rows), 'measure')}, worse in {counts['worse']}, "
            f"equal in {counts['equal']}"
        )
        if counts[NOT_COMPARABLE]:
            text += f", not comparable in {counts[NOT_COMPARABLE]}"
        if counts[OPEN]:
            text += f", {OPEN} in {counts[OPEN]}"
        parts.append(f"{text}.")
        pairs = max(row.pairs for row in rows)
        parts.append(
            f"{counted(pairs, 'pair')} of replays: true for this trace and seed, "
            "without an interval."
            if pairs < FEWEST_PAIRS
            else f"Means over {pairs} pairs of replays of the same seed, with 95 % "
            f"intervals below{_too_narrow(folder)}."
        )
    return " ".join([*parts, *_what_is_proven(folder, subject, rows)])


def _what_is_proven(
    folder: Folder, subject: str | None, rows: Sequence[Paired]
) -> Iterator[str]:
    """
    Say how many plans of the solver are proven, and what that says of measures.
    """
    keys = "rounds.planned", "rounds.proven"
    planned, proven = (mean_of(folder, "solver", key) for key in keys)
    if not planned or proven is None:
        return
    yield f"{share(proven / planned)} of solver's plans are proven best."
    worse = sum(verdict_of(row)[0] == "worse" for row in rows)
    if worse and subject == "solver":
        yield (
            "That is proven of each plan by itself: by the policy's aims in their "
            "order, and by what was known in that round. What many rounds come to is "
            "none of these aims, so nothing is proven of the measures but the bounds "
            f"that are shown, and in {counted(worse, 'measure')} it is worse."
        )
        if proven < planned:
            yield "Of a plan that is not proven only its bound is."


def _too_narrow(folder: Folder) -> str:
    """
    Warn where all seeds are drawn from few parts of one trace.
    """
    span_of, block = folder.results.trace.span, folder.results.settings.block
    if span_of is None or not block or block < 0:
        return ""
    count = int(span_of // block) + 1
    if count >= FEWEST_BLOCKS:
        return ""
    return (
        f"; these are too narrow, since every seed but 0 is drawn from "
        f"{counted(count, 'part')} of {period(block)} of one trace"
    )


def tiles_of(folder: Folder, subject: str, baseline: str | None) -> list[Tile]:
    """
    Show the main measures of a strategy, beside the baseline's.
    """
    other = None if baseline == subject else baseline
    tiles = [
        _tile(folder, subject, other, "Mean wait", "wait.mean", "s"),
        _tile(folder, subject, other, "99th pct. wait, 8+ GPUs", LARGE, "s"),
        _tile(folder, subject, other, "Waited over 12 h", "starved.over12h", "jobs"),
        _tile(folder, subject, other, "GPU time used", "gpus.used", "share"),
    ]
    times = {run.strategy: run.seconds.get("p99") for run in folder.timings.runs}
    mine = times.get(subject)
    if mine is not None:
        theirs = times.get(other) if other else None
        note = "99th percentile, on the machine that ran this"
        if theirs is not None:
            note = f"99th pct.; {other} {short_time(theirs)}"
        tiles.append(Tile("Decision", short_time(mine), note))
    return tiles


def _tile(
    folder: Folder, subject: str, other: str | None, label: str, metric: str, unit: str
) -> Tile:
    mine = mean_of(folder, subject, metric)
    theirs = mean_of(folder, other, metric) if other else None
    text = _shown(mine, unit)
    if mine is None or theirs is None or other is None:
        return Tile(label, text, subject)
    if mine == theirs:
        return Tile(label, text, f"{other} the same")
    higher = unit == "share"
    tone: Tone = "good" if (mine > theirs) == higher else "bad"
    if unit == "share" and abs(mine - theirs) < LEAST_SHARE:
        tone = ""
    if not is_comparable(folder, subject, metric):
        return Tile(
            label, text, f"not comparable with {other}'s {_shown(theirs, unit)}"
        )
    if unit == "share":
        by = points(mine - theirs)
    elif unit == "s" and theirs:
        by = change((mine - theirs) / theirs)
    else:
        by = f"{mine - theirs:+,.0f}".replace("-", "−")
    ends = interval_of(folder, subject, metric)
    if ends is not None and ends.low is not None and ends.high is not None:
        if ends.low <= 0 <= ends.high:
            tone = ""
        by += f" [{change(ends.low)}, {change(ends.high)}]" if unit == "s" else ""
    return Tile(label, text, f"{by} on {other}'s {_shown(theirs, unit)}", tone)


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return NOTHING
    match unit:
        case "s":
            return span(value)
        case "share":
            return share(value)
        case _:
            return amount(round(value))
