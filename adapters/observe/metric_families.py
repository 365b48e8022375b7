"""
The families of metrics: what is told of rounds, of the newest plan, and of acting.

Every name, unit and label is listed in ``docs/reference/metrics.md``.
"""

from collections import Counter as Counts
from collections.abc import Mapping, Sequence
from itertools import product
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from adapters.compare.outcome import label
from adapters.loop.interfaces import Turn
from models.plan import FailedTry, Fallback, Plan, Rule

_ROUND_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_OUTCOMES = ("done", "idle", "skipped", "refused", "rejected", "dropped", "failed")
_LESSER_WAYS = ("without-evictions", "greedy")
_RESULTS = ("done", "held", "again", "refused", "skipped")


class RoundMetrics:
    """
    What came of rounds, and how long each of their phases took.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._rounds = Counter(
            "phalanx_rounds",
            "Rounds, by outcome.",
            ["outcome"],
            registry=registry,
        )
        self._rejected = Counter(
            "phalanx_plans_rejected",
            "Plans that broke a rule and were thrown away.",
            registry=registry,
        )
        self._fallbacks = Counter(
            "phalanx_rounds_fell_back",
            "Rounds that were planned again, by the way that held and what had failed.",
            ["way", "cause"],
            registry=registry,
        )
        self._phases = Histogram(
            "phalanx_round_phase_seconds",
            "How long each phase of a round took.",
            ["phase"],
            buckets=_ROUND_SECONDS,
            registry=registry,
        )
        for outcome in _OUTCOMES:
            self._rounds.labels(outcome)
        self._fallbacks.labels("none", "rejected")
        for way, cause in product(_LESSER_WAYS, ("rejected", "failed")):
            self._fallbacks.labels(way, cause)

    def ended(self, outcome: str) -> None:
        """
        Count a round by its outcome.
        """
        self._rounds.labels(outcome).inc()

    def took(self, phases: Mapping[str, float]) -> None:
        """
        Note how long phases took.
        """
        for phase, spent in phases.items():
            self._phases.labels(phase).observe(spent)

    def rejected(self, failed: Sequence[FailedTry]) -> None:
        """
        Count a round of which no plan held.
        """
        self.ended("rejected")
        self._rejected.inc(_num_rejected(failed) or 1)
        if failed:
            self._fallbacks.labels("none", "rejected").inc()

    def fell_back(self, fallback: Fallback) -> None:
        """
        Count a round that was planned again, and the plans that it threw away.
        """
        self._rejected.inc(_num_rejected(fallback.failed))
        cause = "failed" if fallback.failed[0].error else "rejected"
        self._fallbacks.labels(fallback.way, cause).inc()


class PlanMetrics:
    """
    What the newest plan says.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._gap = Gauge(
            "phalanx_tier_gap_ratio",
            "How much better than the newest plan the best plan may be in each tier, "
            "as a part of the larger of value and bound.",
            ["tier"],
            registry=registry,
        )
        self._proven = Gauge(
            "phalanx_tier_proven",
            "Whether the value of each tier is proven, in the newest plan.",
            ["tier"],
            registry=registry,
        )
        self._held = Gauge(
            "phalanx_held_gpus",
            "GPUs that idle since nodes are held for gangs passed over for long, while "
            "work waits that fits; in the newest plan.",
            registry=registry,
        )
        self._spent = Gauge(
            "phalanx_held_gpu_seconds",
            "GPU-seconds that idled in this way in the policy's window, before the "
            "newest plan.",
            registry=registry,
        )
        self._gangs = Gauge(
            "phalanx_gangs",
            "Gangs by state, in the newest plan.",
            ["state"],
            registry=registry,
        )
        self._waiting = Gauge(
            "phalanx_gangs_waiting",
            "Gangs that wait, by reason, in the newest plan.",
            ["reason"],
            registry=registry,
        )

    def planned(self, plan: Plan, held: int) -> None:
        """
        Note a plan, and how many GPU-seconds were held before it.
        """
        self._gap.clear()
        self._proven.clear()
        for tier in plan.tiers:
            self._gap.labels(label(tier)).set(tier.gap)
            self._proven.labels(label(tier)).set(tier.proof == "proven")
        self._held.set(plan.held)
        self._spent.set(held)
        _set_all(self._gangs, Counts(line.state for line in plan.gangs))
        waiting = [line.waiting for line in plan.gangs if line.waiting]
        _set_all(self._waiting, Counts(why.reason.value for why in waiting))


class ActingMetrics:
    """
    What was done at the API server, and who does it.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._binds = Counter(
            "phalanx_binds", "Binds of pods, by result.", ["result"], registry=registry
        )
        self._evictions = Counter(
            "phalanx_evictions",
            "Evictions of pods, by rule and result.",
            ["rule", "result"],
            registry=registry,
        )
        self._call = Histogram(
            "phalanx_operation_seconds",
            "How long one bind or eviction took at the API server.",
            ["op"],
            buckets=_CALL_SECONDS,
            registry=registry,
        )
        self._leader = Gauge(
            "phalanx_leader", "Whether this replica leads.", registry=registry
        )
        self._changes = Counter(
            "phalanx_leadership_changes",
            "How often this replica became, or ceased to be, the leader.",
            registry=registry,
        )
        self._writes = Counter(
            "phalanx_status_writes",
            "Requests that report decisions, by the kind of object and outcome.",
            ["about", "outcome"],
            registry=registry,
        )
        for result in _RESULTS:
            self._binds.labels(result)
        for rule in get_args(Rule):
            self._evictions.labels(rule, "done")
        for about in ("group", "pod", "event"):
            self._writes.labels(about, "forbidden")

    def leading(self, *, is_leader: bool) -> None:
        """
        Note who leads.
        """
        self._leader.set(is_leader)
        self._changes.inc()

    def status_written(self, about: str, outcome: str) -> None:
        """
        Count a request of the status writer.
        """
        self._writes.labels(about, outcome).inc()

    def carried_out(self, turn: Turn) -> None:
        """
        Count what was done.
        """
        for receipt in turn.receipts:
            step = receipt.operation
            if step.op == "Reserve":
                continue
            if step.op == "Bind":
                self._binds.labels(receipt.result).inc()
            else:
                self._evictions.labels(step.rule or "", receipt.result).inc()
            if receipt.seconds:
                self._call.labels(step.op.lower()).observe(receipt.seconds)


def _num_rejected(failed: Sequence[FailedTry]) -> int:
    return sum(bool(one.violations) for one in failed)


def _set_all(gauge: Gauge, counts: Mapping[str, int]) -> None:
    """
    Set a gauge for what is there; what is there no longer disappears.
    """
    gauge.clear()
    for word, number in counts.items():
        gauge.labels(word).set(number)
