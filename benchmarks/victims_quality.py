"""
Measured quality of evictions: small full cases against the exact per-pod model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.files import scenario_of
from adapters.machine.clock import monotonic
from benchmarks.cases.part_victims import part_victim_case
from benchmarks.cases.victims import victim_case
from benchmarks.contract_evict import VictimCases
from benchmarks.planned import decide_alone
from benchmarks.quality import vector_of
from benchmarks.rows import Range, Row
from exact import (
    UndecidedError,
    best_first_step,
    best_later,
    best_round,
    best_second_step,
    first_worse,
    worse_in_a_step,
)
from exact.search import Value
from models.errors import PlanRejectedError
from models.plan import Plan
from models.policy import Limits, Policy
from models.snapshot import Snapshot
from solver.problem.when_empty.shared_out import shared_out


@dataclass(slots=True)
class Tally:
    """
    What is counted over the cases.
    """

    different: list[int] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)
    greedy_short: int = 0
    evicting: int = 0
    proven: int = 0


def measure_victims(contract: VictimCases) -> Iterator[Row]:
    """
    Hold the solver's whole vector against the exact model, case by case.
    """
    tally = Tally()
    began = monotonic()
    for seed in range(contract.first_seed, contract.first_seed + contract.cases):
        _count_case(tally, seed, contract)
    wrong = {"differs": tally.different, "is rejected": tally.rejected}
    num_wrong = len(tally.different) + len(tally.rejected)
    yield Row(
        name=contract.name,
        seconds={"total": monotonic() - began},
        facts={
            "cases": contract.cases,
            "evicting": tally.evicting,
            "proven": tally.proven,
        },
        notes=tuple(f"seed {s} {what}" for what, seeds in wrong.items() for s in seeds),
        ranges=(
            Range(what="cases that differ", value=num_wrong, limit=0),
            Range(
                what="share where greedy is not optimal",
                value=tally.greedy_short / contract.cases,
                limit=contract.not_greedy,
                side="at least",
            ),
        ),
    )


def _count_case(tally: Tally, seed: int, contract: VictimCases) -> None:
    snapshot, policy = case_of(seed, contract.limits, parts=contract.parts)
    most = contract.most_outcomes
    first = best_first_step(snapshot, policy, _shares(snapshot, policy))
    try:
        plan = decide_alone(snapshot, policy)
    except PlanRejectedError:
        tally.rejected.append(seed)
        return
    if not _is_best(snapshot, policy, plan, first, most):
        tally.different.append(seed)
    tally.evicting += any(op.op in {"Evict", "Move"} for op in plan.operations)
    tally.proven += plan.status != "feasible"
    greedy = decide_alone(snapshot, policy, strategy="greedy")
    tally.greedy_short += not _is_best(snapshot, policy, greedy, first, most)


def case_of(
    seed: int, limits: Limits, *, parts: bool = False
) -> tuple[Snapshot, Policy]:
    """
    Give the snapshot and the policy of a case.
    """
    made = part_victim_case(seed) if parts else victim_case(seed)
    scenario = scenario_of(f"victims-{seed}", made)
    return scenario.snapshot, scenario.policy.model_copy(update={"limits": limits})


def _is_best(
    snapshot: Snapshot,
    policy: Policy,
    plan: Plan,
    first: Sequence[Value] | None,
    most: int,
) -> bool:
    """
    Tell whether no plan is better, whoever of several equally good leaves.

    Where too many are equally good, those count who leave in the plan.
    """
    shares = _shares(snapshot, policy)
    later = best_later(snapshot, policy, shares, plan)
    if first is None or later is None:
        return False
    have = vector_of(plan)
    try:
        return first_worse(have, best_round(snapshot, policy, shares, most)) is None
    except UndecidedError:
        second = best_second_step(snapshot, policy, shares, plan)
        return second is not None and not worse_in_a_step(have, first, second, later)


def _shares(snapshot: Snapshot, policy: Policy) -> Mapping[str, Mapping[str, int]]:
    return shared_out(snapshot, policy, devices=False).shares
