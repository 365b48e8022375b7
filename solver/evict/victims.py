"""
Victims: what runs and may leave, for whom, and what each of it holds.

Things of one sort in one place (single-node gangs that differ in their work only, pods
of one leaf) form an account, so that steps after this count them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from models.gangs import Gang, PodSet, pod_sets
from models.gpu_parts import GpuDevice
from models.plan import Rule
from models.policy import Policy
from models.resources import Resources, summed
from solver.evict.group_mates import mates_that_stay, promised_mates
from solver.evict.guarantees import (
    is_beyond_quota,
    may_be_guaranteed,
    share_excess,
)
from solver.problem.eligibility import gets_no_place, takes_no_work
from solver.problem.gang_state import Standing, standing
from solver.problem.leaving_pods import NOWHERE
from solver.problem.node_room import After, Ints, NodeRoom, Room
from solver.problem.problem import Problem, Step
from solver.problem.running_gangs import Runner, age_of


@dataclass(frozen=True, slots=True)
class Rights:
    """
    By which rules something may leave.
    """

    reclaim: bool = False
    preempt: bool = False
    move: bool = False

    def __bool__(self) -> bool:
        """
        Tell whether it may leave at all.
        """
        return self.reclaim or self.preempt or self.move

    def rules(self) -> list[Rule]:
        """
        List the rules.
        """
        pairs: list[tuple[Rule, bool]] = [
            ("reclaim", self.reclaim),
            ("preempt", self.preempt),
            ("consolidate", self.move),
        ]
        return [rule for rule, may in pairs if may]

    def __and__(self, other: "Rights") -> "Rights":
        """
        Keep the rules that both allow.
        """
        return Rights(
            self.reclaim and other.reclaim,
            self.preempt and other.preempt,
            self.move and other.move,
        )


@dataclass(frozen=True, slots=True)
class Thing:
    """
    What leaves one node together: a whole small gang, a part of a wide one, or a pod.
    """

    pods: tuple[Runner, ...]
    work: int
    gang: Gang

    @property
    def cost(self) -> tuple[int, int]:
        """
        What is lost with it that things of one sort may differ in: work, then age.
        """
        return self.work, age_of(self.pods)

    @property
    def devices(self) -> tuple[tuple[GpuDevice, ...], ...]:
        """
        The devices of its pods, as far as any is known.
        """
        found = tuple(pod.devices for _, pod in self.pods)
        return found if any(found) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """
    Things of one sort: of which queue and band, what each holds, how it may leave.

    ``wide`` is the index of the gang whose part it is, or -1 for gangs that lie whole
    on one node; ``requests`` and ``pods`` are those of one thing.
    """

    queue: str
    band: int
    requests: Resources
    pods: int
    rights: Rights
    budgets: tuple[int, ...]
    wide: int = -1
    leaf: int = -1
    sample: Thing


@dataclass(frozen=True, slots=True, kw_only=True)
class Wide:
    """
    A gang on several nodes, or one that may lose pods: its accounts and all its pods.

    ``state`` is set where there is a choice of what leaves; else it goes whole.
    """

    gang: Gang
    band: int
    pods: tuple[Runner, ...]
    hosts: tuple[int, ...]
    rights: Rights
    budgets: tuple[int, ...]
    state: Standing | None
    accounts: tuple[int, ...]
    counts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Victims:
    """
    All that may leave: accounts, the things of each account by node, and wide gangs.
    """

    accounts: list[Account] = field(default_factory=list)
    on_node: dict[int, dict[int, list[Thing]]] = field(default_factory=dict)
    wide: list[Wide] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Runtimes:
    """
    How long work of a queue must have run before each rule may touch it.
    """

    reclaim: int
    preempt: int

    def passed(self, seconds: int) -> tuple[bool, bool]:
        """
        Tell whether a pod that has run for so long has passed each.
        """
        return seconds >= self.reclaim, seconds >= self.preempt

    def rights(self, seconds: int) -> Rights:
        """
        Tell what may be done to a pod that has run for so long.
        """
        reclaim, preempt = self.passed(seconds)
        return Rights(reclaim, preempt, reclaim and preempt)


def victims_of(problem: Problem) -> Victims:
    """
    Gather what may leave for the starts of a step.
    """
    return _Gathering(problem).run()


def _promised(problem: Problem) -> set[str]:
    """
    Name the gangs that have the places of all they miss: what runs of them stays.
    """
    frozen = problem.frozen
    units = (*frozen.units, *frozen.committed)
    return {state.key for unit in units for state in unit.states}


class _Gathering:
    """
    One walk over all gangs that run.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.policy: Policy = problem.policy
        self.index = problem.room.index
        self._work_of = problem.runners.work_of
        self.found = Victims()
        self._known: dict[object, int] = {}
        self._known_rights: dict[object, Rights] = {}
        self._queues: dict[str, tuple[bool, bool, _Runtimes]] = {}
        self._decided = {one.gang for one in problem.frozen.exits} | _promised(problem)
        self._budgets: dict[str, tuple[int, ...]] = {}
        for at, budget in enumerate(problem.snapshot.budgets):
            for name in budget.gangs:
                self._budgets[name] = (*self._budgets.get(name, ()), at)
        starting = [s for u in problem.units if u.starts for s in u.states]
        starters = [unit for unit in problem.units if unit.starts]
        self._mates = mates_that_stay(problem, starters) | promised_mates(problem)
        self._starters = {state.gang.queue for state in starting}
        self._claimants = {
            state.gang.queue
            for unit in starters
            if may_be_guaranteed(problem, unit)
            for state in unit.states
        }
        self._top: dict[str, int] = {}
        for unit in problem.units:
            for state in unit.states if unit.starts else ():
                queue = state.gang.queue
                self._top[queue] = max(self._top.get(queue, -1), unit.band)
        moves = self.policy.evict.max_moves
        left = moves is None or moves > sum(
            one.rule == "consolidate" for one in problem.frozen.exits
        )
        self._moves = self.policy.evict.consolidate and left
        gangs = problem.snapshot.gangs
        grouped = self._moves and any(gang.mates for gang in gangs)
        self._lists = {gang.key: gang.mates for gang in gangs} if grouped else {}

    def run(self) -> Victims:
        singles, others = self.problem.runners.all
        for gang, pod, host, work, number in singles:
            if self._may_leave(gang):
                rights = self._rights(gang, pod.seconds)
                if rights:
                    thing = Thing(((0, pod),), work, gang)
                    self._add_small(thing, host, rights, number)
        for gang, pods in others:
            if self._may_leave(gang):
                self._add_large(gang, pods)
        return self.found

    def _may_leave(self, gang: Gang) -> bool:
        again = gang.evicted_ago
        if again is not None and again < self.policy.evict.again:
            return False
        return not self._decided or gang.key not in self._decided

    def _rights(self, gang: Gang, seconds: int) -> Rights:
        """
        Tell what the starters, the queue and the run time allow.
        """
        above, closed, runtimes = self._of_queue(gang.queue)
        moves = self._moves and not closed and not gets_no_place(gang, self._lists)
        moves = moves and not any(leaf.neighbours for leaf in pod_sets(gang.tree))
        key = (gang.queue, gang.priority, moves, *runtimes.passed(seconds))
        rights = self._known_rights.get(key)
        if rights is None:
            band = self.problem.bands.of(gang.priority)
            outranked = self._top.get(gang.queue, -1) > band
            preempt = outranked and self.policy.evict.preempt
            rights = Rights(above, preempt, moves) & runtimes.rights(seconds)
            self._known_rights[key] = rights
        return rights

    def _of_queue(self, queue: str) -> tuple[bool, bool, _Runtimes]:
        """
        Tell whether others may reclaim from a queue, and whether it takes no work.

        The last are its min runtimes.
        """
        known = self._queues.get(queue)
        if known is None:
            queues = self.problem.queues
            path = [queues.queues[name] for name in queues.path(queue)]
            runtimes = _Runtimes(
                max((q.reclaim_min_runtime for q in path), default=0),
                max((q.preempt_min_runtime for q in path), default=0),
            )
            closed = takes_no_work(queue, queues)
            known = self._queues[queue] = (self._is_above(queue), closed, runtimes)
        return known

    def _is_above(self, queue: str) -> bool:
        if self.problem.step is not Step.ENTITLED or not self.policy.evict.reclaim:
            return False
        if not self._starters - {queue}:
            return False
        if self._claimants - {queue} and is_beyond_quota(self.problem, queue):
            return True
        return any(
            share_excess(self.problem, queue, name) > 0
            for name in self.problem.queues.named
        )

    def _add_small(
        self,
        thing: Thing,
        host: int,
        rights: Rights,
        number: int,
        requests: Resources | None = None,
    ) -> None:
        gang = thing.gang
        budgets = self._budgets.get(gang.key, ()) if self._budgets else ()
        key = self._sort_of(thing, rights, number, budgets)
        at = self._known.get(key)
        if at is None:
            at = self._known[key] = len(self.found.accounts)
            if requests is None:
                assert isinstance(gang.tree, PodSet)
                requests = gang.tree.requests
            self.found.accounts.append(
                Account(
                    queue=gang.queue,
                    band=self.problem.bands.of(gang.priority),
                    requests=requests,
                    pods=len(thing.pods),
                    rights=rights,
                    budgets=budgets,
                    sample=thing,
                )
            )
        self.found.on_node.setdefault(host, {}).setdefault(at, []).append(thing)

    @staticmethod
    def _sort_of(
        thing: Thing, rights: Rights, number: int, budgets: tuple[int, ...]
    ) -> object:
        """
        Give what small gangs have in common that nothing needs to tell apart.
        """
        gang = thing.gang
        tree = gang.tree
        if not isinstance(tree, PodSet) or (
            rights.move and (tree.topology is not None or tree.exclusive)
        ):
            return gang.key
        demand = tree.demand if rights.move else None
        pods = len(thing.pods)
        return (gang.queue, gang.priority, number, pods, rights, budgets, demand)

    def _add_large(self, gang: Gang, pods: tuple[Runner, ...]) -> None:
        """
        Add a gang of several pods, or one that is not complete.
        """
        state = standing(gang)
        of_pod = [self._rights(gang, pod.seconds) for _, pod in pods]
        whole = of_pod[0]
        for rights in of_pod:
            whole = whole & rights
        loose = state.satisfied and _has_choice(state)
        if not loose and not whole:
            return
        if loose and not any(of_pod):
            return
        if not state.satisfied:
            whole = replace(whole, move=False)
            if not whole:
                return
        hosts = tuple(self.index.get(pod.node or "", NOWHERE) for _, pod in pods)
        leaves = tuple(pod_sets(gang.tree))
        together = not loose and len(set(hosts)) == 1 and hosts[0] >= 0
        if together and state.satisfied and gang.key not in self._mates:
            requests = (
                _times(leaves[0].requests, len(pods))
                if len(leaves) == 1
                else summed(leaves[at].requests for at, _ in pods)
            )
            thing = Thing(pods, self._work_of(gang, pods), gang)
            number = self.problem.runners.number_of(leaves[pods[0][0]].requests)
            self._add_small(thing, hosts[0], whole, number, requests)
            return
        if all(host < 0 for host in hosts):
            return
        self._add_wide(gang, state if loose else None, pods, hosts, whole, of_pod)

    def _add_wide(
        self,
        gang: Gang,
        state: Standing | None,
        pods: tuple[Runner, ...],
        hosts: tuple[int, ...],
        whole: Rights,
        of_pod: list[Rights],
    ) -> None:
        at = len(self.found.wide)
        leaves = tuple(pod_sets(gang.tree))
        accounts: dict[object, int] = {}
        counts: dict[int, int] = {}
        parts: dict[tuple[object, int], list[Runner]] = {}
        for runner, host, rights in zip(pods, hosts, of_pod, strict=True):
            key: object = 0 if state is None else (runner[0], rights)
            parts.setdefault((key, host), []).append(runner)
            if key not in accounts:
                accounts[key] = len(self.found.accounts)
                sample = Thing((runner,), 0, gang)
                self.found.accounts.append(
                    Account(
                        queue=gang.queue,
                        band=self.problem.bands.of(gang.priority),
                        requests={} if state is None else leaves[runner[0]].requests,
                        pods=0 if state is None else 1,
                        rights=whole if state is None else rights,
                        budgets=self._budgets.get(gang.key, ()),
                        wide=at,
                        leaf=-1 if state is None else runner[0],
                        sample=sample,
                    )
                )
        for (key, host), runners in parts.items():
            account = accounts[key]
            counts[account] = counts.get(account, 0) + len(runners)
            if host < 0:
                continue
            row = self.found.on_node.setdefault(host, {}).setdefault(account, [])
            if state is None:
                here = tuple(runners)
                row.append(Thing(here, self._work_of(gang, here), gang))
            else:
                row.extend(
                    Thing((runner,), self._work_of(gang, (runner,)), gang)
                    for runner in runners
                )
        self.found.wide.append(
            Wide(
                gang=gang,
                band=self.problem.bands.of(gang.priority),
                pods=pods,
                hosts=hosts,
                rights=whole,
                budgets=self._budgets.get(gang.key, ()),
                state=state,
                accounts=tuple(accounts.values()),
                counts=counts,
            )
        )


