"""
A round as it is and as it would be, each planned and judged.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from adapters.compare.outcome import Totals, gpus_of_nodes, outcome_of
from adapters.compare.plan_difference import (
    Became,
    PlanDifference,
    difference_document,
    difference_of,
)
from adapters.files.change_documents import change_document
from adapters.files.writing.plan_writer import plan_document
from adapters.loop.plan_round import planned
from models.changes import Change, changed
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver import RoundMemo

_WAITS = frozenset({"Waiting", "Reserved"})


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """
    A snapshot and a policy with their plan, and what is there after it.
    """

    snapshot: Snapshot
    plan: Plan
    totals: Totals

    @property
    def gpus(self) -> float:
        """
        Count the GPUs of all nodes.
        """
        return gpus_of_nodes(self.snapshot)[0]

    @property
    def waiting(self) -> int:
        """
        Count the gangs that still wait.
        """
        return sum(line.state in _WAITS for line in self.plan.gangs)

    def numbers(self) -> dict[str, float]:
        """
        Give what is there after the plan, in numbers.
        """
        return {
            "clusterGpus": self.gpus,
            **asdict(self.totals),
            "waiting": self.waiting,
        }

    def document(self) -> dict[str, Any]:
        """
        Give the case as plain values; how long planning took is none of them.
        """
        untimed = replace(self.plan, seconds=None)
        return {"totals": self.numbers(), "plan": plan_document(untimed)}


@dataclass(frozen=True, slots=True)
class WhatIfAsked:
    """
    What is asked: a round, and the changes with the policy that holds then.
    """

    source: str
    snapshot: Snapshot
    policy: Policy
    changes: Sequence[Change]
    then: Policy
    strategy: str = "solver"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """
    Both plans, and what the second does that the first does not.
    """

    before: PlannedCase
    after: PlannedCase
    difference: PlanDifference


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """
    The answer for one amount of a series.
    """

    amount: int
    answer: WhatIf


class CasePlanner:
    """
    Plans cases that have most of their objects in common.
    """

    def __init__(self, strategy: str, tell: Callable[[str], None]) -> None:
        self._strategy = strategy
        self._tell = tell
        self._memo = RoundMemo()

    def plan(self, snapshot: Snapshot, policy: Policy, word: str) -> PlannedCase:
        """
        Plan one case; ``word`` says which, for who waits.
        """
        plan = planned(
            snapshot,
            policy,
            self._strategy,
            lambda phase: self._tell(f"{word}: {phase}"),
            memo=self._memo,
        )
        return PlannedCase(snapshot, plan, outcome_of(snapshot, plan).totals)


def answer(asked: WhatIfAsked, tell: Callable[[str], None]) -> WhatIf:
    """
    Plan what is and what would be.

    Raises
    ------
    ChangesRejectedError
        When a change cannot be made; then nothing is planned.
    """
    then = changed(asked.snapshot, asked.changes)
    planner = CasePlanner(asked.strategy, tell)
    before = planner.plan(asked.snapshot, asked.policy, "now")
    after = planner.plan(then, asked.then, "then")
    return WhatIf(before, after, difference_of(before.plan, after.plan))


def series(
    asked: WhatIfAsked,
    amounts: Sequence[int],
    change: Callable[[int], Change],
    tell: Callable[[str], None],
) -> Iterator[SeriesStep]:
    """
    Plan what is, and what would be for each amount of one more change.

    Raises
    ------
    ChangesRejectedError
        When a change cannot be made; then nothing is planned.
    """
    cases = [
        (amount, changed(asked.snapshot, [*asked.changes, change(amount)]))
        for amount in amounts
    ]
    planner = CasePlanner(asked.strategy, tell)
    before = planner.plan(asked.snapshot, asked.policy, "now")
    for amount, snapshot in cases:
        after = planner.plan(snapshot, asked.then, f"{amount} of {amounts[-1]}")
        found = difference_of(before.plan, after.plan)
        yield SeriesStep(amount, WhatIf(before, after, found))


def answer_document(asked: WhatIfAsked, found: WhatIf) -> dict[str, Any]:
    """
    Give an answer as plain values.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "WhatIf",
        "source": asked.source,
        "changes": [change_document(change) for change in asked.changes],
        "before": found.before.document(),
        "after": found.after.document(),
        **difference_document(found.difference),
    }


def series_document(
    asked: WhatIfAsked, varied: Change, steps: Sequence[SeriesStep]
) -> dict[str, Any]:
    """
    Give a series as plain values; ``varied`` is its change for the last amount.
    """
    return {
        "apiVersion": "phalanx/v1",
        "kind": "WhatIfSeries",
        "source": asked.source,
        "changes": [change_document(change) for change in asked.changes],
        "varied": change_document(varied),
        "before": steps[0].answer.before.document(),
        "items": [_item(step) for step in steps],
    }


def _item(step: SeriesStep) -> dict[str, Any]:
    after, found = step.answer.after, step.answer.difference
    names = {kind.value: [each.line.name for each in found.of(kind)] for kind in Became}
    return {
        "amount": step.amount,
        "differs": found.is_any,
        "totals": after.numbers(),
        "status": after.plan.status,
        "tiers": plan_document(after.plan)["tiers"],
        "gangs": {kind: gangs for kind, gangs in names.items() if gangs},
    }
