"""
``phalanx ui``: a page to look at a cluster, files, or what was recorded.
"""

import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.common import Dialects, SchedulerNames
from adapters.cli.terminal.output import say, warn
from adapters.cli.views.listed_source import Context, Kubeconfig
from adapters.cli.views.plan_source import PlanSource

if TYPE_CHECKING:
    from adapters.ui.frame_store import FrameStore
    from adapters.ui.server import UiAddress

_BEAT = 0.2
Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE|RUNS",
        help="A snapshot, manifests, the folder of a replay, or a record of rounds. "
        "The cluster if none.",
    ),
]
Listen = Annotated[
    str,
    typer.Option(
        metavar="HOST:PORT",
        help="Where it listens; beyond this machine it asks for a token.",
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="HOST", help="A name that the page is opened by."),
]


def ui(
    sources: Sources = None,
    *,
    listen: Listen = "127.0.0.1:8712",
    name: Names = None,
    kubeconfig: Kubeconfig = None,
    kube_context: Context = None,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
) -> None:
    """
    Open a page in the browser: nodes, queues, who waits and why, round by round.
    """
    from adapters.ui.server import UiAddress

    source = PlanSource.of(
        sources,
        schedulers=scheduler_name,
        dialects=dialect,
        kubeconfig=kubeconfig,
        context=kube_context,
    )
    address = UiAddress(listen, tuple(name or ()))
    recorded = _recorded(sources or [])
    if recorded is not None:
        _serve(recorded, address)
    elif sources:
        _of_files(source, address)
    else:
        _of_cluster(source, address)


def _recorded(sources: list[str]) -> "FrameStore | None":
    """
    Read a replay's folder, or a record of rounds; nothing where it is neither.
    """
    if len(sources) != 1:
        return None
    path = Path(sources[0])
    if (path / "results.json").is_file() or (path / "runs").is_dir():
        from adapters.ui.replay_frames import replay_store

        return replay_store(str(path))
    record = path / "rounds.jsonl" if path.is_dir() else path
    if record.suffix == ".jsonl" and record.is_file():
        from adapters.ui.record_frames import record_store

        return record_store(record)
    return None


def _of_files(source: PlanSource, address: "UiAddress") -> None:
    from adapters.inventory.listed import Seen
    from adapters.loop.plan_round import planned
    from adapters.service.settings import effective
    from adapters.ui.feeds import add_round
    from adapters.ui.frame import RoundFacts
    from adapters.ui.frame_store import FrameStore

    scenario = source.read()
    warn(scenario.snapshot.warnings)
    policy = effective(scenario.policy, {}).policy
    seen = Seen(snapshot=scenario.snapshot, policy=policy, source=scenario.source)
    store = FrameStore(scenario.source, live=False)
    plan = planned(scenario.snapshot, policy)
    add_round(store, seen, plan, RoundFacts(name="one round"))
    _serve(store, address)


def _of_cluster(source: PlanSource, address: "UiAddress") -> None:
    from adapters.kube.watch.cluster_listing import seen_in
    from adapters.machine.supervised import SupervisedThread
    from adapters.service.following import ClusterChoice
    from adapters.service.run_settings import config_of
    from adapters.ui.feeds import ClusterFeed
    from adapters.ui.frame_store import FrameStore
    from models.policy import Policy

    config = config_of(None)
    policy = config.policy if config else Policy()
    cluster = ClusterChoice(
        kubeconfig=source.kubeconfig,
        context=source.context,
        schedulers=source.schedulers,
        dialects=source.dialects,
    )
    with cluster.followed() as here:
        store = FrameStore(here.server, live=True)
        feed = ClusterFeed(
            store,
            lambda: seen_in(here.source, policy, here.server),
            here.source.changed,
            time.time,
        )
        thread = SupervisedThread("feed", feed.run)
        thread.start()
        try:
            _serve(store, address)
        finally:
            thread.stop()
            feed.stop()
            thread.join(5.0)


def _serve(store: "FrameStore", address: "UiAddress") -> None:
    """
    Serve until somebody interrupts.
    """
    from adapters.ui.server import UiServer

    server = UiServer(store, address)
    server.start()
    say(f"open {server.url}", "it shows and changes nothing; Ctrl-C ends it")
    ended = threading.Event()
    try:
        while not ended.wait(_BEAT):
            # The search of a round takes the signal over, and does not give it back.
            signal.signal(signal.SIGINT, lambda *_: ended.set())
    finally:
        server.stop()
    say("ended")
