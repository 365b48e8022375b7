"""
Choices: what holds for every equally good way to evict, not only for the frozen one.

Several plans of a step may be equal in all its tiers: other victims that lose the same,
other places of those who are reserved.  What later tiers reach may depend on which of
them was frozen; what they are proven to be must not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from solver.evict.open_step import Opened
from solver.problem.never_starts import needed
from solver.problem.problem import Problem, Step, Unit
from solver.score.bounds import trivial_bound
from solver.score.tier import LOSSES, TierKey


@dataclass(slots=True)
class Sure:
    """
    What is known of tiers whoever was frozen.

    ``open`` says that something else, as good, could have been; ``found`` are bounds
    that the steps before found for every choice.
    """

    bare: Problem
    open: bool = False
    found: dict[TierKey, int] = field(default_factory=dict)

    def learn(
        self,
        opened: Opened,
        bounds: Mapping[TierKey, int],
        before: Problem,
        after: Problem,
    ) -> None:
        """
        Learn from a step that has ended.

        Parameters
        ----------
        opened
            The step.
        bounds
            What it found of its tiers.
        before
            The round before it.
        after
            The round with what it froze.
        """
        if self.open:
            return
        self.open = _may_choose(opened, before, after)
        step = opened.now.step
        gains = {"entitled"} if step is Step.ENTITLED else {"entitled", "borrowing"}
        may_follow = _may_follow(opened)
        for key in opened.keys:
            mine = key.name in LOSSES and LOSSES[key.name][0] == step
            if key in bounds and (mine or (key.name in gains and not may_follow)):
                self.found[key] = bounds[key]

    def holds(self, keys: Sequence[TierKey], values: Sequence[int]) -> tuple[bool, ...]:
        """
        Tell of each tier whether a value is the best whoever was frozen.
        """
        if not self.open:
            return (True,) * len(keys)
        rest = self.bare
        found = []
        for key, value in zip(keys, values, strict=True):
            borrows = key.name == "borrowing"
            widest = widest_bound(rest if borrows else self.bare, key)
            found.append(value in {self.found.get(key), widest})
            if key.name == "entitled" and value == widest:
                rest = _without_entitled(rest, key)
        return tuple(found)


def _without_entitled(problem: Problem, key: TierKey) -> Problem:
    """
    Leave out who is entitled in every choice: all of a band who may be are.
    """
    return replace(
        problem,
        units=tuple(
            unit
            for unit in problem.units
            if not unit.starts
            or unit.band != key.band
            or not _may_be_entitled(problem, unit)
        ),
    )


def _may_choose(opened: Opened, before: Problem, after: Problem) -> bool:
    """
    Tell whether a step could have frozen something else that is as good.

    Where nobody had to leave and nobody is leaving, everybody who starts has room now.
    """
    is_leaving = (opened.now.room.later > opened.now.room.free).any()
    return bool(is_leaving) or after.frozen is not before.frozen


def _may_follow(opened: Opened) -> bool:
    """
    Tell whether starts of its tiers may follow a step that are not its own.

    Without bands or inner queues that lose something, a start in idle room changes no
    right to evict: it would have been one of the step.
    """
    rights = [account.rights for account in opened.victims.accounts]
    bounded = opened.problem.policy.evict.max_lost_per_gpu is not None
    nested = bool(opened.problem.queues.parents)
    return (
        opened.left_out
        or bounded
        or any(one.preempt or (one.reclaim and nested) for one in rights)
    )


def widest_bound(problem: Problem, key: TierKey) -> int:
    """
    Give a bound of one tier that holds whatever is evicted and reserved.

    Parameters
    ----------
    problem
        The round before anything was frozen.
    key
        The tier.
    """
    match key.name:
        case name if name in LOSSES:
            return 0
        case "entitled":
            mine = tuple(u for u in problem.units if _may_be_entitled(problem, u))
            return trivial_bound(replace(problem, units=mine), key)
        case "topology":
            staying = tuple(u for u in problem.units if not _may_leave(u))
            return trivial_bound(replace(problem, units=staying), key)
        case _:
            return trivial_bound(problem, key)


def _may_be_entitled(problem: Problem, unit: Unit) -> bool:
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


def _may_leave(unit: Unit) -> bool:
    return any(
        state.gang.preemptible and any(leaf.running for leaf in state.leaves)
        for state in unit.states
    )
