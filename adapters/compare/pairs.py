"""
Pairs: one input planned by both strategies, with what each reached.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from adapters.compare.outcome import (
    Totals,
    first_difference,
    gpus_of_nodes,
    is_better,
    label,
    outcome_of,
    percent,
)
from adapters.files.writing.plan_writer import plan_document
from adapters.inventory.gangs import gang_rows
from adapters.inventory.listed import Why, proven, seen_with
from adapters.loop.plan_round import planned
from models.gangs import pod_sets
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot

MOST_EXPLAINED = 10
"""
Gangs of one input of which it is said why they wait.
"""


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
class Size:
    """
    How large an input is.
    """

    nodes: int
    gpus: float
    gangs: int
    pods: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftWaiting:
    """
    A gang that the solver's plan lets wait: why, and when it starts.
    """

    gang: str
    gpus: float
    why: str
    starts: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """
    Solver and greedy on the same input, policy and seed.

    ``waits`` are the largest that wait by the solver's plan, where somebody asked.
    """

    name: str
    size: Size
    seed: int
    greedy: Side
    solver: Side
    waits: tuple[LeftWaiting, ...] = ()

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
        return percent(max(tier.gap for tier in tiers))

    def document(self) -> dict[str, Any]:
        """
        Give the pair as plain values.
        """
        return {
            "input": self.name,
            "size": asdict(self.size),
            "snapshot": self.solver.plan.snapshot,
            "seed": self.seed,
            "greedy": self.greedy.document(),
            "solver": self.solver.document(),
            "better": self.sign,
            "firstDifference": self.better_in,
            "certainty": self.certainty,
            "gap": max((tier.gap for tier in self.solver.plan.tiers), default=0.0),
            "waits": [asdict(one) for one in self.waits],
        }


def comparison_document(pairs: Sequence[Pair]) -> dict[str, Any]:
    """
    Give all pairs as plain values, with their sums.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Comparison",
        "items": [pair.document() for pair in pairs],
        "summary": {
            "pairs": len(pairs),
            "better": sum(pair.sign > 0 for pair in pairs),
            "equal": sum(pair.sign == 0 for pair in pairs),
            "worse": sum(pair.sign < 0 for pair in pairs),
            "proven": sum(pair.certainty == "proven" for pair in pairs),
            "gpusGreedy": round(sum(pair.greedy.totals.gpus for pair in pairs), 2),
            "gpusSolver": round(sum(pair.solver.totals.gpus for pair in pairs), 2),
        },
    }


def paired(
    name: str, snapshot: Snapshot, policy: Policy, *, explained: bool = False
) -> Pair:
    """
    Plan one input with both strategies; ``explained`` says why who waits.
    """
    solver = _side(snapshot, policy, "solver")
    return Pair(
        name=name,
        size=_size(snapshot),
        seed=policy.seed,
        greedy=_side(snapshot, policy, "greedy"),
        solver=solver,
        waits=_left_waiting(snapshot, policy, solver.plan) if explained else (),
    )


def _left_waiting(
    snapshot: Snapshot, policy: Policy, plan: Plan
) -> tuple[LeftWaiting, ...]:
    """
    Say of the largest that wait what `phalanx why` says of them.
    """
    seen = seen_with(snapshot, policy, "", plan)
    rows = [row for row in gang_rows(seen) if row.key in seen.whys]
    rows.sort(key=lambda row: (-row.gpus, row.key))
    told = proven(seen, [row.key for row in rows[:MOST_EXPLAINED]])
    return tuple(
        LeftWaiting(
            gang=row.key,
            gpus=row.gpus,
            why=": ".join(filter(None, _said(told.whys[row.key]))),
            starts=told.starts.get(row.key, ""),
        )
        for row in rows[:MOST_EXPLAINED]
    )


def _said(why: Why) -> tuple[str, str]:
    return why.waits_for, why.message


def _size(snapshot: Snapshot) -> Size:
    return Size(
        nodes=len(snapshot.nodes),
        gpus=gpus_of_nodes(snapshot)[0],
        gangs=len(snapshot.gangs),
        pods=sum(
            len(leaf.pods) for gang in snapshot.gangs for leaf in pod_sets(gang.tree)
        ),
    )


def _side(snapshot: Snapshot, policy: Policy, strategy: str) -> Side:
    plan = planned(snapshot, policy, strategy, falls_back=False)
    seconds = (plan.seconds or {}).get("total", 0.0)
    return Side(plan, outcome_of(snapshot, plan).totals, seconds)
