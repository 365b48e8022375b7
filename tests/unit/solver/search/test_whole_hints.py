"""
First solutions: whatever is asked of a model begins with one that is whole.
"""

import pytest

from solver.round import decide
from solver.search.attempts import Attempts
from tests.odd.rounds import odd_round, read


@pytest.mark.parametrize("name", [f"full-h-{at}" for at in range(6)])
def test_no_question_begins_without_a_whole_first_solution(name, monkeypatch):
    solve, whole = Attempts.solve, []

    def watched(self, model, goal, share):
        whole.append(len(model.proto.solution_hint.vars) == len(model.proto.variables))
        return solve(self, model, goal, share)

    monkeypatch.setattr(Attempts, "solve", watched)
    state = read(odd_round(name))

    decide(state.snapshot, state.policy, strategy="solver")

    assert all(whole)
