"""
The model of one search: built when first needed, its tiers locked one after the other.
"""

from typing import Literal

from models.plan import ModelSize
from solver.encode.demand import levels_of, pending_shapes
from solver.encode.encoding import Encoding, encode
from solver.encode.hint import hint, hint_values
from solver.encode.node_classes import Classes, classes_of
from solver.encode.variables import Linear, Var
from solver.place.draft import Draft
from solver.problem.problem import Problem
from solver.score.tier import TierKey


class Model:
    """
    An encoding with the sums of its tiers; ``split`` holds nodes that stay apart.

    ``levels`` are those that pending gangs ask for.
    """

    def __init__(self, problem: Problem, keys: tuple[TierKey, ...]) -> None:
        self.problem = problem
        self.keys = keys
        self.split: dict[int, int] = {}
        self.size = ModelSize()
        self.levels = levels_of(problem)
        self._shapes = pending_shapes(problem)
        self._encoding: Encoding | None = None
        self._sums: dict[int, Linear] = {}
        self._locked: dict[int, int] = {}
        self._told: tuple[Draft, int, list[tuple[Var, int]]] | None = None

    @property
    def encoding(self) -> Encoding:
        """
        The variables by meaning.
        """
        if self._encoding is None:
            self._encoding = self._build()
            self._sums = {}
            self._locked = {}
            self._told = None
        return self._encoding

    def _build(self) -> Encoding:
        classes = classes_of(
            self.problem,
            self._shapes,
            self.levels,
            self.split,
            self.problem.tuning.encode.most_classes,
        )
        return encode(self.problem, classes)

    @property
    def classes(self) -> Classes:
        """
        The node classes of the encoding.
        """
        return self.encoding.classes

    def forget(self) -> None:
        """
        Build the encoding again when it is next asked for.
        """
        self._encoding = None

    def ready(self, at: int, values: tuple[int, ...]) -> Linear:
        """
        Lock every earlier tier at its value, and give the sum of this one.

        A tier that a later answer has bettered is locked again.
        """
        encoding = self.encoding
        for earlier in range(at + 1):
            if earlier not in self._sums:
                self._sums[earlier] = encoding.tier(self.keys[earlier])
            if earlier < at and self._locked.get(earlier) != values[earlier]:
                self._locked[earlier] = values[earlier]
                self._lock(encoding, earlier, values[earlier])
        self._measure(encoding)
        return self._sums[at]

    def aim(self, row: Linear, direction: Literal["max", "min"], best: Draft) -> None:
        """
        Make a sum the objective, and a draft the hint.
        """
        model = self.encoding.model
        if direction == "max":
            model.maximize(row.expression)
        else:
            model.minimize(row.expression)
        self.hint(best)

    def hint(self, best: Draft) -> None:
        """
        Tell the model a draft as its first solution.
        """
        encoding = self.encoding
        size = len(encoding.model.proto.variables)
        if self._told is None or self._told[0] is not best or self._told[1] != size:
            self._told = best, size, hint_values(encoding, best)
        hint(encoding.model, self._told[2])

    def _lock(self, encoding: Encoding, at: int, value: int) -> None:
        """
        Keep a tier at the value of the decoded plan.
        """
        row = self._sums[at]
        if not row.variables:
            return
        if self.keys[at].direction == "max":
            encoding.model.add(row.expression >= value)
        else:
            encoding.model.add(row.expression <= value)

    def _measure(self, encoding: Encoding) -> None:
        proto = encoding.model.proto
        self.size = ModelSize(
            variables=len(proto.variables),
            constraints=len(proto.constraints),
            node_classes=encoding.classes.num_parts,
            pod_shapes=len(self._shapes),
            gang_types=len(encoding.types),
        )
