"""
What starts may be worth at most where GPUs are short: by adding up, wherever they are.

Who is moved takes as many as it frees, so only who leaves for good makes room.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.gangs import running_pods
from models.resources import GPU
from solver.place.draft import Draft
from solver.problem.problem import Problem, Step, Unit
from solver.problem.start_values import borrowing_value, entitled_value
from solver.problem.when_empty.never_starts import needed
from solver.score.tier import TierKey

_MANY = 1 << 14
"""
Of more GPUs it is not looked for what sums of sizes come to.
"""


def gpus_needed(unit: Unit) -> int:
    """
    Give the least GPUs with which a unit starts.
    """
    return sum(needed(state, GPU) for state in unit.states)


def gpus_at_most(problem: Problem, lost: int = 0, *, idle: bool = False) -> int | None:
    """
    Add up the GPUs there may be for starts; None where no sum bounds it.

    Where GPUs have parts, or were lent, none does.

    Parameters
    ----------
    problem
        The round.
    lost
        What is worth no more of GPUs leaves for entitled starts.
    idle
        Only what is idle now counts.
    """
    room, policy = problem.room, problem.policy
    if room.parts is not None or GPU not in room.resources:
        return None
    if not idle and policy.lends(borrowing=True):
        return None
    at = room.resources.index(GPU)
    tables = (room.now,) if idle else (room.now, room.later, room.after)
    free = int(np.max([table[:, at] for table in tables], axis=0).clip(0).sum())
    if idle:
        return free
    return free + lost // problem.values.of_pod({GPU: 1}) + _gpus_outranked(problem)


def _gpus_outranked(problem: Problem) -> int:
    """
    Add up the GPUs of those who may be preempted for starts that borrow.
    """
    if not (problem.policy.evicts(borrowing=True) and problem.policy.evict.preempt):
        return 0
    top: dict[str, int] = {}
    for unit in problem.units:
        for state in unit.states if unit.starts else ():
            queue = problem.queues.leaf(state.gang.queue)
            top[queue] = max(unit.band, top.get(queue, -1))
    return sum(
        leaf.requests.get(GPU, 0)
        for gang in problem.gangs.values()
        if (queue := problem.queues.leaf(gang.queue)) in top
        and problem.bands.of(gang.priority) < top[queue]
        for _, leaf, _ in running_pods(gang)
    )


def with_room_beside(problem: Problem, draft: Draft) -> Problem | None:
    """
    Leave out who cannot start beside a draft, whoever leaves; none if nobody can.

    Only in a step of those that borrow: for others more may leave.
    """
    gpus = gpus_at_most(problem) if problem.step is Step.BORROWING else None
    if gpus is None:
        return problem
    for unit in problem.units:
        for state in unit.states:
            for i, leaf in enumerate(state.leaves):
                asked = leaf.pod_set.requests.get(GPU, 0)
                gpus -= asked * draft.num_placed(state, i)
    units = tuple(u for u in problem.units if draft.starts(u) or gpus_needed(u) <= gpus)
    if all(map(draft.starts, units)):
        return None
    return replace(problem, units=units)


def may_be_entitled(problem: Problem, unit: Unit) -> bool:
    """
    Tell whether the fair share of its leaf queue holds what a unit needs.

    Queues above it may have to lose something, and then have room.
    """
    queues = problem.queues
    return all(
        needed(state, name) <= queues.share_left(problem.shares, queue, name)
        for state in unit.states
        for queue in [state.gang.queue]
        if queue in queues.queues
        for name in queues.named
    )


class StartPrices:
    """
    What the starts of a tier that counts by bands need and are worth, dearest first.

    Who is entitled needs the share of its queue for it, and may be by itself;
    ``costless`` is what those are worth that need no GPUs.
    """

    def __init__(self, problem: Problem, key: TierKey, units: Sequence[Unit]) -> None:
        self.problem = problem
        is_entitled = key.name == "entitled"
        worth = entitled_value if is_entitled else borrowing_value
        self.costless, priced = 0, []
        for unit in units:
            if not unit.starts or unit.band not in key.bands:
                continue
            value, needs = worth(problem, unit.states), gpus_needed(unit)
            if needs:
                queue = self._queue(unit) if is_entitled else None
                priced.append((value, needs, queue))
            else:
                self.costless += value
        self.priced = sorted(priced, key=lambda each: -each[0] / each[1])

    def _queue(self, unit: Unit) -> str | None:
        """
        Name the queue whose share holds all of a unit, if one does.
        """
        queues = self.problem.queues
        name, *more = {state.gang.queue for state in unit.states}
        return None if more or {name, GPU} - {*queues.queues, *queues.named} else name

    def most(self, gpus: int) -> int:
        """
        Give what starts on so many GPUs are worth at most.
        """
        problem = self.problem
        sizes: dict[str | None, list[int]] = {None: [n for _, n, _ in self.priced]}
        for _, needs, queue in self.priced:
            if queue is not None:
                sizes.setdefault(queue, []).append(needs)
        left = dict.fromkeys(sizes, gpus)
        for queue, mine in sizes.items():
            if queue is not None:
                left[queue] = problem.queues.share_left(problem.shares, queue, GPU)
            left[queue] = _most_filled(mine, min(gpus, left[queue]))
        total = self.costless
        for value, needs, queue in self.priced:
            if needs <= gpus:
                taken = min(needs, left[None], left[queue])
                total -= -value * taken // needs
                for each in {None, queue}:
                    left[each] -= taken
        return total

    def least(self, value: int) -> int:
        """
        Give on how many GPUs at least starts are that are worth so much.
        """
        left, gpus = value - self.costless, 0
        for worth, needs, _ in self.priced:
            if left <= worth:
                return gpus + needs * max(0, left) // worth
            left, gpus = left - worth, gpus + needs
        return gpus


def _most_filled(sizes: Sequence[int], most: int) -> int:
    """
    Give the largest sum of some sizes that is not above a number.
    """
    total = sum(each for each in sizes if each <= most)
    if total <= most or most > _MANY:
        return min(total, most)
    sums, mask = 1, (1 << most + 1) - 1
    for size in sizes:
        sums |= sums << size & mask if size <= most else 0
    return sums.bit_length() - 1
