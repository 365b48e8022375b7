"""
Patterns that the model itself chooses: so many nodes hold each, beside all its rules.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from solver.decode.wants import Value
from solver.effort.cp_sat import cp_model
from solver.encode.encoding import Encoding
from solver.encode.variables import Linear, Var
from solver.patterns.filled_node import EqualNodes
from solver.patterns.pattern_sequences import Column
from solver.place.draft import Draft


class PatternChoice:
    """
    The model of a round in which patterns say what nodes hold, and no counts by class.

    Of equal nodes so many are ``left``; the ``first`` solution has these patterns.
    """

    def __init__(
        self,
        encoding: Encoding,
        left: Sequence[int],
        columns: Iterable[Column],
        first: Counter[Column],
    ) -> None:
        self.model = _without_places(encoding)
        self._counts: dict[Column, Var] = {}
        held: dict[int, Linear] = {}
        on_nodes: dict[int, list[Var]] = {}
        for column in dict.fromkeys([*columns, *first]):
            count = self.model.new_int_var(0, left[column[0]], "")
            self.model.add_hint(count, first[column])
            self._counts[column] = count
            on_nodes.setdefault(column[0], []).append(count)
            for shape, pods in column[1]:
                held.setdefault(shape, Linear()).add(count, pods, 1)
        for at, each in on_nodes.items():
            self.model.add(cp_model.LinearExpr.sum(each) <= left[at])
        for (shape, _), wanted in encoding.demand.sums.items():
            mine = held.get(shape, Linear())
            self.model.add(wanted.expression <= mine.expression)

    def numbers(self, value: Value) -> Iterator[tuple[Column, int]]:
        """
        Say how many nodes hold each pattern in an answer.
        """
        for column, count in self._counts.items():
            yield column, value(count)


def contents_of(
    encoding: Encoding, equal: Sequence[EqualNodes], draft: Draft
) -> Counter[Column]:
    """
    Count the nodes that hold each pattern in a draft.
    """
    of_leaf = encoding.problem.shapes.of_leaf
    held: dict[int, Counter[int]] = {}
    for key, places in draft.places.items():
        for leaf, hosts in enumerate(places.of_leaf):
            for host in hosts:
                held.setdefault(host, Counter())[of_leaf[key, leaf]] += 1
    return Counter(
        (at, tuple(sorted(held[node].items())))
        for at, one in enumerate(equal)
        for node in one.nodes
        if node in held
    )


def _without_places(encoding: Encoding) -> cp_model.CpModel:
    """
    Copy the model without what it says of pods on classes.
    """
    model = encoding.model.clone()
    places = {variable.index for variable in encoding.capacity.loose.values()}
    for one in model.proto.constraints:
        if one.has_linear() and not places.isdisjoint(one.linear.vars):
            one.clear_linear()
    return model