def _times(requests: Resources, number: int) -> dict[str, int]:
    return {name: amount * number for name, amount in requests.items()}


def _has_choice(state: Standing) -> bool:
    """
    Tell whether a satisfied gang may lose some pods and keep others.
    """
    if len(state.nodes) > 1:
        return True
    leaf = state.leaves[0]
    return len(leaf.running) > 1 and (leaf.counted > leaf.minimum or not leaf.minimum)


def held_row(room: Room, thing: Thing, node: int) -> Ints:
    """
    Write what the pods of a thing hold on their node as a row.
    """
    leaves = tuple(pod_sets(thing.gang.tree))
    rows = [room.held(leaves[at].requests, pod.devices, node) for at, pod in thing.pods]
    total: Ints = np.sum(rows, axis=0)
    return total


def vacated(problem: Problem, victims: Victims, before: Ints | None = None) -> After:
    """
    Give the room of each node if all left who may, where that ``before`` is free.
    """
    room = NodeRoom(problem.room.now if before is None else before, problem.room.parts)
    rows: dict[int, Ints] = {}
    for node, accounts in victims.on_node.items():
        for account, things in accounts.items():
            record = victims.accounts[account]
            if room.has_devices:
                for thing in things:
                    room.give_one(held_row(problem.room, thing, node), node)
                continue
            if record.pods:
                if account not in rows:
                    rows[account] = problem.room.row(dict(record.requests))
                room.give_one(rows[account], node, len(things))
                continue
            for thing in things:
                leaves = tuple(pod_sets(thing.gang.tree))
                held = summed(leaves[leaf].requests for leaf, _ in thing.pods)
                room.give_one(problem.room.row(held), node)
    return After(room.rows)
