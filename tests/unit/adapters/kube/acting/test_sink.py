import json
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.sink import ClusterSink
from adapters.kube.api.errors import answer_error
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from adapters.loop.memory.gangs import Memory
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.build import bind, gang, plan, snapshot
from tests.helpers.kube.kube_store import Store, pod_path, raw_pod

NOW = 1_790_000_000.0
GOLDEN = Path(__file__).parents[4] / "golden" / "intent"
PATH = "/api/v1/namespaces/ns/configmaps/phalanx-intent"


class Stage:
    """
    A sink over a store, whose operations are never reached.
    """

    def __init__(self) -> None:
        self.api, self.memory, self.time = Store(), Memory(evict_after=600), 0.0
        self.cache = cache = Cache([PODS, NODES], clock=lambda: self.time)
        self.sink = ClusterSink(
            cache,
            Deeds(self.api, cache, lambda: True),
            IntentStore(self.api, ("ns", "phalanx-intent"), "one"),
            self.memory,
        )


@pytest.fixture
def stage():
    return Stage()


def test_where_nothing_was_remembered_the_first_minutes_begin(stage):
    stage.sink.open(NOW)

    assert 600 == stage.memory.calm_for(NOW)


def test_they_do_not_begin_where_another_version_has_led(stage):
    stage.api.put(PATH, json.loads((GOLDEN / "0.1.0.json").read_text()))
    stage.sink.open(NOW)

    assert 0 == stage.memory.calm_for(NOW)
    assert stage.memory.gangs


def test_they_go_on_where_the_first_leader_ended_meanwhile(stage):
    stage.sink.open(NOW)
    stage.sink.remember()
    after = Stage()
    after.sink._store = IntentStore(stage.api, ("ns", "phalanx-intent"), "two")
    after.sink.open(NOW + 100)

    assert 500 == after.memory.calm_for(NOW + 100)


def test_what_cannot_be_stored_is_told_and_nothing_is_bound(stage, caplog):
    stage.sink.open(NOW)
    step = bind("g-0", uid="u")
    turn = Turn(snapshot(gangs=[gang("g", minimum=1)]), plan(step), (), "r", NOW, {})
    stage.sink.hold(turn)

    def fault(method: str, _path: str) -> None:
        if method == "PUT":
            raise answer_error("put", 422, "Too long")

    stage.api.fault = fault
    (receipt,) = stage.sink.execute(turn.plan)

    assert "skipped" == receipt.result
    assert "Too long" in receipt.message
    assert "intent_not_stored" in [record.message for record in caplog.records]


@pytest.mark.parametrize(("busy", "result"), [(2, "done"), (3, "skipped")])
def test_what_is_to_be_stored_waits_for_a_busy_server(stage, busy, result):
    stage.sink.open(NOW)
    raw = raw_pod("g-0")
    stage.api.put(pod_path("g-0"), raw)
    stage.cache.shelf(PODS).put("default/g-0", 1, pod_record(raw), "1")
    node = {"metadata": {"name": "n0"}}
    stage.cache.shelf(NODES).put("n0", 1, node_record(node), "1")
    step = bind("g-0", uid="uid-g-0")
    turn = Turn(snapshot(gangs=[gang("g", minimum=1)]), plan(step), (), "r", NOW, {})
    stage.sink.hold(turn)
    refused, waits = [], []

    def fault(method: str, _path: str) -> None:
        if method == "PUT" and len(refused) < busy:
            refused.append(method)
            raise answer_error("put", 429, "too many requests")

    stage.api.fault = fault
    stage.sink._deeds.sleep = waits.append
    (receipt,) = stage.sink.execute(turn.plan)

    assert result == receipt.result
    assert busy == len(refused)
    assert waits


def test_a_plan_is_shown_as_done_for_as_long_as_it_takes_and_a_while_longer(stage):
    stage.sink.open(NOW)
    node = {"metadata": {"name": "n0"}}
    stage.cache.shelf(NODES).put("n0", 1, node_record(node), "1")
    for name, more in (("g-0", {}), ("h-0", {"nodeName": "n0"})):
        raw = raw_pod(name)
        raw["spec"] |= more
        raw["status"] = {"phase": "Running" if more else "Pending"}
        stage.api.put(pod_path(name), raw)
        stage.cache.shelf(PODS).put(f"default/{name}", 1, pod_record(raw), "1")
    steps = bind("g-0", uid="uid-g-0"), bind("h-0", uid="uid-h-0", op="Evict")
    gangs = [gang(name, minimum=1) for name in "gh"]
    turn = Turn(snapshot(gangs=gangs), plan(*steps), (), "r", NOW, {})
    stage.sink.hold(turn)
    shown = []
    for passes in (100, 20, 20):
        stage.time += passes
        shown.append(set(stage.cache.view(()).assumed))
        if passes == 100:
            results = [each.result for each in stage.sink.execute(turn.plan)]

    assert ["done", "done"] == results
    assert [{"default/g-0", "default/h-0"}] * 2 + [set()] == shown


@pytest.mark.parametrize(
    ("seen", "results"),
    [
        ({"uid": "uid-h-0"}, ["done", "done"]),
        ({"uid": "uid-of-another"}, ["skipped", "done"]),
        (
            {"uid": "uid-h-0", "deletionTimestamp": "2026-11-30T00:00:00Z"},
            ["skipped", "done"],
        ),
        (None, ["skipped", "done"]),
    ],
)
def test_nobody_leaves_for_a_gang_that_has_gone(stage, seen, results):
    stage.sink.open(NOW)
    for name in ("g-0", "i-0"):
        raw = raw_pod(name)
        raw["spec"]["nodeName"], raw["status"] = "n0", {"phase": "Running"}
        stage.api.put(pod_path(name), raw)
        stage.cache.shelf(PODS).put(f"default/{name}", 1, pod_record(raw), "1")
    if seen is not None:
        raw = raw_pod("h-0")
        raw["metadata"] |= seen
        stage.cache.shelf(PODS).put("default/h-0", 1, pod_record(raw), "1")
    whom = {"beneficiaries": ("default/h",)}
    steps = (
        replace(bind("g-0", uid="uid-g-0", op="Evict"), **whom),
        bind("i-0", uid="uid-i-0", op="Evict"),
        bind("h-0", uid="uid-h-0", op="Reserve"),
    )
    gangs = [gang(name, minimum=1) for name in "ghi"]
    turn = Turn(snapshot(gangs=gangs), plan(*steps), (), "r", NOW, {})
    stage.sink.hold(turn)
    receipts = stage.sink.execute(turn.plan)
    left = [path for _, path, _ in stage.api.calls if path.endswith("/eviction")]

    assert results == [each.result for each in receipts[:2]]
    assert results.count("done") == len(left)
    assert ("default/h" in receipts[0].message) == (results[0] == "skipped")


def test_a_plan_that_breaks_is_shown_as_done_for_a_while_only(stage):
    stage.sink.open(NOW)
    raw = raw_pod("g-0")
    stage.cache.shelf(PODS).put("default/g-0", 1, pod_record(raw), "1")
    step = bind("g-0", uid="uid-g-0")
    turn = Turn(snapshot(gangs=[gang("g", minimum=1)]), plan(step), (), "r", NOW, {})
    stage.sink.hold(turn)

    def fault(_method: str, _path: str) -> None:
        raise ZeroDivisionError

    stage.api.fault = fault
    with pytest.raises(ZeroDivisionError):
        stage.sink.execute(turn.plan)
    stage.time += 40

    assert () == stage.cache.view(()).assumed
