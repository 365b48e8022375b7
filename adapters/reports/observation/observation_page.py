"""
The page of an observation: what plans would have started, beside what was bound.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from adapters.compare.outcome import percent
from adapters.reports.charts.number_text import amount, gpus, number, span
from adapters.reports.observation.not_shown import LIMITS
from adapters.reports.observation.story import SAME, GangStory, Observed
from adapters.reports.page.page import (
    Block,
    Cell,
    Column,
    Facts,
    Grid,
    Items,
    Page,
    Section,
    Text,
    Tile,
)
from models.why.reasons import counted
from models.why.verdicts import verdict_named

_NOTHING = "–"
_MOST = 200
_ASKED = (
    "Each round was asked of the cluster as it was at that moment, with all that the "
    "other scheduler had bound taken as it was. Nothing was written to the cluster."
)


def observation_page(found: Observed) -> Page:
    """
    Make the page of an observation.
    """
    who = ", ".join(found.schedulers)
    return Page(
        kind="observation",
        title=f"Phalanx beside {who}: {span(found.end - found.begin)} observed",
        lead=[_ASKED],
        verdict=_verdict(found),
        certainty=_certainty(found),
        tiles=_tiles(found),
        sections=_sections(found),
        document=document_of(found),
        made_by=[(name, value) for name, value in sorted(found.versions.items())],
    )


def _sections(found: Observed) -> list[Section]:
    return [
        Section(
            name="earlier",
            heading="Gangs that waited although a plan would have started them",
            blocks=_earlier(found),
        ),
        Section(name="waits", heading="Waits, side by side", blocks=[_waits(found)]),
        Section(
            name="others",
            heading="Gangs that started although no plan would have yet",
            blocks=_not_chosen(found),
        ),
        Section(
            name="still",
            heading="Gangs that waited at the end",
            blocks=_still(found),
        ),
        Section(name="half", heading="Gangs bound in part", blocks=_half(found)),
        Section(name="left", heading="Who had to leave", blocks=_left(found)),
        Section(
            name="limits",
            heading="What this does and does not show",
            blocks=[Items(LIMITS)],
        ),
    ]


def document_of(found: Observed) -> dict[str, Any]:
    """
    Give every number of the page as plain values.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "ObservationReport",
        "schedulers": list(found.schedulers),
        "seconds": round(found.end - found.begin, 3),
        "rounds": {"planned": found.rounds, "proven": found.proven},
        "planSeconds": round(found.seconds, 3),
        "nodes": found.nodes,
        "gpus": found.gpus,
        "gpuHoursEarlier": round(found.gpu_hours_earlier(), 4),
        "gangs": [_document(gang, found) for gang in found.waited()],
        "left": dict(found.left),
        "evicts": list(found.evicts),
    }


def _document(gang: GangStory, found: Observed) -> dict[str, Any]:
    def since(moment: float | None) -> float | None:
        return None if moment is None else round(moment - gang.came, 3)

    return {
        "name": gang.name,
        "queue": gang.queue,
        "priority": gang.priority,
        "gpus": gang.gpus,
        "wouldStartAfter": since(gang.would),
        "proven": gang.would_proven,
        "wouldMakeRoomAfter": since(gang.after),
        "boundAfter": since(gang.whole),
        "goneAfter": since(gang.gone),
        "halfBoundSeconds": round(gang.half, 3),
        "earlierSeconds": round(gang.earlier(found.end), 3),
        "reason": gang.reason,
        "why": gang.why,
    }


def _first(found: Observed) -> list[GangStory]:
    late = [gang for gang in found.waited() if gang.earlier(found.end)]
    return sorted(late, key=lambda g: (-g.earlier(found.end) * g.gpus, g.name))


def _passed_by(found: Observed) -> list[GangStory]:
    """
    List the gangs that were bound whole and that no plan would have started by then.
    """
    return [g for g in found.waited() if g.whole is not None and g.would is None]


