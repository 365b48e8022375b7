"""
Which of two answers comes to more.
"""

from models.policy import Policy
from solver.evict.reservations import keep, promises_of
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.problem import problem_of
from solver.search.search_outcome import Outcome, is_ahead
from tests.helpers.build import gang, nodes, snapshot


def test_a_promise_that_is_kept_is_worth_no_less_than_one_found_again():
    gangs = [
        gang("promised", gpus=8, reserved=["n0"]),
        gang("urgent", gpus=4, priority=9),
    ]
    bare = problem_of(snapshot(nodes(2), gangs), Policy())
    kept = keep(bare, promises_of(bare))
    found = Outcome(problem=kept, draft=greedy(kept), tiers=())
    again = Outcome(problem=bare, draft=greedy(bare), tiers=())
    without = Outcome(problem=kept, draft=Draft(), tiers=())

    assert not is_ahead(again, found)
    assert not is_ahead(found, again)
    assert is_ahead(again, without)
    assert is_ahead(found, without)
