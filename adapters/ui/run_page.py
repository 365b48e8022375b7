"""
The page that `phalanx run` serves of its own rounds.

It costs a round nothing: what was planned is kept by reference, and made into a frame
in a thread of its own, and only while somebody looks.
"""

import threading
from pathlib import Path

from adapters.inventory.listed import Seen
from adapters.loop.interfaces import Turn
from adapters.machine.supervised import SupervisedThread
from adapters.ui.feeds import add_round
from adapters.ui.frame import RoundFacts
from adapters.ui.frame_store import FrameStore
from adapters.ui.server import UiAddress, UiServer
from models.errors import PhalanxError, PlanRejectedError
from models.snapshot import Snapshot

_BEAT = 0.25


class RunPage:
    """
    Hears what a loop plans, and shows it to who looks.
    """

    def __init__(self, source: str, address: UiAddress) -> None:
        self.store = FrameStore(source, live=True)
        self.server = UiServer(self.store, address)
        self._source = source
        self._newest: Turn | None = None
        self._came = threading.Event()
        self._ends = threading.Event()
        self.thread = SupervisedThread("ui-frames", self._run)

    def start(self) -> None:
        """
        Begin to serve.
        """
        self.server.start()
        self.thread.start()

    def stop(self) -> None:
        """
        Serve nobody any more.
        """
        self._ends.set()
        self._came.set()
        self.thread.stop()
        self.thread.join(2.0)
        self.server.stop()

    def keep_token(self, path: Path) -> bool:
        """
        Write the address with its token where only we can read it, if it has one.
        """
        if self.server.guard.token is None:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(f"{self.server.url}\n", encoding="utf-8")
        return True

    def _run(self) -> None:
        while not self._ends.is_set():
            self._came.wait()
            if self._ends.is_set():
                return
            if not self.server.is_followed:
                self._ends.wait(_BEAT)
                continue
            self._came.clear()
            turn, self._newest = self._newest, None
            if turn is not None:
                self._show(turn)

    def _show(self, turn: Turn) -> None:
        seen = Seen(snapshot=turn.snapshot, policy=turn.policy, source=self._source)
        facts = RoundFacts(
            name=turn.name, began=turn.began, seconds=turn.seconds.get("plan")
        )
        add_round(self.store, seen, turn.plan, facts)

    def planned(self, turn: Turn) -> None:
        """
        Keep the newest round.
        """
        self._newest = turn
        self._came.set()

    def ticked(self) -> None:
        """
        Say nothing.
        """

    def leading(self, *, is_leader: bool) -> None:
        """
        Say that another one plans, where it does.
        """
        if not is_leader:
            self.store.fail("another replica leads; this one plans nothing")

    def refused(self, error: PhalanxError) -> None:
        """
        Say why there is no round.
        """
        self.store.fail(str(error))

    def skipped(self) -> None:
        """
        Say nothing.
        """

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Say that a plan was thrown away.
        """
        del snapshot, bundle
        self.store.fail(str(error))

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Say nothing: the round says it.
        """

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Say that a round was not carried out.
        """
        del turn
        self.store.fail(f"the last round was dropped: {why}")

    def carried_out(self, turn: Turn) -> None:
        """
        Say nothing: what became of it is in the next round.
        """

    def failed(self, error: Exception) -> None:
        """
        Say that a round broke.
        """
        self.store.fail(f"{type(error).__name__}: {error}")
