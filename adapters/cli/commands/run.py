"""
``phalanx run``: the scheduler in a cluster.
"""

import logging
import signal
from typing import TYPE_CHECKING

from adapters.cli.options import run_options as options
from adapters.cli.options.shared import Seconds, Seed, Workers

if TYPE_CHECKING:
    from types import FrameType

    from adapters.service.run_settings import Running

_log = logging.getLogger(__name__)


def run(
    *,
    config: options.Config = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    shard: options.Shard = None,
    node_pool: options.Pool = None,
    scheduler_name: options.Names = None,
    dialect: options.Dialects = None,
    interval: options.Interval = None,
    leader_elect: options.Elect = None,
    observe: options.Observe = None,
    listen: options.Listen = None,
    log_format: options.LogFormat = None,
    folder: options.Folder = None,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
) -> None:
    """
    Schedule gangs in a cluster: watch, plan, bind, until told to stop.
    """
    from adapters.service.run_settings import config_of, running

    said = options.said(
        kubeconfig=kubeconfig,
        context=context,
        namespace=namespace,
        shard=shard,
        node_pool=node_pool,
        scheduler_name=scheduler_name,
        dialect=dialect,
        interval=interval,
        leader_elect=leader_elect,
        observe=observe or None,
        listen=listen,
        log_format=log_format,
        folder=folder,
    )
    limits = {"seconds": seconds, "seed": seed, "workers": workers}
    settings = running(config_of(config), said, limits)
    _schedule(settings)


def _schedule(settings: "Running") -> None:
    """
    Begin, run until a signal comes, and end in order.
    """
    from adapters.observe.log import log_lines
    from adapters.service.scheduler import Scheduler
    from solver import versions

    log_lines(settings.run.log_format)
    _log.info("started", extra={"fields": {**versions(), **settings.said()}})
    with Scheduler(settings) as scheduler:

        def stop(number: int, _: "FrameType | None") -> None:
            signal.signal(number, signal.SIG_DFL)  # the second one ends us at once
            scheduler.loop.stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        scheduler.loop.run()
    _log.info("ended")
