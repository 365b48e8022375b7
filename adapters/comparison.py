"""
Pairs: one input planned by both strategies, with what each reached.
"""

from dataclasses import asdict, dataclass
from typing import Any

from adapters.clock import monotonic
from adapters.files.plan_writer import plan_document
from adapters.outcome import Totals, distance, outcome_of
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.round import decide


@dataclass(frozen=True, slots=True)
class Side:
    """
    One strategy's plan, what it leaves behind, and what it cost.
    """

    plan: Plan
    totals: Totals
    seconds: float

    def document(self) -> dict[str, Any]:
        """
        Give the side as plain values.
        """
        return {
            **asdict(self.totals),
            "status": self.plan.status,
            "tiers": plan_document(self.plan)["tiers"],
            "seconds": round(self.seconds, 6),
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """
    Solver and greedy on the same input, policy and seed.
    """

    name: str
    greedy: Side
    solver: Side

    @property
    def better_in(self) -> str | None:
        """
        Name the first tier in which the two differ.
        """
        for mine, other in zip(
            self.solver.plan.tiers, self.greedy.plan.tiers, strict=True
        ):
            if mine.value != other.value:
                return mine.name if mine.band is None else f"{mine.name}/{mine.band}"
        return None

    @property
    def sign(self) -> int:
        """
        Give 1 where the solver is better, -1 where greedy is, 0 where they agree.
        """
        for mine, other in zip(
            self.solver.plan.tiers, self.greedy.plan.tiers, strict=True
        ):
            if mine.value != other.value:
                return (
                    1 if (mine.value > other.value) == (mine.direction == "max") else -1
                )
        return 0

    @property
    def certainty(self) -> str:
        """
        Say that every tier is proven, or the largest gap.
        """
        tiers = self.solver.plan.tiers
        if all(tier.proof == "proven" for tier in tiers):
            return "proven"
        return f"{max(map(distance, tiers)):.2%}"

    def document(self) -> dict[str, Any]:
        """
        Give the pair as plain values.
        """
        return {
            "input": self.name,
            "greedy": self.greedy.document(),
            "solver": self.solver.document(),
            "better": self.sign,
            "firstDifference": self.better_in,
            "certainty": self.certainty,
        }


def paired(name: str, snapshot: Snapshot, policy: Policy) -> Pair:
    """
    Plan one input with both strategies.
    """
    return Pair(
        name=name,
        greedy=_side(snapshot, policy, "greedy"),
        solver=_side(snapshot, policy, "solver"),
    )


def _side(snapshot: Snapshot, policy: Policy, strategy: str) -> Side:
    plan = decide(snapshot, policy, strategy=strategy, clock=monotonic)
    seconds = (plan.seconds or {}).get("total", 0.0)
    return Side(plan, outcome_of(snapshot, plan).totals, seconds)
