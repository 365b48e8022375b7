"""
What is only counted when somebody looks: what the newest plan shows, and ourselves.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from adapters.compare.outcome import gpus_of_nodes
from models.devices.gpu_counts import shares_asked
from models.memory.usage_hours import MILLIONTHS
from models.resources import SHARES_PER_GPU
from models.snapshot import Snapshot

Staleness = Callable[[], Mapping[str, float | None]]
Numbers = Callable[[], Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauged:
    """
    What is asked for when somebody looks.

    ``staleness`` gives, for each kind that is followed, the seconds since it was known
    to be up to date, and none where it was not read yet; ``restarts`` how often each
    thread was begun again, ``passed_by`` how many objects of a kind cannot be read;
    ``intent`` the bytes of what is kept, and how many entries there was no room for.
    """

    staleness: Staleness = dict
    restarts: Numbers = dict
    passed_by: Numbers = dict
    intent: Callable[[], tuple[int, int]] = lambda: (0, 0)


class Looked(Collector):
    """
    What is only counted when somebody looks.
    """

    def __init__(
        self,
        snapshot: Callable[[], Snapshot | None],
        waited: Callable[[], float],
        gauged: Gauged,
    ) -> None:
        self._snapshot = snapshot
        self._waited = waited
        self._gauged = gauged

    def collect(self) -> Iterator[Metric]:
        """
        Count.
        """
        yield from self._of_ourselves()
        stale = self._gauged.staleness()
        yield _gauge(
            "phalanx_source_staleness_seconds",
            "Seconds since a kind was known to be up to date; none before it was read.",
            "resource",
            ((k, v) for k, v in stale.items() if v is not None),
        )
        yield _gauge(
            "phalanx_source_synced",
            "Whether a kind was read.",
            "resource",
            ((k, float(v is not None)) for k, v in stale.items()),
        )
        yield GaugeMetricFamily(
            "phalanx_longest_wait_seconds",
            "The age of the oldest gang that waited in the newest plan.",
            value=self._waited(),
        )
        snapshot = self._snapshot()
        every, free = (0, 0) if snapshot is None else gpus_of_nodes(snapshot)
        yield _gauge(
            "phalanx_gpus",
            "GPUs of the nodes that are planned: all, and those that are free.",
            "state",
            (("all", every), ("free", free)),
        )
        yield _gauge(
            "phalanx_queue_gpu_hours",
            "GPU-hours that a queue used beyond its quota, counted half after each "
            "half-life (policy `shares.halfLife`).",
            "queue",
            _gpu_hours(snapshot),
        )

    def _of_ourselves(self) -> Iterator[Metric]:
        """
        Count threads that began again, objects that are not read, and what is kept.
        """
        begun = CounterMetricFamily(
            "phalanx_thread_restarts",
            "How often each thread ended unexpectedly and was started again.",
            labels=["thread"],
        )
        for name, number in self._gauged.restarts().items():
            begun.add_metric([name], number)
        yield begun
        size, left_out = self._gauged.intent()
        yield GaugeMetricFamily(
            "phalanx_intent_bytes",
            "The bytes of the intent and of what is remembered, as stored last.",
            value=size,
        )
        yield GaugeMetricFamily(
            "phalanx_intent_left_out",
            "Gangs that a restart would forget, since the intent has no room for them.",
            value=left_out,
        )
        yield _gauge(
            "phalanx_objects_unread",
            "Objects of each kind that cannot be read, and are left out or kept as "
            "they were.",
            "resource",
            ((k, float(v)) for k, v in self._gauged.passed_by().items()),
        )

    def describe(self) -> Iterable[Metric]:
        """
        Name what is collected.
        """
        return self.collect()


def _gpu_hours(snapshot: Snapshot | None) -> Iterator[tuple[str, float]]:
    for queue in () if snapshot is None else snapshot.queues:
        used = shares_asked(queue.usage)
        if used:
            yield queue.name, used / SHARES_PER_GPU / MILLIONTHS


def _gauge(
    name: str, words: str, key: str, values: Iterable[tuple[str, float]]
) -> Metric:
    family = GaugeMetricFamily(name, words, labels=[key])
    for value, number in values:
        family.add_metric([value], number)
    return family
