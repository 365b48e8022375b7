"""
When a gang may start by run times alone: who waits is played with likely run times.

Each play draws for how long everything runs, from the record of gangs like it, and
starts who waits in order wherever there is room.  One kind of GPU is followed, node by
node; domains, other resources and who has not come yet are not.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np

from models.gangs import PodPhase, pod_sets
from models.resources import is_gpu
from models.run_times import run_kind
from solver.explain.room_now import matching, strain
from solver.place.gang_order import rank_of
from solver.problem.problem import Problem, Unit
from solver.run_times.time_left import Ended, RunTimeForecast, ran_for
from solver.why.given_to_others import GivenToOthers

PLAYS = 60
MOST_WAITING = 400
"""
Gangs that wait and are played, those first that come first.
"""
EFFORT = 600_000
"""
Pods and gangs in all plays together; where there are many, fewer plays are made.
"""
LEAST_PLAYS = 19
NEVER = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyStart:
    """
    In how many seconds a gang starts with 50 %, 80 % and 95 %; none where nobody knows.
    """

    half: int | None = None
    most: int | None = None
    nearly: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """
    Who is played: ``places`` are nodes of running pods with what they hold there.

    ``pods`` are what it needs to start: so many pods of a size, by size.  ``ended`` is
    the record of gangs like it, ``ran`` for how long it has run.
    """

    path: tuple[str, ...]
    ended: Ended | None
    latest: int | None
    ran: int = 0
    places: tuple[tuple[int, int], ...] = ()
    pods: tuple[tuple[int, int], ...] = ()

    @property
    def size(self) -> int:
        """
        Give what it holds once it runs.
        """
        return sum(size * number for size, number in self.pods)

    def lasts(self, chance: np.random.Generator) -> int:
        """
        Draw for how long it will run on; for ever where nobody knows.
        """
        drawn = NEVER
        if self.ended is not None:
            percent = 1 + int(98 * chance.random())
            left = self.ended.left(self.ran, percent)
            drawn = NEVER if left is None else left
        return drawn if self.latest is None else min(drawn, self.latest)


def likely_start(
    beside: Problem, unit: Unit, given: GivenToOthers, starting: frozenset[str]
) -> LikelyStart | None:
    """
    Say by when a unit starts with 50, 80 and 95 per cent; none where nobody knows.

    Parameters
    ----------
    beside
        The round with all that its plan gives to others as load.
    unit
        Who waits.
    given
        What the plan gives to others.
    starting
        The gangs that start by the plan.
    """
    if not beside.snapshot.run_times or _in_one_domain(unit):
        return None
    nodes = matching(beside, unit)
    free = beside.room.now[nodes].clip(min=0)
    column = strain(beside, unit, free.sum(axis=0))
    resource = beside.room.resources[column]
    if not is_gpu(resource) or int(free[:, column].max(initial=0)) > 64:
        return None
    index = {int(node): at for at, node in enumerate(np.flatnonzero(nodes))}
    cast = _Cast(beside, resource, index, RunTimeForecast(beside.snapshot.run_times))
    running = [*cast.running(), *cast.started(given)]
    waiting = [one for one in beside.units if _waits(one, starting)]
    line = sorted(waiting, key=rank_of)[:MOST_WAITING]
    if all(one.key != unit.key for one in line):
        line.append(unit)
    mine = next(at for at, one in enumerate(line) if one.key == unit.key)
    players = [cast.waiting(one) for one in line]
    effort = len(players) + sum(len(one.places) for one in running)
    plays = max(LEAST_PLAYS, min(PLAYS, EFFORT // max(1, effort)))
    rows = free[:, column].tolist()
    limits, dues = cast.limits(players), cast.dues(players)
    chance = np.random.default_rng(beside.policy.seed)
    starts = sorted(
        _Play(rows, limits, dues, running, players, chance).start_of(mine)
        for _ in range(plays)
    )
    return LikelyStart(
        half=_by(starts, 50), most=_by(starts, 80), nearly=_by(starts, 95)
    )


def _by(starts: Sequence[int], percent: int) -> int | None:
    rank = -(-(len(starts) + 1) * percent // 100)
    found = starts[min(rank, len(starts)) - 1]
    return None if found >= NEVER else found


def _in_one_domain(unit: Unit) -> bool:
    return any(
        node.topology is not None and node.topology.required is not None
        for state in unit.states
        for node in state.nodes
    )


def _waits(unit: Unit, starting: frozenset[str]) -> bool:
    return unit.starts and unit.states[0].key not in starting


@dataclass(frozen=True, slots=True)
class _Cast:
    """
    Makes players of gangs, as far as they are on some nodes.
    """

    problem: Problem
    resource: str
    index: Mapping[int, int]
    forecast: RunTimeForecast

    def running(self) -> Iterator[Played]:
        """
        Walk the gangs that run on the nodes.
        """
        nodes = self.problem.room.index
        for gang in self.problem.snapshot.gangs:
            places = tuple(
                (self.index[nodes[pod.node]], size)
                for leaf in pod_sets(gang.tree)
                if (size := leaf.requests.get(self.resource, 0))
                for pod in leaf.pods
                if pod.phase in {PodPhase.RUNNING, PodPhase.TERMINATING}
                and nodes.get(pod.node or "", -1) in self.index
                and pod.node is not None
            )
            if places:
                yield self._player(gang.key, ran_for(gang), places=places)

    def started(self, given: GivenToOthers) -> Iterator[Played]:
        """
        Walk what starts by the plan on the nodes.
        """
        found: dict[str, list[tuple[int, int]]] = {}
        for key, node, requests in given.rows:
            size = requests.get(self.resource, 0)
            if size and node in self.index:
                found.setdefault(key, []).append((self.index[node], size))
        for key, places in found.items():
            yield self._player(key, 0, places=tuple(places))

    def waiting(self, unit: Unit) -> Played:
        """
        Give a unit that waits as one player.
        """
        pods: dict[int, int] = {}
        for state in unit.states:
            for leaf in state.leaves:
                size = leaf.pod_set.requests.get(self.resource, 0)
                if size and leaf.need:
                    pods[size] = pods.get(size, 0) + leaf.need
        return self._player(
            unit.states[0].key, 0, pods=tuple(sorted(pods.items(), reverse=True))
        )

    def limits(self, players: Sequence[Played]) -> dict[str, int]:
        """
        Give what the queues of players may still take, those that have a limit.
        """
        queues = self.problem.queues
        left = {}
        for name in {name for one in players for name in one.path}:
            limit = queues.queues[name].rule(self.resource).limit
            if limit is not None:
                left[name] = limit - queues.running.get(name, {}).get(self.resource, 0)
        return left

    def dues(self, players: Sequence[Played]) -> dict[str, int]:
        """
        Give what the queues of players are due beyond what they use.
        """
        queues, shares = self.problem.queues, self.problem.shares
        names = {name for one in players for name in one.path[:1]}
        return {
            name: queues.claim_left(shares, name, self.resource)
            for name in names
            if self.resource in shares.get(name, {})
        }

    def _player(
        self,
        key: str,
        ran: int,
        places: tuple[tuple[int, int], ...] = (),
        pods: tuple[tuple[int, int], ...] = (),
    ) -> Played:
        gang = self.problem.gangs[key]
        latest = None if gang.max_runtime is None else max(0, gang.max_runtime - ran)
        return Played(
            path=tuple(self.problem.queues.path(gang.queue)),
            ended=self.forecast.like(run_kind(gang), ran),
            latest=latest,
            ran=ran,
            places=places,
            pods=pods,
        )


@dataclass(slots=True)
class _Play:
    """
    One play: what is free on each node, and when who ends.
    """

    free: list[int]
    limits: dict[str, int]
    dues: dict[str, int]
    running: Sequence[Played]
    waiting: Sequence[Played]
    chance: np.random.Generator
    levels: list[set[int]] = field(default_factory=list)
    ends: list[tuple[int, int, Played, tuple[tuple[int, int], ...]]] = field(
        default_factory=list
    )

    def start_of(self, mine: int) -> int:
        """
        Give when one of those that wait starts.
        """
        self.free = [*self.free]
        self.limits, self.dues = dict(self.limits), dict(self.dues)
        self._lay_out()
        lines: dict[tuple[object, ...], deque[int]] = {}
        for at, one in enumerate(self.waiting):
            if one.pods:
                lines.setdefault((one.pods, one.path), deque()).append(at)
        now = 0
        while True:
            if self._start(lines, now, mine):
                return now
            if not self.ends or self.ends[0][0] >= NEVER:
                return NEVER
            now = self.ends[0][0]
            while self.ends and self.ends[0][0] == now:
                _, _, one, places = heappop(self.ends)
                self._give(one, places)

    def _lay_out(self) -> None:
        most = max(self.free, default=0)
        held: dict[int, int] = {}
        for one in self.running:
            for node, size in one.places:
                held[node] = held.get(node, 0) + size
        most = max([most, *(self.free[at] + n for at, n in held.items())])
        self.levels = [set() for _ in range(most + 1)]
        for node, amount in enumerate(self.free):
            self.levels[amount].add(node)
        self.ends = [
            (one.lasts(self.chance), at, one, one.places)
            for at, one in enumerate(self.running)
        ]
        heapify(self.ends)

    def _start(
        self, lines: dict[tuple[object, ...], deque[int]], now: int, mine: int
    ) -> bool:
        """
        Start who fits, in order; tell whether the one asked about is among them.
        """
        stuck: set[tuple[object, ...]] = set()
        while True:
            heads = [(line[0], key) for key, line in lines.items() if key not in stuck]
            for at, key in sorted(heads, key=lambda head: self._turn(head[0])):
                one = self.waiting[at]
                places = self._places(one)
                if places is None:
                    stuck.add(key)
                    continue
                if at == mine:
                    return True
                self._take(one, places)
                end = now + max(1, one.lasts(self.chance))
                heappush(self.ends, (end, len(self.running) + at, one, places))
                lines[key].popleft()
                if not lines[key]:
                    del lines[key]
                break
            else:
                return False

    def _turn(self, at: int) -> tuple[bool, int]:
        """
        Order those that wait: what its queue is due comes first.
        """
        one = self.waiting[at]
        return any(self.dues.get(x, one.size) < one.size for x in one.path), at

    def _places(self, one: Played) -> tuple[tuple[int, int], ...] | None:
        """
        Find places by best fit; none where they, or what a queue may take, are short.
        """
        if any(self.limits.get(name, one.size) < one.size for name in one.path):
            return None
        for size, number in one.pods:
            room = sum(
                len(nodes) * (amount // size)
                for amount, nodes in enumerate(self.levels)
                if amount >= size
            )
            if room < number:
                return None
        places: list[tuple[int, int]] = []
        for size, number in one.pods:
            for _ in range(number):
                level = next(
                    (x for x in range(size, len(self.levels)) if self.levels[x]), None
                )
                if level is None:
                    self._put(places)
                    return None
                node = min(self.levels[level])
                self._shift(node, -size)
                places.append((node, size))
        self._put(places)
        return tuple(places)

    def _put(self, places: Sequence[tuple[int, int]]) -> None:
        for node, size in places:
            self._shift(node, size)

    def _shift(self, node: int, size: int) -> None:
        self.levels[self.free[node]].discard(node)
        self.free[node] += size
        self.levels[self.free[node]].add(node)

    def _take(self, one: Played, places: tuple[tuple[int, int], ...]) -> None:
        for node, size in places:
            self._shift(node, -size)
        self._charge(one, -1, places)

    def _give(self, one: Played, places: tuple[tuple[int, int], ...]) -> None:
        self._put(places)
        self._charge(one, 1, places)

    def _charge(
        self, one: Played, sign: int, places: tuple[tuple[int, int], ...]
    ) -> None:
        amount = sign * sum(size for _, size in places)
        for name in one.path:
            if name in self.limits:
                self.limits[name] += amount
            if name in self.dues:
                self.dues[name] += amount
