"""
Pods come, run and go while everything that can go wrong does; the cache loses nothing.
"""

import time
from dataclasses import replace
from random import Random

import pytest

from tests.adapters.kube.api_server import NODES, PODS, ApiServer
from tests.adapters.kube.following import QUICK, Following, transport_to
from tests.adapters.kube.raw_pods import raw_node, raw_pod
from tests.helpers.eventually import eventually

PACE = replace(QUICK, limit=500)
LINES = (
    "truncate",
    "garble",
    "duplicate",
    "replay",
    "reorder",
    "hang",
    "end",
    "reset",
)
# Twenty changes a second are 72,000 in an hour.
HOUR = 72_000


@pytest.mark.drawn
def test_a_short_churn_leaves_the_cache_equal_to_a_fresh_list(tmp_path):
    churn(tmp_path, changes=3_000, seconds=3.0, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_an_hour_of_churn_in_a_minute_leaves_the_cache_equal(tmp_path, seed):
    churn(tmp_path, changes=HOUR, seconds=60.0, seed=seed)


def churn(folder, changes: int, seconds: float, seed: int) -> None:
    chance = Random(seed)
    with ApiServer(PODS, NODES) as server:
        transport = transport_to(folder, server)
        for index in range(20):
            server.put(NODES, raw_node(index, 0))
        with Following(transport, PODS, NODES, pace=PACE) as following:
            eventually(lambda: all(r.synced for r in following.reflectors))
            change(server, chance, changes, seconds)
            eventually(lambda: as_served(server, following), 30.0)

            assert held_by_node(following) == indexed_by_node(following)
            assert server.count("watch", PODS) > 10
        with Following(transport, PODS, NODES, pace=PACE) as fresh:
            eventually(lambda: all(r.synced for r in fresh.reflectors))

            assert fresh.held(PODS) == following.held(PODS)
            assert fresh.held(NODES) == following.held(NODES)


def change(server: ApiServer, chance: Random, changes: int, seconds: float) -> None:
    """
    Create, bind, end and delete pods; every fiftieth change something goes wrong.
    """
    alive: dict[str, int] = {}
    began = time.monotonic()
    for number in range(changes):
        what = chance.random()
        if what < 0.4 or not alive:
            raw = server.put(PODS, raw_pod(number, 0))
            meta = raw["metadata"]
            alive[f"{meta['namespace']}/{meta['name']}"] = number
        elif what < 0.7:
            index = chance.choice(list(alive.values()))
            server.put(PODS, raw_pod(index, 0, f"node-{chance.randrange(20)}"))
        else:
            key = chance.choice(list(alive))
            server.delete(PODS, key)
            del alive[key]
        if number % 50 == 49:
            go_wrong(server, chance)
        ahead = began + seconds * number / changes - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)


def go_wrong(server: ApiServer, chance: Random) -> None:
    what = chance.choice(
        (*LINES, "compact", "ended", "bookmark", "busy", "refused", "broken", "error")
    )
    if what in LINES:
        server.fault("watch", PODS, what, after=chance.randrange(5))
    elif what == "compact":
        server.compact(PODS)
        server.end(PODS)
    elif what == "ended":
        server.end(PODS)
    elif what == "bookmark":
        server.bookmark(PODS)
    elif what == "error":
        server.fault("watch", PODS, "error", code=chance.choice([410, 500]))
    else:
        verb = chance.choice(["list", "watch"])
        code = {"busy": 429, "refused": 403, "broken": 500}[what]
        server.fault(verb, PODS, "status", code=code, retry_after=0)
        server.end(PODS)


def as_served(server: ApiServer, following: Following) -> bool:
    """
    Tell whether the cache holds each pod in the version that the server has.
    """
    shelf = following.cache.shelf(PODS)
    served = server.kinds["/api/v1/pods"].objects
    return {
        key: int(raw["metadata"]["resourceVersion"]) for key, raw in served.items()
    } == dict(shelf._numbers)


def held_by_node(following: Following) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for key, pod in following.held(PODS).items():
        if pod.node is not None:
            found.setdefault(pod.node, set()).add(key)
    return found


def indexed_by_node(following: Following) -> dict[str, set[str]]:
    return {
        node: set(pods) for node, pods in following.cache.shelf(PODS).by_node.items()
    }
