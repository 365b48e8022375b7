"""
What a plan calls proven: neither other names nor a longer search come to more.
"""

from dataclasses import dataclass
from typing import Any
from unittest import mock

import solver.round
from models.documents.scenario import Scenario
from models.plan import Plan
from solver.round import decide
from solver.search.search_outcome import Outcome
from tests.helpers.rounds.renamed import aged, renamed
from tests.odd.difference import first_difference
from tests.odd.rounds import read
from tests.odd.world import Part

LONGER = 4
"""
How many times the limit of the longer search is that of the policy.
"""


Kept = frozenset[tuple[int, int]]
"""
The gangs that keep what they were promised, each by its age, with its priority.
"""


@dataclass(frozen=True)
class _Decided:
    """
    A plan, and the promises that are facts of it.
    """

    plan: Plan
    kept: Kept


def contradiction(document: Part, seed: int) -> str | None:
    """
    Say in one line where one plan is better in what another of the round calls proven.

    Gangs get ages of their own: of equal age, names say who comes first.
    """
    document = aged(document)
    scenario = read(document)
    if scenario is None or not document["given"].get("nodes"):
        return None
    other = read(renamed(document, seed))
    if other is None:
        return None
    plan = _decided(scenario)
    again = _decided(other, seed=seed)
    longer = _decided(scenario, longer=LONGER)
    for words, one, two in (
        ("other names", plan, again),
        ("the first names", again, plan),
        ("a longer search", plan, longer),
        ("a shorter search", longer, plan),
    ):
        found = _better(one, two)
        if found is not None:
            return f"proven, and false by {words}: {found}"
    return None


def _decided(scenario: Scenario, *, seed: int = 0, longer: int = 1) -> _Decided:
    limits = scenario.policy.limits
    changed = {"deterministic": limits.deterministic * longer}
    policy = scenario.policy.model_copy(
        update={"seed": seed, "limits": limits.model_copy(update=changed)}
    )
    outcomes: list[Outcome] = []
    making = solver.round._plan

    def noting(outcome: Outcome, *rest: Any) -> Plan:
        outcomes.append(outcome)
        return making(outcome, *rest)

    with mock.patch.object(solver.round, "_plan", noting):
        plan = decide(scenario.snapshot, policy)
    gangs = [
        state.gang
        for unit in outcomes[-1].problem.frozen.committed
        for state in unit.states
    ]
    return _Decided(plan, frozenset((gang.age, gang.priority) for gang in gangs))


def _better(one: _Decided, other: _Decided) -> str | None:
    """
    Name the first tier that differs, where one is proven and the other is better.

    A promise that is kept counts in no tier: where they do not keep the same ones, only
    tiers of higher priorities can be compared.
    """
    above = max((priority for _, priority in one.kept ^ other.kept), default=None)
    found = first_difference(one.plan, other.plan, above)
    if found is None or found.is_better or not found.is_proven:
        return None
    return f"{found.name}: {found.value}, and {found.other}"
