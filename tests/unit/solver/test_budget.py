"""
The limit of a round: one for all that it does, and told where it was reached.
"""

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.compare.expectations import differences
from adapters.files import read_scenario
from models.policy import Limits, Policy
from models.resources import CPU, GPU, PODS
from models.why.reasons import Reason
from solver.decode.pack import PackedPods, pack
from solver.effort.budget import Budget, Stopwatch
from solver.problem.problem import problem_of
from solver.round import budget_of, decide
from solver.search.round_steps import search
from solver.strategies import STRATEGIES
from tests.helpers.build import gang, leaf, node, nodes, snapshot
from tests.odd.checks import better


class Clock:
    """
    Time that passes only where a test lets it.
    """

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Ticking(Clock):
    """
    Time of which some passes whenever somebody looks.
    """

    def __call__(self):
        self.now += 0.05
        return self.now


def fragmented(hosts, gangs):
    """
    Fill half of each node, and let gangs wait that fit by the sums, but not in pieces.

    A node takes a pod of 3 GPUs or two of 2; half of the nodes and two pods more than
    the others hold are asked for.  Each gang is of its own kind.
    """
    machines = [
        node(f"n{i}", used={GPU: 4, CPU: 20_000 + 1000 * (i % 7), PODS: 3})
        for i in range(hosts)
    ]
    waits = [
        gang(
            f"g{k:02}",
            leaf(
                "a",
                minimum=hosts // 2,
                requests={PODS: 1, GPU: 3, CPU: 9_000 + 100 * k},
            ),
            leaf(
                "b",
                minimum=hosts + 2,
                requests={PODS: 1, GPU: 2, CPU: 3_000 + 10 * k},
            ),
        )
        for k in range(gangs)
    ]
    return snapshot(machines, waits)


def reasons(plan):
    return [line.waiting.reason for line in plan.gangs if line.waiting]


def limited(**limits):
    return Policy(limits=Limits(**limits))


def test_seconds_and_units_are_used_up_apart():
    clock = Clock()
    timed = Budget(Limits(seconds=2.0), 0, Stopwatch(clock))
    units = Budget(Limits(deterministic=3.0), 0, Stopwatch(clock))
    clock.now = 1.5
    timed.charge(1.0)
    units.charge(1.0)

    assert (0.5, 2.0) == (timed.left, units.left)
    assert not timed.is_late
    clock.now = 2.0
    assert timed.is_late
    assert not units.is_late


def test_what_is_kept_is_there_for_whoever_comes_later():
    budget = Budget(Limits(deterministic=4.0), 0, Stopwatch(None))
    with budget.keeping(0.5):
        within = budget.left
        with budget.keeping(0.5):
            deeper = budget.left
        budget.charge(2.0)

    assert (2.0, 1.0, 2.0) == (within, deeper, budget.left)


def test_greedy_has_what_it_had_alone_whoever_used_up_the_limit():
    clock = Clock()
    timed = Budget(Limits(seconds=2.0), 0, Stopwatch(clock))
    units = Budget(Limits(deterministic=4.0), 0, Stopwatch(clock))
    clock.now = 1.5
    units.charge(4.0)
    found = units.for_greedy(), timed.for_greedy()
    found[0].cut.add("search")

    assert (4.0, 0.5) == tuple(budget.left for budget in found)
    assert (0.0, {"search"}) == (units.left, units.cut)


def test_nothing_stays_kept_after_an_error():
    budget = Budget(Limits(deterministic=4.0), 0, Stopwatch(None))
    with suppress(ZeroDivisionError), budget.keeping(0.5):
        raise ZeroDivisionError

    assert 4.0 == budget.left


def test_who_is_in_pieces_is_told_so_while_the_limit_lasts():
    plan = decide(fragmented(8, 3), Policy())

    assert [Reason.FRAGMENTED] * 3 == reasons(plan)
    assert () == plan.cut


def test_reasons_end_with_the_limit_and_the_plan_says_so():
    plan = decide(fragmented(40, 12), limited(deterministic=0.05))
    told = reasons(plan)

    assert 12 == len(told)
    assert {Reason.FRAGMENTED, Reason.SEARCH_LIMIT_REACHED} == set(told)
    assert "reasons" in plan.cut


def test_arithmetic_still_tells_why_where_the_limit_is_reached():
    given = snapshot(nodes(1), [gang("a", minimum=9), gang("b", minimum=1, gpus=9)])
    plan = decide(given, limited(seconds=0.0), clock=Clock())

    assert Reason.SEARCH_LIMIT_REACHED not in reasons(plan)


@pytest.mark.parametrize("strategy", ["greedy", "solver"])
def test_starts_one_by_one_end_with_the_limit_but_not_at_once(strategy):
    given = snapshot(
        nodes(40), [gang(f"g{k:02}", minimum=1, gpus=8) for k in range(40)]
    )
    plans = [
        decide(given, limited(seconds=limit), strategy=strategy, clock=Ticking())
        for limit in (0.0, 2.0, 1000.0)
    ]
    few, more, every = (len(plan.operations) for plan in plans)

    assert 0 < few < more < every == 40
    assert [True, True, False] == ["starts" in plan.cut for plan in plans]
    assert {Reason.SEARCH_LIMIT_REACHED} == set(reasons(plans[0]))


