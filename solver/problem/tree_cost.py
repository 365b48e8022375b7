"""
The least cost of a satisfied tree: which pods are still needed, the cheapest way.

Where nothing asks for a number of pods below inner nodes, the cheapest children are
enough; else a table per inner node holds the least cost for every number of pods.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from solver.problem.gang_state import Standing, TreeNode

Costs = NDArray[np.int64]
"""
Least cost by number of pods added; the last entry stands for that many or more.

Where amounts are too large for 64 bits the entries are Python's own integers.
"""

NEVER = 2**62
_SAFE = 2**60


class Need:
    """
    One gang, its prices, and the places there are for each leaf.

    ``reached`` says of leaves that others come after whether their minimum will be
    there: those that are must be active, those that are not get no pods.
    """

    def __init__(
        self,
        state: "Standing",
        price: Sequence[int],
        have: Sequence[int],
        reached: dict[int, bool],
    ) -> None:
        self.state = state
        self.price = price
        self.have = have
        self.reached = reached

    def least(self, at: int = 0) -> int | None:
        """
        Give the least cost of a satisfied root, or subtree; none if there is no way.
        """
        root = self.state.nodes[at]
        if any(node.min_pods > node.counted for node in self.state.nodes):
            pods = 1 + sum(len(leaf.pending) for leaf in self.state.leaves)
            is_large = max(self.price, default=0) * pods**2 > _SAFE
            self._kind: type = object if is_large else np.int64
            best = int(self._table(at, _missing(root)).min())
            return None if best >= NEVER else best
        return self._cheapest(at)

    # --- without numbers of pods ----------------------------------------------

    def _cheapest(self, at: int) -> int | None:
        """
        Give the least cost at which a node is satisfied and counts.
        """
        node = self.state.nodes[at]
        if node.leaf >= 0:
            least, most = self._range(node.leaf, 0)
            return least * self.price[node.leaf] if least <= most else None
        total = groups = 0
        open_costs: list[int] = []
        for child in node.children:
            forced = self._is_forced(child)
            if not forced and self.state.nodes[child].live:
                groups += 1
                continue
            cost = self._cheapest(child)
            if not forced:
                open_costs += [] if cost is None else [cost]
            elif cost is None:
                return None
            else:
                total, groups = total + cost, groups + 1
        wanted = node.min_groups - groups
        if not groups and not node.counted:
            wanted = max(1, wanted)
        if wanted > len(open_costs):
            return None
        return total + sum(sorted(open_costs)[: max(0, wanted)])

    def _range(self, leaf: int, most: int) -> tuple[int, int]:
        """
        Give the least and the most pods that an active leaf may add.
        """
        here = self.state.leaves[leaf]
        least = max(here.need, 0 if here.counted else 1)
        if not self.reached.get(leaf, True):
            return 1, 0
        if any(not self.reached.get(first, True) for first in here.after):
            return least, 0
        return least, min(self.have[leaf], max(least, most))

    def _is_forced(self, at: int) -> bool:
        return any(self.reached.get(i, False) for i in self.state.nodes[at].leaves)

    # --- with them ------------------------------------------------------------

    def _table(self, at: int, most: int) -> Costs:
        """
        Give the least cost of an active node for every number of pods added.
        """
        node = self.state.nodes[at]
        if node.leaf >= 0:
            return self._row_of(node.leaf, most)
        rows = self._new((node.min_groups + 1, most + 1))
        rows[0, 0] = 0
        for child in node.children:
            own = max(most, _missing(self.state.nodes[child]))
            costs = _folded(self._table(child, own), most)
            active = _one_more_group(_added(rows, costs))
            if self._is_forced(child):
                rows = active
            else:
                live = self.state.nodes[child].live
                rows = np.minimum(active, _one_more_group(rows) if live else rows)
        enough: Costs = rows[node.min_groups].copy()
        enough[: _missing(node)] = NEVER
        return enough

    def _row_of(self, leaf: int, most: int) -> Costs:
        row = self._new(most + 1)
        least, last = self._range(leaf, most)
        if least <= last:
            last = max(least, min(last, most))
            pods = np.arange(least, last + 1).astype(row.dtype)
            first = min(least, most)
            row[first : first + len(pods)] = pods * self.price[leaf]
        return row

    def _new(self, shape: int | tuple[int, int]) -> Costs:
        return np.full(shape, NEVER, dtype=self._kind)


def _missing(node: "TreeNode") -> int:
    """
    Count pods that must be added below a node: its minimum, and one to count at all.
    """
    return max(node.min_pods - node.counted, 0 if node.counted else 1)


def _folded(costs: Costs, most: int) -> Costs:
    """
    Let the last entry stand for everything from there on.
    """
    kept: Costs = costs[: most + 1].copy()
    kept[most] = costs[most:].min()
    return kept


def _one_more_group(rows: Costs) -> Costs:
    if len(rows) == 1:
        return rows
    moved: Costs = np.full_like(rows, NEVER)
    moved[1:] = rows[:-1]
    moved[-1] = np.minimum(moved[-1], rows[-1])
    return moved


def _added(rows: Costs, costs: Costs) -> Costs:
    """
    Add a child's pods to every row: the least over all ways to share the number.

    Where costs rise by equal steps, as those of one leaf do, this is the least of a
    sliding window; so each such stretch is taken at one go.
    """
    most = rows.shape[1] - 1
    result: Costs = np.full_like(rows, NEVER)
    for first, last, step in _stretches(costs):
        ramp = np.arange(most + 1).astype(rows.dtype) * step
        slanted = np.where(rows < NEVER, rows - ramp, NEVER)
        window = _window_least(slanted, last - first + 1)
        moved = np.full_like(rows, NEVER)
        moved[:, first:] = window[:, : most + 1 - first]
        offset = int(costs[first]) - first * step
        found = np.where(moved < NEVER, moved + ramp + offset, NEVER)
        result = np.minimum(result, found)
    rest = np.minimum.accumulate(rows[:, ::-1], axis=1)
    both = np.where((rest < NEVER) & (costs < NEVER), rest + costs, NEVER)
    result[:, most] = both.min(axis=1)
    return result


def _stretches(costs: Costs) -> list[tuple[int, int, int]]:
    """
    Split the possible entries into stretches of equal steps: first, last, step.
    """
    found: list[tuple[int, int, int]] = []
    known = np.flatnonzero(costs < NEVER).tolist()
    values = costs[known].tolist()
    at = 0
    while at < len(known):
        end, step = at, 0
        if at + 1 < len(known) and known[at + 1] == known[at] + 1:
            step = values[at + 1] - values[at]
            while (
                end + 1 < len(known)
                and known[end + 1] == known[end] + 1
                and values[end + 1] - values[end] == step
            ):
                end += 1
        found.append((known[at], known[end], step))
        at = end + 1
    return found


def _window_least(rows: Costs, width: int) -> Costs:
    """
    Give for each entry the least of it and the ``width - 1`` entries before it.
    """
    least: Costs = rows
    reach = 1
    while reach < min(width, rows.shape[1]):
        step = min(reach, width - reach)
        moved = np.full_like(least, NEVER)
        moved[:, step:] = least[:, : least.shape[1] - step]
        least = np.minimum(least, moved)
        reach += step
    return least
