"""
Swaps of single pods: tabu search for a packing that takes one pod more.

One pod is pushed into a full cluster; moves and swaps, also with the pods left out,
work off what then overflows, so that the largest drift out by themselves.
"""

import numpy as np

from solver.problem.node_room import Floats, Ints
from solver.repack.pods_and_nodes import SinglePods
from solver.tuning import Swaps


class Assignment:
    """
    A packing that may overflow, and the best one that did not.

    Places are the pods and one empty place per node; a swap with it is a move.  The
    node after the last is the outside: it has room for all and no empty place, so
    that the number of pods inside never falls.
    """

    def __init__(self, items: SinglePods, bins: Ints, seed: int, tuning: Swaps) -> None:
        self.tuning = tuning
        self.items = items
        self.steps = 0
        self.best = bins
        self._chance = np.random.default_rng(seed)
        self._pods, self._nodes = len(bins), len(items.nodes)
        empty = np.zeros((self._nodes, items.sizes.shape[1]))
        self._sizes = np.vstack([items.sizes, empty])
        self._columns = [np.ascontiguousarray(c) for c in self._sizes.T]
        self._worth = items.sizes.sum(axis=1) / items.weights.clip(min=0.5)
        self._held = np.zeros(self._pods + self._nodes, dtype=np.int64)
        self._even = bool((items.weights == items.weights[0]).all())
        self._most = _most_pods(items) if self._even else self._pods
        self._reset(bins)

    @property
    def overflows(self) -> bool:
        """
        Tell whether a node holds more than it has room for.
        """
        return bool(self._cost.any())

    def grow(self) -> bool:
        """
        Keep the packing as the best, and push in the cheapest pod that is outside.
        """
        self.best = self._bins[: self._pods].copy()
        outside = np.flatnonzero(self.best == self._nodes)
        if not len(outside) or self._pods - len(outside) >= self._most:
            return False
        self._push(int(outside[self._worth[outside].argmin()]))
        return True

    def step(self) -> None:
        """
        Make the best swap with a node that overflows, or give up and start again.
        """
        self.steps += 1
        if self.steps - self._since > self.tuning.patience:
            self._reset(self.best)
            outside = np.flatnonzero(self.best == self._nodes)
            self._push(int(self._chance.choice(outside)))
        over = np.flatnonzero(self._cost)
        node = int(over[self._chance.integers(len(over))])
        pods = np.flatnonzero(self._bins[: self._pods] == node)
        most = max(4, self.tuning.most_pairs // len(self._bins))
        if len(pods) > most:
            pods = self._chance.choice(pods, most, replace=False)
        change = self._changes(node, pods)
        row, other = divmod(int(change.argmin()), len(self._bins))
        if np.isfinite(change[row, other]):
            self._swap(int(pods[row]), other)

    def _reset(self, bins: Ints) -> None:
        self._since = self.steps
        self._bins = np.concatenate([bins, np.arange(self._nodes)])
        slack = np.vstack([self.items.room, np.full(self._sizes.shape[1], np.inf)])
        np.subtract.at(slack, bins, self.items.sizes)
        self._slack = [np.ascontiguousarray(c) for c in slack.T]
        self._cost = np.zeros(self._nodes + 1)
        self._weigh(np.arange(self._nodes))

    def _push(self, pod: int) -> None:
        """
        Put a pod on the node that has most left, whether it fits or not.
        """
        left = np.zeros(self._nodes)
        for slack in self._slack:
            left += slack[:-1]
        if self.items.allowed is not None:
            left[~self.items.allowed[pod, :-1]] = -np.inf
        node = int(left.argmax())
        for column, slack in zip(self._columns, self._slack, strict=True):
            slack[node] -= column[pod]
        self._bins[pod] = node
        self._weigh([node])
        self._since = self.steps

    def _changes(self, node: int, pods: Ints) -> Floats:
        """
        Say how much more overflows if a pod of a node changes places with another.
        """
        bins = self._bins
        change = np.zeros((len(pods), len(bins)))
        for column, slack in zip(self._columns, self._slack, strict=True):
            gain = column[pods][:, None] - column
            theirs = slack[bins] - gain
            gain += slack[node]
            for left in (gain, theirs):
                over = np.minimum(left, 0.0, out=left)
                change += np.square(over, out=left)
        change -= self._cost[bins] + self._cost[node]
        change[:, (bins == node) | (self._held > self.steps)] = np.inf
        change[self._held[pods] > self.steps] = np.inf
        self._forbid(change, node, pods)
        return change

    def _forbid(self, change: Floats, node: int, pods: Ints) -> None:
        """
        Rule out where a pod may not be, and what would send out the better one.
        """
        allowed, weights = self.items.allowed, self.items.weights
        if allowed is not None:
            either = allowed[pods][:, self._bins] & allowed[:, node]
            change[~either] = np.inf
        if self._even:
            return
        outside = np.flatnonzero(self._bins == self._nodes)
        worse = weights[outside] < weights[pods][:, None]
        if worse.any():
            rows, columns = np.nonzero(worse)
            change[rows, outside[columns]] = np.inf

    def _swap(self, pod: int, other: int) -> None:
        ours, theirs = int(self._bins[pod]), int(self._bins[other])
        for column, slack in zip(self._columns, self._slack, strict=True):
            gain = column[pod] - column[other]
            slack[ours] += gain
            slack[theirs] -= gain
        self._bins[pod] = theirs
        if other < self._pods:
            self._bins[other] = ours
        held = self.steps + self._chance.integers(
            self.tuning.shortest, self.tuning.longest, size=2
        )
        self._held[pod], self._held[other] = held
        if other >= self._pods:
            self._held[other] = 0
        self._weigh([ours, theirs] if theirs < self._nodes else [ours])

    def _weigh(self, nodes: Ints | list[int]) -> None:
        """
        Take down anew what overflows on some nodes, squared.
        """
        self._cost[nodes] = sum(
            np.minimum(slack[nodes], 0.0) ** 2 for slack in self._slack
        )


def _most_pods(items: SinglePods) -> int:
    """
    Bound how many pods fit: the smallest ones of each resource into all of its room.
    """
    filled = np.sort(items.sizes, axis=0).cumsum(axis=0)
    return int((filled <= items.room.sum(axis=0)).sum(axis=0).min(initial=len(filled)))
