import json
import threading
from dataclasses import replace

import pytest

from adapters.kube.status.k8s_events import EVENTS
from adapters.kube.status.rate_limit import BusyError, WritePace
from models.gangs import PodPhase
from models.plan import Operation
from models.receipt import Receipt
from models.why.reasons import Reason, Waiting
from tests.adapters.kube.status_cases import (
    BY_PLACE,
    CASES,
    GOLDEN,
    example,
    held,
    telling,
)
from tests.cluster.manifests import node
from tests.helpers.eventually import eventually

PODS = BY_PLACE["", "v1", "Pod"]
VOLCANO = BY_PLACE["scheduling.volcano.sh", "v1beta1", "PodGroup"]
NODES = BY_PLACE["", "v1", "Node"]


@pytest.fixture
def volcano(tmp_path):
    with telling("volcano", tmp_path) as tells:
        yield tells


def condition(tells, name):
    found = tells.server.object(PODS, f"team/{name}")["status"]["conditions"]
    return next(entry for entry in found if entry["type"] == "PodScheduled")


def written(tells):
    """
    Name what was written since this was asked last.
    """
    found = [
        path.rpartition("/namespaces/team/")[2] for _, path, _ in tells.server.writes
    ]
    tells.server.writes.clear()
    return found


@pytest.mark.parametrize("case", CASES)
def test_each_dialect_is_told_in_its_own_words(case, tmp_path):
    golden = json.loads((GOLDEN / f"{case}.json").read_text(encoding="utf-8"))

    assert golden == example(case, tmp_path)


def test_there_is_a_golden_file_for_every_case():
    assert sorted(CASES) == sorted(path.stem for path in GOLDEN.glob("*.json"))


def test_pods_without_a_node_say_unschedulable_and_the_others_nothing(volcano):
    volcano.writer.write(volcano.told())
    said = condition(volcano, "waits-0")

    assert ("False", "Unschedulable") == (said["status"], said["reason"])
    assert said["message"].startswith("DemandExceedsCluster: needs 16 GPUs")
    assert "status" not in volcano.server.object(PODS, "team/fits-0")


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_written_when_nothing_changed(case, tmp_path):
    with telling(case, tmp_path) as tells:
        told = tells.told()
        tells.writer.write(told)
        first = written(tells)
        tells.writer.write(tells.told())  # the watch may lag behind
        lagging = written(tells)
        tells.bind(told)
        tells.caught_up()
        tells.writer.write(tells.told())
        written(tells)
        tells.caught_up()
        for _ in range(3):
            tells.writer.write(tells.told())
        same = written(tells)
        tells.fresh().write(tells.told())

    assert first
    assert [] == lagging
    assert [] == same
    assert [] == written(tells)  # nor by one that was just started


def test_a_sentence_in_which_only_numbers_change_is_written_once_a_minute(volcano):
    volcano.writer.write(volcano.told())
    written(volcano)
    before = condition(volcano, "waits-0")["message"]
    raw = node(0)
    raw["status"]["allocatable"]["nvidia.com/gpu"] = "9"
    volcano.server.put(NODES, raw)
    volcano.caught_up()
    eventually(lambda: "hold 9" in volcano.told().plan.gangs[3].waiting.message)
    volcano.writer.write(volcano.told())
    soon = [path for path in written(volcano) if "waits" in path]
    volcano.clock[0] += 61
    volcano.writer.write(volcano.told())
    later = [path for path in written(volcano) if "waits" in path]
    after = condition(volcano, "waits-0")["message"]

    assert [] == soon
    assert {"pods/waits-0/status", "pods/waits-1/status", "podgroups/waits"} <= {*later}
    assert before != after


