"""
The encoding of one round: variables by meaning, and the sum of every tier.
"""

from dataclasses import dataclass, field

from solver.effort.cp_sat import cp_model
from solver.encode.activation import add_footprints, add_type, gang_types
from solver.encode.capacity import Capacity, add_capacity, add_touched
from solver.encode.demand import Demand
from solver.encode.devices.left_over_rows import left_over_sum
from solver.encode.entitlement import add_entitlement
from solver.encode.neighbours.domain_counts import NeighbourVars
from solver.encode.neighbours.domain_rows import add_neighbours
from solver.encode.neighbours.preferred_rows import PreferredVars, preferred_sum
from solver.encode.node_classes import Classes
from solver.encode.queue_limit import add_limits
from solver.encode.tier_rows import tier_sum
from solver.encode.variables import Linear, TypeVars
from solver.problem.problem import Problem
from solver.score.tier import TierKey, tier_of


@dataclass(slots=True, kw_only=True)
class Encoding:
    """
    A model that grows while tiers are solved; it never leaves the solver.
    """

    problem: Problem
    model: cp_model.CpModel
    classes: Classes
    types: list[TypeVars]
    demand: Demand
    capacity: Capacity
    beside: NeighbourVars = field(default_factory=NeighbourVars)
    preferred: PreferredVars = field(default_factory=PreferredVars)

    def tier(self, key: TierKey) -> Linear:
        """
        Write a tier's value, adding the variables that only this tier needs.
        """
        if key.name == "packing":
            return self._packing()
        if key.name == "expected-fragments":
            return left_over_sum(self.model, self.problem, self.capacity, self.demand)
        if key.name == "order":
            return self._order(key)
        if key.name == "neighbours":
            total, self.preferred = preferred_sum(
                self.model, self.problem, self.capacity, self.types
            )
            return total
        return tier_sum(self.problem, self.types, key)

    def _packing(self) -> Linear:
        add_touched(self.model, self.capacity)
        total = Linear()
        for at, touched in self.capacity.touched.items():
            item = self.classes.items[at]
            total.add(touched, item.hole**2, len(item.nodes))
        return total

    def _order(self, key: TierKey) -> Linear:
        """
        Count positions: the k-th start of a type is that of its k-th oldest gang.
        """
        problem = self.problem
        count = len(problem.positions)
        total = Linear(tier_of("order").decided(problem, key))
        for kind in self.types:
            if not kind.sample.starts:
                continue
            weights = [
                sum(count - problem.positions[s.key] for s in unit.states)
                for unit in kind.units
            ]
            if len(weights) == 1:
                total.add(kind.starts.variable, weights[0], 1)
                continue
            if not kind.ranks:
                kind.ranks = [self.model.new_bool_var("") for _ in weights]
                row = cp_model.LinearExpr.sum(kind.ranks)
                assert kind.starts.variable is not None
                self.model.add(row == kind.starts.variable)
            for rank, weight in zip(kind.ranks, weights, strict=True):
                total.add(rank, weight, 1)
        return total


def encode(problem: Problem, classes: Classes) -> Encoding:
    """
    Build the model of a round: activation, trees, capacity, quotas and domains.
    """
    model = cp_model.CpModel()
    demand = Demand()
    types = [
        add_type(model, problem, classes, demand, units)
        for units in gang_types(problem)
    ]
    add_footprints(model, demand)
    capacity = add_capacity(model, classes, demand)
    beside = add_neighbours(model, problem, capacity, types)
    add_limits(model, problem, types)
    add_entitlement(model, problem, types)
    return Encoding(
        problem=problem,
        model=model,
        classes=classes,
        types=types,
        demand=demand,
        capacity=capacity,
        beside=beside,
    )
