"""
What gangs that wait are told: why, as `phalanx why` says it first, and when they start.

That is proven in the thread that tells, for a small part of one core: at most one in
twenty seconds that go by, and never more at once than was saved up.  Until it is, the
reason that the round gave is told.
"""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from adapters.inventory.told_whys import sentence_of
from adapters.kube.dialects.protocol import GroupStanding
from adapters.kube.status.sayings import Saying, Told, message_of
from models.nodes import Taint
from models.why.held_for_it import held_for_it
from models.why.reasons import Reason
from models.why.verdicts import Verdict
from solver import RoundAsked, StartsAsked

_log = logging.getLogger(__name__)
PART = 0.05
"""
The part of one core that is taken.
"""
MOST_SAVED = 0.5
"""
Seconds that may be taken at once.
"""
AGAIN = 600.0
"""
Seconds after which a gang that waits for the same is asked about again.
"""
_ASKED = frozenset(
    {
        Reason.NO_FITTING_NODE.value,
        Reason.DEMAND_EXCEEDS_CLUSTER.value,
        Reason.TOPOLOGY_TOO_SMALL.value,
        Reason.QUOTA_EXCEEDS_MAXIMUM.value,
        Reason.QUOTA_LIMIT_REACHED.value,
        Reason.PREEMPTION_PROTECTED.value,
        Reason.INSUFFICIENT_CAPACITY.value,
        Reason.FRAGMENTED.value,
        Reason.LOWER_TIER_OR_PRIORITY.value,
        Reason.NEIGHBOURS_IN_THE_WAY.value,
        Reason.SEARCH_LIMIT_REACHED.value,
    }
)
"""
Reasons of which more can be told than that they are so.
"""


Nodes = frozenset[tuple[str, bool, tuple[Taint, ...]]]


@dataclass(frozen=True, slots=True)
class _Proven:
    """
    What was said of a gang, with which reason of a round, and when.

    Where nodes are named in it, ``nodes`` says how all of them were.
    """

    reason: str
    sentence: str
    at: float
    nodes: Nodes | None


class Proofs:
    """
    Proves what gangs are told, the one asked about first before all others.

    Parameters
    ----------
    clock
        Seconds that go by.
    spent
        Seconds that this thread has worked.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._spent = spent
        self._saved = MOST_SAVED
        self._at = clock()
        self._told: Told | None = None
        self._nodes: Nodes | None = None
        self._asked: tuple[RoundAsked, StartsAsked] | None = None
        self._proven: dict[str, _Proven] = {}
        self.is_open = False

    def begin(self, told: Told) -> None:
        """
        Ask of a round from now on.
        """
        if told is not self._told:
            self._told, self._asked, self._nodes = told, None, None
        self.is_open = False

    def keep(self, keys: Collection[str]) -> None:
        """
        Forget what is gone.
        """
        self._proven = {key: one for key, one in self._proven.items() if key in keys}

    def end(self) -> None:
        """
        Forget the round, where all of it is proven.
        """
        if not self.is_open:
            self._told = self._asked = None

    def of(self, saying: Saying) -> Saying:
        """
        Give what is said of a gang with what was proven, if it waits.
        """
        standing = saying.standing
        reason = standing.reason
        known = self._proven.get(standing.key)
        if known is not None and known.reason != reason:
            del self._proven[standing.key]
            known = None
        if standing.state != "Waiting" or reason is None or reason not in _ASKED:
            return saying
        if known is None or self._is_old(known):
            known = self._new(standing, reason) or known
        if known is None or not known.sentence:
            return saying
        words = known.sentence + held_for_it(standing.facts)
        said = replace(standing, message=words)
        return replace(saying, standing=said, message=message_of(said))

    def _is_old(self, known: _Proven) -> bool:
        """
        Tell whether to ask again: it was long ago, or it names nodes and some changed.
        """
        changed = known.nodes is not None and known.nodes != self._nodes_now()
        return changed or self._clock() - known.at >= AGAIN

    def _nodes_now(self) -> Nodes:
        """
        Say how all nodes of the round are; made once, when it is first asked for.
        """
        if self._nodes is None:
            told = self._told
            self._nodes = frozenset(
                (node.name, node.unschedulable, node.taints)
                for node in (told.assembled.snapshot.nodes if told else ())
            )
        return self._nodes

    def _new(self, standing: GroupStanding, reason: str) -> _Proven | None:
        """
        Prove it, unless too much time was taken for that already.
        """
        now = self._clock()
        self._saved = min(MOST_SAVED, self._saved + PART * (now - self._at))
        self._at = now
        if self._told is None or self._saved <= 0.0:
            self.is_open = True
            return None
        began = self._spent()
        try:
            sentence, named = self._sentence(self._told, standing)
        except Exception:  # noqa: BLE001 - the reason of the round is told as it is
            fields = {"gang": standing.key}
            _log.exception("why_failed", extra={"fields": fields})
            sentence, named = "", False
        self._saved -= self._spent() - began
        nodes = self._nodes_now() if named else None
        known = self._proven[standing.key] = _Proven(reason, sentence, now, nodes)
        return known

    def _sentence(self, told: Told, standing: GroupStanding) -> tuple[str, bool]:
        """
        Give what is proven of a gang, and whether nodes are named in it.

        Nothing where it is what the round said.
        """
        if self._asked is None:
            snapshot = told.assembled.snapshot
            asked = RoundAsked(snapshot, told.policy, told.plan)
            self._asked = asked, StartsAsked(asked.problem, told.plan)
        whys, starts = self._asked
        why = whys.told(standing.key)
        if not why.certain or why.sentence == standing.message:
            return "", False
        named = any(one.rule is Verdict.NODES for one in why.because)
        return sentence_of(why, starts.when(standing.key), told.now), named
