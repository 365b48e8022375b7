"""
Falling back, with strategies that are wrong on purpose.
"""

import pickle
from dataclasses import replace

import pytest

from adapters.files import plan_document, plan_json, read_plan
from models.errors import PlanRejectedError
from models.policy import Policy
from solver.fallback import NOBODY_LEAVES, decide_or_fall_back
from solver.round import decide
from solver.search.greedy_steps import plan_greedily
from solver.search.round_steps import search
from solver.strategies import STRATEGIES
from solver.verify import verify
from tests.helpers.build import gang, nodes, queue, snapshot

QUEUES = (queue("guest", quota=0, weight=0), queue("owner", quota=8))
FULL = snapshot(
    nodes(2),
    [
        gang("runs", minimum=1, gpus=8, queue="guest", running=["n0"]),
        gang("small", minimum=1, gpus=4, queue="guest"),
        gang("wants", minimum=2, gpus=8, queue="owner"),
    ],
    QUEUES,
)
ROOM = snapshot(nodes(2), [gang("a", minimum=1), gang("b", minimum=1)])


def reclaims(problem):
    return problem.policy.evict.reclaim


def wrong(problem, budget):
    raise PlanRejectedError(["made-up: a rule"])


def wrong_where_somebody_may_leave(problem, budget):
    outcome = search(problem, budget)
    if not reclaims(problem):
        return outcome
    return replace(outcome, tiers=broken(outcome.tiers))


def broken(tiers):
    """
    Let the bound of each tier lie below its value.
    """
    return tuple(
        replace(tier, bound=tier.value - 1 if tier.direction == "max" else tier.bound)
        for tier in tiers
    )


def wrong_always(problem, budget):
    outcome = search(problem, budget)
    return replace(outcome, tiers=broken(outcome.tiers))


def raising(problem, budget):
    raise KeyError("a cordoned node")


def raising_where_somebody_may_leave(problem, budget):
    if reclaims(problem):
        raising(problem, budget)
    return search(problem, budget)


@pytest.fixture
def solver(monkeypatch):
    def is_now(strategy):
        monkeypatch.setitem(STRATEGIES, "solver", strategy)

    return is_now


def test_a_plan_that_holds_is_the_plan_that_decide_gives():
    expected = decide(FULL, Policy())

    assert expected == decide_or_fall_back(FULL, Policy())
    assert expected.fallback is None


def test_a_rejected_plan_is_planned_again_without_evictions(solver):
    solver(wrong_where_somebody_may_leave)
    plan = decide_or_fall_back(FULL, Policy())

    assert "without-evictions" == plan.fallback.way
    assert ["as-asked"] == [one.way for one in plan.fallback.failed]
    (failed,) = plan.fallback.failed
    assert any(text.startswith("tier-bound") for text in failed.violations)
    assert verify(FULL, Policy(), failed.plan)
    assert {"Bind"} == {step.op for step in plan.operations}


def test_then_by_greedy(solver):
    solver(wrong_always)
    plan = decide_or_fall_back(FULL, Policy())

    assert ("greedy", "greedy") == (plan.fallback.way, plan.strategy)
    assert ["as-asked", "without-evictions"] == [
        one.way for one in plan.fallback.failed
    ]
    calm = Policy(evict=NOBODY_LEAVES)
    assert decide(FULL, calm, strategy="greedy").operations == plan.operations


def test_where_nobody_may_leave_greedy_is_next(solver):
    solver(wrong_always)
    plan = decide_or_fall_back(ROOM, Policy(evict=NOBODY_LEAVES))

    assert ["as-asked"] == [one.way for one in plan.fallback.failed]
    assert 2 == len(plan.operations)


def test_the_last_plan_holds_by_the_policy_as_it_was_asked(solver):
    solver(wrong_always)

    assert not verify(FULL, Policy(), decide_or_fall_back(FULL, Policy()))


def test_where_every_way_breaks_rules_nothing_leaves_and_all_are_told(
    solver, monkeypatch
):
    solver(wrong_always)
    monkeypatch.setitem(STRATEGIES, "greedy", wrong_always)
    with pytest.raises(PlanRejectedError) as caught:
        decide_or_fall_back(FULL, Policy())

    failed = caught.value.failed
    assert ["as-asked", "without-evictions", "greedy"] == [one.way for one in failed]
    assert all(one.plan for one in failed)
    assert list(failed[0].violations) == caught.value.violations
    assert failed == pickle.loads(pickle.dumps(caught.value)).failed  # noqa: S301


