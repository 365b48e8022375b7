"""
The best draft so far, kept outside the model, with its values and their bounds.

It is never worse than greedy's in the policy's order; the bounds are the model's own,
or arithmetic where none was built.
"""

from collections.abc import Mapping, Sequence

from solver.place.draft import Draft
from solver.problem.problem import Problem
from solver.score.still_possible import nearer_bounds
from solver.score.tier import LOSSES, TierKey
from solver.score.tiers import is_better, score, trivial_bound


class BestSoFar:
    """
    A draft, what it comes to in each tier, and the best that any draft could.

    ``trivial`` are the bounds that hold whatever earlier tiers come to; ``fixed`` are
    the tiers that are not asked.
    """

    def __init__(
        self, problem: Problem, keys: tuple[TierKey, ...], draft: Draft
    ) -> None:
        self.problem = problem
        self.keys = keys
        self.draft = draft
        self.values = score(problem, draft, keys)
        self.trivial = [trivial_bound(problem, key) for key in keys]
        self.bounds = [*self.trivial]
        self.fixed: set[int] = set()

    def learn(self, known: Mapping[TierKey, int]) -> None:
        """
        Take over bounds that earlier steps found; what is lost is not decided again.
        """
        for at, key in enumerate(self.keys):
            if self._is_lost(key) or key in known:
                self.fixed.add(at)
        self.tighten(known)

    def tighten(self, bounds: Mapping[TierKey, int]) -> None:
        """
        Take over bounds of tiers that are asked all the same.
        """
        for at, key in enumerate(self.keys):
            if key in bounds:
                self.trivial[at] = self.bounds[at] = bounds[key]

    def add_up(self) -> None:
        """
        Take over bounds that follow from adding up GPUs, where they are nearer.
        """
        found = nearer_bounds(self.problem, self.keys, self.values, self.bounds)
        for at, bound in enumerate(found):
            if bound < self.bounds[at]:
                self.trivial[at] = self.bounds[at] = bound

    def _is_lost(self, key: TierKey) -> bool:
        """
        Tell whether a tier counts what another step has lost.
        """
        return key.name in LOSSES and LOSSES[key.name][0] != self.problem.step

    def doubt(self, values: Mapping[TierKey, int]) -> None:
        """
        Forget what was learned given other values of earlier tiers than there are now.

        Parameters
        ----------
        values
            Those beside which the bounds were found.
        """
        given = True
        for at, key in enumerate(self.keys):
            if key not in values or at not in self.fixed or self._is_lost(key):
                continue
            if not given:
                self.trivial[at] = trivial_bound(self.problem, key)
                self.bounds[at] = self.trivial[at]
            given = given and self.values[at] == values[key]
            if not given:
                self.fixed.discard(at)

    def is_decided(self, at: int, value: int | None = None) -> bool:
        """
        Tell whether a tier is not asked, or proven with the best's or another value.
        """
        had = self.values[at] if value is None else value
        return at in self.fixed or had == self.bounds[at]

    def offer(self, draft: Draft, upto: int | None = None) -> bool:
        """
        Keep a draft if it is better; tell whether it is.

        With ``upto`` a tier it has to be better up to that one, whatever comes after.
        """
        values = score(self.problem, draft, self.keys)
        end = len(self.keys) if upto is None else upto + 1
        if not is_better(self.keys[:end], values, self.values):
            return False
        self.draft, self.values = draft, values
        return True

    def first_short(self, draft: Draft, claims: Sequence[int]) -> int:
        """
        Give the first tier in which a draft falls short of what was claimed of it.
        """
        values = score(self.problem, draft, self.keys)
        for at, claim in enumerate(claims):
            if is_better(self.keys[at : at + 1], (claim,), values[at : at + 1]):
                return at
        return len(claims)

    def replace(self, draft: Draft) -> None:
        """
        Keep a draft whether it is better or not.
        """
        self.draft, self.values = draft, score(self.problem, draft, self.keys)

    def is_full(self, at: int) -> bool:
        """
        Tell whether all that can be added counts up to a tier, and no more than it is.
        """
        counts: list[str] = [key.name for key in self.keys]
        here = zip(counts[: at + 1], self.values, self.bounds, strict=False)
        proven = [name for name, value, bound in here if value == bound]
        grows = ("entitled", "borrowing", "surplus")
        return all(0 < counts.count(name) == proven.count(name) for name in grows)

    def widen(self, at: int) -> None:
        """
        Keep bounds on the right side of values.

        A repaired draft may beat a tier that was locked lower.
        """
        for i, key in enumerate(self.keys):
            if i > at:
                self.bounds[i] = self.trivial[i]
            else:
                self.bounds[i] = beyond(key, self.values[i], self.bounds[i])


def beyond(key: TierKey, value: int, bound: int) -> int:
    """
    Keep a bound on the far side of a value.
    """
    return max(value, bound) if key.direction == "max" else min(value, bound)
