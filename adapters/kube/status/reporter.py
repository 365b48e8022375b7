"""
From the loop to the status writer: each round is told once it is known what came of it.
"""

from dataclasses import replace
from pathlib import Path

from adapters.kube.status.sayings import Told
from adapters.kube.status.writer import StatusWriter
from adapters.kube.watch.source import ClusterSource
from adapters.loop.interfaces import Turn
from models.errors import PhalanxError, PlanRejectedError
from models.snapshot import Snapshot
from models.why.reasons import Waiting

_MOST_OPEN = 4


class StatusReporter:
    """
    Keeps what a round was made of until its receipts are there, and tells it.

    A round with nothing to carry out is told at once, or, while an earlier one is
    still carried out, after that one: it takes its binds for done.
    """

    def __init__(self, source: ClusterSource, writer: StatusWriter) -> None:
        self._source = source
        self._writer = writer
        self._open: dict[str, Told] = {}
        self._next: Told | None = None
        self._held: dict[str, Waiting] = {}

    def leading(self, *, is_leader: bool) -> None:
        """
        Be silent where others lead.
        """
        if not is_leader:
            self._open.clear()
            self._held.clear()
            self._next = None
            self._writer.hush()
            self._give_way()

    def ticked(self) -> None:
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
        Keep the claims of a round while the source still has them.
        """
        made = self._source.made
        if made is None:
            return
        told = Told(
            round=turn.name,
            now=turn.began,
            assembled=replace(made, snapshot=turn.snapshot),
            plan=turn.plan,
            policy=turn.policy,
        )
        if any(step.op != "Reserve" for step in turn.plan.operations):
            self._open[turn.name] = told
            for old in list(self._open)[:-_MOST_OPEN]:
                del self._open[old]
        elif self._open:
            self._next = told
        else:
            self._tell(told)
        self._give_way()

    def carried_out(self, turn: Turn) -> None:
        """
        Tell what came of a round, and what was planned since.
        """
        for receipt in turn.receipts:
            self._held.pop(receipt.operation.pod, None)
            if receipt.waiting is not None:
                self._held[receipt.operation.pod] = receipt.waiting
        told = self._open.pop(turn.name, None)
        if turn.ends_held:
            self._tell_end(turn)
        elif told is not None:
            self._tell(replace(told, receipts=turn.receipts))
        self._tell_next()
        self._give_way()

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Forget a round of which nothing was tried.
        """
        del why
        self._open.pop(turn.name, None)
        self._tell_next()
        self._give_way()

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Say nothing.
        """

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Say nothing.
        """

    def failed(self, error: Exception) -> None:
        """
        Say nothing.
        """

    def _give_way(self) -> None:
        """
        Leave the server to binds while some are under way.
        """
        self._writer.give_way(is_binding=bool(self._open))

    def _tell_next(self) -> None:
        if self._next is not None and not self._open:
            told, self._next = self._next, None
            self._tell(told)

    def _tell(self, told: Told) -> None:
        """
        Tell a round, with what is held now.
        """
        self._writer.tell(replace(told, held=dict(self._held)))

    def _tell_end(self, turn: Turn) -> None:
        """
        Tell what came of a gang that was held; the next round tells how it stands.
        """
        made = self._source.made
        if made is not None:
            self._writer.tell_end(
                Told(
                    round=turn.name,
                    now=turn.began,
                    assembled=replace(made, snapshot=turn.snapshot),
                    plan=turn.plan,
                    receipts=turn.receipts,
                )
            )
