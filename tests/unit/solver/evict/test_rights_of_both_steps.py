"""
Whoever starts by right in idle room may give the right to those who leave before.
"""

from dataclasses import replace

from adapters.files import scenario_of
from solver.evict.freeze import freeze
from solver.evict.open_step import open_step
from solver.place.draft import Draft
from solver.problem.node_room import Places
from solver.problem.problem import Step, problem_of

GPU = "nvidia.com/gpu"


def _gang(name, gpus, queue="q", pods=1, cpu=0, **more):
    asks = {"queue": queue, "min": pods, "requests": {GPU: gpus, "cpu": cpu}}
    return {"name": name, "priority": 50} | asks | more


def _runs(name, gpus, node, queue="q"):
    return _gang(name, gpus, queue, priority=0, running=[{"node": node, "for": "1h"}])


def _case():
    """
    Six pods make way for three; more starts in their queue only by the four small ones.
    """
    nodes = [{"name": n, "allocatable": {GPU: 8, "cpu": 8}} for n in "abc"]
    nodes.append({"name": "d", "allocatable": {GPU: 4, "cpu": 64}})
    nodes.append({"name": "e", "allocatable": {GPU: 8, "cpu": 1}})
    gangs = [_runs(f"runs-{name}{at}", 4, name) for name in "abc" for at in (0, 1)]
    gangs += [_gang(f"waits-{at}", 5, cpu=2) for at in range(3)]
    gangs += [_gang("small", 1, pods=4, age="2h"), _gang("large", 4, cpu=64)]
    gangs += [_runs("lent", 8, "e", "p"), _gang("borrows", 8, "p")]
    share = {"name": "q", "resources": {GPU: {"quota": 43, "weight": 0}}}
    none = {"name": "p", "resources": {GPU: {"quota": 0, "weight": 0}}}
    given = {"nodes": nodes, "queues": [share, none], "gangs": gangs}
    return {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": given}


def _swapped(draft, small, large):
    """
    Start the large pod in the place of the small ones.
    """
    (host, *_) = draft.places[small].nodes
    places = {key: row for key, row in draft.places.items() if key != small}
    places[large] = Places(((host,),))
    return replace(draft, places=places, entitled=draft.entitled - {small} | {large})


def test_the_second_step_keeps_what_gives_a_right_in_the_first():
    case = scenario_of("made-up", _case())
    problem = problem_of(case.snapshot, case.policy)
    first = open_step(problem, Step.ENTITLED, Draft())
    chosen = first.by_hand().first
    after, ready = freeze(problem, chosen, Step.ENTITLED)
    second = open_step(after, Step.BORROWING, ready).by_hand()
    small, large = "default/small", "default/large"
    draft = second.first
    other = _swapped(draft, small, large)

    assert 6 == len(chosen.exits)
    assert draft.exits
    assert {small} == draft.entitled
    assert second.holds(draft)
    assert not second.holds(other)