def _verdict(found: Observed) -> str:
    first, waited = _first(found), found.waited()
    if not waited:
        return "No gang was seen to wait, so there is nothing to compare."
    if not first:
        return (
            f"No plan would have started any of {counted(len(waited), 'gang')} sooner."
        )
    return (
        f"Plans would have started {len(first):,} of {counted(len(waited), 'gang')} "
        f"that waited sooner, by {amount(found.gpu_hours_earlier())} GPU-hours of "
        f"waiting; {counted(len(_passed_by(found)), 'gang')} started that no plan "
        "would have started by then."
    )


def _certainty(found: Observed) -> str:
    if not found.rounds:
        return ""
    proven = sum(gang.would_proven for gang in _first(found))
    share = percent(found.proven / found.rounds)
    return (
        f"Of {counted(found.rounds, 'plan')} {share} are proven best for their moment; "
        f"so are the plans of {proven:,} of these {len(_first(found)):,} gangs."
    )


def _tiles(found: Observed) -> list[Tile]:
    half = [gang for gang in found.waited() if gang.half > SAME]
    pods = sum(each["pods"] for each in found.evicts)
    return [
        Tile("Observed", span(found.end - found.begin), counted(found.rounds, "plan")),
        Tile("Gangs that waited", f"{len(found.waited()):,}", "seen while they did"),
        Tile(
            "Would have started sooner",
            f"{len(_first(found)):,}",
            f"{amount(found.gpu_hours_earlier())} GPU-hours of waiting",
            "good" if _first(found) else "",
        ),
        Tile("Bound in part", f"{len(half):,}", "gangs, by the other scheduler"),
        Tile(
            "Pods gone while running", f"{found.left.total():,}", "evicted or deleted"
        ),
        Tile("Pods a plan would evict or move", f"{pods:,}", "each counted once"),
    ]


def _earlier(found: Observed) -> list[Block]:
    first = _first(found)
    if not first:
        return [Text(["There was none."])]
    rows = [
        [
            Cell(gang.name),
            gpus(gang.gpus),
            _wait(gang.would, gang),
            _wait(gang.whole, gang),
            _span(gang.earlier(found.end), open_=gang.whole is None),
            Cell("proven" if gang.would_proven else "not proven"),
            Cell(gang.said or _NOTHING),
        ]
        for gang in first[:_MOST]
    ]
    columns = [
        Column("Gang"),
        Column("GPUs", right=True),
        Column("Plan", right=True, hint="after it came, when a plan would start it"),
        Column("Bound", right=True, hint="after it came, when its minimum ran"),
        Column("Sooner", right=True, hint="≥: it still waited at the end"),
        Column("Plan is"),
        Column("What its pods said", hint="in the words of the other scheduler"),
    ]
    return [_grid("By GPU-hours", columns, rows, len(first))]


def _waits(found: Observed) -> Grid:
    both = [g for g in found.waited() if g.would is not None and g.whole is not None]
    rows = []
    for low, high in ((0, 8), (8, 64), (64, None)):
        some = [g for g in both if g.gpus >= low and (high is None or g.gpus < high)]
        label = f"{low} to {high - 1} GPUs" if high else f"{low} GPUs and more"
        rows.append(
            [
                Cell(label),
                number(len(some)),
                _median([g.would - g.came for g in some if g.would is not None]),
                _median([g.whole - g.came for g in some if g.whole is not None]),
            ]
        )
    columns = [
        Column("Size"),
        Column("Gangs", right=True),
        Column("Median until a plan would start it", right=True),
        Column("Median until it was bound", right=True),
    ]
    note = (
        "Only gangs of which both are known. A plan comes before a bind by nature: it "
        "is asked of the same moment, so look at differences, not at these alone."
    )
    return _grid("Waits of gangs that were bound", columns, rows, len(rows), [note])


def _why(gang: GangStory) -> str:
    """
    Say why the last plan left a gang out, as lists of gangs that wait do.
    """
    reason = gang.reason or ""
    verdict = verdict_named(reason)
    return f"{verdict} ({reason})" if verdict else reason