def test_a_strategy_that_raises_falls_back_in_the_same_way(solver):
    solver(raising_where_somebody_may_leave)
    plan = decide_or_fall_back(FULL, Policy())

    assert "without-evictions" == plan.fallback.way
    (failed,) = plan.fallback.failed
    assert "KeyError: 'a cordoned node'" == failed.error
    assert "raising" == failed.frames[-1][2]
    assert ((), None) == (failed.violations, failed.plan)


def test_a_strategy_that_always_raises_leaves_the_round_to_greedy(solver):
    solver(raising)
    plan = decide_or_fall_back(ROOM, Policy())

    assert "greedy" == plan.fallback.way
    assert 2 == len(plan.operations)


def test_what_raised_first_is_raised_where_every_way_fails(solver, monkeypatch):
    solver(raising)
    monkeypatch.setitem(STRATEGIES, "greedy", wrong)
    with pytest.raises(KeyError, match="cordoned") as caught:
        decide_or_fall_back(FULL, Policy())

    assert [
        "planned again, without-evictions: KeyError: 'a cordoned node'",
        "planned again, greedy: made-up: a rule",
    ] == caught.value.__notes__


def test_greedy_itself_falls_back_to_greedy_without_evictions(monkeypatch):
    def picky(problem, budget):
        if reclaims(problem):
            raise KeyError("x")
        return plan_greedily(problem, budget)

    monkeypatch.setitem(STRATEGIES, "greedy", picky)
    plan = decide_or_fall_back(FULL, Policy(), strategy="greedy")

    assert "without-evictions" == plan.fallback.way


def test_an_interrupt_is_no_failure(solver):
    def stopped(problem, budget):
        raise KeyboardInterrupt

    solver(stopped)
    with pytest.raises(KeyboardInterrupt):
        decide_or_fall_back(ROOM, Policy())


def test_what_evictions_could_have_gained_is_not_called_proven(solver):
    """
    With one node freed ``wants`` starts, as entitled: without evictions nothing does.
    """
    freed = snapshot(
        nodes(1),
        [
            gang("runs", minimum=1, gpus=8, queue="guest", running=["n0"]),
            gang("wants", minimum=1, gpus=8, queue="owner"),
        ],
        QUEUES,
    )
    whole = decide(freed, Policy())
    solver(wrong_where_somebody_may_leave)
    lesser = decide_or_fall_back(freed, Policy())

    assert ("optimal", "feasible") == (whole.status, lesser.status)
    best, tier = whole.tiers[0], lesser.tiers[0]
    assert ("entitled", 0, "gap") == (tier.name, tier.value, tier.proof)
    assert best.value <= tier.bound
    assert "proven" not in {tier.proof for tier in lesser.tiers}


def test_where_all_starts_without_evictions_all_stays_proven(solver):
    solver(wrong_where_somebody_may_leave)
    plan = decide_or_fall_back(ROOM, Policy())

    assert "optimal" == plan.status
    assert {"proven"} == {tier.proof for tier in plan.tiers}


def test_a_plan_says_in_its_file_how_it_was_made(solver, tmp_path):
    solver(raising_where_somebody_may_leave)
    plan = decide_or_fall_back(FULL, Policy())
    path = tmp_path / "plan.json"
    path.write_text(plan_json(plan), encoding="utf-8")

    assert {
        "way": "without-evictions",
        "failed": [
            {
                "way": "as-asked",
                "violations": [],
                "error": "KeyError: 'a cordoned node'",
            }
        ],
    } == plan_document(plan)["fallback"]
    assert (
        plan_document(plan)["fallback"]
        == plan_document(read_plan(str(path)))["fallback"]
    )


def test_all_ways_together_have_the_limit_of_one(solver):
    """
    Each look at the clock takes a tenth of a second; the second way has what is left.
    """
    now = [0.0]
    seen = []

    def clock():
        now[0] += 0.1
        return now[0]

    def slow(problem, budget):
        seen.append(budget.watch.spent())
        now[0] += 5.0
        raise KeyError("slow")

    solver(slow)
    limits = Policy().limits.model_copy(update={"seconds": 4.0})
    plan = decide_or_fall_back(
        FULL, Policy().model_copy(update={"limits": limits}), clock=clock
    )

    assert 5.0 < seen[1] - seen[0]
    assert plan.seconds["total"] > 10
