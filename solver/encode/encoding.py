"""
The encoding of one round: variables by meaning, and the sum of every tier.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from solver.effort.cp_sat import PlainModel, cp_model
from solver.encode.activation import add_footprints, add_types, gang_types
from solver.encode.capacity import Capacity, add_capacity, least_touched
from solver.encode.conversion.options import Conversion
from solver.encode.demand import Demand
from solver.encode.devices.left_over_rows import left_over_sum
from solver.encode.entitlement import add_entitlement, entitled_pods
from solver.encode.leaving.crowded_nodes import MustFitNow, add_crowded_nodes
from solver.encode.leaving.losses import lost
from solver.encode.leaving.lost_per_gpu import add_lost_per_gpu, worth_of
from solver.encode.leaving.step_rules import add_movers, add_step_rules, released_by
from solver.encode.leaving.variables import Leaving
from solver.encode.leaving.who_leaves import add_leaving
from solver.encode.neighbours.domain_rows import add_neighbours
from solver.encode.neighbours.open_places import OpenPlaces
from solver.encode.neighbours.preferred_rows import preferred_sum
from solver.encode.node_classes import Classes
from solver.encode.queue_limit import add_limits
from solver.encode.tier_rows import order_sum, packing_sum, tier_sum
from solver.encode.variables import Linear, TypeVars, Var
from solver.evict.moved_gangs import Mover
from solver.evict.victims import Victims
from solver.problem.node_room import Ints
from solver.problem.problem import Problem, Step
from solver.score.tier import LOSSES, TierKey, tier_of


@dataclass(slots=True, kw_only=True)
class Encoding:
    """
    A model that grows while tiers are solved; it never leaves the solver.

    Who is ``leaving`` is open in a step with evictions only.
    """

    problem: Problem
    model: cp_model.CpModel
    classes: Classes
    types: list[TypeVars]
    demand: Demand
    capacity: Capacity
    open: OpenPlaces = field(default_factory=OpenPlaces)
    leaving: Leaving | None = None

    def tier(self, key: TierKey) -> Linear:
        """
        Write a tier's value, adding the variables that only this tier needs.
        """
        match key.name:
            case "packing":
                total = packing_sum(self.model, self.classes, self.capacity)
                total.constant += tier_of(key.name).decided(self.problem, key)
                return total
            case "expected-fragments":
                total = left_over_sum(
                    self.model, self.problem, self.capacity, self.demand
                )
                total.constant += tier_of(key.name).decided(self.problem, key)
                return total
            case "order":
                return order_sum(self.model, self.problem, self.types, key)
            case "neighbours":
                return preferred_sum(
                    self.model, self.problem, self.capacity, self.demand
                )
            case _:
                return self._of_gangs(key)

    def _of_gangs(self, key: TierKey) -> Linear:
        total = tier_sum(self.problem, self.types, key)
        if self.leaving is not None and key.name in LOSSES:
            step, part = LOSSES[key.name]
            if step == self.problem.step:
                total.extend(lost(self.leaving, self.problem.values, part))
        return total

    def told_by(
        self, key: TierKey, value: Callable[[Var], int]
    ) -> list[tuple[Var, int]] | None:
        """
        Give a tier's own variables in an answer that knows nothing of them.

        None where they cannot be told, or rows came with them that it need not keep.
        """
        match key.name:
            case "packing":
                return list(least_touched(self.capacity, value))
            case "order":
                return [
                    (rank, int(k < value(kind.starts.chosen)))
                    for kind in self.types
                    for k, rank in enumerate(kind.ranks)
                ]
            case "expected-fragments" | "neighbours":
                return None
            case _:
                return []


class MayLeave(NamedTuple):
    """
    Who may leave in a step or move, and what may be done with the nodes they are on.

    What is free ``now`` is for those for whom nobody may leave; where nodes that have
    any are ``told_apart``, victims leave these one by one.
    """

    victims: Victims
    movers: Sequence[Mover]
    conversion: Conversion
    now: Ints
    told_apart: bool


def encode(
    problem: Problem, classes: Classes, may_leave: MayLeave | None = None
) -> Encoding:
    """
    Build the model of a round: activation, trees, capacity, quotas and domains.

    Where some ``may_leave``, it is that of a step: the round is cut to its starts, and
    has the room of later.
    """
    model = PlainModel()
    demand = Demand()
    types = add_types(model, problem, classes, demand, gang_types(problem))
    leaving = None
    if may_leave is not None:
        leaving = add_leaving(model, may_leave.victims, may_leave.conversion)
        add_movers(model, problem, demand, leaving, may_leave.movers)
    sizes = None if leaving is None else leaving.sizes
    encoding = placed(model, problem, classes, demand, types, sizes)
    if leaving is not None:
        encoding.leaving = leaving
    encoding.open = add_neighbours(model, problem, encoding.capacity, demand, leaving)
    if leaving is None or may_leave is None:
        add_limits(model, problem, types)
        add_entitlement(model, problem, types)
    else:
        add_step_rules(model, problem, leaving, types, released_by(problem, leaving))
        gained = Linear()  # At most all starts: it is not known here who is reserved.
        for kind in types:
            gained.extend(worth_of(problem, kind))
        add_lost_per_gpu(model, problem, leaving, gained)
        pods = {} if problem.step is Step.ENTITLED else entitled_pods(problem, types)
        first = MustFitNow(pods, may_leave.now, elsewhere=not may_leave.told_apart)
        add_crowded_nodes(model, problem, encoding.capacity, leaving, first)
    return encoding


def placed(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    types: list[TypeVars],
    sizes: Sequence[Linear] | None = None,
) -> Encoding:
    """
    Ensure that all that is wanted has places; nothing is said of queues.

    ``sizes`` say how many nodes each class has, where that is open.
    """
    add_footprints(model, demand)
    return Encoding(
        problem=problem,
        model=model,
        classes=classes,
        types=types,
        demand=demand,
        capacity=add_capacity(model, classes, demand, sizes),
    )
