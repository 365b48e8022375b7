"""
``phalanx run``: the scheduler in a cluster.
"""

import logging
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING

from adapters.cli.options import run_options as options
from adapters.cli.options.common import Seconds, Seed, Workers

if TYPE_CHECKING:
    from types import FrameType

    from adapters.service.run_settings import Running

_log = logging.getLogger(__name__)


@options.takes_run_options
def run(
    *,
    config: options.Config = None,
    said: Mapping[str, object],
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
) -> None:
    """
    Schedule gangs in a cluster: watch, plan, bind, until told to stop.
    """
    from adapters.service.run_settings import config_of, running

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
