"""
Could a gang start under some rules: asked no more often than there is something to ask.
"""

from dataclasses import replace

from models.policy import Evict, Policy
from models.why.verdicts import Verdict
from solver import why_waits
from solver.effort.budget import Budget, Stopwatch
from solver.problem.problem import problem_of
from solver.round import decide
from solver.why import start_under
from solver.why.named_rules import rules_of
from solver.why.start_under import StartUnder
from solver.why.worlds import offered
from tests.helpers.build import gang, nodes, queue, snapshot

POLICY = Policy()


def asked_alone(case):
    problem = problem_of(case, POLICY)
    (unit,) = problem.units
    budget = Budget(POLICY.limits, 0, Stopwatch(None))
    rules = rules_of(problem, problem, unit)
    return StartUnder(
        problem=problem,
        beside=problem,
        unit=unit,
        rules=rules,
        closed=False,
        budget=budget,
        offers=offered(problem.room),
    )


def test_who_could_leave_for_a_gang_is_asked_once_where_that_starts_it(monkeypatch):
    running = gang("runs", queue="p", gpus=8, running=["n0"])
    first = gang("first", queue="q", gpus=8, priority=5)
    late = gang("late", queue="q", gpus=4)
    queues = [queue("p", quota=0), queue("q", quota=8)]
    case = snapshot(nodes(1), [running, first, late], queues)
    plan = decide(case, POLICY)
    tiers = tuple(replace(x, bound=4 * (x.value or 1)) for x in plan.tiers)
    opened, open_step = [], start_under.open_step

    def counted(*given):
        opened.append(given)
        return open_step(*given)

    monkeypatch.setattr(start_under, "open_step", counted)
    found = why_waits(case, POLICY, replace(plan, tiers=tiers), "default/late")

    assert Verdict.UNDECIDED is found.verdict
    assert 1 == len(opened)


def test_that_others_may_leave_says_nothing_of_a_limit_that_holds_alone():
    runs = gang("runs", queue="q", gpus=8, running=["n0"])
    wants = gang("wants", queue="q", gpus=8, priority=5)
    ask = asked_alone(snapshot(nodes(1), [runs, wants], [queue("q", limit=8)]))
    by_word = {rule.word: rule for rule in ask.rules}
    limit, room = by_word[Verdict.LIMIT], by_word[Verdict.ROOM]

    assert ask.answer(frozenset(ask.rules))
    assert ask.answer(frozenset({limit, room}))
    assert ask.answer(frozenset({limit})) is False


def full_of_lower(number):
    runs = [gang(f"r{at}", queue="q", gpus=8, running=[f"n{at}"]) for at in range(3)]
    wants = gang("wants", queue="q", gpus=8, priority=5, minimum=number)
    return snapshot(nodes(3), [*runs, wants], [queue("q", limit=24)])


def test_of_many_nodes_those_on_few_are_asked_first_to_leave(monkeypatch):
    monkeypatch.setattr(start_under, "FEW", 1)
    monkeypatch.setattr(start_under, "MOST_ASKED", 0)

    for number, starts in ((1, True), (2, None)):
        ask = asked_alone(full_of_lower(number))
        assert starts is ask.answer(frozenset(ask.rules))


def test_where_too_many_run_it_is_said_what_lacks_and_what_is_open(monkeypatch):
    case = full_of_lower(2)
    plan = decide(case, POLICY.model_copy(update={"evict": Evict(preempt=False)}))
    monkeypatch.setattr(start_under, "MOST_ASKED", 0)
    found = why_waits(case, POLICY, plan, "default/wants")

    assert Verdict.UNDECIDED is found.verdict
    assert found.sentence.endswith(
        ": needs 16 GPUs; queue q may still use 0 of its limit 24; "
        "whether others could leave for it was not found out"
    )
