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
from solver.encode.devices.device_contents import has_many_contents
from solver.encode.encoding import Encoding
from solver.encode.variables import Linear, Var
from solver.patterns.content_weights import add_content_weights
from solver.patterns.filled_node import columns_of, equal_nodes
from solver.patterns.pattern_sequences import Column, PatternSequences
from solver.patterns.relaxation import relaxation
from solver.place.draft import Draft
from solver.score.tier import TierKey

_WHOLE = 1e-6
"""
What is nearer to a whole number is one.
"""
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
"""
Solves the model with some variables kept; none where nothing better is found.
"""


def may_be_filled(encoding: Encoding, key: TierKey) -> bool:
    """
    Tell whether a tier counts starts, and contents are too many for the model to list.

    Patterns know nothing of who must be near whom.
    """
    items = encoding.problem.shapes.items
    if encoding.leaving is not None or encoding.classes.levels:
        return False
    if key.name not in {"entitled", "borrowing", "gpus"}:
        return False
    return not any(item.tag or item.neighbours for item in items) and any(
        has_many_contents(item.devices, sort)
        for item in encoding.classes.items
        if item.devices is not None
        for sort in range(len(item.devices.kind.sorts))
    )


def filled(encoding: Encoding, row: Linear, budget: Budget, ask: Ask) -> Draft | None:
    """
    Give a draft of which patterns say what nodes hold, the model who starts there.

    The model learns the weights of parts for its bound.
    """
    if not row.variables:
        return None
    add_content_weights(encoding, row, budget)
    slots = _PatternPlan(encoding, row, budget).run()
    value = ask(_counts_of(encoding, slots))
    return None if value is None else decode(encoding, value, budget, slots).draft


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

    def run(self) -> Slots:
        """
        Fill nodes and ask the master, until each node has its pattern.
        """
        target = [0] * len(self._held)
        for (shape, _), row in self._encoding.demand.sums.items():
            target[shape] += row.most
        self._fill(target)
        amounts, target = self._master()
        self._fill(target)
        while any(self._left) and self._budget.left > 0:
            amounts, target = self._master()
            if not self._keep(amounts):
                break
            pairs = zip(target, self._held, strict=True)
            self._fill([max(0, wanted - held) for wanted, held in pairs])
        return self.slots

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
        whole = {one: int(much + _WHOLE) for one, much in amounts.items()}
        taken = sum([self._take(one, number) for one, number in whole.items()])
        parts = [(much - whole[one], one) for one, much in amounts.items()]
        parts = sorted((-much, one) for much, one in parts if much > _WHOLE)
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
        encoding = self._encoding
        places = {variable.index for variable in encoding.capacity.loose.values()}
        program, found = relaxation(encoding.model, self._goal, places)
        rows = {}
        for (shape, _), wanted in encoding.demand.sums.items():
            rows[shape] = program.row(self._held[shape] - wanted.constant)
            for index, number in wanted.by_index().items():
                program.set(rows[shape], found[index], number)
        of_equal = [program.row(left) for left in self._left]
        columns = {}
        for at, pattern in self._sequences.columns:
            if self._left[at]:
                pods = ((rows[x], -float(n)) for x, n in pattern if x in rows)
                entries = [(of_equal[at], 1.0), *pods]
                columns[at, pattern] = program.column(0.0, entries)
        tuning = encoding.problem.tuning.search
        self._budget.charge(program.size / tuning.rows_per_unit)
        target = [0] * len(self._held)
        if not columns or not program.solve():
            return {}, target
        for (shape, _), wanted in encoding.demand.sums.items():
            pairs = wanted.by_index().items()
            pods_wanted = sum(program.amount(found[at]) * n for at, n in pairs)
            target[shape] = int(pods_wanted + 1 - _WHOLE)
        amounts = {one: program.amount(at) for one, at in columns.items()}
        return {one: much for one, much in amounts.items() if much > _WHOLE}, target
