"""
Attempts and races: the best answer, a bound that holds, and the end of it.
"""

import random
import time

import pytest

from adapters.machine.threads import ThreadLanes
from models.policy import Limits
from solver.effort.budget import Budget, Stopwatch
from solver.effort.cp_sat import cp_model
from solver.encode.tier_rows import require_better
from solver.encode.variables import Linear
from solver.score.tier import TierKey
from solver.search.attempts import Attempts
from solver.search.goal import Goal, whole
from solver.search.parameters import Presolve, routine_of
from solver.search.race import Race, hint_answer
from solver.tuning import DEFAULT

WEIGHTS = (31, 29, 23, 19, 17, 13, 11, 7)
ROOM = 61
"""
The best sum of weights that fits is the room itself: 31 + 19 + 11.
"""


def knapsack():
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in WEIGHTS]
    model.add(cp_model.LinearExpr.weighted_sum(taken, WEIGHTS) <= ROOM)
    model.maximize(cp_model.LinearExpr.weighted_sum(taken, WEIGHTS))
    for variable in taken:
        model.add_hint(variable, 0)
    return model, taken


def several_knapsacks():
    """
    Give forty things of which some fit into four rooms each, and what they are worth.
    """
    chance, model = random.Random(5), cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in range(40)]
    for _ in range(4):
        sizes = [chance.randint(10, 60) for _ in taken]
        fits = cp_model.LinearExpr.weighted_sum(taken, sizes) <= sum(sizes) // 2
        model.add(fits)
    value = [chance.randint(10, 60) for _ in taken]
    model.maximize(cp_model.LinearExpr.weighted_sum(taken, value))
    return model, value


def budget(**limits):
    return Budget(Limits(**limits), 0, Stopwatch(time.monotonic, ThreadLanes()))


@pytest.mark.parametrize(
    "limits",
    [{"deterministic": 4.0}, {"seconds": 5.0}, {"seconds": 5.0, "workers": 2}],
    ids=["deterministic", "one worker", "two workers"],
)
def test_the_best_answer_is_found_and_its_bound_closed(limits):
    model, taken = knapsack()
    goal = Goal("max", 0.0, 0, sum(WEIGHTS))

    answer = Attempts(budget(**limits), DEFAULT.search).solve(model, goal, 4.0)

    assert answer.claim == goal.bound == ROOM
    chosen = sum(w for w, v in zip(WEIGHTS, taken, strict=True) if answer.value(v))
    assert chosen == ROOM


def with_rest():
    """
    Give the knapsack, the room that is left in it counted, with no hint for that.
    """
    model, taken = knapsack()
    left = model.new_int_var(0, ROOM, "")
    weight = cp_model.LinearExpr.weighted_sum(taken, WEIGHTS)
    model.add(weight + left == ROOM)
    return model, taken, left


def hints_of(model):
    hints = model.proto.solution_hint
    return dict(zip(hints.vars, hints.values, strict=True))


def test_what_a_hint_leaves_out_is_found():
    model, taken, left = with_rest()

    Attempts(budget(), DEFAULT.search).complete_hint(model, 4.0)

    assert hints_of(model) == {**{one.index: 0 for one in taken}, left.index: ROOM}
    assert model.has_objective()


def test_a_hint_that_no_solution_has_stays_as_it_is():
    model, taken, _ = with_rest()
    model.add(sum(taken) >= 1)
    before = hints_of(model)

    Attempts(budget(), DEFAULT.search).complete_hint(model, 4.0)

    assert hints_of(model) == before


def test_a_turn_goes_on_from_the_answer_of_the_one_before():
    model, value = several_knapsacks()
    attempts = Attempts(budget(deterministic=0.02), DEFAULT.search)

    answer = attempts.solve(model, Goal("max", 0.0, 0, sum(value)), 0.02)

    assert [*hints_of(model).values()] == answer.values


def test_in_turns_the_best_is_looked_for_where_something_comes_after_it():
    model, value = several_knapsacks()
    near, best = (Goal("max", 0.5, 0, sum(value), patience) for patience in (0.0, 2.0))

    answers = [
        Attempts(budget(deterministic=4.0), DEFAULT.search).solve(model, goal, 4.0)
        for goal in (near, best)
    ]

    assert answers[0].claim < near.bound, "it is too easy to tell them apart"
    assert answers[1].claim == best.bound


@pytest.mark.parametrize(
    ("sums", "left", "none"),
    [
        ((ROOM, 3), 4.0, True),
        ((ROOM, 4), 4.0, False),
        ((ROOM - 1, 2), 4.0, False),
        ((ROOM, 3), 0.0, False),
    ],
    ids=["best", "better in the second", "better in the first", "nothing left"],
)
def test_it_is_asked_once_whether_any_tier_could_be_better(sums, left, none):
    """
    The room is filled by three at least, and one less than it by two.
    """
    model, taken = knapsack()
    model.clear_objective()
    model.clear_hints()
    by_weight, by_number = Linear(), Linear()
    for variable, weight in zip(taken, WEIGHTS, strict=True):
        by_weight.add(variable, weight, 1)
        by_number.add(variable, 1, 1)
    keys = (
        TierKey("pods", range(0), None, "max", 0.0),
        TierKey("gangs", range(0), None, "min", 0.0),
    )
    rows = zip(keys, (by_weight, by_number), sums, strict=True)
    require_better(model, rows)

    attempts = Attempts(budget(deterministic=left), DEFAULT.search)
    goal = Goal("max", 0.0, 0, sum(WEIGHTS))
    proven, answer = attempts.at_once(model, goal, 4.0)
    assert proven is none
    assert (answer is None) == (none or not left)


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_claimed_when_nothing_is_left(workers):
    model, _ = knapsack()
    goal = Goal("max", 0.0, 0, sum(WEIGHTS))

    answer = Attempts(budget(seconds=0.0, workers=workers), DEFAULT.search).solve(
        model, goal, 1.0
    )

    assert answer is None or answer.claim <= ROOM
    assert goal.bound >= ROOM


