"""
Bundles of rounds that failed: what shows the mistake, kept where a person finds it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from adapters.files import bundles
from adapters.loop.interfaces import Turn
from adapters.loop.parts import Parts
from adapters.loop.telling import Teller
from models.errors import PlanRejectedError
from models.plan import FailedTry
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class KeptRounds:
    """
    Decides rounds, and keeps those that go wrong.
    """

    parts: Parts
    tell: Teller

    def decided(self, snapshot: Snapshot, began: float, start: float) -> Turn | None:
        """
        Decide a round that began to look at ``start``.

        Of a plan that breaks a rule keep what shows it, and nothing else.
        """
        parts, seen, name = self.parts, self.parts.clock(), _name(began)
        try:
            policy = parts.policy_at(began)
            plan = parts.planner(snapshot, policy)
        except PlanRejectedError as caught:
            error, bundle = caught, self._keep(name, snapshot, caught.failed, caught)
            self.tell(lambda to: to.rejected(snapshot, error, bundle))
            return None
        seconds = {"snapshot": seen - start, "plan": parts.clock() - seen}
        turn = Turn(snapshot, plan, (), name, began, seconds, policy=policy)
        if plan.fallback is not None:
            bundle = self._keep(name, snapshot, plan.fallback.failed)
            self.tell(lambda to: to.fell_back(turn, bundle))
        return turn

    def broke(self, about: Snapshot | None, error: Exception) -> None:
        """
        Keep what shows an error that nobody expected, and tell of it.
        """
        path = self._keep(_name(self.parts.now()), about, (), error)
        if path is not None:
            error.add_note(f"kept in {path}")
        self.tell.failed(error)

    def _keep(
        self,
        name: str,
        snapshot: Snapshot | None,
        failed: Sequence[FailedTry],
        error: Exception | None = None,
    ) -> Path | None:
        """
        Write a bundle; of a round without a snapshot, where it broke.
        """
        parts, folder = self.parts, self.parts.folder
        if folder is None:
            return None
        try:
            if snapshot is not None:
                policy = parts.policy_at(parts.now())
                case = bundles.FailedRound(snapshot, policy, failed)
                return bundles.save(folder, name, case, error)
            return None if error is None else bundles.trace(folder, name, error)
        except Exception as worse:  # noqa: BLE001 - what is lost is only the bundle
            self.tell.failed(worse)
            return None


def _name(began: float) -> str:
    """
    Name a round by its time, so that names sort, and by chance.
    """
    moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(began))
    return f"{moment}-{uuid4().hex[:6]}"
