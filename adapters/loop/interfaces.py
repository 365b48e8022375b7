"""
The seams of every loop: where snapshots come from, who plans, and where plans go.

A cluster, files and a replay meet the same objects here, so that a replay drives what
a cluster is driven by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from models.errors import PhalanxError, PlanRejectedError
from models.plan import Operation, Plan
from models.policy import Policy
from models.receipt import Receipt
from models.snapshot import Snapshot


class Source(Protocol):
    """
    Gives what is.
    """

    def snapshot(self) -> Snapshot:
        """
        Give one consistent snapshot, or raise ``SnapshotRefusedError``.
        """


class Planner(Protocol):
    """
    Gives a verified plan, as ``solver.fallback.decide_or_fall_back`` does.
    """

    def __call__(self, snapshot: Snapshot, policy: Policy) -> Plan:
        """
        Plan one round, or raise ``PlanRejectedError``.
        """


class Sink(Protocol):
    """
    Carries plans out.
    """

    def execute(self, plan: Plan) -> Sequence[Receipt]:
        """
        Carry a plan out as far as it goes, with a receipt for each of its operations.
        """


@dataclass(frozen=True, slots=True)
class Turn:
    """
    One round that was planned and carried out.

    ``name`` is the id of the round, ``began`` its time in seconds since the epoch.
    ``seconds`` says how long its phases took: ``snapshot``, ``plan`` and ``execute``.
    ``policy`` is what it was planned by: in the first minutes of all nobody leaves.
    One that ``ends_held`` binds of a round before is no round of its own.
    """

    snapshot: Snapshot
    plan: Plan
    receipts: Sequence[Receipt]
    name: str = ""
    began: float = 0.0
    seconds: Mapping[str, float] = field(default_factory=dict)
    ends_held: bool = False
    policy: Policy = field(default_factory=Policy)

    def of(self, steps: Sequence[Operation]) -> "Turn":
        """
        Give the turn that ends what was held: some binds alone, with their gangs.
        """
        mine = {step.gang for step in steps}
        gangs = tuple(gang for gang in self.snapshot.gangs if gang.key in mine)
        return replace(
            self,
            snapshot=replace(self.snapshot, gangs=gangs),
            plan=replace(self.plan, operations=tuple(steps)),
            seconds={},
            ends_held=True,
        )


class Reporter(Protocol):
    """
    Tells people and other programs what a loop does.

    One thread calls all of it, the loop's.  The next round may be planned before the
    one before it is carried out.  What is raised here is told to ``failed`` and stops
    no round; what takes long holds the loop up.
    """

    def ticked(self) -> None:
        """
        Hear that the loop is alive: it looks whether there is something to do.
        """

    def leading(self, *, is_leader: bool) -> None:
        """
        Hear that we became the leader, or no longer are.
        """

    def refused(self, error: PhalanxError) -> None:
        """
        Hear that there was no snapshot to plan by: something is not read, or too old.
        """

    def skipped(self) -> None:
        """
        Hear that nothing that matters has changed since a round with nothing to do.
        """

    def planned(self, turn: Turn) -> None:
        """
        Hear what was planned and verified, before any of it is carried out.

        The turn has no receipts yet.  The source still is as the snapshot was made of
        it, so claims and versions that belong to this round are there to be kept.
        """

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Hear that a plan broke a rule and was thrown away; ``bundle`` reproduces it.
        """

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Hear that a round was planned again in a lesser way; what was planned follows.

        The plan as asked broke a rule, or its making broke; ``bundle`` reproduces it.
        """

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Hear that a plan was not carried out, since what it was made of is no longer so.
        """

    def carried_out(self, turn: Turn) -> None:
        """
        Hear what became of every operation of a plan.
        """

    def failed(self, error: Exception) -> None:
        """
        Hear that a round ended in an error that nobody expected.
        """


def turn(source: Source, planner: Planner, sink: Sink, policy: Policy) -> Turn:
    """
    Look, plan, carry out.
    """
    snapshot = source.snapshot()
    plan = planner(snapshot, policy)
    return Turn(snapshot, plan, sink.execute(plan))
