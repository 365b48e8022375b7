"""
Metrics: what a loop does, counted for Prometheus.

Every name, unit and label is listed in ``docs/reference/metrics.md``.
"""

from collections import Counter as Counts
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from adapters.compare.outcome import distance, label
from adapters.loop.interfaces import Turn
from adapters.machine.clock import monotonic
from adapters.observe.gauges import Gauged, Looked
from models.aged_gangs import by_name
from models.errors import PhalanxError, PlanRejectedError
from models.plan import FailedTry
from models.snapshot import Snapshot

_ROUND_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_OUTCOMES = ("done", "idle", "skipped", "refused", "rejected", "dropped", "failed")
_LESSER_WAYS = ("without-evictions", "greedy")
_RESULTS = ("done", "held", "again", "refused", "skipped")


class Metrics:
    """
    Counts what a loop tells; ``registry`` is what is exported.

    ``now`` is the time of day, and ``clock`` only ever grows; ``ticked_at`` is by it.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float],
        clock: Callable[[], float] = monotonic,
        gauged: Gauged | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        self.registry = registry = CollectorRegistry()
        self.ticked_at = clock()
        self._now = now
        self._clock = clock
        self._snapshot: Snapshot | None = None
        self._oldest: float | None = None
        # Twice as many series, and nobody asks for them.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._rounds = Counter(
            "phalanx_rounds",
            "Rounds, by what came of them.",
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
        self._gap = Gauge(
            "phalanx_tier_gap_ratio",
            "What may be missing to the best of each tier, of the larger of value "
            "and bound; in the newest plan.",
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
            "What idled so in the policy's window, before the newest plan.",
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
            "How often this replica began or ceased to lead.",
            registry=registry,
        )
        self._tick = Gauge(
            "phalanx_loop_tick_timestamp_seconds",
            "When the loop looked last, in seconds since the epoch.",
            registry=registry,
        )
        self._writes = Counter(
            "phalanx_status_writes",
            "Requests that say what was decided, by what they are about and outcome.",
            ["about", "outcome"],
            registry=registry,
        )
        build = Gauge(
            "phalanx_build_info",
            "Always 1; the labels are the versions.",
            ["version", "ortools"],
            registry=registry,
        )
        known = versions or {}
        build.labels(known.get("phalanx", ""), known.get("ortools", "")).set(1)
        registry.register(Looked(self._seen, self._waited, gauged or Gauged()))
        for outcome in _OUTCOMES:
            self._rounds.labels(outcome)
        for result in _RESULTS:
            self._binds.labels(result)
        self._fallbacks.labels("none", "rejected")
        for way, cause in product(_LESSER_WAYS, ("rejected", "failed")):
            self._fallbacks.labels(way, cause)
        for about in ("group", "pod", "event"):
            self._writes.labels(about, "forbidden")
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)

    def status_written(self, about: str, outcome: str) -> None:
        """
        Count a request of the status writer.
        """
        self._writes.labels(about, outcome).inc()

    def ticked(self) -> None:
        """
        Note that the loop is alive.
        """
        self.ticked_at = self._clock()
        self._tick.set(self._now())

    def leading(self, *, is_leader: bool) -> None:
        """
        Note who leads.
        """
        self._leader.set(is_leader)
        self._changes.inc()

    def refused(self, error: PhalanxError) -> None:
        """
        Count a round without a snapshot.
        """
        del error
        self._rounds.labels("refused").inc()

    def skipped(self) -> None:
        """
        Count a look at which nothing had changed.
        """
        self._rounds.labels("skipped").inc()

    def planned(self, turn: Turn) -> None:
        """
        Note what the newest plan says.
        """
        self._snapshot = turn.snapshot
        if not turn.plan.operations:
            self._rounds.labels("idle").inc()
        phases = {**turn.seconds, **_plan_phases(turn)}
        for phase, spent in phases.items():
            self._phases.labels(phase).observe(spent)
        self._gap.clear()
        self._proven.clear()
        for tier in turn.plan.tiers:
            self._gap.labels(label(tier)).set(distance(tier))
            self._proven.labels(label(tier)).set(tier.proof == "proven")
        self._held.set(turn.plan.held)
        self._spent.set(turn.snapshot.held)
        lines = turn.plan.gangs
        _set_all(self._gangs, Counts(line.state for line in lines))
        reasons = Counts(line.waiting.reason.value for line in lines if line.waiting)
        _set_all(self._waiting, reasons)
        waits = {line.name for line in lines if line.state in {"Waiting", "Reserved"}}
        there = by_name(turn.snapshot.gangs)
        oldest = max((there[name].age for name in waits if name in there), default=0)
        self._oldest = turn.began - oldest if waits else None

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Count a plan that broke a rule.
        """
        del snapshot, bundle
        self._rounds.labels("rejected").inc()
        self._rejected.inc(_num_rejected(error.failed) or 1)
        if error.failed:
            self._fallbacks.labels("none", "rejected").inc()

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Count a round that was planned again, and the plans that it threw away.
        """
        del bundle
        fallback = turn.plan.fallback
        if fallback is None:
            return
        self._rejected.inc(_num_rejected(fallback.failed))
        cause = "failed" if fallback.failed[0].error else "rejected"
        self._fallbacks.labels(fallback.way, cause).inc()

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Count a plan that was not carried out.
        """
        del turn, why
        self._rounds.labels("dropped").inc()

    def carried_out(self, turn: Turn) -> None:
        """
        Count what was done.
        """
        self._rounds.labels("done").inc()
        if "execute" in turn.seconds:
            self._phases.labels("execute").observe(turn.seconds["execute"])
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

    def failed(self, error: Exception) -> None:
        """
        Count a round that ended in an error that nobody expected.
        """
        del error
        self._rounds.labels("failed").inc()

    def _waited(self) -> float:
        """
        Give how long the oldest gang has waited by now, also where no round follows.
        """
        return 0.0 if self._oldest is None else max(0.0, self._now() - self._oldest)

    def _seen(self) -> Snapshot | None:
        return self._snapshot


def _num_rejected(failed: Sequence[FailedTry]) -> int:
    return sum(bool(one.violations) for one in failed)


def _plan_phases(turn: Turn) -> dict[str, float]:
    spent = turn.plan.seconds or {}
    return {f"plan_{name}": value for name, value in spent.items() if name != "total"}


def _set_all(gauge: Gauge, counts: Mapping[str, int]) -> None:
    """
    Set a gauge for what is there; what is there no longer disappears.
    """
    gauge.clear()
    for word, number in counts.items():
        gauge.labels(word).set(number)
