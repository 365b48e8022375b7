"""
Choices: what holds for every equally good way to evict, not only for the frozen one.

Several plans of a step may be equal in all its tiers: other victims that lose the same,
other places of those who are reserved.  What later tiers reach may depend on which of
them was frozen; what they are proven to be must not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from solver.evict.open_step import Opened, some_may_wait, somebody_leaves
from solver.place.draft import Draft
from solver.problem.problem import Problem, Step
from solver.score.still_possible import StillPossible
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import trivial_bound
from solver.search.best_so_far import BestSoFar


@dataclass(slots=True)
class Sure:
    """
    What is known of tiers whoever was frozen.

    ``open`` says that something else, as good, could have been; ``found`` are bounds
    that the steps before found for every choice, ``least`` what is lost at least where
    all start who may be entitled.  It ``froze`` where somebody leaves or is reserved.
    """

    bare: Problem
    open: bool = False
    froze: bool = False
    found: dict[TierKey, int] = field(default_factory=dict)
    least: dict[TierKey, int] = field(default_factory=dict)

    def learn(self, decided: "Decided", found: "Found", after: Problem) -> None:
        """
        Learn from a step what it found of its tiers; the round ``after`` has it frozen.
        """
        self.froze |= after.frozen is not decided.before.frozen
        if self.open:
            return
        opened, asked = decided.opened, bool(after.asked)
        self.open = asked or _may_choose(decided, after)
        step = opened.now.step
        gains = {"entitled"} if step is Step.ENTITLED else {"entitled", "borrowing"}
        if asked or _may_give_rights(opened):
            return
        for key in opened.keys:
            mine = key.name in LOSSES and LOSSES[key.name][0] == step
            if key not in found.bounds or not (mine or key.name in gains):
                continue
            if not opened.left_out:
                self.found[key] = found.bounds[key]
            elif mine and step is Step.ENTITLED and _all_start(opened, found):
                self.least[key] = found.bounds[key]

    def holds(self, keys: Sequence[TierKey], values: Sequence[int]) -> tuple[bool, ...]:
        """
        Tell of each tier whether a value is the best whoever was frozen.
        """
        if not self.open:
            return (True,) * len(keys)
        possible = StillPossible(self.bare)
        known = self.found | self.least
        found: list[bool] = []
        idle = self._idle_from(keys, values)
        for at, (key, value) in enumerate(zip(keys, values, strict=True)):
            is_widest = possible.take(key, value)
            is_idle = at >= idle and all(found)
            found.append(is_widest or is_idle or known.get(key) == value)
            if key.name == "entitled" and not is_widest:
                known = self.found
        return tuple(found)

    def _idle_from(self, keys: Sequence[TierKey], values: Sequence[int]) -> int:
        """
        Give the first tier that is about idle room alone, whoever could have left.

        Plans that lose as little as one in which nobody leaves differ in that only.
        """
        none = {k.name for k, value in zip(keys, values, strict=True) if value == 0}
        stays = none >= {"disruption-pods", "preemption-pods"}
        if self.froze or not stays or some_may_wait(self.bare):
            return len(keys)
        return 1 + max(at for at, key in enumerate(keys) if key.name in LOSSES)


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
        sure = replace(
            self.sure, found=dict(self.sure.found), least=dict(self.sure.least)
        )
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


def _may_choose(decided: Decided, after: Problem) -> bool:
    """
    Tell whether a step could have frozen something else that leads as far.

    Where nobody had to leave and nobody is leaving, everybody who starts has room now.
    But where starts may follow a step, somebody could leave so that more of them do.
    """
    opened = decided.opened
    froze = opened.left_out or after.frozen is not decided.before.frozen
    return froze or somebody_leaves(opened.now) or _may_give_rights(opened)


def _may_give_rights(opened: Opened) -> bool:
    """
    Tell whether what starts after a step may change who could have left in it.

    Without bands or inner queues that lose something, a start in idle room changes no
    right to evict: it would have been one of the step.
    """
    rights = [account.rights for account in opened.victims.accounts]
    nested = bool(opened.problem.queues.parents)
    return any(one.preempt or (one.reclaim and nested) for one in rights)


def _all_start(opened: Opened, found: "Found") -> bool:
    """
    Tell whether a step starts all for whom somebody could leave in it.
    """
    return all(
        found.values.get(key) == trivial_bound(opened.problem, key)
        for key in opened.keys
        if key.name not in LOSSES
    )
