"""
What is always true of places that spread pods leave: where they are too few by counting
the exact model finds none either.
"""

import pytest

from models.policy import Policy
from solver import RoundAsked, decide_or_fall_back
from solver.explain.could_start_alone import Alone
from solver.explain.spread_of_others import crowds_out
from solver.round import budget_of
from solver.why import start_under
from tests.helpers.rounds.waiting_cases import CASES


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(5000, 5016))
def test_too_few_places_are_none_by_the_model(seed, monkeypatch):
    wrong = []

    def watched(problem, unit):
        told = crowds_out(problem, unit)
        if told and Alone(problem, budget_of(Policy())).starts(unit):
            wrong.append(unit.key)
        return told

    monkeypatch.setattr(start_under, "crowds_out", watched)
    snapshot, policy = CASES["beside"](seed)
    plan = decide_or_fall_back(snapshot, policy)
    asked = RoundAsked(snapshot, policy, plan)
    for line in plan.gangs:
        if line.state == "Waiting":
            asked.why(line.name)

    assert [] == wrong
