"""
Rounds with a change, asked of the exact model: does a gang start, and could it?

A round is asked as a whole, over all outcomes of its steps that are equally good.
"""

from exact import (
    UndecidedError,
    best,
    best_round,
    best_round_that_starts,
    first_worse,
)
from models.changes import ChangesRejectedError, changed, policy_after
from solver import decide_or_fall_back
from solver.problem.problem import problem_of

HELPED = {"Starting", "Reserved", "Running", "Growing"}
MOST_OUTCOMES = 8


class ChangedRound:
    """
    The round with some changes, planned; ``starts`` tells whether it starts a gang.
    """

    def __init__(self, snapshot, policy, changes, gang):
        self.gang = gang
        self.policy = policy_after(policy, changes)
        try:
            self.snapshot = changed(snapshot, changes)
        except ChangesRejectedError:
            self.snapshot, self.starts = None, False
            return
        self.plan = decide_or_fall_back(self.snapshot, self.policy, explained=False)
        states = {line.name: line.state for line in self.plan.gangs}
        self.starts = states[gang] in HELPED

    def problem(self, told) -> str | None:
        """
        Say what is wrong with who starts; what is not known is counted in ``told``.

        The best round must not be better than one that starts it, nor one that starts
        it better than one that does not.
        """
        if self.snapshot is None:
            return None
        try:
            known = self._best() if self.starts else self._best_that_starts()
        except UndecidedError:
            told["rounds with too many outcomes"] += 1
            return None
        if known is None:
            told["changes with which no round starts it"] += 1
            return None
        tiers = {(tier.name, tier.band): tier for tier in self.plan.tiers}
        have = {name: tier.value for name, tier in tiers.items()}
        worse = first_worse(have, known)
        told["rounds asked of the exact model"] += 1
        if worse is None:
            return None
        if worse[:2] in tiers and tiers[worse[:2]].proof != "proven":
            told["rounds left open by the search"] += 1
            return None
        name, band, value = worse
        does = "starts" if self.starts else "does not start"
        return f"it {does}: {name} {have.get((name, band), 0)}, possible {value}"

    @property
    def _asked(self):
        shares = problem_of(self.snapshot, self.policy).shares
        return self.snapshot, self.policy, shares

    def _best(self):
        if not self._evicts:
            return best(*self._asked)
        return best_round(*self._asked, MOST_OUTCOMES)

    def _best_that_starts(self):
        return best_round_that_starts(self.gang, *self._asked, MOST_OUTCOMES)

    @property
    def _evicts(self):
        return self.policy.evicts(borrowing=False) or self.policy.evicts(borrowing=True)
