"""
How many pods each domain has of those that others are spread among.
"""

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from models.neighbours import Neighbours, RulePairs, Spread
from models.nodes import Node, NodeDemand
from solver.problem.node_room import MANY, Bools, Ints

Pair = tuple[str, str]
"""
A selector, and a topology key.
"""


_SpreadPods = tuple[Neighbours, Spread, NodeDemand]
"""
Pods that come, by what they say, one rule of it, and the nodes that they demand.
"""


REACHED = ""
"""
The key of domains of nodes that reach the same free volumes.
"""


class KeyDomains:
    """
    The number of each node's domain of a key; -1 where it lacks the label.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = tuple(nodes)
        self._numbers: dict[str, Ints] = {}

    def of(self, key: str) -> Ints:
        """
        Give the domain of each node.
        """
        if key not in self._numbers:
            index: dict[object, int] = {None: -1}
            found = [
                index.setdefault(
                    (node.volumes or None) if key == REACHED else node.labels.get(key),
                    len(index) - 1,
                )
                for node in self.nodes
            ]
            self._numbers[key] = np.array(found, dtype=np.int64)
        return self._numbers[key]

    def none_in(self, key: str) -> Ints:
        """
        Give no pod for each domain of a key.
        """
        return np.zeros(int(self.of(key).max(initial=-1)) + 1, dtype=np.int64)

    def count(
        self, table: dict[Pair, Ints], pair: Pair, nodes: Ints, counts: Ints
    ) -> None:
        """
        Count pods on nodes in their domains.
        """
        if pair not in table:
            table[pair] = self.none_in(pair[1])
        cells = self.of(pair[1])[nodes]
        np.add.at(table[pair], cells[cells >= 0], counts[cells >= 0])


class SpreadCounts:
    """
    The pods that spread counts, by selector, key and node.

    Those of stale gangs stay ``perhaps``, and who is moved and not spread itself comes
    so: whether they do or not, others lie well.
    """

    def __init__(self, domains: KeyDomains, said: Collection[Neighbours]) -> None:
        self._domains = domains
        self._pairs = RulePairs((r.pods, r.key) for n in said for r in n.spread)
        self._counts: dict[Pair, Ints] = {}
        self._perhaps: dict[Pair, Ints] = {}
        self._nodes: dict[object, Ints] = {}
        self._come: dict[_SpreadPods, Ints] = {}

    def copy(self) -> "SpreadCounts":
        """
        Give the same, to be changed.
        """
        found = SpreadCounts(self._domains, ())
        found._pairs, found._nodes = self._pairs, self._nodes
        found._counts = {pair: row.copy() for pair, row in self._counts.items()}
        found._perhaps = {pair: row.copy() for pair, row in self._perhaps.items()}
        found._come = {who: row.copy() for who, row in self._come.items()}
        return found

    def come(
        self, said: Neighbours, demand: NodeDemand, nodes: Ints, counts: Ints
    ) -> None:
        """
        Note who comes and is spread: whoever comes later must leave that as it is.
        """
        for spread in said.spread:
            row = self._come.setdefault(
                (said, spread, demand),
                np.zeros(len(self._domains.nodes), dtype=np.int64),
            )
            np.add.at(row, nodes, counts)

    def counts(self, said: Neighbours) -> bool:
        """
        Tell whether a pod is spread when it comes, or one too many where it is moved.
        """
        return bool(said.spread or (said.moved and self._pairs.of(said)))

    def spares(self, said: Neighbours, demand: NodeDemand) -> Bools:
        """
        Tell on which nodes one more pod breaks no other rule of those that came.
        """
        free = np.ones(len(self._domains.nodes), dtype=bool)
        nobody = np.zeros(len(free), dtype=np.int64)
        for inside, cells, left in self._left(said, demand, nobody):
            free[inside] &= left[cells] > 0
        return free

    def most(
        self, said: Neighbours, demand: NodeDemand, fits: Ints, others: Ints
    ) -> int:
        """
        Bound the pods that can come beside those that came, if on nodes so many fit.

        At most so many ``others`` come there, too.
        """
        found = int(fits.sum())
        for inside, cells, left in self._left(said, demand, fits + others):
            room = np.bincount(cells, fits[inside], len(left))
            found = min(found, int(fits.sum() - (room - left).clip(min=0).sum()))
        return found

    def _left(
        self, said: Neighbours, demand: NodeDemand, more: Ints
    ) -> Iterator[tuple[Ints, Ints, Ints]]:
        """
        Walk the rules of those that came: nodes, their domains, and what each may take.

        So many ``more`` on each node may raise what the fewest domain has.
        """
        for (who, spread, where), row in self._come.items():
            if spread.pods not in said.selected:
                continue
            own = spread in said.spread and who.spread == said.spread
            pair = spread.pods, spread.key
            is_counted = said.is_spread(*pair) or said.comes_perhaps(*pair)
            if (own and where == demand) or not is_counted:
                continue
            cells = self._domains.of(spread.key)
            inside = self.counting(who, spread, where)
            has = np.unique(cells[(row > 0) & (cells >= 0)])
            if not len(has) or not len(inside):
                continue
            counts, most = self.both(pair, cells, inside)
            after = counts + np.bincount(cells[inside], more[inside], len(counts))
            here = np.unique(cells[inside])
            least = int(after[here].min()) if len(here) >= spread.domains else 0
            left = np.full(len(counts), MANY)
            left[has] = np.maximum(0, spread.skew + least - most[has])
            yield inside, cells[inside], left

    def add(
        self,
        said: Neighbours,
        nodes: Ints,
        counts: Ints,
        *,
        comes: bool = False,
        perhaps: bool = False,
    ) -> None:
        """
        Count pods on nodes; of those that come only these that are spread themselves.

        Others may come after them, but for those that are moved.
        """
        for pair in self._pairs.of(said):
            late = comes and said.comes_perhaps(*pair)
            if late or not comes or said.is_spread(*pair):
                table = self._perhaps if perhaps or late else self._counts
                nobody = np.zeros(len(self._domains.nodes), dtype=np.int64)
                np.add.at(table.setdefault(pair, nobody), nodes, counts)

    def allows(self, said: Neighbours, spread: Spread, demand: NodeDemand) -> Bools:
        """
        Tell on which nodes one more pod may be by one of its rules.
        """
        cells = self._domains.of(spread.key)
        inside = self.counting(said, spread, demand)
        if not len(inside):
            return np.zeros(len(cells), dtype=bool)
        counts, most = self.both((spread.pods, spread.key), cells, inside)
        here = np.unique(cells[inside])
        least = int(counts[here].min()) if len(here) >= spread.domains else 0
        own = int(spread.pods in said.selected)
        return (cells >= 0) & (most[cells] + own - least <= spread.skew)

    def both(self, pair: Pair, cells: Ints, inside: Ints) -> tuple[Ints, Ints]:
        """
        Count the pods of each domain on some nodes: that stay, and with those perhaps.
        """
        counts = np.zeros((2, int(cells.max()) + 1), dtype=np.int64)
        for at, table in enumerate((self._counts, self._perhaps)):
            row = table.get(pair)
            if row is not None:
                np.add.at(counts[at], cells[inside], row[inside])
        return counts[0], counts[0] + counts[1]

    def counting(self, said: Neighbours, spread: Spread, demand: NodeDemand) -> Ints:
        """
        List the nodes that count for a rule.
        """
        key = (said.spread, spread, demand)
        if key not in self._nodes:
            keys = said.spread_keys()
            self._nodes[key] = np.array(
                [
                    at
                    for at, node in enumerate(self._domains.nodes)
                    if all(each in node.labels for each in keys)
                    and (not spread.by_affinity or demand.selects(node.labels))
                    and (not spread.by_taints or demand.tolerates(node.taints))
                ],
                dtype=np.int64,
            )
        return self._nodes[key]
