"""
The columns of rounds that were recorded, and of the gangs of one.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from adapters.cli.views.listing import ListColumn, Listing, span
from adapters.compare.outcome import percent
from models.plan import gap_between
from models.why.reasons import counted

NOTHING = "–"
Record = Mapping[str, Any]


def moment(row: Record) -> float:
    """
    Give the time at which a round began.
    """
    try:
        return datetime.fromisoformat(str(row["began"])).timestamp()
    except ValueError:
        return 0.0


def done(row: Record, *kinds: str) -> str:
    """
    Count the operations of some kinds that were done.
    """
    receipts = row.get("receipts") or {}
    return f"{sum(receipts.get(kind, {}).get('done', 0) for kind in kinds):,}"


def failed(row: Record) -> str:
    """
    Count the operations that were refused, put off or not tried.
    """
    counts = (row.get("receipts") or {}).values()
    bad = ("again", "refused", "skipped")
    return f"{sum(count.get(word, 0) for count in counts for word in bad):,}"


def widest(row: Record) -> str:
    """
    Give the widest gap between a tier's value and its bound, or say that all is proven.
    """
    tiers = row.get("tiers")
    if tiers is None:
        return NOTHING
    if all(tier["proof"] == "proven" for tier in tiers):
        return "proven"
    gaps = [gap_between(tier["value"], tier["bound"]) for tier in tiers]
    return percent(max(gaps)) if max(gaps) else "conditional"


def _state(row: Record, *states: str) -> str:
    counts = (row.get("gangs") or {}).get("states", {})
    return f"{sum(counts.get(state, 0) for state in states):,}"


def _seconds(row: Record) -> str:
    spent = (row.get("seconds") or {}).get("round") or {}
    return f"{sum(spent.values()):.2f}" if spent else NOTHING


_ROUNDS: Final[list[ListColumn[Record]]] = [
    ListColumn("NAME", lambda row: str(row["name"])),
    ListColumn("OUTCOME", lambda row: str(row["outcome"])),
    ListColumn("PLAN", lambda row: str(row.get("status") or NOTHING)),
    ListColumn("STARTED", lambda row: _state(row, "Starting", "Growing"), right=True),
    ListColumn("WAITING", lambda row: _state(row, "Waiting", "Reserved"), right=True),
    ListColumn("BOUND", lambda row: done(row, "Bind"), right=True),
    ListColumn("EVICTED", lambda row: done(row, "Evict", "Move"), right=True),
    ListColumn("FAILED", failed, right=True),
    ListColumn("GPUS", lambda row: f"{row.get('gpus', 0):,}", right=True),
    ListColumn("GAP", widest),
    ListColumn("SECONDS", _seconds, right=True),
]
_ROUNDS_WIDE: Final[list[ListColumn[Record]]] = [
    ListColumn("BEGAN", lambda row: str(row["began"]), wide=True),
    ListColumn(
        "SNAPSHOT",
        lambda row: str(row.get("snapshot") or NOTHING)[:19],
        wide=True,
    ),
    ListColumn("WHY", lambda row: str(row.get("why") or NOTHING), wide=True),
]


def rounds_of(now: float, path: str) -> Listing[Record]:
    """
    Show recorded rounds.
    """
    return Listing(
        kind="RoundList",
        columns=[*_ROUNDS, _age(now), *_ROUNDS_WIDE],
        name=lambda row: str(row["name"]),
        document=dict,
        state=lambda row: str(row["outcome"]),
        foot=lambda rows: f"{counted(len(rows), 'round')} in {path}",
        empty=f"No such rounds in {path}.",
    )


def _age(now: float) -> ListColumn[Record]:
    return ListColumn(
        "AGE",
        lambda row: span(now - moment(row)),
        by=moment,
        plain={"age_seconds": lambda row: round(now - moment(row))},
    )


def recorded_gangs(record: Record) -> Listing[Record]:
    """
    Show the gangs of a recorded round.
    """
    pods = {"PODS": "total", "BINDING": "binding", "RUNNING": "running"}
    columns: list[ListColumn[Record]] = [
        ListColumn("NAME", lambda row: str(row["name"])),
        ListColumn("QUEUE", lambda row: str(row["queue"])),
        ListColumn("STATE", lambda row: str(row["state"])),
        *(
            ListColumn(
                head,
                lambda row, word=word: f"{row['pods'][word]:,}",  # type: ignore[misc]
                right=True,
            )
            for head, word in pods.items()
        ),
        ListColumn("REASON", lambda row: str(row["reason"] or NOTHING)),
        ListColumn("MESSAGE", lambda row: str(row["message"] or ""), wide=True),
    ]
    states = record.get("gangs", {}).get("states", {})
    steady = sum(states.get(word, 0) for word in ("Running", "Finished"))
    left_out = record.get("gangs", {}).get("leftOut", 0)
    more = f", nor are {left_out:,} that wait" if left_out else ""
    return Listing(
        kind="GangList",
        by_name=True,
        columns=columns,
        name=lambda row: str(row["name"]),
        document=dict,
        state=lambda row: str(row["state"]),
        foot=lambda rows: (
            f"{counted(len(rows), 'gang')} of round {record['name']}; "
            f"{steady:,} more that run or have finished are not recorded one by one"
            f"{more}"
        ),
        empty=_none_of(record),
    )


def _none_of(record: Mapping[str, Any]) -> str:
    """
    Say that none of the gangs of a round is shown, or that it recorded none.
    """
    number = len(record.get("gangs", {}).get("items", ()))
    if number:
        one = counted(number, "gang")
        return f"None of the {one} that round {record['name']} recorded matches."
    return f"Round {record['name']} recorded no gangs that start, wait or leave."
