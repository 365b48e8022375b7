"""
The placement: a draft and all that was decided before it, with pods and nodes named.
"""

from collections.abc import Iterable, Mapping

from models.plan import Placement
from solver.evict.beneficiaries import departures_of
from solver.evict.named_devices import (
    Devices,
    least_left_over,
    named_devices,
    pods_of,
)
from solver.place.draft import Draft
from solver.problem.node_room import Places
from solver.problem.problem import Problem, Unit


def placement_of(problem: Problem, draft: Draft) -> Placement:
    """
    Name the pods: leaf by leaf in index order, contiguous per node.
    """
    frozen = problem.frozen
    binds = _named(problem, problem.units, draft.places) | _named(
        problem, frozen.committed, frozen.bound
    )
    return Placement(
        binds=binds,
        devices=_devices(problem, draft),
        reserves=_named(problem, (*frozen.units, *frozen.committed), frozen.places),
        departures=departures_of(problem),
        entitled=draft.entitled | frozen.entitled,
        guaranteed=frozen.guaranteed,
    )


def _devices(problem: Problem, draft: Draft) -> Devices:
    """
    Name the devices of all pods that get parts; some were named as they were promised.
    """
    states = (state for unit in problem.units for state in unit.states)
    coming = [*pods_of(states, draft.places)]
    found = named_devices(problem, problem.room.now, coming)
    better = least_left_over(problem, problem.room.now, coming)
    return {**problem.frozen.devices, **found, **better}


def _named(
    problem: Problem, units: Iterable[Unit], places: Mapping[str, Places]
) -> dict[str, str]:
    states, nodes = (x for unit in units for x in unit.states), problem.room.nodes
    return {name: nodes[host].name for name, _, host in pods_of(states, places)}
