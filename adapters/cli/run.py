"""
``phalanx run``: the scheduler in a cluster.
"""

import logging
import signal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options import Seconds, Seed, Workers
from models.dialects import DialectChoice

if TYPE_CHECKING:
    from types import FrameType

    from adapters.cli.run_settings import Running

_log = logging.getLogger(__name__)
Config = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="A file of settings, kind Config."),
]


def _text(flag: str, meta: str, words: str) -> Any:  # noqa: ANN401 - of the parser
    return typer.Option(flag, metavar=meta, help=words)


def run(
    *,
    config: Config = None,
    kubeconfig: Annotated[
        str | None, _text("--kubeconfig", "FILE", "Where the API server is.")
    ] = None,
    context: Annotated[
        str | None, _text("--context", "NAME", "Which entry of the kubeconfig.")
    ] = None,
    namespace: Annotated[
        str | None, _text("--namespace", "NAME", "Where the Lease and the intent are.")
    ] = None,
    shard: Annotated[
        str | None, _text("--shard", "NAME", "Which of several schedulers this is.")
    ] = None,
    node_pool: Annotated[
        str | None,
        _text("--node-pool", "KEY=VALUE", "The label of the nodes and pods it plans."),
    ] = None,
    scheduler_name: Annotated[
        list[str] | None,
        _text("--scheduler-name", "NAME", "Whose pods it plans; may be repeated."),
    ] = None,
    dialect: Annotated[
        list[str] | None,
        _text(
            "--dialect", "NAME=WORD", f"How words are read: {', '.join(DialectChoice)}."
        ),
    ] = None,
    interval: Annotated[
        float | None, _text("--interval", "S", "Between looks at a quiet cluster.")
    ] = None,
    leader_elect: Annotated[
        bool | None,
        typer.Option(
            "--leader-elect/--no-leader-elect", help="Lead only with the Lease."
        ),
    ] = None,
    listen: Annotated[
        str | None, _text("--listen", "HOST:PORT", "Where health and metrics are.")
    ] = None,
    log_format: Annotated[
        str | None, _text("--log-format", "json|text", "How the log is written.")
    ] = None,
    folder: Annotated[
        str | None, _text("--folder", "DIR", "Where bundles and records are kept.")
    ] = None,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
) -> None:
    """
    Schedule gangs in a cluster: watch, plan, bind, until told to stop.
    """
    from adapters.cli.run_settings import config_of, running

    said = {
        "kubeconfig": kubeconfig,
        "context": context,
        "namespace": namespace,
        "shard": shard,
        "nodePool": node_pool,
        "schedulerNames": tuple(scheduler_name) if scheduler_name else None,
        "dialects": tuple(dialect) if dialect else None,
        "interval": interval,
        "leaderElect": leader_elect,
        "listen": listen,
        "logFormat": log_format,
        "folder": folder,
    }
    limits = {"seconds": seconds, "seed": seed, "workers": workers}
    settings = running(config_of(config), said, limits)
    _schedule(settings)


def _schedule(settings: "Running") -> None:
    """
    Begin, run until a signal comes, and end in order.
    """
    from adapters.cli.scheduler import Scheduler
    from adapters.log_reporter import log_lines
    from solver.plan import versions

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
