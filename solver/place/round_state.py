"""
The state of a round while gangs are placed one by one: room, hosts, queue ledgers.

Every change is in one log and can be undone to a mark, so that trying costs little.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.gangs import Gang, PodSet, leaf_of, where_moved
from models.policy import Policy
from models.resources import Resources
from solver.effort.budget import Budget
from solver.place.draft import Draft
from solver.place.free_room import FreePlaces
from solver.place.least_left_over import left_over_of
from solver.place.preferred_now import preferred_now
from solver.place.queue_ledger import Ledger
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import NOWHERE, Exit
from solver.problem.neighbours.pods_around import PodsAround, come, looks_for_others
from solver.problem.node_room import Bools, Ints, NodeRoom, Places
from solver.problem.pod_shapes import Shape
from solver.problem.problem import Problem
from solver.problem.running_gangs import Runner


@dataclass(frozen=True, slots=True)
class _Placed:
    """
    Pods of one leaf placed at one go.
    """

    state: Standing
    leaf: int
    hosts: Ints
    counts: Ints
    total: int


class RoundState:
    """
    What is free now on nodes and in queues, with the drafts made so far.
    """

    def __init__(self, problem: Problem, budget: Budget | None = None) -> None:
        self.problem = problem
        self.room = NodeRoom(problem.room.now, problem.room.parts)
        self.free = FreePlaces(problem, self.room)
        self.ledger = Ledger(problem)
        self.placed: dict[str, dict[int, list[int]]] = {}
        self.entitled: set[str] = set()
        own = problem.tuning.place.own_time
        self.is_late = budget.begin_starts(own) if budget else (lambda: False)
        self.frugal = _is_frugal(problem.policy)
        self.around = around_now(problem)
        self.preferred = preferred_now(problem)
        self.left_over = left_over_of(problem, self.room)
        self._log: list[_Placed | Callable[[], None] | None] = []

    def mark(self) -> int:
        """
        Remember this moment.
        """
        return len(self._log)

    def undo(self, mark: int) -> None:
        """
        Undo all that was done since a mark.
        """
        while len(self._log) > mark:
            step = self._log.pop()
            if isinstance(step, _Placed):
                self._unplace(step)
            elif step is not None:
                step()

    def unplace(self, mark: int) -> None:
        """
        Take back every pod placed since a mark, and nothing else.
        """
        for at in range(len(self._log) - 1, mark - 1, -1):
            step = self._log[at]
            if isinstance(step, _Placed):
                self._unplace(step)
                self._log[at] = None

    def note(self, undo: Callable[[], None]) -> None:
        """
        Log what somebody else changed, by how it is undone.
        """
        self._log.append(undo)

    def _unplace(self, step: _Placed) -> None:
        state, leaf = step.state, step.leaf
        self.room.give(self.request_of(state, leaf), step.hosts, step.counts)
        rows = self.placed[state.key]
        del rows[leaf][len(rows[leaf]) - step.total :]
        if not rows[leaf]:
            del rows[leaf]
        if not rows:
            del self.placed[state.key]
        self.ledger.take(state, leaf, -step.total)
        self._come(state.leaves[leaf].pod_set, step.hosts, -step.counts)

    def _come(self, pods: PodSet | Shape, hosts: Ints, counts: Ints) -> None:
        if pods.neighbours and self.around is not None:
            come(self.around, pods.neighbours, pods.demand, hosts, counts)
        if self.preferred is not None:
            self.preferred.add(pods.neighbours, hosts, counts)

    def take(self, state: Standing, leaf: int, counts: Mapping[int, int]) -> None:
        """
        Place so many pods of a leaf on each of some nodes.
        """
        if counts:
            self.place(state, leaf, np.array([*counts]), np.array([*counts.values()]))

    def take_all(self, rows: Iterable[tuple[Standing, int, Sequence[int]]]) -> None:
        """
        Place pods of many leaves, each on its node; that is not undone.
        """
        of_shape: dict[int, list[int]] = {}
        for state, leaf, hosts in rows:
            if hosts:
                self.placed.setdefault(state.key, {}).setdefault(leaf, []).extend(hosts)
                self.ledger.take(state, leaf, len(hosts))
                of_shape.setdefault(self.shape_of(state, leaf), []).extend(hosts)
        counted = {
            x: np.unique(every, return_counts=True) for x, every in of_shape.items()
        }
        requests = self.problem.shapes.requests
        self.room.take_lots((requests[shape], *on) for shape, on in counted.items())
        for shape, on in counted.items():
            self._come(self.problem.shapes.items[shape], *on)

    def place(self, state: Standing, leaf: int, hosts: Ints, counts: Ints) -> None:
        """
        Place so many pods of a leaf on each of some nodes, and log it.
        """
        total = int(counts.sum())
        self.room.take(self.request_of(state, leaf), hosts, counts)
        row = self.placed.setdefault(state.key, {}).setdefault(leaf, [])
        row.extend(np.repeat(hosts, counts).tolist())
        self.ledger.take(state, leaf, total)
        self._come(state.leaves[leaf].pod_set, hosts, counts)
        self._log.append(_Placed(state, leaf, hosts, counts, total))

    def give(self, state: Standing, leaf: int, host: int) -> None:
        """
        Give back the room of one pod whose place was already forgotten.
        """
        self.room.give_one(self.request_of(state, leaf), host)
        self.ledger.take(state, leaf, -1)
        self._come(state.leaves[leaf].pod_set, np.array([host]), np.array([-1]))

    def leave(
        self, rooms: Mapping[int, Ints], queue: str, held: Resources, sign: int = 1
    ) -> None:
        """
        Give others the room and limits of running pods of a queue, or take them back.
        """
        for node, row in rooms.items():
            self.room.give_one(row, node, sign)
        self.ledger.give(queue, held, sign)

    def part(
        self, gang: Gang, runners: Iterable[tuple[Runner, int]], sign: int = 1
    ) -> None:
        """
        Let pods that run be gone for those beside them, or be there again.
        """
        if self.around is not None:
            for (leaf, _), host in runners:
                self.around.leave(gang, leaf, host, sign)

    def num(self, state: Standing, leaf: int) -> int:
        """
        Count the pods of a leaf placed so far.
        """
        return len(self.placed.get(state.key, {}).get(leaf, ()))

    def shape_of(self, state: Standing, leaf: int) -> int:
        """
        Give the shape of the pods of a leaf.
        """
        return self.problem.shapes.of_leaf[state.key, leaf]

    def request_of(self, state: Standing, leaf: int) -> Ints:
        """
        Give what one pod of a leaf takes, over the columns of the room.
        """
        return np.asarray(self.problem.shapes.requests[self.shape_of(state, leaf)])

    def room_for(self, state: Standing, leaf: int, mask: Bools | None) -> Ints:
        """
        Count how many pods of a leaf each node would take now.
        """
        shape = self.shape_of(state, leaf)
        item = self.problem.shapes.items[shape]
        counts = self.free.places(shape)
        if mask is not None:
            counts = counts * mask
        if item.tag:
            counts = counts.copy()
            keep_hosts_apart(state, leaf, self.placed.get(state.key, {}), counts)
        if item.neighbours and self.around is not None:
            said = item.neighbours, item.demand
            counts = counts * self.around.may_be(*said, counts > 0)
        return counts

    def could_hold(self, state: Standing, leaf: int, count: int) -> bool:
        """
        Tell quickly whether queues and nodes leave room for some pods of a leaf.
        """
        return (
            self.ledger.most(state, leaf, count) >= count
            and self.free.total(self.shape_of(state, leaf)) >= count
        )

    def places(self, state: Standing) -> Places | None:
        """
        Give a gang's places so far; none when it has none.
        """
        rows = self.placed.get(state.key)
        if not rows:
            return None
        found = [tuple(sorted(rows.get(i, ()))) for i in range(len(state.leaves))]
        return Places(tuple(found))

    def draft(self) -> Draft:
        """
        Freeze what was placed.
        """
        mine = (state for unit in self.problem.units for state in unit.states)
        pairs = ((x.key, self.places(x)) for x in mine if x.key in self.placed)
        found = {key: places for key, places in pairs if places is not None}
        return Draft(places=found, entitled=frozenset(self.entitled))


def has_room(
    work: RoundState, state: Standing, leaf: int, host: int, mask: Bools | None = None
) -> bool:
    """
    Tell whether one node would take a pod of a leaf now.
    """
    there = np.zeros(len(work.room.rows), dtype=bool)
    there[host] = mask is None or mask[host]
    return bool(work.room_for(state, leaf, there)[host])


def keep_hosts_apart(
    state: Standing, leaf: int, placed: Mapping[int, Sequence[int]], counts: Ints
) -> None:
    """
    Leave no more room than hosts of their own where a gang asks for these.
    """
    mine = state.leaves[leaf].pod_set.exclusive
    if mine:
        np.minimum(counts, 1, out=counts)
    for other, hosts in placed.items():
        if mine or state.leaves[other].pod_set.exclusive:
            counts[hosts] = 0


def around_now(problem: Problem) -> PodsAround | None:
    """
    Count who is around pods that wait, those that were given places among them.
    """
    if problem.around is None:
        return None
    found = problem.around.copy()
    frozen = problem.frozen
    for table, bound in ((frozen.places, False), (frozen.bound, True)):
        for key, places in table.items():
            for leaf, hosts in zip(problem.states[key].leaves, places, strict=True):
                said = leaf.pod_set.neighbours
                if said and hosts:
                    at, ones = np.array(hosts), np.ones(len(hosts), dtype=np.int64)
                    sure = bound or found.later
                    come(found, said, leaf.pod_set.demand, at, ones, relied_on=sure)
    leave_and_move(problem, found, problem.frozen.exits)
    return found


def leave_and_move(
    problem: Problem,
    found: PodsAround,
    exits: Iterable[Exit],
    *,
    gone: bool = False,
    looking: bool = True,
) -> None:
    """
    Rely no more on those who leave, or are ``gone``; let those come who are moved.

    Of these all but such as are ``looking`` for others, where that is false.
    """
    for one in exits:
        gang = problem.gangs[one.gang]
        found.leave(gang, one.leaf, one.host)
        pods = where_moved(leaf_of(gang, one.leaf))
        if found.later and not gone and one.host != NOWHERE:
            found.keep_away(pods.neighbours, np.array([one.host]), np.array([1]))
        comes = looking or not looks_for_others(pods.neighbours)
        if comes and one.target != NOWHERE and pods.neighbours:
            at, alone = np.array([one.target]), np.array([1])
            come(found, pods.neighbours, pods.demand, at, alone, relied_on=found.later)


def _is_frugal(policy: Policy) -> bool:
    """
    Tell whether fewest preferred domains count for more than surplus pods.
    """
    names = [tier.name for tier in policy.tiers]
    if "topology" not in names:
        return False
    return not set(names[: names.index("topology")]) & {"surplus", "gpus", "pods"}
