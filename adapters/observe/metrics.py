"""
Metrics: what a loop does, counted for Prometheus.

Every name, unit and label is listed in ``docs/reference/metrics.md``.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from adapters.loop.interfaces import Turn
from adapters.machine.clock import monotonic
from adapters.observe.gauges import Gauged, Looked
from adapters.observe.metric_families import ActingMetrics, PlanMetrics, RoundMetrics
from models.errors import PhalanxError, PlanRejectedError
from models.memory.aged_gangs import by_name
from models.snapshot import Snapshot


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
        self._rounds = RoundMetrics(registry)
        self._newest = PlanMetrics(registry)
        self._acting = ActingMetrics(registry)
        self._tick = Gauge(
            "phalanx_loop_tick_timestamp_seconds",
            "When the loop last looked at the cluster, in seconds since the epoch.",
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
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)

    def status_written(self, about: str, outcome: str) -> None:
        """
        Count a request of the status writer.
        """
        self._acting.status_written(about, outcome)

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
        self._acting.leading(is_leader=is_leader)

    def refused(self, error: PhalanxError) -> None:
        """
        Count a round without a snapshot.
        """
        del error
        self._rounds.ended("refused")

    def skipped(self) -> None:
        """
        Count a look at which nothing had changed.
        """
        self._rounds.ended("skipped")

    def planned(self, turn: Turn) -> None:
        """
        Note what the newest plan says.
        """
        self._snapshot = turn.snapshot
        if not turn.plan.operations:
            self._rounds.ended("idle")
        self._rounds.took({**turn.seconds, **_plan_phases(turn)})
        self._newest.planned(turn.plan, turn.snapshot.held)
        lines = turn.plan.gangs
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
        self._rounds.rejected(error.failed)

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Count a round that was planned again, and the plans that it threw away.
        """
        del bundle
        if turn.plan.fallback is not None:
            self._rounds.fell_back(turn.plan.fallback)

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Count a plan that was not carried out.
        """
        del turn, why
        self._rounds.ended("dropped")

    def carried_out(self, turn: Turn) -> None:
        """
        Count what was done.
        """
        self._rounds.ended("done")
        if "execute" in turn.seconds:
            self._rounds.took({"execute": turn.seconds["execute"]})
        self._acting.carried_out(turn)

    def failed(self, error: Exception) -> None:
        """
        Count a round that ended in an error that nobody expected.
        """
        del error
        self._rounds.ended("failed")

    def _waited(self) -> float:
        """
        Give how long the oldest gang has waited by now, also where no round follows.
        """
        return 0.0 if self._oldest is None else max(0.0, self._now() - self._oldest)

    def _seen(self) -> Snapshot | None:
        return self._snapshot


def _plan_phases(turn: Turn) -> dict[str, float]:
    spent = turn.plan.seconds or {}
    return {f"plan_{name}": value for name, value in spent.items() if name != "total"}