def test_a_group_that_somebody_else_wrote_is_read_and_written_again(volcano):
    told = volcano.told()
    raw = volcano.server.object(VOLCANO, "team/waits")
    theirs = {
        "type": "Other",
        "status": "True",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    volcano.server.put(VOLCANO, raw | {"status": {"conditions": [theirs]}})
    volcano.writer.write(told)
    found = volcano.server.object(VOLCANO, "team/waits")["status"]["conditions"]

    assert ("group", "conflict") in volcano.counted
    assert {"Other", "Unschedulable"} == {entry["type"] for entry in found}


def test_a_pod_of_the_same_name_is_left_alone(volcano):
    told = volcano.told()
    raw = volcano.server.object(PODS, "team/waits-0")
    meta = raw["metadata"] | {"uid": "another"}
    volcano.server.put(PODS, raw | {"metadata": meta})
    volcano.writer.write(told)

    assert "status" not in volcano.server.object(PODS, "team/waits-0")
    assert "status" in volcano.server.object(PODS, "team/waits-1")


def test_what_is_gone_is_let_go(volcano):
    told = volcano.told()
    volcano.server.delete(VOLCANO, "team/waits")
    volcano.server.delete(PODS, "team/waits-0")

    assert volcano.writer.write(told)
    assert "status" in volcano.server.object(VOLCANO, "team/short")


def test_a_kind_that_we_may_not_write_is_left_alone_and_the_rule_is_named(
    volcano, caplog
):
    volcano.server.refuse_next("podgroups", *[403] * 9)
    told = volcano.told()
    for _ in range(3):  # a server that was just started knows no roles for a moment
        with pytest.raises(BusyError):
            volcano.writer.write(told)

    assert volcano.writer.write(told)
    assert 4 == volcano.counted.count(("group", "forbidden"))
    assert "status" in volcano.server.object(PODS, "team/waits-0")
    (record,) = [r for r in caplog.records if r.message == "status_forbidden"]
    assert (
        '{apiGroups: ["scheduling.volcano.sh"], resources: ["podgroups"], '
        'verbs: ["patch"]}'
    ) == record.fields["rule"]


@pytest.mark.parametrize(
    "why",
    [
        'events "x" is forbidden: unable to create new content in namespace team',
        'events "x" is forbidden: exceeded quota: one cannot have more',
        'admission webhook "no.example" denied the request: not here',
    ],
)
def test_what_is_refused_in_one_place_silences_no_other(volcano, caplog, why):
    volcano.server.refuse_next("podgroups", 403, message=why)
    volcano.writer.write(volcano.told())
    outcomes = [outcome for about, outcome in volcano.counted if about == "group"]
    (record,) = [r for r in caplog.records if r.message.startswith("status_")]

    assert ["done", "invalid"] == sorted(set(outcomes))
    assert "status_refused" == record.message
    assert why.rpartition(": ")[2] in record.fields["error"]


def test_a_write_that_the_server_calls_invalid_is_not_repeated(volcano):
    volcano.server.refuse_next("podgroups", 422)
    volcano.writer.write(volcano.told())
    written(volcano)
    volcano.writer.write(volcano.told())

    assert 1 == volcano.counted.count(("group", "invalid"))
    assert [] == written(volcano)


@pytest.mark.parametrize("code", [500, 503, 429])
def test_a_busy_server_ends_the_round_and_the_rest_is_written_later(volcano, code):
    volcano.server.refuse_next("pods", code)
    told = volcano.told()
    with pytest.raises(BusyError):
        volcano.writer.write(told)

    assert volcano.writer.write(told)
    assert "status" in volcano.server.object(PODS, "team/waits-1")


def test_the_thread_tries_again_by_itself(volcano):
    volcano.server.refuse_next("pods", 500, 500, 500)
    writer = volcano.fresh(pace=WritePace(first=0.01, longest=0.02, rate=10_000))
    writer.start()
    writer.tell(volcano.told())
    eventually(lambda: "status" in volcano.server.object(PODS, "team/waits-1"))
    writer.stop()

    assert 3 == volcano.counted.count(("pod", "later"))


def test_telling_takes_no_time_while_the_server_is_silent(volcano):
    gate = threading.Event()
    volcano.transport.call = lambda *_, **__: gate.wait(5) and {}
    writer = volcano.fresh()
    writer.start()
    told = volcano.told()
    done = threading.Thread(target=lambda: [writer.tell(told) for _ in range(100)])
    done.start()
    done.join(1.0)
    hangs = done.is_alive()
    gate.set()
    writer.stop()

    assert not hangs


def test_a_newer_round_takes_the_place_of_what_is_not_written_yet(volcano):
    def rounds():
        return [
            entry["transitionID"]
            for _, path, body in [*volcano.server.writes]
            for entry in body.get("status", {}).get("conditions", [])
            if "podgroups" in path
        ]

    writer = volcano.fresh(pace=WritePace(rate=0.5))
    old, new = volcano.told(), volcano.told()
    writer.start()
    writer.tell(old)
    eventually(rounds)
    writer.tell(new)
    eventually(lambda: len(rounds()) > 1)
    writer.stop()

    assert [old.round, new.round] == rounds()[:2]


def test_a_refused_bind_is_an_event_and_the_gang_is_not_called_scheduled(volcano):
    told = volcano.told(refuse="team/fits", message="denied by a webhook")
    volcano.writer.write(told)
    seen = held(volcano.server)

    assert (
        "Warning FailedBinding PodGroup fits: "
        "binding of team/fits-0 was refused: denied by a webhook"
    ) in seen["events"]
    assert {} == seen["PodGroup fits"]


def test_the_same_is_said_once_in_five_minutes_and_counted(volcano):
    def refused():
        volcano.writer.write(
            volcano.told(refuse="team/fits", message=f"denied {volcano.rounds % 2}")
        )

    for _ in range(10):
        refused()
    events = [raw for raw in volcano.server.held(EVENTS) if "Failed" in raw["reason"]]
    volcano.clock[0] += 301
    refused()
    again = [raw for raw in volcano.server.held(EVENTS) if "Failed" in raw["reason"]]

    assert 2 == len(events)
    assert all("series" not in raw for raw in events)
    assert [6] == [raw["series"]["count"] for raw in again if "series" in raw]


def test_who_says_too_much_is_cut_short(volcano):
    for index in range(40):
        volcano.writer.write(
            volcano.told(refuse="team/fits", message=f"no {'x' * index}")
        )
    events = [raw for raw in volcano.server.held(EVENTS) if "Failed" in raw["reason"]]

    assert 5 == len(events)


def test_one_that_was_started_again_goes_on_with_the_series(volcano):
    told = volcano.told(refuse="team/fits")
    volcano.writer.write(told)
    volcano.fresh().write(told)
    (event,) = [raw for raw in volcano.server.held(EVENTS) if "Failed" in raw["reason"]]

    assert 2 == event["series"]["count"]


def test_a_note_is_never_longer_than_the_server_takes(volcano):
    volcano.writer.write(volcano.told(refuse="team/fits", message="ü" * 3000))
    (event,) = [raw for raw in volcano.server.held(EVENTS) if "Failed" in raw["reason"]]

    assert 1000 < len(event["note"].encode()) <= 1024


def test_what_was_refused_in_a_round_that_is_passed_over_is_still_told(volcano):
    refused = volcano.told(refuse="team/fits", message="denied")
    volcano.writer.tell(refused)
    volcano.writer.tell(volcano.told())
    newest = volcano.writer._next
    volcano.writer._next = None  # the thread takes it
    volcano.writer.write(newest)
    events = held(volcano.server)["events"]

    assert any("FailedBinding" in line and "denied" in line for line in events)


def without_start(told):
    """
    Give a round in which the gang that fits runs already, and nothing is said of it.
    """
    waiting = [line for line in told.plan.gangs if line.name != "team/fits"]
    plan = replace(told.plan, gangs=tuple(waiting), operations=())
    return replace(told, plan=plan, receipts=())


def test_who_started_in_a_round_that_is_passed_over_is_still_told_of_it(volcano):
    volcano.writer.tell(volcano.told())
    volcano.writer.tell(without_start(volcano.told()))
    newest = volcano.writer._next
    volcano.writer._next = None  # the thread takes it
    volcano.writer.write(newest)

    assert any("Scheduled" in line for line in held(volcano.server)["events"])


def test_who_started_in_a_round_that_is_broken_off_is_still_told_of_it(volcano):
    newest = without_start(volcano.told())
    writer = volcano.fresh()
    writer._urgency = lambda saying: (bool(saying.bound), 0, 0)  # last of all
    writer._next = newest  # it comes while the first is written
    writer.write(volcano.told())
    before = held(volcano.server)["events"]
    writer._next = None
    writer.write(newest)

    assert not any("Scheduled" in line for line in before)
    assert any("Scheduled" in line for line in held(volcano.server)["events"])


def test_what_is_gone_is_forgotten_also_where_rounds_never_cease(volcano):
    writer = volcano.writer
    assert writer.write(volcano.told())
    before = len(writer._settled)
    volcano.server.delete(VOLCANO, "team/waits")
    for index in range(2):
        volcano.server.delete(PODS, f"team/waits-{index}")
    volcano.caught_up()
    writer._next = volcano.told()  # it comes while the one before is written
    writer.write(volcano.told())

    assert before - 1 == len(writer._settled) == len(writer._stood)


def test_who_is_hushed_writes_nothing_more(volcano):
    volcano.server.refuse_next("podgroups", 500)
    writer = volcano.fresh(pace=WritePace(first=0.05, rate=10_000))
    writer.start()
    writer.tell(volcano.told())
    eventually(lambda: ("group", "later") in volcano.counted)
    writer.hush()
    eventually(lambda: not writer._hushed)
    before = len(volcano.server.writes)
    threading.Event().wait(0.3)
    after = len(volcano.server.writes)
    writer.stop()

    assert before == after
    assert "status" not in volcano.server.object(PODS, "team/waits-1")


def test_gangs_that_have_to_leave_are_told_for_whom(volcano):
    told = volcano.told()
    victim = Operation(
        op="Evict",
        pod="team/fits-0",
        gang="team/fits",
        node="gpu-0",
        rule="reclaim",
        beneficiaries=("team/waits", "team/short"),
    )
    receipts = [Receipt(operation=victim, result="done")]
    plan = replace(told.plan, operations=(victim,))
    volcano.writer.write(replace(told, receipts=receipts, plan=plan))

    assert (
        "Warning Evicted PodGroup fits: "
        "1 pod evicted (reclaim) for team/short, team/waits"
    ) in held(volcano.server)["events"]


def test_a_round_that_is_not_carried_out_yet_says_nothing_of_its_starts(volcano):
    volcano.writer.write(replace(volcano.told(), receipts=()))
    seen = held(volcano.server)

    assert {} == seen["PodGroup fits"]
    assert "conditions" in seen["PodGroup waits"]["status"]


def names_written(tells):
    """
    Name the gangs in the order in which they were told of.
    """
    gangs = [name.partition("/")[2].partition("-")[0] for name in written(tells)]
    return list(dict.fromkeys(gang.partition("/")[0] for gang in gangs))


def weighed(told, **weights):
    """
    Give gangs priorities and ages.
    """
    gangs = [
        replace(gang, priority=weights[gang.name][0], age=weights[gang.name][1])
        if gang.name in weights
        else gang
        for gang in told.assembled.snapshot.gangs
    ]
    snapshot = replace(told.assembled.snapshot, gangs=tuple(gangs))
    return replace(told, assembled=replace(told.assembled, snapshot=snapshot))


@pytest.mark.parametrize(
    ("weights", "first"),
    [
        ({"waits": (1, 0)}, "waits"),
        ({"short": (1, 0)}, "short"),
        ({"waits": (1, 0), "short": (1, 9)}, "short"),
        ({"waits": (1, 9), "short": (1, 0)}, "waits"),
    ],
)
def test_the_important_and_old_are_told_first(volcano, weights, first):
    others = dict.fromkeys(("fits", "short", "waits"), (0, 0))
    volcano.writer.write(weighed(volcano.told(), **others | weights))

    assert first == names_written(volcano)[0]


def test_who_stands_otherwise_is_told_before_those_never_told_of(volcano):
    told = volcano.told()
    lines = {line.name: line for line in told.plan.gangs}
    waits = next(name for name in lines if name.endswith("/waits"))
    other = replace(
        lines[waits], waiting=replace(lines[waits].waiting, reason=Reason.FRAGMENTED)
    )
    only = replace(told, plan=replace(told.plan, gangs=(other,)))
    volcano.writer.write(only)
    written(volcano)
    heavy = dict.fromkeys(("fits", "short"), (9, 9))
    volcano.writer.write(weighed(told, waits=(0, 0), **heavy))

    assert "waits" == names_written(volcano)[0]


def test_a_gang_that_cannot_be_told_keeps_nobody_silent(volcano, monkeypatch, caplog):
    writer = volcano.writer
    write, broken = writer._gangs._groups.write, []

    def odd(claim, standing):
        if standing.key == "team/fits":
            broken.append(standing.key)
            raise RecursionError("odd")
        return write(claim, standing)

    monkeypatch.setattr(writer._gangs._groups, "write", odd)
    told = volcano.told()
    whole = writer.write(told)
    writer.write(told)
    failures = [r for r in caplog.records if r.message == "status_failed"]

    assert whole
    assert ["team/fits"] == broken  # once, until it stands otherwise
    assert [{"gang": "team/fits"}] == [record.fields for record in failures]
    assert "status" in volcano.server.object(PODS, "team/waits-1")


def while_held(told):
    """
    Give a round whose binds wait for volumes.
    """
    why = Waiting(Reason.WAITING_FOR_VOLUMES, {"detail": "they are made"})
    receipts = [replace(r, result="held", waiting=why) for r in told.receipts]
    pods = {r.operation.pod: why for r in receipts}
    return replace(told, receipts=receipts, held=pods)


def of_pod(tells, name):
    status = held(tells.server).get(f"Pod {name}", {}).get("status", {})
    return [said["message"] for said in status.get("conditions", ())]


def test_pods_that_wait_for_their_volumes_say_so_and_their_group_does_not_run(volcano):
    told = volcano.told()
    volcano.writer.write(while_held(told))
    first = held(volcano.server)["PodGroup fits"]["status"]["phase"]
    early = of_pod(volcano, "fits-0")
    # The next round takes them for bound, as the cache does.
    volcano.caught_up()
    for name in ("fits-0", "fits-1"):
        record = volcano.pods[f"team/{name}"]
        volcano.pods[record.key] = replace(record, node="gpu-0", phase=PodPhase.RUNNING)
    later = replace(volcano.told(), held=while_held(told).held)
    volcano.writer.write(later)

    assert ["WaitingForVolumes: waits for its volumes: they are made"] == early
    assert "Running" != first
    assert "Running" != held(volcano.server)["PodGroup fits"]["status"]["phase"]


def test_a_gang_that_was_held_is_told_that_it_starts_or_was_refused(volcano):
    told = volcano.told()
    volcano.writer.write(while_held(told))
    volcano.writer.tell_end(told)
    refused = volcano.told(refuse="team/fits", message="no volumes")
    volcano.writer.tell_end(refused)
    volcano.writer.write(without_start(volcano.told()))
    events = held(volcano.server)["events"]

    assert any("Scheduled PodGroup fits" in line for line in events), events
    assert any("FailedBinding" in line and "no volumes" in line for line in events)
