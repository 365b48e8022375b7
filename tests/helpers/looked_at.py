"""
Rounds on the page of ``phalanx ui``, served for a test.
"""

from collections.abc import Iterable
from contextlib import contextmanager

from adapters.inventory.listed import Seen
from adapters.loop.plan_round import planned
from adapters.ui.feeds import add_round
from adapters.ui.frame import RoundFacts
from adapters.ui.frame_store import FrameStore
from adapters.ui.server import UiAddress, UiServer
from models.gangs import Gang
from models.policy import Policy
from models.snapshot import Snapshot
from tests.helpers.build import gang, node, queue, snapshot


def seen_of(snapshot: Snapshot, source: str = "a test") -> Seen:
    return Seen(snapshot=snapshot, policy=Policy(), source=source)


def show(store: FrameStore, snapshot: Snapshot, name: str = "one", **facts) -> int:
    """
    Plan a snapshot and show both.
    """
    seen = seen_of(snapshot)
    plan = planned(snapshot, seen.policy)
    return add_round(store, seen, plan, RoundFacts(name=name, **facts))


@contextmanager
def served(store: FrameStore, address: UiAddress | None = None):
    server = UiServer(store, address or UiAddress())
    server.start()
    try:
        yield server
    finally:
        server.stop()


def racks(num_nodes: int, gangs: Iterable[Gang] = (), per_rack: int = 8) -> Snapshot:
    """
    Build nodes of 8 GPUs in racks, full of gangs of two pods in four queues.
    """
    nodes = [
        node(f"n-{i}", zone="z", rack=f"r{i // per_rack}") for i in range(num_nodes)
    ]
    running = [
        gang(
            f"g-{i}",
            queue=f"q{i % 4}",
            replicas=2,
            gpus=3,
            running=[f"n-{i}", f"n-{(i + 1) % num_nodes}"],
        )
        for i in range(num_nodes)
    ]
    queues = [queue(f"q{i}", quota=2 * num_nodes) for i in range(4)]
    return snapshot(nodes, [*running, *gangs], queues)
