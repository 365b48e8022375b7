"""
Restarts for single pods: tabu search over swaps, one more pod at a time.

Where every waiting gang is one pod and only room decides, a round is a packing.  One
pod more is pushed into a full cluster; moves and swaps, also with the pods left out,
work off what then overflows, so that the largest drift out by themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from models.resources import add, num_gpus
from solver.place.draft import Draft
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Floats, Ints, NodeRoom, Places
from solver.problem.problem import Problem, Unit
from solver.score.tiers import is_better, score, tier_keys
from solver.tuning import Tabu

MOST_EXACT = 2**48
_EVEN = frozenset({"disruption", "topology", "surplus"})


def applies(problem: Problem) -> bool:
    """
    Tell whether the round is a packing of single pods whose worth is their sum.
    """
    if not problem.units or _first_tier(problem) is None:
        return False
    if not all(_is_single(problem, unit) for unit in problem.units):
        return False
    if problem.room.now.max(initial=0) > MOST_EXACT:
        return False
    within_limits, within_shares = _queues_leave_room(problem)
    return within_limits and (within_shares or _first_tier(problem) != "entitled")


def improve(
    problem: Problem,
    best: Draft,
    *,
    stop: Callable[[], bool],
    seed: int,
) -> Draft:
    """
    Place more of the single pods than a draft does; never less in the policy's order.

    Parameters
    ----------
    problem
        A round to which this ``applies``.
    best
        The draft to start from.
    stop
        Asked before every move whether it is time to end.
    seed
        Of the search's chance: the same seed and moves give the same draft.
    """
    items = _items_of(problem)
    if not items.keys:
        return best
    run = _Assignment(items, items.bins_of(best), seed, problem.tuning.tabu)
    while not stop():
        if run.overflows:
            run.step()
        elif not run.grow():
            break
    found = items.draft_of(run.best, best, all_entitled=_queues_leave_room(problem)[1])
    new, old = score(problem, found), score(problem, best)
    if items.holds(problem, found) and is_better(tier_keys(problem), new, old):
        return found
    return best


# --- what is packed ---------------------------------------------------------------


def _first_tier(problem: Problem) -> str | None:
    """
    Name the first tier that single pods change, if it is a sum over the placed ones.
    """
    names = [tier.name for tier in problem.policy.tiers if tier.name not in _EVEN]
    name = names[0] if names else "order"
    if name in {"pods", "gangs", "gpus"}:
        return name
    return name if name == "entitled" and len(problem.bands.falling) == 1 else None


def _is_single(problem: Problem, unit: Unit) -> bool:
    if not unit.starts or len(unit.states) != 1:
        return False
    state = unit.states[0]
    if len(state.nodes) != 1 or state.nodes[0].topology is not None:
        return False
    leaf = state.leaves[0]
    shape = problem.shapes.items[problem.shapes.of_leaf[state.key, 0]]
    return leaf.need == len(leaf.pending) == 1 and not shape.tag


def _queues_leave_room(problem: Problem) -> tuple[bool, bool]:
    """
    Tell whether all pods together fit every limit and quota, and every fair share.
    """
    queues = problem.queues
    asked: dict[str, dict[str, int]] = {}
    fixed: dict[str, dict[str, int]] = {}
    if queues.named:
        for state in (unit.states[0] for unit in problem.units):
            for queue in queues.path(state.gang.queue):
                add(asked.setdefault(queue, {}), state.leaves[0].pod_set.requests)
                if not state.gang.preemptible:
                    add(fixed.setdefault(queue, {}), state.leaves[0].pod_set.requests)
    open_limits = open_shares = True
    for queue, r in product(asked, queues.named):
        most, more = asked[queue].get(r, 0), fixed.get(queue, {}).get(r, 0)
        limit, quota = queues.limit_left(queue, r), queues.quota_left(queue, r)
        if (limit is not None and most > limit) or (quota is not None and more > quota):
            open_limits = False
        running = queues.running.get(queue, {}).get(r, 0)
        share = max(0, problem.shares.get(queue, {}).get(r, 0) - running)
        open_shares = open_shares and most <= share
    return open_limits, open_shares


def _weight(problem: Problem, state: Standing, tier: str | None) -> int:
    if tier == "gpus":
        return num_gpus(state.leaves[0].pod_set.requests)
    return problem.weight(state) if tier == "entitled" else 1


@dataclass(frozen=True, slots=True)
class _SinglePods:
    """
    Pods and usable nodes as arrays; sizes are scaled by powers of two, so exact.

    ``allowed`` has a row for every pod and an empty place on every node, a column for
    every node and the outside; it is none where every pod may be anywhere.
    """

    keys: tuple[str, ...]
    shapes: Ints
    nodes: Ints
    sizes: Floats
    room: Floats
    weights: Ints
    allowed: Bools | None

    def bins_of(self, draft: Draft) -> Ints:
        """
        Give every pod's node, by position; the outside comes after the last.
        """
        index = {int(node): at for at, node in enumerate(self.nodes)}
        outside = len(self.nodes)
        return np.array(
            [
                index[draft.places[key][0][0]] if key in draft.places else outside
                for key in self.keys
            ],
            dtype=np.int64,
        )

    def draft_of(self, bins: Ints, best: Draft, *, all_entitled: bool) -> Draft:
        """
        Write a packing as a draft.
        """
        inside = np.flatnonzero(bins < len(self.nodes))
        places = {
            self.keys[at]: Places(((int(self.nodes[bins[at]]),),))
            for at in inside.tolist()
        }
        entitled = frozenset(places)
        return Draft(
            places=places,
            entitled=entitled if all_entitled else entitled & best.entitled,
        )

    def holds(self, problem: Problem, draft: Draft) -> bool:
        """
        Check in whole numbers that every pod fits.
        """
        room = NodeRoom(problem.room.now)
        for key, shape in zip(self.keys, self.shapes, strict=True):
            if key in draft.places:
                node = draft.places[key][0][0]
                if not problem.shapes.allowed[shape, node]:
                    return False
                room.take_one(problem.shapes.requests[shape], node)
        return room.holds(room.touched)


def _items_of(problem: Problem) -> _SinglePods:
    states = [unit.states[0] for unit in problem.units]
    tier = _first_tier(problem)
    fits = problem.shapes.fits
    shapes = np.array([problem.shapes.of_leaf[state.key, 0] for state in states])
    kept = np.flatnonzero(np.isin(shapes, np.flatnonzero(fits.any(axis=1))))
    states, shapes = [states[at] for at in kept.tolist()], shapes[kept]
    nodes = np.flatnonzero(fits[np.unique(shapes)].any(axis=0))
    requests = problem.shapes.requests[shapes].astype(np.float64)
    room = problem.room.now[nodes].clip(min=0).astype(np.float64)
    columns = _deciding(requests, room)
    scale = np.exp2(-np.round(np.log2(room[:, columns].max(axis=0, initial=1))))
    allowed = problem.shapes.allowed[np.ix_(shapes, nodes)]
    return _SinglePods(
        keys=tuple(state.key for state in states),
        shapes=shapes,
        nodes=nodes,
        sizes=requests[:, columns] * scale,
        room=room[:, columns] * scale,
        weights=np.array([_weight(problem, state, tier) for state in states]),
        allowed=None if allowed.all() else _framed(allowed),
    )


def _framed(allowed: Bools) -> Bools:
    """
    Let empty places be everywhere, and every pod be outside.
    """
    pods, nodes = allowed.shape
    frame = np.ones((pods + nodes, nodes + 1), dtype=bool)
    frame[:pods, :nodes] = allowed
    return frame


def _deciding(requests: Floats, room: Floats) -> list[int]:
    """
    Drop resources that cannot run out before another one does.
    """
    columns = [r for r in range(requests.shape[1]) if requests[:, r].any()]
    for r in tuple(reversed(columns)):
        if any(_runs_out_first(s, r, requests, room) for s in columns if s != r):
            columns.remove(r)
    return columns


def _runs_out_first(first: int, later: int, requests: Floats, room: Floats) -> bool:
    if not (requests[:, first].all() and room[:, first].all()):
        return False
    most = (requests[:, later] / requests[:, first]).max(initial=0.0)
    least = (room[:, later] / room[:, first]).min(initial=np.inf)
    return bool(most * (1 + 1e-9) <= least)


def _most_pods(items: _SinglePods) -> int:
    """
    Bound how many pods fit: the smallest ones of each resource into all of its room.
    """
    filled = np.sort(items.sizes, axis=0).cumsum(axis=0)
    return int((filled <= items.room.sum(axis=0)).sum(axis=0).min(initial=len(filled)))


# --- the search -------------------------------------------------------------------


class _Assignment:
    """
    A packing that may overflow, and the best one that did not.

    Places are the pods and one empty place per node; a swap with it is a move.  The
    node after the last is the outside: it has room for all and no empty place, so
    that the number of pods inside never falls.
    """

    def __init__(self, items: _SinglePods, bins: Ints, seed: int, tuning: Tabu) -> None:
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
