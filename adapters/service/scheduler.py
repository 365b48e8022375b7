"""
The parts of `phalanx run`, put together: begun in order, and ended in order.
"""

import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from adapters.kube.acting.intent import IntentStore, place_of
from adapters.kube.acting.lease import Lease, LeaseTimes
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.pause import Pause
from adapters.kube.acting.permissions import check, needed, to_observe
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.client import Timeouts
from adapters.kube.api.connect import connect
from adapters.kube.dialects.notes import moment
from adapters.kube.dialects.registry import dialects
from adapters.kube.objects.node_pool import pool_of
from adapters.kube.watch.pace import Pace
from adapters.kube.watch.source import ClusterSource
from adapters.loop.interfaces import Turn
from adapters.loop.loop import Loop
from adapters.loop.memory.gangs import Memory
from adapters.loop.parts import HoldingSink, Leadership, Parts, Pulse
from adapters.loop.plan_round import LivePlanner
from adapters.machine.clock import monotonic
from adapters.service.reporting import Own, Reporting
from adapters.service.run_settings import Running
from models.plan import Plan
from models.receipt import Receipt
from models.snapshot import Snapshot
from models.why.reasons import Facts, Reason, Waiting


class Always:
    """
    Leadership where nobody else is: no election.
    """

    def is_held(self) -> bool:
        """
        Say yes.
        """
        return True


class Untouched:
    """
    The sink of who only observes: nothing is carried out, and nothing kept.
    """

    is_lost = False

    def open(self, now: float) -> None:
        """
        Read nothing.
        """

    def hold(self, turn: Turn) -> None:
        """
        Take nothing for done.
        """

    def looked(self, snapshot: Snapshot, pause: Waiting | None) -> None:
        """
        Hold nothing.
        """

    def due(self) -> Turn | None:
        """
        Have nothing begun.
        """
        return None

    def remember(self) -> None:
        """
        Write nothing.
        """

    def execute(self, plan: Plan) -> Sequence[Receipt]:
        """
        Do nothing of a plan.
        """
        why = "nothing is carried out by who observes"
        return [
            Receipt(operation=step, result="skipped", message=why)
            for step in plan.operations
        ]


class Scheduler:
    """
    All that runs, for a ``with`` block.
    """

    def __init__(self, settings: Running) -> None:
        run = settings.run
        self.settings = settings
        self._transport = connect(run.kubeconfig, run.context)
        self.source = ClusterSource(
            self._transport,
            dialects(run.dialects),
            run.scheduler_names,
            pool=pool_of(run.node_pool),
            pace=Pace(watch=run.watch),
        )
        self._lease = self._made_lease() if run.leader_elect else None
        self._identity = self._lease.identity if self._lease else _identity()
        self._store = IntentStore(
            self._transport,
            place_of(run.namespace, run.shard),
            self._identity,
        )
        threads = [self._lease.thread] if self._lease else []
        self.reporting = Reporting(
            settings,
            self.source,
            self._transport,
            Own(self._identity, threads, self._store),
        )
        self.loop = self._made_loop(self._lease or Always())

    def __enter__(self) -> Self:
        resources = [r.resource for r in self.source.reflectors]
        run = self.settings.run
        asked = needed(resources, run.shard)
        if run.observe:
            asked = to_observe(resources, run.shard if run.leader_elect else "")
        check(self._transport, asked, run.namespace)
        self.reporting.start()
        self.source.start()
        if self._lease is not None:
            self._lease.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._lease is not None:
            self._lease.stop()
        self.reporting.stop()
        self.source.stop()

    def _made_lease(self) -> Lease:
        """
        Make the Lease, with a connection of its own that gives up early.
        """
        run = self.settings.run
        patience = Timeouts(connect=run.lease_renew / 4, read=run.lease_renew / 2)
        return Lease(
            connect(run.kubeconfig, run.context, connections=2, timeouts=patience),
            (run.namespace, f"phalanx-{run.shard}"),
            _identity(),
            times=LeaseTimes(
                duration=run.lease_duration,
                renew=run.lease_renew,
                retry=run.lease_retry,
            ),
            changed=self.source.changed.set,
        )

    def _made_loop(self, leadership: Leadership) -> Loop:
        run, policy = self.settings.run, self.settings.policy
        memory = Memory(
            policy.evict.stale_after,
            run.evict_after,
            policy.waiting.window,
            policy.shares.half_life,
        )
        return Loop(
            Parts(
                source=self.source,
                planner=LivePlanner(),
                sink=self._made_sink(memory, leadership),
                memory=memory,
                reporter=self.reporting.reporter,
                leadership=leadership,
                policy=policy,
                pulse=Pulse(
                    interval=run.interval,
                    settle=run.settle,
                    shutdown=run.shutdown,
                    events=run.events,
                ),
                folder=Path(run.folder) / run.shard / "bundles",
                pause=(lambda: None) if run.observe else self._made_pause(),
                acts=not run.observe,
            )
        )

    def _made_sink(self, memory: Memory, leadership: Leadership) -> HoldingSink:
        if self.settings.run.observe:
            return Untouched()
        deeds = Deeds(self._transport, self.source.cache, leadership.is_held)
        return ClusterSink(
            self.source.cache,
            deeds,
            self._store,
            memory,
            goes_on=self._goes_on,
            threads=self.settings.run.threads,
        )

    def _made_pause(self) -> Pause:
        run = self.settings.run
        facts: Facts = {"by": "the settings", "since": moment(time.time())}
        facts |= {"detail": run.pause}
        setting = Waiting(Reason.PAUSED, facts) if run.pause else None
        return Pause(self._transport, run.namespace, monotonic, setting)

    def _goes_on(self) -> bool:
        return not self.loop.is_stopping


def _identity() -> str:
    """
    Name this process as no other is named.
    """
    return f"{socket.gethostname()}_{os.getpid()}_{uuid4().hex[:8]}"
