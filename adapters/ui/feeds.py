"""
Where frames come from: one round of files, or a cluster as it changes.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from adapters.compare.start_cost import start_cost
from adapters.files.writing.why_writer import why_document
from adapters.inventory.listed import Seen
from adapters.loop.plan_round import LivePlanner, planned
from adapters.machine.garbage import let_stay
from adapters.ui.frame import RoundFacts, frame_document
from adapters.ui.frame_store import FrameStore, RoundAnswers
from models.errors import PhalanxError
from models.plan import Plan
from models.why.verdicts import WhyWaits
from solver import remedies_of, when_starts, why_waits

_LEAST_PAUSE = 1.0
_LONGEST_PAUSE = 10.0


def add_round(
    store: FrameStore,
    seen: Seen,
    plan: Plan | None,
    facts: RoundFacts,
    instead: int | None = None,
) -> int:
    """
    Add a round to what can be seen, with greedy's plan of it for who asks.

    It stands ``instead`` of a frame that showed the same without a plan.
    """
    document = frame_document(seen, plan, facts, store.memo)
    answers = None if plan is None else answers_of(seen, plan, facts)
    return store.add(document, answers, instead)


def answers_of(seen: Seen, plan: Plan, facts: RoundFacts) -> RoundAnswers:
    """
    Give what can be asked about a round whose snapshot is known.
    """

    def greedy() -> Mapping[str, Any]:
        other = planned(seen.snapshot, seen.policy, "greedy")
        return frame_document(seen, other, replace(facts, seconds=None))

    @cache
    def known(gang: int) -> WhyWaits | None:
        if gang >= len(seen.snapshot.gangs):
            return None
        key = seen.snapshot.gangs[gang].key
        return why_waits(seen.snapshot, seen.policy, plan, key)

    def why(gang: int) -> Mapping[str, Any]:
        found = known(gang)
        return {} if found is None else why_document(found)

    def remedies(gang: int) -> Mapping[str, Any]:
        found = known(gang)
        if found is None:
            return {}
        given = seen.snapshot, seen.policy, plan
        when, cost = when_starts(*given, found.gang), start_cost(*given, found)
        return why_document(found, remedies_of(*given, found), when, cost)

    return RoundAnswers(greedy, why, remedies)


class ClusterFeed:
    """
    Looks at a cluster whenever it changes; then plans what it saw, to show that too.
    """

    def __init__(
        self,
        store: FrameStore,
        look: Callable[[], Seen],
        changed: threading.Event,
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._look = look
        self._changed = changed
        self._now = now
        self._planner = LivePlanner()
        self._ends = threading.Event()
        self._number = 0

    def stop(self) -> None:
        """
        Look no more.
        """
        self._ends.set()
        self._changed.set()

    def run(self) -> None:
        """
        Look, plan, and wait for a change, until told to stop.
        """
        while not self._ends.is_set():
            self._changed.clear()
            try:
                self.once()
            except PhalanxError as error:
                self._store.fail(str(error))
            if self._number == 1:
                let_stay()
            self._ends.wait(_LEAST_PAUSE)
            while not self._changed.wait(_LONGEST_PAUSE) and not self._store.trouble:
                pass

    def once(self) -> None:
        """
        Show what is there at once, and its plan when it is made.
        """
        seen = self._look()
        self._number += 1
        facts = RoundFacts(name=f"look {self._number}", began=self._now())
        bare = add_round(self._store, seen, None, facts)
        if not self._changed.is_set():
            plan = self._planner(seen.snapshot, seen.policy)
            add_round(self._store, seen, plan, facts, bare)