def _not_chosen(found: Observed) -> list[Block]:
    passed = _passed_by(found)
    if not passed:
        return [Text(["There was none."])]
    why = Counter(_why(gang) or "not seen to wait" for gang in passed)
    counts = [(reason, counted(many, "gang")) for reason, many in why.most_common()]
    rows = [
        [
            Cell(gang.name),
            gpus(gang.gpus),
            _wait(gang.whole, gang),
            Cell(gang.why or _why(gang) or _NOTHING),
            Cell(gang.to or _NOTHING),
        ]
        for gang in passed[:_MOST]
    ]
    columns = [
        Column("Gang"),
        Column("GPUs", right=True),
        Column("Bound", right=True),
        Column("Why the last plan before left it out"),
        Column("Who got its room there"),
    ]
    grid = _grid("In the order in which they came", columns, rows, len(passed))
    return [Facts(counts), grid]


def _still(found: Observed) -> list[Block]:
    """
    List who waited at the end, and why the last plan let it wait.
    """
    some = [
        gang
        for gang in found.waited()
        if gang.whole is None and gang.gone is None and gang.reason
    ]
    if not some:
        return [Text(["No gang did that the last plan would not have started."])]
    some.sort(key=lambda gang: (-gang.gpus, gang.name))
    rows = [
        [
            Cell(gang.name),
            gpus(gang.gpus),
            _span(found.end - gang.came),
            Cell(gang.why or _why(gang) or _NOTHING),
        ]
        for gang in some[:_MOST]
    ]
    columns = [
        Column("Gang"),
        Column("GPUs", right=True),
        Column("Waited", right=True),
        Column("Why the last plan let it wait"),
    ]
    return [_grid("The largest first", columns, rows, len(some))]


def _half(found: Observed) -> list[Block]:
    half = [gang for gang in found.waited() if gang.half > SAME]
    if not half:
        return [Text([f"No gang ran in part for longer than {SAME:g} s at first."])]
    half.sort(key=lambda gang: -gang.half)
    rows = [
        [
            Cell(gang.name),
            gpus(gang.gpus),
            _span(gang.half, open_=gang.whole is None),
        ]
        for gang in half[:_MOST]
    ]
    columns = [
        Column("Gang"),
        Column("GPUs", right=True),
        Column("Ran in part", right=True, hint="≥: it was never whole"),
    ]
    return [_grid("Below their minimum, with pods running", columns, rows, len(half))]


def _left(found: Observed) -> list[Block]:
    if not found.left and not found.evicts:
        return [Text(["Nobody left, and no plan would have evicted or moved anybody."])]
    rows = [
        [Cell(gang), number(pods), Cell("gone while running"), Cell(_NOTHING)]
        for gang, pods in found.left.most_common(_MOST)
    ]
    rows += [
        [
            Cell(each["gang"]),
            number(each["pods"]),
            Cell(f"a plan would {_VERBS[each['op']]} them ({each['rule']})"),
            Cell(", ".join(each["for"]) or _NOTHING),
        ]
        for each in found.evicts[:_MOST]
    ]
    columns = [
        Column("Gang"),
        Column("Pods", right=True),
        Column("What"),
        Column("For whom"),
    ]
    return [_grid("Of both sides", columns, rows, len(found.left) + len(found.evicts))]


_VERBS = {"Evict": "evict", "Move": "move"}


def _grid(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    every: int,
    notes: Iterable[str] = (),
) -> Grid:
    left = every - len(rows)
    more = [f"{left:,} more are in results.json."] if left > 0 else []
    return Grid(
        caption=caption, columns=columns, rows=rows, stacked=True, notes=[*notes, *more]
    )


def _wait(moment: float | None, gang: GangStory) -> Cell:
    return Cell(_NOTHING) if moment is None else _span(moment - gang.came)


def _span(seconds: float, *, open_: bool = False) -> Cell:
    return Cell(f"{'≥ ' if open_ else ''}{span(seconds)}", seconds)


def _median(values: list[float]) -> Cell:
    return _span(median(values)) if values else Cell(_NOTHING)
