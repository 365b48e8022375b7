"""
What greedy evicts: rounds in which gangs run that may leave, and what it plans.
"""

from collections import Counter
from dataclasses import replace

from adapters.files import scenario_of
from solver.evict.gathering import victims_of
from solver.evict.greedy.evict import evict_by_hand
from solver.evict.moved_gangs import movers_of
from solver.place.draft import Draft
from solver.problem.pod_shapes import shapes_of
from solver.problem.problem import Step, problem_of

GPU = "nvidia.com/gpu"


def stage(given, evict=None, step=Step.ENTITLED):
    """
    Give a round cut to one step, in the room there will be, and its victims.
    """
    document = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": "A case.",
        "given": given,
        "policy": {"evict": evict or {}},
    }
    scenario = scenario_of("case", document)
    problem = problem_of(scenario.snapshot, scenario.policy)
    room = problem.room.seen(problem.room.later)
    problem = replace(problem, step=step, room=room)
    victims = victims_of(problem)
    states = [state for unit in problem.units for state in unit.states]
    states += [mover.state for mover in movers_of(victims)]
    return replace(problem, shapes=shapes_of(room, states)), victims


def planned(given, evict=None, step=Step.ENTITLED):
    problem, victims = stage(given, evict, step)
    return evict_by_hand(problem, Draft(), victims)


def leaving(draft):
    """
    Count the pods that leave, by gang and rule.
    """
    return Counter((one.gang.removeprefix("default/"), one.rule) for one in draft.exits)


def started(draft):
    return {key.removeprefix("default/") for key in draft.places}


def nodes(number, gpus=8, **labels):
    return [
        {"name": f"n{i}", "allocatable": {GPU: gpus}, "labels": labels}
        for i in range(number)
    ]


def queues(**quotas):
    return [
        {"name": name, "resources": {GPU: {"quota": quota}}}
        for name, quota in quotas.items()
    ]


def runs(name, *places, queue="batch", gpus=8, **fields):
    """
    Describe a running gang: a node, and so many seconds, for each pod.
    """
    return {
        "name": name,
        "queue": queue,
        "min": fields.pop("least", len(places)),
        "replicas": len(places),
        "requests": {GPU: gpus},
        "running": [{"node": at, "for": f"{secs}s"} for at, secs in places],
        **fields,
    }


def waits(name, pods=1, queue="prod", gpus=8, **fields):
    return {
        "name": name,
        "queue": queue,
        "min": pods,
        "requests": {GPU: gpus},
        **fields,
    }


def reclaimable(gangs, number=2, prod=8, **given):
    """
    Give a case in which all that runs is of a queue without quota.
    """
    given = {"nodes": nodes(number), "queues": queues(batch=0, prod=prod)} | given
    return given | {"gangs": gangs}
