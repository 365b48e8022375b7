"""
The seams of every loop: where snapshots come from, who plans, and where plans go.

A cluster, files and a replay meet the same objects here, so that a replay drives what
a cluster is driven by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from models.plan import Plan
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
    Gives a verified plan, as ``solver.round.decide`` does.
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
    """

    snapshot: Snapshot
    plan: Plan
    receipts: Sequence[Receipt]


def turn(source: Source, planner: Planner, sink: Sink, policy: Policy) -> Turn:
    """
    Look, plan, carry out.
    """
    snapshot = source.snapshot()
    plan = planner(snapshot, policy)
    return Turn(snapshot, plan, sink.execute(plan))
