"""
A plan by patterns: a linear program over what nodes hold, rounded and asked again.

The master chooses how many nodes hold which pattern, beside all rules of the round that
say nothing of places.  What comes out whole is kept; the nodes that are left are filled
anew with what is still wanted, until none are.
"""

from collections.abc import Callable, Mapping, Sequence

from solver.decode.deal_places import Slots, decode
from solver.decode.wants import Value
from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model
from solver.encode.devices.device_contents import has_many_contents
from solver.encode.encoding import Encoding
from solver.encode.variables import Linear, Var
from solver.patterns.chosen_patterns import PatternChoice, contents_of
from solver.patterns.content_weights import add_content_weights
from solver.patterns.filled_node import columns_of, equal_nodes
from solver.patterns.master import WHOLE, Master
from solver.patterns.node_weights import add_missing
from solver.patterns.pattern_sequences import Column, PatternSequences
from solver.place.draft import Draft
from solver.score.tier import TierKey

_LIKELY = 0.3
"""
A pattern that lies on so much of a node may be kept for one.
"""
_PART = 16
"""
Of the patterns on parts of nodes one in so many is kept before it is asked anew.
"""
_MANY = 0.25
"""
Where so many of the nodes that are left come out whole, none is kept for a part.
"""


Ask = Callable[[Sequence[tuple[Var, int]]], Value | None]
Solve = Callable[[cp_model.CpModel], Value | None]
"""
Solve the model with some variables kept, or with more to it; none where nothing better
is found.
"""


def may_be_filled(encoding: Encoding, key: TierKey) -> bool:
    """
    Tell whether a tier counts starts that go wherever they have room.

    Patterns know nothing of who must be near whom.
    """
    problem = encoding.problem
    items, most = problem.shapes.items, problem.tuning.patterns.most_cells
    if encoding.leaving is not None or encoding.classes.levels:
        return False
    if len(problem.room.nodes) * len(items) > most or not problem.shapes.requests.any():
        return False
    if key.name not in {"entitled", "borrowing", "gpus"}:
        return False
    return not any(item.tag or item.neighbours for item in items)


def must_be_filled(encoding: Encoding, key: TierKey) -> bool:
    """
    Tell whether the model of places alone knows too little, or is too hard.

    So it is where contents of devices are too many to list, and where a model that is
    not small has many shapes: what it counts can seldom be packed.
    """
    if not may_be_filled(encoding, key):
        return False
    items, tuning = encoding.classes.items, encoding.problem.tuning
    small = len(encoding.model.proto.variables) <= tuning.search.small_model
    if not small and len(encoding.problem.shapes.items) > tuning.patterns.many_shapes:
        return True
    return any(
        has_many_contents(item.devices, sort)
        for item in items
        if item.devices is not None
        for sort in range(len(item.devices.kind.sorts))
    )


def filled(
    encoding: Encoding,
    row: Linear,
    budget: Budget,
    ask: Ask,
    solve: Solve,
    draft: Draft,
) -> Draft | None:
    """
    Give a draft of which patterns say what nodes hold, the model who starts there.

    The model learns the weights of parts for its bound.
    """
    if not (row.variables and encoding.capacity.loose):
        return None
    add_content_weights(encoding, row, budget)
    plan = _PatternPlan(encoding, row, budget)
    plan.look()
    if plan.has_parts:
        value = ask(_counts_of(encoding, plan.by_rounding()))
    else:
        value = plan.chosen_by(solve, draft)
    return None if value is None else decode(encoding, value, budget, plan.slots).draft


def _counts_of(encoding: Encoding, slots: Slots) -> list[tuple[Var, int]]:
    """
    Say what each class holds where nodes hold so much.
    """
    classes = enumerate(encoding.classes.items)
    class_of = {node: at for at, item in classes for node in item.nodes}
    sums: dict[tuple[int, int], int] = {}
    for (_, shape), row in slots.items():
        for node, number in row.items():
            key = shape, class_of[node]
            sums[key] = sums.get(key, 0) + number
    most = {shape: row.most for (shape, _), row in encoding.demand.sums.items()}
    loose = encoding.capacity.loose
    return [(one, min(sums.get(key, 0), most[key[0]])) for key, one in loose.items()]


