"""
Choices: what holds for every equally good way to evict, not only for the frozen one.

Several plans of a step may be equal in all its tiers: other victims that lose the same,
other places of those who are reserved.  What later tiers reach may depend on which of
them was frozen; what they are proven to be must not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from solver.evict.open_step import Opened
from solver.place.draft import Draft
from solver.problem.problem import Problem, Step, Unit
from solver.problem.running_domains import staying
from solver.problem.when_empty.never_starts import needed
from solver.score.reserved_pods import least_kept
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import trivial_bound
from solver.search.best_so_far import BestSoFar


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
            if key in bounds and (mine or key.name in gains) and not may_follow:
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
            if key.name == "packing" and not any(unit.starts for unit in rest.units):
                widest = least_kept(self.bare)
            found.append(value in {self.found.get(key), widest})
            if key.name in {"entitled", "borrowing"} and value == widest:
                rest = _without_started(rest, key)
        return tuple(found)


def _without_started(problem: Problem, key: TierKey) -> Problem:
    """
    Leave out who starts in every choice: all of a band who may, by right or borrowing.
    """
    return replace(
        problem,
        units=tuple(
            unit
            for unit in problem.units
            if not unit.starts
            or unit.band != key.band
            or (key.name == "entitled" and not _may_be_entitled(problem, unit))
        ),
    )


@dataclass(frozen=True, slots=True)
class Found:
    """
    Bounds of tiers, each beside the values of those before it.
    """

    bounds: dict[TierKey, int] = field(default_factory=dict)
    values: dict[TierKey, int] = field(default_factory=dict)

    def add(self, bounds: Mapping[TierKey, int], values: Mapping[TierKey, int]) -> None:
        """
        Take in newer bounds.
        """
        self.bounds.update(bounds)
        self.values.update(values)

    def forget(self, *names: str) -> None:
        """
        Leave out all bounds of some tiers, or of all.
        """
        for key in list(self.bounds):
            if not names or key.name in names:
                del self.bounds[key]

    def copy(self) -> "Found":
        """
        Copy the tables, so that more may be learned of either.
        """
        return Found(dict(self.bounds), dict(self.values))

    def teach(self, best: BestSoFar) -> None:
        """
        Tell a search what holds for its values.
        """
        best.learn(self.bounds)
        best.doubt(self.values)


@dataclass(frozen=True, slots=True)
class Known:
    """
    Bounds of tiers from earlier steps.

    ``sure`` is what holds whoever was frozen, ``steps`` what the steps found of those
    for whom somebody may leave, ``idle`` what holds once anybody may start.  ``least``
    are bounds of steps that ended without a proof: what follows them cannot prove that
    nothing more was possible.
    """

    sure: Sure
    steps: Found = field(default_factory=Found)
    idle: Found = field(default_factory=Found)
    least: dict[TierKey, int] = field(default_factory=dict)

    def copy(self) -> "Known":
        """
        Copy what is known, so that more may be learned of either.
        """
        sure = replace(self.sure, found=dict(self.sure.found))
        return Known(sure, self.steps.copy(), self.idle.copy(), dict(self.least))

    def forget(self, keys: Sequence[TierKey]) -> None:
        """
        Forget what steps found of some tiers.
        """
        for key in keys:
            self.steps.bounds.pop(key, None)
            self.steps.values.pop(key, None)


@dataclass(frozen=True, slots=True)
class Decided:
    """
    A step as it was decided: the round before it, its values, and what was known then.
    """

    opened: Opened
    before: Problem
    draft: Draft
    values: tuple[int, ...]
    known: Known


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """
    A round at its end: what was decided on the way, and the values and bounds of it.

    ``is_greedy`` says that greedy has frozen the same.
    """

    problem: Problem
    draft: Draft
    keys: tuple[TierKey, ...]
    values: tuple[int, ...]
    bounds: tuple[int, ...]
    sure: Sure
    decided: tuple[Decided, ...]
    is_greedy: bool


def _may_choose(opened: Opened, before: Problem, after: Problem) -> bool:
    """
    Tell whether a step could have frozen something else that leads as far.

    Where nobody had to leave and nobody is leaving, everybody who starts has room now.
    But where starts may follow a step, somebody could leave so that more of them do.
    """
    is_leaving = (opened.now.room.later > opened.now.room.now).any()
    froze = after.frozen is not before.frozen
    return bool(is_leaving) or froze or _may_follow(opened)


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
            return trivial_bound(staying(problem), key)
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
