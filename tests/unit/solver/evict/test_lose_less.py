"""
Whoever leaves in an answer though nobody needs their room stays after all.
"""

from dataclasses import replace

from adapters.files import scenario_of
from models.policy import Limits
from solver.effort.budget import Budget, Stopwatch
from solver.evict.lose_less import losing_less
from solver.evict.open_step import open_step
from solver.evict.pod_exits import pod_exits
from solver.place.draft import Draft
from solver.problem.node_room import Places
from solver.problem.problem import Step, problem_of

GPU = "nvidia.com/gpu"
NAMES = ("one", "beside", "two", "gap")


def _gang(name, gpus, queue="q", **more):
    asks = {"queue": queue, "min": 1, "requests": {GPU: gpus}, "priority": 50}
    return {"name": name} | asks | more


def _runs(name, gpus, node, queue="q", hours=1):
    running = [{"node": node, "for": f"{hours}h"}]
    return _gang(name, gpus, queue, priority=0, running=running)


def _opened(gangs, queues, nodes="ab"):
    """
    The step of those that borrow, where nobody is entitled to anything.
    """
    given = {
        "nodes": [{"name": name, "allocatable": {GPU: 8}} for name in nodes],
        "queues": queues,
        "gangs": gangs,
    }
    document = {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": given}
    case = scenario_of("made-up", document)
    problem = problem_of(case.snapshot, case.policy)
    opened = open_step(problem, Step.BORROWING, Draft())
    assert opened is not None
    return opened


def _queue(name="q", **more):
    return {"name": name, "resources": {GPU: {"quota": 0, "weight": 0} | more}}


def _leave(opened, gang, rule="preempt", target=None):
    """
    Let all of a gang that lies on one node leave by a rule.
    """
    found = [
        (victim, node)
        for node, accounts in opened.victims.on_node.items()
        for alike in accounts.values()
        for victim in alike
        if victim.gang.key == f"default/{gang}"
    ]
    exits = [
        one
        for victim, node in found
        for one in pod_exits(
            opened.problem,
            victim.gang,
            [(runner, node) for runner in victim.pods],
            rule,
            whole=rule == "preempt",
        )
    ]
    if target is None:
        return exits
    return [replace(one, target=target) for one in exits]


def _draft(opened, places, *exits):
    rows = {f"default/{key}": Places((nodes,)) for key, nodes in places.items()}
    return Draft(places=rows, exits=tuple(one for some in exits for one in some))


def _names(draft):
    return sorted(one.gang.removeprefix("default/") for one in draft.exits)


def _fewer(opened, draft):
    assert opened.holds(draft)
    budget = Budget(Limits(), 0, Stopwatch(None))
    return [*losing_less(opened, draft, budget)]


def test_whoever_is_in_nobodys_way_stays():
    gangs = [_runs("one", 4, "a"), _runs("two", 4, "a", hours=3), _gang("new", 4)]
    opened = _opened([*gangs, _runs("full", 8, "b")], [_queue()])
    both = _draft(opened, {"new": (0,)}, _leave(opened, "one"), _leave(opened, "two"))

    kept, again = _fewer(opened, both)

    assert ["one"] == _names(kept)
    assert ["one"] == _names(again)


def test_by_hand_somebody_leaves_who_loses_less():
    gangs = [_runs("long", 4, "a", hours=9), _runs("short", 4, "b"), _gang("new", 4)]
    more = [_runs("beside", 4, "a", hours=9), _runs("other", 4, "b", hours=9)]
    opened = _opened([*gangs, *more], [_queue()])
    dear = _draft(opened, {"new": (0,)}, _leave(opened, "long"))

    kept, again = _fewer(opened, dear)

    assert ["long"] == _names(kept)
    assert ["short"] == _names(again)


def test_whoever_must_leave_below_a_limit_leaves():
    gangs = [_runs("one", 4, "a"), _runs("two", 4, "b", hours=3), _gang("new", 4)]
    opened = _opened(gangs, [_queue(limit=8)])
    one = _draft(opened, {"new": (0,)}, _leave(opened, "one"))

    kept, _ = _fewer(opened, one)

    assert ["one"] == _names(kept)


def test_who_is_moved_still_counts_below_a_limit():
    gangs = [_runs(name, 4, node) for name, node in zip(NAMES, "aabc", strict=True)]
    opened = _opened([*gangs, _gang("new", 4)], [_queue(limit=16)], nodes="abc")
    moved = _leave(opened, "one", "consolidate", target=2)
    draft = _draft(opened, {"new": (0,)}, moved)
    bound = _draft(opened, {"new": (0,)}, moved, _leave(opened, "two"))

    assert not opened.holds(draft, whole=False)
    assert opened.holds(bound, whole=False)
    assert ["one", "two"] == _names(_fewer(opened, bound)[0])


def test_whoever_is_moved_for_nothing_stays_where_it_is():
    gangs = [_runs("one", 4, "a"), _runs("two", 4, "a"), _gang("new", 4)]
    opened = _opened([*gangs, _runs("other", 8, "b")], [_queue()])
    moved = _leave(opened, "one", "consolidate", target=0)
    draft = _draft(opened, {"new": (0,)}, moved, _leave(opened, "two"))

    assert ["two"] == _names(_fewer(opened, draft)[0])


def test_nothing_is_walked_where_nobody_leaves():
    gangs = [_runs("one", 4, "a"), _runs("two", 8, "b"), _gang("new", 8)]
    opened = _opened(gangs, [_queue()])
    budget = Budget(Limits(), 0, Stopwatch(None))

    assert [] == [*losing_less(opened, Draft(), budget)]
    assert [] == [*losing_less(None, Draft(), budget)]