class _PatternPlan:
    """
    What nodes hold so that as much of a sum as can be has its place: ``slots``.
    """

    def __init__(self, encoding: Encoding, goal: Linear, budget: Budget) -> None:
        problem = encoding.problem
        shapes = sorted({shape for shape, _ in encoding.demand.sums})
        columns = columns_of(problem, shapes)
        self.slots: Slots = {}
        self._encoding, self._goal, self._budget = encoding, goal, budget
        self._tuning = problem.tuning.patterns
        self._equal = [
            one
            for item in encoding.classes.items
            for one in equal_nodes(problem, columns, item)
        ]
        self._left = [len(one.nodes) for one in self._equal]
        self._held = [0] * len(problem.shapes.items)
        self._sequences = PatternSequences(self._equal, len(self._held), budget.seed)

    @property
    def has_parts(self) -> bool:
        """
        Tell whether any pod takes part of a GPU, of which patterns see no prices.
        """
        return any(one.parts for one in self._equal)

    def look(self) -> None:
        """
        Find patterns that serve, by what is wanted in the end.
        """
        target = [0] * len(self._held)
        for (shape, _), row in self._encoding.demand.sums.items():
            target[shape] += row.most
        self._fill(target)
        _, target = self._master()
        self._fill(target)
        if not self.has_parts:
            self._bound()

    def by_rounding(self) -> Slots:
        """
        Keep what the master makes whole and fill the rest anew, until nodes are full.
        """
        while any(self._left) and self._budget.left > 0:
            amounts, target = self._master()
            if not self._keep(amounts):
                break
            pairs = zip(target, self._held, strict=True)
            self._fill([max(0, wanted - held) for wanted, held in pairs])
        return self.slots

    def chosen_by(self, solve: Solve, draft: Draft) -> Value | None:
        """
        Let the model itself choose among patterns, from those of a draft on.
        """
        master = self._asked()
        if not master.columns or not master.solve(self._budget):
            return None
        first = contents_of(self._encoding, self._equal, draft)
        likely = master.likely(self._tuning.most_patterns)
        choice = PatternChoice(self._encoding, self._left, likely, first)
        value = solve(choice.model)
        if value is not None:
            for column, number in choice.numbers(value):
                self._take(column, number)
        return value

    def _bound(self) -> None:
        """
        Learn patterns that were missing, and what all nodes hold at most.
        """
        master = self._asked()
        found = add_missing(master, self._equal, self._budget)
        if found is not None:
            self._encoding.model.add(found[0].expression <= found[1])
        for column in master.columns:
            self._sequences.learn(column)

    def _fill(self, target: Sequence[int]) -> None:
        """
        Find patterns for the nodes that are left, with what should lie on them.
        """
        before = self._sequences.effort
        for _ in range(self._tuning.sequences):
            if self._budget.left > 0 and any(target):
                self._sequences.run(target, self._left)
        effort = self._sequences.effort - before
        self._budget.charge(effort / self._tuning.shapes_per_unit)

    def _keep(self, amounts: Mapping[Column, float]) -> int:
        """
        Keep what is whole, and of the rest the likely; say how many nodes that are.
        """
        whole = {one: int(much + WHOLE) for one, much in amounts.items()}
        taken = sum([self._take(one, number) for one, number in whole.items()])
        parts = [(much - whole[one], one) for one, much in amounts.items()]
        parts = sorted((-much, one) for much, one in parts if much > WHOLE)
        if taken < _MANY * sum(self._left):
            for much, one in parts[: max(1, len(parts) // _PART)]:
                if -much > _LIKELY or not taken:
                    taken += self._take(one, 1)
        return taken

    def _take(self, column: Column, number: int) -> int:
        """
        Give some more nodes a pattern; say how many there were left for it.
        """
        at, pattern = column
        number = min(number, self._left[at])
        nodes = self._equal[at].nodes
        first = len(nodes) - self._left[at]
        self._left[at] -= number
        for shape, pods in pattern:
            self._held[shape] += pods * number
            row = self.slots.setdefault(("", shape), {})
            row.update(dict.fromkeys(nodes[first : first + number], pods))
        return number

    def _master(self) -> tuple[dict[Column, float], list[int]]:
        """
        Ask how many nodes should hold each pattern, and how many pods are wanted then.
        """
        master = self._asked()
        if not master.columns or not master.solve(self._budget):
            return {}, [0] * len(self._held)
        return master.amounts(), master.target()

    def _asked(self) -> Master:
        master = Master(self._encoding, self._goal, self._held, self._left)
        for column in self._sequences.columns:
            if self._left[column[0]]:
                master.add(column)
        return master
