import json
import logging
import re
import socket
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families as parsed

from adapters.inventory.happened import happenings
from adapters.machine.listening import ListenError
from adapters.observe.gauges import Gauged
from adapters.observe.health import Health, HealthServer
from adapters.observe.log import JsonLines, LogReporter, TextLines
from adapters.observe.metrics import Metrics
from adapters.observe.reporters import Reporters, RoundRecorder
from adapters.observe.round_file import RoundFile, read_rounds
from adapters.observe.round_record import record_of
from models.errors import PlanRejectedError
from models.gangs import Pod, PodPhase, PodSet
from models.plan import FailedTry, Fallback, Operation
from models.policy import Policy
from models.receipt import Receipt
from models.snapshot import Snapshot
from tests.adapters.loop.test_rounds import turned
from tests.helpers.build import gang, queue, snapshot
from tests.helpers.eventually import eventually

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"
_ROW = re.compile(r"^\| `(phalanx_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)


@pytest.fixture
def metrics():
    return Metrics(
        now=lambda: 1000.0,
        gauged=Gauged(
            staleness=lambda: {"pods": 1.5, "nodes": None},
            restarts=lambda: {"lease": 2},
            passed_by=lambda: {"pods": 3},
        ),
        versions={"phalanx": "1", "ortools": "9"},
    )


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(name, labels)


def fallen(turn, **fields):
    """
    Let a round have been planned again: its plan broke two rules.
    """
    failed = FailedTry(
        **{"way": "as-asked", "violations": ("gang-minimum: g", "budget: b"), **fields}
    )
    fallback = Fallback(way="without-evictions", failed=(failed,))
    return replace(turn, plan=replace(turn.plan, fallback=fallback))


def tell_all(reporter):
    """
    Tell a reporter everything that there is to hear.
    """
    turn = turned()
    borrowed = queue("borrower", usage={"nvidia.com/gpu": 1_000_000})
    turn = replace(turn, snapshot=replace(turn.snapshot, queues=(borrowed,)))
    evicted = Operation(
        op="Evict", pod="default/x-0", gang="default/x", node="n0", rule="reclaim"
    )
    gone = Receipt(operation=evicted, result="again", message="budget", seconds=0.02)
    reporter.ticked()
    reporter.leading(is_leader=True)
    reporter.planned(turn)
    reporter.carried_out(
        replace(
            turn,
            receipts=(*turn.receipts, gone),
            seconds={"plan": 0.125, "execute": 2.0},
        )
    )
    reporter.dropped(replace(turn, name="r2"), "we stop")
    reporter.rejected(Snapshot(), PlanRejectedError(["one"]), Path("bundles/b7.yaml"))
    reporter.fell_back(fallen(turn), Path("bundles/r1.yaml"))
    reporter.refused(PlanRejectedError(["no snapshot"]))
    reporter.skipped()
    reporter.failed(RuntimeError("boom"))


def test_the_page_lists_exactly_what_is_exported(metrics):
    tell_all(metrics)
    metrics.status_written("pod", "done")
    documented = {
        name: (kind, frozenset(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in _ROW.findall(PAGE.read_text(encoding="utf-8"))
    }
    exported = {}
    for family in metrics.registry.collect():
        if not family.name.startswith("phalanx_"):
            continue
        labels = {key for s in family.samples for key in s.labels if key != "le"}
        exported[family.name] = (family.type, frozenset(labels))

    assert documented == exported


def test_every_metric_says_what_it_counts_and_times_are_in_seconds(metrics):
    for family in metrics.registry.collect():
        if family.name.startswith("phalanx_"):
            assert family.documentation.endswith("."), family.name
            assert "milli" not in family.name


def test_rounds_binds_and_evictions_are_counted(metrics):
    tell_all(metrics)

    for outcome in ("done", "dropped", "rejected", "refused", "skipped", "failed"):
        assert 1 == value(metrics, "phalanx_rounds_total", outcome=outcome)
    assert 2 == value(metrics, "phalanx_binds_total", result="done")
    assert 1 == value(
        metrics, "phalanx_evictions_total", rule="reclaim", result="again"
    )
    assert 2 == value(metrics, "phalanx_plans_rejected_total")
    assert 0.125 == value(metrics, "phalanx_round_phase_seconds_sum", phase="plan")
    assert 2.0 == value(metrics, "phalanx_round_phase_seconds_sum", phase="execute")
    assert 1 == value(metrics, "phalanx_leader")


@pytest.mark.parametrize("rule", ["reclaim", "preempt", "consolidate", "stale", "lend"])
def test_the_first_eviction_of_a_rule_is_an_increase(metrics, rule):
    assert 0 == value(metrics, "phalanx_evictions_total", rule=rule, result="done")


def test_rounds_that_were_planned_again_are_counted_by_way_and_cause(metrics):
    turn = turned()
    metrics.fell_back(fallen(turn), None)
    metrics.fell_back(fallen(turn, violations=(), error="KeyError: 0"), None)
    tries = fallen(turn).plan.fallback.failed
    metrics.rejected(Snapshot(), PlanRejectedError(["one"], tries * 3), None)

    counted = "phalanx_rounds_fell_back_total"
    rejected, lesser = {"cause": "rejected"}, {"way": "without-evictions"}
    assert 1 == value(metrics, counted, **lesser, **rejected)
    assert 1 == value(metrics, counted, **lesser, cause="failed")
    assert 1 == value(metrics, counted, way="none", **rejected)
    assert 0 == value(metrics, counted, way="greedy", **rejected)
    assert 4 == value(metrics, "phalanx_plans_rejected_total")


def test_the_log_and_the_record_say_what_was_planned_again_and_why(caplog):
    caplog.set_level("INFO")
    turn = fallen(turned())
    LogReporter().fell_back(turn, Path("bundles/r1.yaml"))
    (line,) = caplog.records

    assert ("round_fell_back", "ERROR") == (line.message, line.levelname)
    assert ("gang-minimum: g", "budget: b") == line.fields["violations"]
    assert ("without-evictions", "as-asked", "bundles/r1.yaml") == (
        line.fields["way"],
        line.fields["failed"],
        line.fields["bundle"],
    )
    assert "without-evictions" == record_of(turn, Policy(), "done")["fallback"]["way"]


def test_gangs_are_counted_as_the_newest_plan_has_them(metrics):
    turn = turned()
    metrics.planned(turn)
    waits = value(metrics, "phalanx_gangs_waiting", reason="NoFittingNode")
    metrics.planned(replace(turn, plan=replace(turn.plan, gangs=())))

    assert 1 == waits
    assert value(metrics, "phalanx_gangs_waiting", reason="NoFittingNode") is None
    assert value(metrics, "phalanx_gangs", state="Waiting") is None


def test_what_lies_behind_is_asked_for_when_somebody_looks(metrics):
    assert 1.5 == value(metrics, "phalanx_source_staleness_seconds", resource="pods")
    assert 0 == value(metrics, "phalanx_source_synced", resource="nodes")
    assert value(metrics, "phalanx_source_staleness_seconds", resource="nodes") is None
    metrics.planned(turned())
    assert 16 == value(metrics, "phalanx_gpus", state="all")
    assert 15 == value(metrics, "phalanx_gpus", state="free")


def get(port, path, method="GET"):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.fixture
def served(metrics):
    state = {"unhealthy": [], "unready": []}
    health = Health(
        unhealthy=lambda: state["unhealthy"],
        unready=lambda: state["unready"],
        registry=metrics.registry,
    )
    server = HealthServer("127.0.0.1:0", health)
    server.start()
    yield server.port, state
    server.stop()


def test_health_and_readiness_say_what_is_wrong(served):
    port, state = served

    assert (200, "ok\n") == get(port, "/healthz")
    assert (200, "ok\n") == get(port, "/readyz?verbose")
    state["unready"] = ["pods were not read yet", "nodes are 100 s old"]
    state["unhealthy"] = ["the loop has not looked at the cluster for 99 s"]
    assert (503, "pods were not read yet\nnodes are 100 s old\n") == get(
        port, "/readyz"
    )
    assert 503 == get(port, "/healthz")[0]


def test_metrics_are_as_prometheus_reads_them(served):
    port, _ = served
    code, text = get(port, "/metrics")
    names = {family.name for family in parsed(text)}

    assert 200 == code
    assert {"phalanx_build_info", "process_cpu_seconds", "phalanx_gpus"} <= names


def test_nothing_else_is_served_and_nothing_is_changed(served):
    port, _ = served

    assert 404 == get(port, "/")[0]
    assert 501 == get(port, "/metrics", "POST")[0]
    assert (200, "") == get(port, "/healthz", "HEAD")


def test_who_hangs_up_in_the_middle_disturbs_nobody(served):
    port, _ = served
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(b"GET /metrics HTTP/1.1\r\n")

    assert 200 == get(port, "/healthz")[0]


@pytest.mark.parametrize("address", ["8080", ":http", "127.0.0.1:99999", ""])
def test_what_is_no_address_is_refused(metrics, address):
    health = Health(unhealthy=tuple, unready=tuple, registry=metrics.registry)
    with pytest.raises(ListenError, match="is not an address such as :8080"):
        HealthServer(address, health)


def test_an_address_that_is_taken_is_named(metrics, served):
    health = Health(unhealthy=tuple, unready=tuple, registry=metrics.registry)
    taken = f"^cannot listen on 127.0.0.1:{served[0]}: Address already in use$"
    with pytest.raises(ListenError, match=taken):
        HealthServer(f"127.0.0.1:{served[0]}", health)


class Broken:
    def __getattr__(self, _name):
        def broken(*_, **__):
            raise RuntimeError("I am broken")

        return broken


def test_one_that_fails_keeps_nothing_from_the_others(metrics, caplog):
    tell_all(Reporters([Broken(), metrics]))

    assert 1 == value(metrics, "phalanx_rounds_total", outcome="done")
    assert 10 == len([r for r in caplog.records if r.message == "report_failed"])


def test_rounds_are_recorded_once_with_what_came_of_them(tmp_path):
    path = tmp_path / "rounds.jsonl"
    recorder = RoundRecorder(RoundFile(path), Policy(), lambda: 1000.0)
    recorder.start()
    tell_all(recorder)
    idle = turned(number=0, receipts=(), name="r3")
    recorder.planned(idle)
    recorder.stop(30.0)
    found = {record["name"]: record for record in read_rounds(path)}

    assert [("r1", "done"), ("r2", "dropped"), ("b7", "rejected")] == [
        (name, record["outcome"]) for name, record in found.items()
    ][:3]
    assert "phalanx plan bundles/b7.yaml" in found["b7"]["why"]
    assert "RuntimeError: boom" == found["1000.000"]["why"]
    assert "done" == found["r3"]["outcome"]


def test_a_round_that_only_keeps_places_is_recorded_once(tmp_path):
    path = tmp_path / "rounds.jsonl"
    recorder = RoundRecorder(RoundFile(path), Policy(), lambda: 1000.0)
    turn = turned(receipts=())
    step = Operation(op="Reserve", pod="default/a-0", gang="default/a", node="n0")
    keeps = replace(turn, plan=replace(turn.plan, operations=(step,)), name="keeps")
    recorder.start()
    recorder.planned(keeps)
    recorder.planned(replace(keeps, name="again"))
    recorder.carried_out(replace(keeps, name="again"))
    recorder.planned(replace(turn, name="next"))
    recorder.stop(30.0)

    assert ["keeps", "again"] == [record["name"] for record in read_rounds(path)]


def test_rounds_that_find_all_as_it_was_are_recorded_once(tmp_path):
    path = tmp_path / "rounds.jsonl"
    recorder = RoundRecorder(RoundFile(path), Policy(), lambda: 1000.0)
    binds = turned()
    waits = turned(number=1, receipts=())
    waits = replace(waits, plan=replace(waits.plan, operations=()))
    less = replace(waits.plan, gangs=waits.plan.gangs[1:])
    recorder.start()
    for name in ("first", "same", "still"):
        recorder.planned(replace(waits, name=name))
    recorder.planned(replace(waits, plan=less, name="other"))
    recorder.planned(replace(binds, name="binds"))
    recorder.carried_out(replace(binds, name="binds"))
    recorder.planned(replace(waits, plan=less, name="after"))
    recorder.stop(30.0)

    assert ["first", "other", "binds", "after"] == [
        record["name"] for record in read_rounds(path)
    ]


@pytest.mark.parametrize("between", [0, 80])
@pytest.mark.parametrize("result", ["done", "again"])
def test_what_comes_of_binds_that_are_held_is_told_with_the_next_round(
    tmp_path, between, result
):
    path = tmp_path / "rounds.jsonl"
    recorder = RoundRecorder(RoundFile(path), Policy(), lambda: 1000.0)
    idle = turned(number=0, receipts=())
    turn = turned(name="h")
    held, ended = (
        [Receipt(operation=s, result=word) for s in turn.plan.operations]
        for word in ("held", result)
    )
    recorder.start()
    recorder.carried_out(replace(turn, receipts=held))
    for at in range(between):
        eventually(recorder._waiting.empty)
        recorder.carried_out(replace(idle, name=f"r{at}"))
    recorder.carried_out(replace(turn.of(turn.plan.operations), receipts=ended))
    recorder.carried_out(replace(idle, name="last"))
    recorder.stop(30.0)
    records = list(read_rounds(path))
    event = "Started" if result == "done" else "BindFailed"

    assert 1 == [record["name"] for record in records].count("h")
    assert [("h", "Begun", 2), ("last", event, 2)] == [
        (each.round, each.event, each.pods)
        for each in happenings(records)
        if each.gang == "default/starts"
    ]


def entry(**fields):
    record = logging.LogRecord(
        "adapters.x", logging.INFO, "x.py", 1, "round_finished", (), None
    )
    record.fields = fields
    return record


def test_a_line_of_the_log_is_json_or_text():
    record = entry(round="r1", results={"done": 2}, why="we no longer lead")
    line = json.loads(JsonLines().format(record))

    assert ("round_finished", "info", "r1") == (
        line["event"],
        line["level"],
        line["round"],
    )
    text = TextLines().format(record)
    said = 'round=r1 results={"done": 2} why="we no longer lead"'
    assert text.endswith(f"info    round_finished {said}")


def test_every_pod_that_leaves_is_a_line_of_the_log(caplog):
    runs = PodSet(
        name="",
        minimum=1,
        replicas=1,
        requests={"nvidia.com/gpu": 4, "cpu": 2000},
        pods=(Pod(name="x-0", phase=PodPhase.RUNNING, node="n0", seconds=90),),
    )
    subject = replace(gang("x", minimum=1), tree=runs)
    how = {"gang": "default/x", "node": "n0", "beneficiaries": ("a/b", "a/c")}
    evicted = Operation(op="Evict", pod="default/x-0", rule="reclaim", **how)
    moved = replace(evicted, op="Move", node="n7", source="n0", rule="consolidate")
    refused = replace(evicted, rule="preempt")
    turn = replace(
        turned(),
        snapshot=snapshot(gangs=[subject]),
        receipts=(
            Receipt(operation=evicted, result="done"),
            Receipt(operation=moved, result="done"),
            Receipt(operation=refused, result="again", message="a budget"),
        ),
    )
    with caplog.at_level("INFO"):
        LogReporter().carried_out(turn)
    first, second, third, _ = caplog.records
    lost = {"seconds_lost": 90, "gpus": 4, "gpu_seconds_lost": 360}
    who = {"pod": "default/x-0", "gang": "default/x", "for": ["a/b", "a/c"]}

    assert ["pod_evicted", "pod_moved", "operation_failed"] == [
        record.message for record in (first, second, third)
    ]
    said = who | lost | {"node": "n0", "rule": "reclaim"}
    assert said == {key: first.fields[key] for key in said}
    assert ("n0", "n7") == (second.fields["node"], second.fields["to"])
    assert ("preempt", ["a/b", "a/c"]) == (third.fields["rule"], third.fields["for"])


def test_a_hostile_text_stays_on_its_line():
    record = entry(message='a\n"b=\x1b[2J')

    assert "\n" not in TextLines().format(record)
    assert "\x1b" not in TextLines().format(record)
    assert "\n" not in JsonLines().format(record)


def test_the_longest_wait_goes_on_where_no_round_follows():
    now = [1000.0]
    metrics = Metrics(now=lambda: now[0])
    before = value(metrics, "phalanx_longest_wait_seconds")
    turn = turned(began=1000.0)
    old = [replace(gang, age=30) for gang in turn.snapshot.gangs]
    metrics.planned(replace(turn, snapshot=replace(turn.snapshot, gangs=tuple(old))))
    now[0] += 50

    assert (0, 80) == (before, value(metrics, "phalanx_longest_wait_seconds"))


def test_what_went_wrong_with_threads_and_objects_is_counted(metrics):
    restarts = value(metrics, "phalanx_thread_restarts_total", thread="lease")

    assert 2 == restarts
    assert 3 == value(metrics, "phalanx_objects_unread", resource="pods")


def test_a_clock_that_is_set_back_does_not_change_how_long_the_loop_was_still():
    day, since = [1000.0], [50.0]
    metrics = Metrics(now=lambda: day[0], clock=lambda: since[0])
    metrics.ticked()
    day[0] = 0.0

    assert 50.0 == metrics.ticked_at


def test_what_never_happened_is_counted_as_nothing(metrics):
    assert 0 == value(metrics, "phalanx_rounds_total", outcome="rejected")
    assert 0 == value(metrics, "phalanx_binds_total", result="refused")


def test_what_is_held_without_run_times_is_said_once_while_it_stays_so(caplog):
    caplog.set_level(logging.INFO)
    reporter, turn = LogReporter(), turned()
    holding = replace(turn, plan=replace(turn.plan, held=4))
    known = tuple(replace(one, max_runtime=60) for one in turn.snapshot.gangs)
    timed = replace(holding, snapshot=replace(turn.snapshot, gangs=known))
    for each in (turn, holding, holding, timed, holding):
        reporter.planned(each)

    said = [r for r in caplog.records if r.getMessage() == "held_without_run_times"]
    assert [4, 4] == [record.fields["gpus"] for record in said]
