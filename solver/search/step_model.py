"""
The model of a step with evictions.
"""

from collections.abc import Mapping, Sequence

from solver.encode.conversion.convert_nodes import convert
from solver.encode.demand import pending_shapes
from solver.encode.encoding import Encoding
from solver.encode.leaving.step_encoding import StepEncoding, encode_step
from solver.encode.leaving.step_hint import hint_step
from solver.evict.moved_gangs import Mover
from solver.evict.victims import Victims
from solver.place.draft import Draft
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem
from solver.score.tier import TierKey
from solver.search.tier_model import Model


class StepModel(Model):
    """
    An encoding of one step; nodes in ``split`` form bins of their own.

    ``most`` are tiers that nobody may leave for, with what they reach without.
    """

    def __init__(
        self,
        problem: Problem,
        keys: tuple[TierKey, ...],
        victims: Victims,
        movers: Sequence[Mover],
        most: Mapping[TierKey, int],
    ) -> None:
        super().__init__(problem, keys)
        self.most = most
        self.victims = victims
        self.movers = movers
        states = [mover.state for mover in movers]
        moved = {
            problem.shapes.of_leaf[state.key, i]
            for state in states
            for i in range(len(state.leaves))
        }
        self._shapes = sorted({*pending_shapes(problem), *moved})
        self.exact = True
        self.levels = with_levels(problem, self.levels, states)

    def _build(self) -> Encoding:
        conversion = convert(
            self.problem, self._shapes, self.levels, self.victims, self.split
        )
        self.exact = conversion.exact
        encoding = encode_step(self.problem, conversion, self.victims, self.movers)
        for key, value in self.most.items():
            row = encoding.tier(key)
            if row.variables:
                encoding.model.add(row.expression <= value)
        return encoding

    @property
    def step_encoding(self) -> StepEncoding:
        """
        The variables by meaning.
        """
        encoding = self.encoding
        assert isinstance(encoding, StepEncoding)
        return encoding

    def hint(self, best: Draft) -> None:
        """
        Tell the model a draft as its first solution, as far as it is easily told.
        """
        hint_step(self.step_encoding, best)


def with_levels(
    problem: Problem, levels: list[tuple[str, str]], states: Sequence[Standing]
) -> list[tuple[str, str]]:
    """
    Add the topology levels that some gangs ask for, the outermost first.
    """
    found = {
        (topology, problem.topologies[topology].levels.index(level), level)
        for topology, level in levels
    }
    for state in states:
        for node in state.nodes:
            demand = node.topology
            for level in (demand.required, demand.preferred) if demand else ():
                if level is not None and demand is not None:
                    order = problem.topologies[demand.topology].levels.index(level)
                    found.add((demand.topology, order, level))
    return [(topology, level) for topology, _, level in sorted(found)]