def test_a_model_is_left_as_it_was():
    model, _ = knapsack()
    before = str(model.proto)

    Attempts(budget(seconds=5.0, workers=2), DEFAULT.search).solve(
        model, Goal("max", 0, 0, 99), 4.0
    )

    assert str(model.proto) == before


def test_a_model_of_evictions_hardly_tries_value_by_value():
    """
    That took most of a turn, so that no search began.
    """
    for large in (True, False):
        routine = routine_of(large=large, scoped=False, presolved=True)
        for manner in routine.turns:
            solver = cp_model.CpSolver()
            manner.configure(solver)
            assert solver.parameters.probing_deterministic_time_limit == 0.0
            assert solver.parameters.presolve_probing_deterministic_time_limit < 0.01


@pytest.mark.parametrize("large", [False, True])
def test_the_manner_that_closed_a_tier_goes_first(large):
    routine = routine_of(large=large, scoped=False)
    last = routine.turns[-1]
    plain, steered = routine.lanes[0]

    routine.prefer(last)
    routine.prefer(steered)

    assert routine.turns[0] == last
    assert [steered, plain] == routine.lanes[0]
    assert len(set(routine.lanes[1])) == len(routine.lanes[1])


def test_a_race_names_the_manner_that_won():
    model, _ = knapsack()
    mine = budget(seconds=5.0, workers=2)
    goal = Goal("max", 0.0, 0, sum(WEIGHTS))
    race = Race(mine, goal, 4.0, mine.race_lanes, DEFAULT.search)
    lanes = routine_of(large=False, scoped=False).lanes

    race.run(model, lanes)

    assert any(race.winner in lane for lane in lanes)


def test_a_race_that_came_near_looks_for_the_best_but_not_for_long():
    mine = budget(seconds=5.0, workers=2)
    goal = Goal("max", 0.1, 95, 100, patience=0.5)
    race = Race(mine, goal, 4.0, mine.race_lanes, DEFAULT.search)
    race.begun = mine.left + 1.0

    assert not race.is_enough()
    race.begun += goal.patience + 0.1
    assert race.is_enough()


def test_a_race_for_the_last_tier_ends_as_soon_as_it_is_near():
    mine = budget(seconds=5.0, workers=2)
    goal = Goal("max", 0.1, 95, 100, patience=0.0)

    assert Race(mine, goal, 4.0, mine.race_lanes, DEFAULT.search).is_enough()


def test_a_bound_below_the_value_in_hand_is_the_value():
    goal = Goal("max", 0.0, 10, 20)

    goal.tighten(7.0)

    assert goal.bound == 10
    assert goal.is_closed()


@pytest.mark.parametrize(
    ("bound", "up", "expected"),
    [(3.2, False, 3), (3.2, True, 4), (2.9999999, False, 3), (3.0000001, True, 3)],
)
def test_a_bound_is_rounded_to_what_it_still_allows(bound, up, expected):
    assert whole(bound, up=up) == expected


@pytest.mark.parametrize("scoped", [False, True])
@pytest.mark.parametrize(("variables", "manners"), [(10, 2), (3000, 2), (30_000, 4)])
def test_where_others_may_leave_all_manners_presolve_but_for_huge_models(
    scoped, variables, manners
):
    model = cp_model.CpModel()
    for _ in range(variables):
        model.new_bool_var("")
    attempts = Attempts(budget(), DEFAULT.search, scoped=scoped, leaving=True)
    turns = attempts.routine(model).turns

    assert manners == len(turns)
    assert (manners == 2) == all(x.presolve is not Presolve.NONE for x in turns)


def test_an_answer_of_a_larger_model_is_a_hint_for_what_it_was_made_of():
    model, taken = knapsack()
    larger = model.clone()
    larger.add(larger.new_bool_var("") == 1)
    goal = Goal("max", 0.0, 0, sum(WEIGHTS))
    _, answer = Attempts(budget(), DEFAULT.search).at_once(larger, goal, 1.0)

    assert answer is not None
    hint_answer(model, answer)

    assert [x.index for x in taken] == [*model.proto.solution_hint.vars]


def test_a_race_whose_lane_fails_ends_and_says_why(monkeypatch):
    def fails(*_):
        raise MemoryError("no memory left for a lane")

    monkeypatch.setattr(cp_model.CpSolver, "solve", fails)
    model, _ = knapsack()
    goal = Goal("max", 0.0, 0, sum(WEIGHTS))
    racing = Attempts(budget(seconds=5.0, workers=2), DEFAULT.search)

    with pytest.raises(MemoryError, match="no memory left"):
        racing.solve(model, goal, 5.0)
