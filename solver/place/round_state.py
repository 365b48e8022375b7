"""
The state of a round while gangs are placed one by one: room, hosts, queue ledgers.

Every change is in one log and can be undone to a mark, so that trying costs little.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

import numpy as np

from models.gangs import Gang
from models.policy import Policy
from models.resources import Resources
from solver.place.by_turns import by_turns
from solver.place.draft import Draft
from solver.place.free_room import FreePlaces
from solver.place.least_left_over import left_over_of
from solver.place.preferred_now import preferred_now
from solver.place.queue_ledger import Ledger
from solver.problem.gang_state import Standing
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.node_room import Bools, Ints, NodeRoom, Places
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

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.room = NodeRoom(problem.room.now, problem.room.parts)
        self.free = FreePlaces(problem, self.room)
        self.ledger = Ledger(problem)
        self.placed: dict[str, dict[int, list[int]]] = {}
        self.entitled: set[str] = set()
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
        self.room.give(self._request(state, leaf), step.hosts, step.counts)
        rows = self.placed[state.key]
        del rows[leaf][len(rows[leaf]) - step.total :]
        if not rows[leaf]:
            del rows[leaf]
        if not rows:
            del self.placed[state.key]
        self.ledger.take(state, leaf, -step.total)
        self._count(state, leaf, step.hosts, -step.counts)

    def _count(self, state: Standing, leaf: int, hosts: Ints, counts: Ints) -> None:
        said = state.leaves[leaf].pod_set.neighbours
        if said and self.around is not None:
            self.around.add(said, hosts, counts, comes=True)
        if self.preferred is not None:
            self.preferred.add(said, hosts, counts)

    def take(self, state: Standing, leaf: int, counts: Mapping[int, int]) -> None:
        """
        Place so many pods of a leaf on each of some nodes.
        """
        if counts:
            self._take(state, leaf, np.array([*counts]), np.array([*counts.values()]))

    def take_all(self, rows: Iterable[tuple[Standing, int, Sequence[int]]]) -> None:
        """
        Place pods of many leaves, each on its node; that is not undone.
        """
        of_shape: dict[int, list[int]] = {}
        for state, leaf, hosts in rows:
            if hosts:
                self.placed.setdefault(state.key, {}).setdefault(leaf, []).extend(hosts)
                self.ledger.take(state, leaf, len(hosts))
                of_shape.setdefault(self._shape(state, leaf), []).extend(hosts)
        for shape, every in of_shape.items():
            nodes, counts = np.unique(every, return_counts=True)
            self.room.take(self.problem.shapes.requests[shape], nodes, counts)
            said = self.problem.shapes.items[shape].neighbours
            if said and self.around is not None:
                self.around.add(said, nodes, counts, comes=True)
            if self.preferred is not None:
                self.preferred.add(said, nodes, counts)

    def _take(self, state: Standing, leaf: int, hosts: Ints, counts: Ints) -> None:
        total = int(counts.sum())
        self.room.take(self._request(state, leaf), hosts, counts)
        row = self.placed.setdefault(state.key, {}).setdefault(leaf, [])
        row.extend(np.repeat(hosts, counts).tolist())
        self.ledger.take(state, leaf, total)
        self._count(state, leaf, hosts, counts)
        self._log.append(_Placed(state, leaf, hosts, counts, total))

    def give(self, state: Standing, leaf: int, host: int) -> None:
        """
        Give back the room of one pod whose place was already forgotten.
        """
        self.room.give_one(self._request(state, leaf), host)
        self.ledger.take(state, leaf, -1)
        self._count(state, leaf, np.array([host]), np.array([-1]))

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
        rows = self.placed.get(state.key)
        return len(rows.get(leaf, ())) if rows else 0

    def _shape(self, state: Standing, leaf: int) -> int:
        return self.problem.shapes.of_leaf[state.key, leaf]

    def _request(self, state: Standing, leaf: int) -> Ints:
        row: Ints = self.problem.shapes.requests[self._shape(state, leaf)]
        return row

    def room_for(self, state: Standing, leaf: int, mask: Bools | None) -> Ints:
        """
        Count how many pods of a leaf each node would take now.
        """
        shape = self._shape(state, leaf)
        counts = self.free.places(shape)
        if mask is not None:
            counts = counts * mask
        if self.problem.shapes.items[shape].tag:
            counts = counts.copy()
            _keep_hosts_apart(state, leaf, self.placed.get(state.key, {}), counts)
        item = self.problem.shapes.items[shape]
        if item.neighbours and self.around is not None:
            counts = counts * self.around.may_be(item.neighbours, item.demand)
        return counts

    def could_hold(self, state: Standing, leaf: int, count: int) -> bool:
        """
        Tell quickly whether queues and nodes leave room for some pods of a leaf.
        """
        return (
            self.ledger.most(state, leaf, count) >= count
            and self.free.total(self._shape(state, leaf)) >= count
        )

    def strain(self, state: Standing, leaf: int) -> float:
        """
        Say how much of all places for a leaf its need would take.
        """
        places = self.free.total(self._shape(state, leaf))
        return state.leaves[leaf].need / max(1, places)

    def fill(self, state: Standing, leaf: int, count: int, mask: Bools | None) -> int:
        """
        Place up to ``count`` pods of a leaf, tightest nodes first; say how many.
        """
        count = self.ledger.most(state, leaf, count)
        if count <= 0 or not self.free.total(self._shape(state, leaf)):
            return 0
        said = self.problem.shapes.items[self._shape(state, leaf)].neighbours
        if self.around is not None and self.around.is_by_turns(said):
            room_in = partial(self.room_for, state, leaf)
            fill_one = partial(self._fill, state, leaf, 1)
            return by_turns(self.around, said, count, room_in, fill_one, mask)
        if self.preferred is not None and said.preferred:
            return self._fill_by_preference(state, leaf, count, mask)
        return self._fill(state, leaf, count, mask)

    def _fill_by_preference(
        self, state: Standing, leaf: int, count: int, mask: Bools | None
    ) -> int:
        """
        Place pods one by one; the first of its kind where all of them have room.
        """
        assert self.preferred is not None
        said = self.problem.shapes.items[self._shape(state, leaf)].neighbours
        room = self.room_for(state, leaf, mask)
        first = self.preferred.first_domain(said, room, count)
        done = 0 if first is None else self._fill(state, leaf, 1, first & (room > 0))
        turns = (self._fill(state, leaf, 1, mask) for _ in range(count - done))
        return done + sum(takewhile(bool, turns))

    def _fill_for_least(
        self, state: Standing, leaf: int, count: int, mask: Bools | None
    ) -> int:
        """
        Place pods one by one, each where least is of no use to others afterwards.
        """
        assert self.left_over is not None
        shape = self._shape(state, leaf)
        for done in range(count):
            strain = self.free.strain(shape)
            room = self.room_for(state, leaf, mask)
            node = self.left_over.best(shape, room, strain)
            if node is None:
                return done
            self._take(state, leaf, np.array([node]), np.array([1]))
        return count

    def _fill(self, state: Standing, leaf: int, count: int, mask: Bools | None) -> int:
        if self.left_over is not None:
            return self._fill_for_least(state, leaf, count, mask)
        room, done = self.room_for(state, leaf, mask), 0
        # Parts of GPUs open an idle one only where no open one has room.
        closed = self.room.on_open_devices(self._request(state, leaf))
        if closed is not None:
            done = self._spread(state, leaf, count, np.minimum(room, closed))
            room = self.room_for(state, leaf, mask)
        return done + self._spread(state, leaf, count - done, room)

    def _spread(self, state: Standing, leaf: int, count: int, room: Ints) -> int:
        if not count:
            return 0
        said = self.problem.shapes.items[self._shape(state, leaf)].neighbours
        if self.preferred is not None and said.preferred and room.any():
            lacking = self.preferred.unmet_on(said)
            room = np.where(lacking == lacking[room > 0].min(), room, 0)
        hosts = self.free.by_fit(room, count, self._shape(state, leaf))
        if not len(hosts):
            return 0
        full = np.cumsum(room[hosts])
        last = int(np.searchsorted(full, count))
        hosts = hosts[: last + 1]
        counts = room[hosts]
        if last < len(full):
            counts[-1] -= int(full[last]) - count
        self._take(state, leaf, hosts, counts)
        return int(counts.sum())

    def places(self, state: Standing) -> Places | None:
        """
        Give a gang's places so far; none when it has none.
        """
        rows = self.placed.get(state.key)
        if not rows:
            return None
        leaves = range(len(state.leaves))
        return Places(tuple([tuple(sorted(rows.get(i, ()))) for i in leaves]))

    def draft(self) -> Draft:
        """
        Freeze what was placed.
        """
        mine = (state for unit in self.problem.units for state in unit.states)
        pairs = ((x.key, self.places(x)) for x in mine if x.key in self.placed)
        found = {key: places for key, places in pairs if places is not None}
        return Draft(places=found, entitled=frozenset(self.entitled))


def _keep_hosts_apart(
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
                    found.add(said, at, ones, comes=True, relied_on=sure)
    for one in frozen.exits:
        found.leave(problem.gangs[one.gang], one.leaf, one.host)
    return found


def _is_frugal(policy: Policy) -> bool:
    """
    Tell whether fewest preferred domains count for more than surplus pods.
    """
    names = [tier.name for tier in policy.tiers]
    if "topology" not in names:
        return False
    return not set(names[: names.index("topology")]) & {"surplus", "gpus", "pods"}
