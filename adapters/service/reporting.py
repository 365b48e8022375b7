"""
Who tells what `phalanx run` does: the log, the cluster, metrics, the record of rounds.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.kube.acting.intent import IntentStore
from adapters.kube.api.client import Transport
from adapters.kube.dialects.registry import dialects_of
from adapters.kube.status.k8s_events import Notices
from adapters.kube.status.proofs import Proofs
from adapters.kube.status.rate_limit import WritePace
from adapters.kube.status.reporter import StatusReporter
from adapters.kube.status.voice import Voice
from adapters.kube.status.writer import StatusWriter
from adapters.kube.watch.source import ClusterSource
from adapters.loop.interfaces import Reporter
from adapters.machine.clock import monotonic
from adapters.machine.supervised import SupervisedThread, problems, restarts
from adapters.observe.gauges import Gauged
from adapters.observe.health import Health, HealthServer
from adapters.observe.log import LogReporter
from adapters.observe.metrics import Metrics
from adapters.observe.observation import Observer, observed_in
from adapters.observe.reporters import Reporters, RoundRecorder
from adapters.observe.round_file import RoundFile, kept_in
from adapters.service.run_settings import NOWHERE, Running
from adapters.ui.run_page import RunPage
from adapters.ui.server import UiAddress
from solver import versions

_log = logging.getLogger(__name__)
_STALLED_AFTER = 60.0
_LONGEST_SEARCH = 60.0


@dataclass(frozen=True, slots=True)
class Own:
    """
    What is told of ourselves: our name, the threads that keep us leading, the intent.
    """

    identity: str
    threads: Sequence[SupervisedThread]
    store: IntentStore


class Reporting:
    """
    All reporters as one, ``reporter``, and what they need, begun and ended together.
    """

    def __init__(
        self,
        settings: Running,
        source: ClusterSource,
        transport: Transport,
        own: Own,
    ) -> None:
        run = settings.run
        self._settings = settings
        self._source = source
        self._threads: list[SupervisedThread] = []
        gauged = Gauged(
            staleness=source.staleness,
            restarts=lambda: restarts(self._threads),
            passed_by=source.num_passed_by,
            intent=lambda: (own.store.size, own.store.left_out),
        )
        self.metrics = Metrics(now=time.time, gauged=gauged, versions=versions())
        self._own: list[RoundRecorder | StatusWriter] = []
        self._observer: Observer | None = None
        telling = (
            self._observing() if run.observe else self._acting(transport, own.identity)
        )
        self._server = self._listening(run.listen)
        self.page = self._shown(transport.server) if run.ui else None
        self._threads += [*own.threads, *source.threads]
        self._threads += [each.thread for each in self._own]
        if self._server is not None:
            self._threads.append(self._server.thread)
        if self.page is not None:
            self._threads += [self.page.thread, self.page.server.thread]
            telling.append(self.page)
        self.reporter = Reporters([LogReporter(), self.metrics, *telling])

    def _observing(self) -> list[Reporter]:
        """
        Keep what would start beside what does; the cluster hears nothing.
        """
        run, cache = self._settings.run, self._source.cache

        def said(keys: Iterable[str]) -> str:
            return next((p.said for p in cache.pods_named(keys) if p.said), "")

        file = RoundFile(observed_in(run.folder, run.shard))
        policy = self._settings.policy
        self._observer = Observer(file, run.scheduler_names, said, policy)
        return [self._observer]

    def _acting(self, transport: Transport, identity: str) -> list[Reporter]:
        """
        Keep the record of rounds, and tell the cluster what was decided.
        """
        run, source = self._settings.run, self._source
        notices = Notices(transport, identity, clock=monotonic, now=time.time)
        voice = Voice(
            transport=transport,
            dialects=dialects_of(run.own_status, run.dialects),
            lookup=source.cache.pods_named,
            notices=notices,
            counted=self.metrics.status_written,
            writing=source.cache.writing,
            proofs=Proofs(monotonic),
        )
        writer = StatusWriter(
            voice, clock=monotonic, pace=WritePace(rate=run.status_rate)
        )
        file = RoundFile(kept_in(run.folder, run.shard))
        recorder = RoundRecorder(file, self._settings.policy, time.time)
        self._own = [recorder, writer]
        return [recorder, StatusReporter(source, writer)]

    def _shown(self, server: str) -> RunPage:
        """
        Make the page of our own rounds.
        """
        run = self._settings.run
        address = UiAddress(run.ui_listen, run.ui_names)
        return RunPage(server, address)

    @property
    def port(self) -> int | None:
        """
        Where health and metrics are; none where nobody is to ask.
        """
        return None if self._server is None else self._server.port

    def start(self) -> None:
        """
        Begin to tell.
        """
        for each in self._own:
            each.start()
        if self._server is not None:
            self._server.start()
            fields = {"address": self._settings.run.listen, "port": self._server.port}
            _log.info("listening", extra={"fields": fields})
        if self.page is not None:
            self._show(self.page)

    def _show(self, page: RunPage) -> None:
        """
        Serve the page; a token never stands in the log, but in a file of ours.
        """
        run = self._settings.run
        path = Path(run.folder) / run.shard / "ui-address"
        kept = str(path) if page.keep_token(path) else ""
        page.start()
        fields = {"address": run.ui_listen, "port": page.server.port, "token": kept}
        _log.info("ui_listening", extra={"fields": fields})

    def stop(self) -> None:
        """
        Tell what is left to the record, and nothing more to the cluster.
        """
        if self._observer is not None:
            self._observer.ended()
        for each in reversed(self._own):
            each.stop()
        for server in (self.page, self._server):
            if server is not None:
                server.stop()

    def _listening(self, address: str) -> HealthServer | None:
        if address in NOWHERE:
            return None
        return HealthServer(
            address,
            Health(
                unhealthy=self._unhealthy,
                unready=self._source.problems,
                registry=self.metrics.registry,
            ),
        )

    def _unhealthy(self) -> Sequence[str]:
        """
        Say that the loop stands still, or a thread is gone, which a restart may mend.

        The loop looks again after every round.
        """
        quiet = monotonic() - self.metrics.ticked_at
        search = self._settings.policy.limits.seconds or _LONGEST_SEARCH
        limit = _STALLED_AFTER + 3 * self._settings.run.interval + 10 * search
        found = problems(self._threads)
        if quiet > limit:
            what = f"the loop has not looked at the cluster for {quiet:.0f} s"
            found.append(f"{what}, more than {limit:.0f} s")
        return found
