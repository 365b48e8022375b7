"""
What a bench found: rows with phases, ratios to greedy, gaps, and the ranges they hold.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from adapters.compare.outcome import label
from models.plan import Plan

PHASES = ("snapshot", "problem", "greedy", "build", "search", "decode", "verify")


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """
    One promise: a value, the limit it must keep, and on which side of it.
    """

    what: str
    value: float
    limit: float
    side: Literal["at most", "at least", "exactly"] = "at most"
    unit: Literal["", "%"] = ""

    @property
    def holds(self) -> bool:
        """
        Tell whether the promise is kept.
        """
        match self.side:
            case "at most":
                return self.value <= self.limit
            case "at least":
                return self.value >= self.limit
            case "exactly":
                return self.value == self.limit

    def __str__(self) -> str:
        if self.unit == "%":
            limit = f"{100 * self.limit:g} %"
            return f"{self.what} {_percent(self.value)}, {self.side} {limit}"
        return f"{self.what} {self.value:.6g}, {self.side} {self.limit:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TierLine:
    """
    One tier of a measured round, beside what greedy reaches in it.
    """

    name: str
    greedy: int
    value: int
    bound: int
    gap: float
    proof: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    One measured row of the contract; ``skipped`` says why nothing was measured.
    """

    name: str
    seconds: Mapping[str, float] = field(default_factory=dict)
    greedy_seconds: float | None = None
    tiers: tuple[TierLine, ...] = ()
    worst_gap: float | None = None
    gibibytes: float | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: str | None = None

    @property
    def holds(self) -> bool:
        """
        Tell whether every range holds; a skipped row breaks none.
        """
        return all(promise.holds for promise in self.ranges)

    @property
    def verdict(self) -> str:
        """
        Say in a few words whether the row holds, and if not, why.
        """
        if self.skipped is not None:
            return f"skipped: {self.skipped}"
        broken = [str(promise) for promise in self.ranges if not promise.holds]
        if broken:
            return f"no: {'; '.join(broken)}"
        return "yes" if self.ranges else "-"


_HEAD = (
    "ROW",
    "TOTAL S",
    *(phase.upper() for phase in PHASES),
    "× GREEDY S",
    "FIRST DIFFERENCE",
    "WORST GAP",
    "LOST/GAINED",
    "GREEDY'S",
    "GIB",
    "HOLDS",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """
    All rows of a bench.
    """

    measured: tuple[Row, ...]

    @property
    def ok(self) -> bool:
        """
        Tell whether every range of every row holds.
        """
        return all(row.holds for row in self.measured)

    @property
    def holds(self) -> bool:
        """
        The same as ``ok``: no range is broken.
        """
        return self.ok

    def head(self) -> tuple[str, ...]:
        """
        Name the columns of the table.
        """
        return _HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """
        Give the table's cells, one row per measurement.
        """
        return [_cells(row) for row in self.measured]

    def document(self) -> dict[str, Any]:
        """
        Give everything measured as plain values.
        """
        rows = [
            {
                **asdict(row),
                "holds": row.holds,
                "verdict": row.verdict,
                "ranges": [{**asdict(r), "holds": r.holds} for r in row.ranges],
            }
            for row in self.measured
        ]
        return {
            "apiVersion": "phalanx/v1",
            "kind": "Bench",
            "holds": self.ok,
            "rows": rows,
        }

    def to_json(self) -> str:
        """
        Write the document as JSON.
        """
        return json.dumps(self.document(), indent=1) + "\n"


def tier_lines(solver: Plan, greedy: Plan) -> tuple[TierLine, ...]:
    """
    Pair the tiers of two plans of the same problem.
    """
    before = {(tier.name, tier.band): tier.value for tier in greedy.tiers}
    return tuple(
        TierLine(
            name=label(tier),
            greedy=before.get((tier.name, tier.band), 0),
            value=tier.value,
            bound=tier.bound,
            gap=tier.gap,
            proof=tier.proof,
        )
        for tier in solver.tiers
    )


def _cells(row: Row) -> tuple[str, ...]:
    total = row.seconds.get("total")
    return (
        row.name,
        _number(total, 2),
        *(_number(row.seconds.get(phase), 2) for phase in PHASES),
        _ratio(total, row.greedy_seconds),
        _first_difference(row.tiers),
        _percent(row.worst_gap),
        _number(row.facts.get("lostPerGained"), 3),
        _number(row.facts.get("greedyLostPerGained"), 3),
        _number(row.gibibytes, 2),
        row.verdict,
    )


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _percent(gap: float | None) -> str:
    """
    Write a gap; beyond tenfold its size says nothing.
    """
    if gap is None:
        return ""
    return f"{100 * gap:.3f} %" if gap <= 10 else "open"


def _ratio(value: float | None, base: float | None) -> str:
    return "" if value is None or not base else f"{value / base:.1f}"


def _first_difference(tiers: tuple[TierLine, ...]) -> str:
    """
    Give solver over greedy in the first tier in which they differ: that one decides.
    """
    for tier in tiers:
        if tier.value != tier.greedy:
            ratio = f" × {tier.value / tier.greedy:.3f}" if tier.greedy else ", new"
            return f"{tier.name}{ratio}"
    return "none" if tiers else ""
