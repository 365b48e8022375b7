"""
Rules about entitlement: what is started as entitled fits the fair shares.
"""

from collections.abc import Iterator, Mapping, Sequence

from models.resources import format_quantity
from solver.fairshare import fair_shares
from solver.verify.counting import least_core
from solver.verify.demand import requested
from solver.verify.evidence import Amounts, Case, Evidence
from solver.verify.queues import rolled_up
from solver.verify.violation import Violation


def entitlements(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that entitled starts fit between what runs and the fair share.

    For every queue on the path and every named resource: Σ least demand of entitled
    starts ≤ max(0, fair share - running).
    """
    starts = _entitled_starts(evidence) if evidence.named else []
    if not starts:
        return
    own: Amounts = {}
    for case in starts:
        row = own.setdefault(case.gang.queue, {})
        for resource in evidence.named:
            least = least_core(case.gang, case.before, case.placed, resource)
            row[resource] = row.get(resource, 0) + least
    running = rolled_up(evidence, evidence.running)
    shares = _Shares(evidence)
    for name, amounts in sorted(rolled_up(evidence, own).items()):
        for resource, need in sorted(amounts.items()):
            have = running.get(name, {}).get(resource, 0)
            share = shares.at_most(name, resource, need + have) if need else 0
            if need > max(0, share - have):
                asks, fair, runs = (
                    format_quantity(resource, x) for x in (need, share, have)
                )
                message = (
                    f"{resource}: entitled starts need {asks}, "
                    f"the fair share is {fair} and {runs} is running"
                )
                yield Violation("entitled", name, message)


def _entitled_starts(evidence: Evidence) -> list[Case]:
    if not (evidence.policy.has("entitled") or evidence.policy.has("borrowing")):
        return []
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    return [c for c in evidence.binding() if c.starts and c.gang.key in called]


class _Shares:
    """
    Fair shares under the judge's reading, and under others in a plan's favour.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.queues = evidence.snapshot.queues
        self.totals = {
            resource: sum(
                max(0, node.allocatable.get(resource, 0) - node.used.get(resource, 0))
                for node in evidence.snapshot.nodes
            )
            for resource in evidence.named
        }
        self.demand, self.doubts = requested(evidence)
        self.own = self._read([doubt.options[0] for doubt in self.doubts])

    def at_most(self, queue: str, resource: str, wanted: int) -> int:
        """
        Give a queue's share, where doubts matter read in its favour up to ``wanted``.
        """
        readings = [doubt.options[0] for doubt in self.doubts]
        best = self.own[queue][resource]
        for at, doubt in enumerate(self.doubts):
            for option in doubt.options[1:]:
                if best >= wanted:
                    return best
                tried = [*readings[:at], option, *readings[at + 1 :]]
                share = self._read(tried)[queue][resource]
                if share > best:
                    best, readings = share, tried
        return best

    def _read(self, readings: Sequence[Mapping[str, int]]) -> Amounts:
        demand = {name: dict(row) for name, row in self.demand.items()}
        for doubt, reading in zip(self.doubts, readings, strict=True):
            row = demand.setdefault(doubt.queue, {})
            for resource, amount in reading.items():
                row[resource] = row.get(resource, 0) + amount
        return fair_shares(self.queues, self.totals, demand)


def entitled_groups(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a member of a group is entitled only if all that start with it are.
    """
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    for case in _entitled_starts(evidence):
        for name in sorted(set(case.gang.mates)):
            mate = evidence.cases.get(name)
            if mate is not None and mate.starts and name not in called:
                message = f"called entitled, but {name} of its group is not"
                yield Violation("entitled-group", case.gang.key, message)
