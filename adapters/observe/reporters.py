"""
Several reporters as one, and the one that keeps the record of rounds.
"""

import logging
import queue
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adapters.loop.interfaces import Reporter, Turn
from adapters.machine.supervised import SupervisedThread
from adapters.observe.round_file import MOST_OPERATIONS, RoundFile, bound_in
from adapters.observe.round_record import alive_in, head_of, held_binds, record_of
from models.errors import PhalanxError, PlanRejectedError
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot

_log = logging.getLogger(__name__)
_MOST_WAITING = 8
_REMEMBERED = 64


class Reporters:
    """
    Tells each of several reporters; one that fails keeps nothing from the others.
    """

    def __init__(self, several: Sequence[Reporter]) -> None:
        self._several = tuple(several)

    def ticked(self) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.ticked())

    def leading(self, *, is_leader: bool) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.leading(is_leader=is_leader))

    def refused(self, error: PhalanxError) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.refused(error))

    def skipped(self) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.skipped())

    def planned(self, turn: Turn) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.planned(turn))

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.rejected(snapshot, error, bundle))

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.fell_back(turn, bundle))

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.dropped(turn, why))

    def carried_out(self, turn: Turn) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.carried_out(turn))

    def failed(self, error: Exception) -> None:
        """
        Pass it on.
        """
        self._each(lambda to: to.failed(error))

    def _each(self, say: Callable[[Reporter], None]) -> None:
        for reporter in self._several:
            try:
                say(reporter)
            except Exception as error:  # noqa: BLE001 - the others are told all the same
                fields = {"error": f"{type(error).__name__}: {error}"}
                _log.exception("report_failed", extra={"fields": fields})


class RoundRecorder:
    """
    Appends what became of each round to a file, in a thread of its own.

    What came of binds that were held stands with the round that is recorded next.
    Where rounds come faster than the disk takes them, the oldest are left out.
    """

    def __init__(
        self, file: RoundFile, policy: Policy, now: Callable[[], float]
    ) -> None:
        self._file = file
        self._policy = policy
        self._now = now
        self._kept: deque[str] = deque(maxlen=_REMEMBERED)
        self._promised: Turn | None = None
        self._before: Plan | None = None
        self._ran: set[str] | None = None
        self._held: list[dict[str, Any]] = []
        self._waiting: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self.thread = SupervisedThread("record", self._run)

    def start(self) -> None:
        """
        Begin to write.
        """
        self.thread.start()

    def stop(self, seconds: float = 2.0) -> None:
        """
        Write what there is, and end.
        """
        self.thread.stop()
        self._waiting.put(None)
        self.thread.join(seconds)

    def ticked(self) -> None:
        """
        Say nothing.
        """

    def leading(self, *, is_leader: bool) -> None:
        """
        Say nothing.
        """

    def refused(self, error: PhalanxError) -> None:
        """
        Say nothing.
        """

    def skipped(self) -> None:
        """
        Say nothing.
        """

    def planned(self, turn: Turn) -> None:
        """
        Record a round in which there is nothing to do, unless all is as it was.

        One that only keeps places reserved may still be carried out: it is recorded
        when that is over, or when the next one is planned.
        """
        is_as_before = self._is_as_before(turn)
        before, self._promised = self._promised, None
        if before is not None:
            self._record(before, "done")
        if not turn.plan.operations:
            if not is_as_before:
                self._record(turn, "done")
        elif all(step.op == "Reserve" for step in turn.plan.operations):
            self._promised = turn

    def carried_out(self, turn: Turn) -> None:
        """
        Record a round with its receipts.
        """
        self._settle(turn)
        self._record(turn, "done")

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Record a round of which nothing was tried.
        """
        self._settle(turn)
        self._record(turn, "dropped", why)

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Record that a plan was thrown away, and where what shows it is.
        """
        where = f"; it is reproduced by phalanx plan {bundle}" if bundle else ""
        name = bundle.stem if bundle else ""
        self._end("rejected", f"{error}{where}", name, len(snapshot.nodes))

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Say nothing: the record of the round has it.
        """

    def failed(self, error: Exception) -> None:
        """
        Record an error that nobody expected.
        """
        kept = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        self._end("failed", f"{type(error).__name__}: {error}{kept}")

    def _is_as_before(self, turn: Turn) -> bool:
        """
        Tell whether nothing is to be done, and all stands as in the round before.
        """
        before, self._before = self._before, turn.plan
        return (
            before is not None
            and not before.operations
            and not turn.plan.operations
            and before.gangs == turn.plan.gangs
            and before.tiers == turn.plan.tiers
        )

    def _settle(self, turn: Turn) -> None:
        if self._promised is not None and self._promised.name == turn.name:
            self._promised = None

    def _record(self, turn: Turn, outcome: str, why: str = "") -> None:
        if turn.ends_held:
            self._held += held_binds(turn)
            return
        if turn.name in self._kept:
            return
        self._kept.append(turn.name)
        held, self._held = self._held[-MOST_OPERATIONS:], []

        def write() -> None:
            ended = self._ended(turn, outcome)
            record = record_of(turn, self._policy, outcome, why, ended)
            self._file.append({**record, "heldBinds": held})

        self._put(write)

    def _ended(self, turn: Turn, outcome: str) -> list[str]:
        """
        Name the gangs that ran and that are gone since the last record.

        One whose pods go first still ran; one that a plan made leave has to start anew.
        """
        run, there, leave = alive_in(turn)
        ran = bound_in(self._file.path) if self._ran is None else self._ran
        stay = ran & there
        self._ran = (stay | run) - leave if outcome == "done" else stay
        return sorted(ran - there)

    def _end(
        self, outcome: str, why: str, name: str = "", nodes: int | None = None
    ) -> None:
        began = self._now()
        head = head_of(name or f"{began:.3f}", began, outcome, why)
        self._put(lambda: self._file.append({**head, "nodes": nodes}))

    def _put(self, write: Callable[[], None]) -> None:
        while self._waiting.qsize() >= _MOST_WAITING:
            try:
                self._waiting.get_nowait()
            except queue.Empty:
                break
            _log.warning("round_left_out")
        self._waiting.put(write)

    def _run(self) -> None:
        while (write := self._waiting.get()) is not None:
            try:
                write()
            except Exception:  # noqa: BLE001 - a record less, and the next one
                _log.exception("round_not_recorded")
