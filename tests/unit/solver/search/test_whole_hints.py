"""
First solutions: whatever is asked of a model begins with one that is whole.
"""

from solver.round import decide
from solver.search.attempts import Attempts
from tests.odd.rounds import odd_round, read


def test_no_question_begins_without_a_whole_first_solution(monkeypatch):
    solve, whole = Attempts.solve, []

    def watched(self, model, goal, share):
        whole.append(len(model.proto.solution_hint.vars) == len(model.proto.variables))
        return solve(self, model, goal, share)

    monkeypatch.setattr(Attempts, "solve", watched)
    for at in range(6):
        state = read(odd_round(f"full-h-{at}"))
        decide(state.snapshot, state.policy, strategy="solver")

    assert whole
    assert all(whole)
