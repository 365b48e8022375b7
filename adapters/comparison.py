"""
Pairs: one input planned by both strategies, with what each reached.
"""

from dataclasses import asdict, dataclass
from typing import Any

from adapters.clock import monotonic
from adapters.files.plan_writer import plan_document
from adapters.lanes import ThreadLanes
from adapters.outcome import (
    Totals,
    distance,
    first_difference,
    is_better,
    label,
    outcome_of,
    percent,
)
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
        found = first_difference(self.solver.plan, self.greedy.plan)
        return None if found is None else label(found[0])

    @property
    def sign(self) -> int:
        """
        Give 1 where the solver is better, -1 where greedy is, 0 where they agree.
        """
        found = first_difference(self.solver.plan, self.greedy.plan)
        if found is None:
            return 0
        return 1 if is_better(*found) else -1

    @property
    def certainty(self) -> str:
        """
        Say that every tier is proven, or the largest gap.
        """
        tiers = self.solver.plan.tiers
        if all(tier.proof == "proven" for tier in tiers):
            return "proven"
        return percent(max(map(distance, tiers)))

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
            "gap": max(map(distance, self.solver.plan.tiers), default=0.0),
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
    plan = decide(
        snapshot, policy, strategy=strategy, clock=monotonic, lanes=ThreadLanes()
    )
    seconds = (plan.seconds or {}).get("total", 0.0)
    return Side(plan, outcome_of(snapshot, plan).totals, seconds)
