"""
A cluster as a command looks at it: followed for as long as it looks, and only read.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from adapters.kube.acting.pause import pause_of
from adapters.kube.api.client import Transport
from adapters.kube.api.connect import connect
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.objects.fields import mapping, text
from adapters.kube.objects.node_pool import pool_of
from adapters.kube.watch.source import ClusterSource
from adapters.kube.watch.submitted import submitted
from adapters.service.run_settings import as_run_here
from models.dialects import DialectChoice
from models.snapshot import Snapshot
from models.why.reasons import told_words

_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Followed:
    """
    A cluster that is followed, and the way to its server.
    """

    source: ClusterSource
    transport: Transport
    assembler: Assembler

    @property
    def server(self) -> str:
        """
        Give the address of the server.
        """
        return self.transport.server

    def paused(self) -> list[str]:
        """
        Say that the scheduler is paused, by whom and why, where its namespace does.

        A snapshot was taken before.
        """
        view, name = self.source.view, as_run_here().namespace
        spaces = () if view is None else view.objects.of("", "Namespace")
        mine = (raw for raw in spaces if text(mapping(raw, "metadata"), "name") == name)
        pauses = (pause for raw in mine if (pause := pause_of(raw)) is not None)
        return [
            f"the scheduler is paused{told_words(pause.facts)}; "
            "nothing of this plan is done meanwhile"
            for pause in pauses
        ]

    def snapshot(self, manifests: Objects | None = None) -> Snapshot:
        """
        Give what the cluster is now, or would be with some manifests submitted.

        Raises
        ------
        SnapshotRefusedError
            When a resource is not read yet or too far behind.
        """
        if manifests is None:
            return self.source.snapshot()
        view = self.source.cache.view(self.source.reflectors)
        warnings = self.source.passed_by()
        view = submitted(view, manifests, warnings)
        return self.assembler.assembled(
            view.pods, view.nodes, view.objects, time.time(), warnings
        ).snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChoice:
    """
    Which cluster, and whose pods of it; as `phalanx run` has it here where unsaid.
    """

    kubeconfig: str | None = None
    context: str | None = None
    schedulers: tuple[str, ...] = ()
    dialects: tuple[DialectChoice, ...] = ()

    @contextmanager
    def followed(self) -> Iterator[Followed]:
        """
        Read the cluster, and follow it while the block lasts.
        """
        run = as_run_here()
        transport = connect(
            self.kubeconfig or run.kubeconfig, self.context or run.context
        )
        spoken = dialects(self.dialects or run.dialects)
        names = self.schedulers or run.scheduler_names
        pool = pool_of(run.node_pool)
        source = ClusterSource(transport, spoken, names, pool=pool)
        source.start()
        try:
            source.wait(_PATIENCE)
            yield Followed(source, transport, Assembler(spoken, names, pool))
        finally:
            source.stop()