@pytest.mark.parametrize("strategy", ["greedy", "solver"])
def test_starts_for_which_others_leave_end_with_the_limit_too(strategy):
    runs = [gang(f"r{k:02}", minimum=1, gpus=8, running=[f"n{k}"]) for k in range(40)]
    asked = [{PODS: 1, GPU: 8, CPU: 1000 + k} for k in range(40)]
    waits = [gang(f"g{k:02}", minimum=1, requests=row) for k, row in enumerate(asked)]
    given = snapshot(nodes(40), [*runs, *(replace(g, priority=1) for g in waits)])
    plans = [
        decide(given, limited(seconds=limit), strategy=strategy, clock=Ticking())
        for limit in (0.0, 4.0, 1000.0)
    ]
    few, more, every = (
        sum(step.op == "Evict" for step in plan.operations) for plan in plans
    )

    assert 0 < few < more < every == 40
    assert ["starts" in plan.cut for plan in plans[:2]] == [True, True]


def test_nothing_is_begun_for_reasons_once_the_time_is_over():
    clock = Clock()
    given = fragmented(8, 3)

    def slow(phase):
        clock.now += 1.0 if phase == "verify" else 0.0

    plan = decide(given, limited(seconds=1.0), clock=clock, progress=slow)

    assert [Reason.SEARCH_LIMIT_REACHED] * 3 == reasons(plan)
    assert ("reasons",) == plan.cut


def test_the_same_limit_gives_the_same_plan():
    given, policy = fragmented(40, 12), limited(deterministic=0.05)

    assert decide(given, policy) == decide(given, policy)


def packable():
    """
    By fit both pods of 4 go to one node of 10, and a pod of 3 is left over.
    """
    waits = [gang("a", minimum=2, gpus=4), gang("b", minimum=4, gpus=3)]
    problem = problem_of(snapshot(nodes(2, 10), waits), Policy())
    of_leaf = problem.shapes.of_leaf
    pods = {"a": 2, "b": 4}
    items = [
        PackedPods("", of_leaf[f"default/{name}", 0], n) for name, n in pods.items()
    ]
    return problem, items


def test_exact_packing_uses_up_the_limit():
    problem, items = packable()
    budget = budget_of(Policy())
    packing, fits = pack(problem, range(2), items, None, budget)

    assert fits
    assert not packing.left
    assert budget.used > 0


def test_without_a_limit_left_packing_is_by_fit_and_told_to_be():
    problem, items = packable()
    budget = budget_of(limited(deterministic=0.0))
    packing, fits = pack(problem, range(2), items, None, budget)

    assert not fits
    assert packing.left
    assert {"packing"} == budget.cut


@pytest.mark.slow
def test_fifty_gangs_in_pieces_end_with_a_limit_of_one_second():
    """
    By processor time, so that a busy machine does not count; without the limit the
    reasons alone take four seconds.
    """
    given = fragmented(400, 50)
    began = time.process_time()
    plan = decide(given, limited(seconds=1.0), clock=time.process_time)
    spent = time.process_time() - began

    assert spent < 1.3
    assert 50 == len(reasons(plan))
    assert "reasons" in plan.cut


@pytest.mark.drawn
@pytest.mark.parametrize("limits", [{"seconds": 0.0}, {"deterministic": 0.0}])
@pytest.mark.parametrize("path", sorted(Path("scenarios/evict").rglob("*.yaml"))[::6])
def test_without_any_time_the_answer_is_that_of_greedy(path, limits):
    given = read_scenario(str(path))
    policy = given.policy.model_copy(update={"limits": Limits(**limits)})
    plans = [
        decide(given.snapshot, policy, strategy=strategy, clock=Clock())
        for strategy in ("greedy", "solver")
    ]

    assert better(*plans) is None


GIVEN_UP = "scenarios/evict/reservations/given-up-for-a-higher-priority.yaml"


def test_a_solve_without_reservations_has_a_part_of_the_same_limit(monkeypatch):
    """
    The first solve leaves two fifths of what the reasons leave, and the second has it.
    """
    given = read_scenario(GIVEN_UP)
    left = []

    def hungry(problem, budget):
        left.append(budget.left)
        outcome = search(problem, budget)
        budget.charge(budget.left)
        return outcome

    monkeypatch.setitem(STRATEGIES, "solver", hungry)
    plan = decide(given.snapshot, given.policy)

    assert [pytest.approx(4.0 * 0.9 * 0.6), pytest.approx(4.0 * 0.9 * 0.4)] == left
    assert "reservations" not in plan.cut
    assert not differences(given.expect, given.snapshot, plan)


def test_reservations_stay_where_nothing_is_left_to_ask_about_them(monkeypatch):
    given = read_scenario(GIVEN_UP)

    def greedier(problem, budget):
        outcome = search(problem, budget)
        budget.charge(10.0)
        return outcome

    monkeypatch.setitem(STRATEGIES, "solver", greedier)

    assert ("reservations",) == decide(given.snapshot, given.policy).cut


def test_reasons_have_their_part_of_a_limit_in_seconds_however_much_is_left():
    now = [0.0]
    budget = Budget(Limits(seconds=10.0), 0, Stopwatch(lambda: now[0]))
    now[0] = 3.0

    with budget.at_most(0.1):
        assert pytest.approx(1.0) == budget.left
        now[0] = 3.5
        assert pytest.approx(0.5) == budget.left

    assert pytest.approx(6.5) == budget.left


def test_nobody_waits_for_a_deterministic_limit():
    budget = Budget(Limits(deterministic=10.0), 0, Stopwatch(None))

    with budget.at_most(0.1):
        assert 10.0 == budget.left
