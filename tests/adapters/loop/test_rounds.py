import json
from dataclasses import replace

import pytest

from adapters.cli.main import run
from adapters.cli.views.record_views import recorded_gangs
from adapters.loop.interfaces import Turn
from adapters.observe.round_file import (
    MOST_GANGS,
    MOST_OPERATIONS,
    NoRecordError,
    OtherRecordError,
    RoundFile,
    numbered,
    read_rounds,
    whole_rounds,
)
from adapters.observe.round_record import record_of
from adapters.ui.record_frames import record_store
from models.policy import Policy
from models.receipt import Receipt
from solver.round import decide
from tests.helpers.build import gang, leaf, nodes, snapshot


def record(name, filler=0):
    return {"kind": "Round", "name": name, "filler": "x" * filler}


def names(path):
    return [round_["name"] for round_ in read_rounds(path)]


def turned(number=2, **fields):
    """
    Plan a round in which one gang starts, one waits and one runs.
    """
    seen = snapshot(
        nodes=nodes(number),
        gangs=[
            gang("starts", leaf(minimum=2, gpus=4)),
            gang("waits", leaf(minimum=1, gpus=64)),
            gang("runs", leaf(minimum=1, running=["n0"])),
        ],
    )
    plan = decide(seen, Policy(), strategy="greedy")
    receipts = tuple(Receipt(operation=s, result="done") for s in plan.operations)
    return Turn(
        **{
            "snapshot": seen,
            "plan": plan,
            "receipts": receipts,
            "name": "r1",
            "began": 1_793_520_000.25,
            "seconds": {"plan": 0.125},
            **fields,
        }
    )


def test_rounds_are_read_in_the_order_they_were_written(tmp_path):
    path = tmp_path / "new" / "rounds.jsonl"
    for number in range(5):
        RoundFile(path).append(record(f"r{number}"))

    assert ["r0", "r1", "r2", "r3", "r4"] == names(path)


@pytest.mark.parametrize(
    "odd",
    [
        {"began": 5},
        {"gangs": None},
        {"gangs": {"items": [{"name": "a/b"}]}},
        {"operations": [{"op": "Bind"}]},
        {"heldBinds": "none"},
    ],
)
def test_a_round_that_lacks_a_part_is_passed_over_wherever_rounds_are_shown(
    tmp_path, capsys, odd
):
    path = tmp_path / "rounds.jsonl"
    for name, more in (("good", {}), ("odd", odd)):
        whole = record_of(turned(name=name), Policy(), "done")
        RoundFile(path).append({**whole, **more})

    assert ["good"] == [each["name"] for each in whole_rounds(path)]
    assert 1 == len(record_store(path).lines()["rounds"])
    assert 0 == run(["get", "gangs", "--round", "last", "--rounds", str(path)])
    assert "default/starts" in capsys.readouterr().out
    assert 0 == run(["get", "events", "--rounds", str(path)])


def test_the_record_is_bounded_and_keeps_the_newest_rounds(tmp_path):
    path = tmp_path / "rounds.jsonl"
    file = RoundFile(path, size=1000, files=3)
    for number in range(100):
        file.append(record(f"r{number}", 200))
    sizes = [part.stat().st_size for part in tmp_path.iterdir()]
    kept = names(path)

    assert 3 == len(sizes)
    assert max(sizes) <= 1000
    assert kept == [f"r{number}" for number in range(100 - len(kept), 100)]
    assert 9 <= len(kept) <= 12


def test_one_file_is_begun_anew_when_it_is_full(tmp_path):
    path = tmp_path / "rounds.jsonl"
    file = RoundFile(path, size=500, files=1)
    for number in range(10):
        file.append(record(f"r{number}", 200))

    assert ["r8", "r9"] == names(path)
    assert not numbered(path, 1).exists()


def test_replicas_that_lead_by_turns_write_one_record(tmp_path):
    path = tmp_path / "rounds.jsonl"
    one, other = (RoundFile(path, size=1000, files=3) for _ in range(2))
    for number in range(40):
        (one if number % 10 < 5 else other).append(record(f"r{number}", 200))
    sizes = [part.stat().st_size for part in tmp_path.iterdir()]
    kept = names(path)

    assert 3 == len(sizes)
    assert max(sizes) <= 1000
    assert kept == [f"r{number}" for number in range(40 - len(kept), 40)]
    assert 9 <= len(kept) <= 12


def test_a_line_that_a_crash_cut_off_is_passed_over(tmp_path):
    path = tmp_path / "rounds.jsonl"
    RoundFile(path).append(record("r0"))
    with path.open("a") as stream:
        stream.write('{"kind": "Round", "name": "cut')
    RoundFile(path).append(record("r1"))

    assert ["r0", "r1"] == names(path)


def test_a_disk_that_takes_nothing_stops_nothing(tmp_path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    RoundFile(blocked / "rounds.jsonl").append(record("r0"))

    assert ["round_not_recorded"] == [entry.message for entry in caplog.records]


def test_a_record_that_is_not_there_is_an_error_with_its_path(tmp_path):
    with pytest.raises(NoRecordError) as caught:
        list(read_rounds(tmp_path / "rounds.jsonl"))

    assert str(tmp_path / "rounds.jsonl") == caught.value.path


def test_a_record_of_something_else_is_an_error_that_says_of_what(tmp_path):
    path = tmp_path / "observed.jsonl"
    RoundFile(path).append(record("o0") | {"kind": "Observation"})
    with pytest.raises(OtherRecordError, match="kind Observation and none of kind"):
        list(read_rounds(path))
    RoundFile(path).append(record("r0"))

    assert ["r0"] == names(path)


def test_a_round_says_what_it_was_made_of_and_what_came_of_it():
    written = record_of(turned(), Policy(), "done")

    assert json.loads(json.dumps(written)) == written
    assert ("r1", "done", "2026-11-01T08:00:00.250Z") == (
        written["name"],
        written["outcome"],
        written["began"],
    )
    assert written["snapshot"].startswith("sha256:")
    assert {"phalanx", "ortools"} == set(written["versions"])
    assert written["policy"]["tiers"]
    assert written["tiers"][0].keys() >= {"value", "bound", "proof"}
    assert {"plan": 0.125} == written["seconds"]["round"]
    assert {"Running": 1, "Starting": 1, "Waiting": 1} == written["gangs"]["states"]
    assert ["default/starts", "default/waits"] == [
        line["name"] for line in written["gangs"]["items"]
    ]
    assert {
        "Bind": {"done": 2, "held": 0, "again": 0, "refused": 0, "skipped": 0}
    } == written["receipts"]
    assert 8 == written["gpus"]


def test_what_failed_comes_first_and_says_why():
    turn = turned()
    done, other = turn.receipts
    refused = Receipt(operation=other.operation, result="refused", message="denied")
    written = record_of(turned(receipts=(done, refused)), Policy(), "done")

    assert ["refused", "done"] == [step["result"] for step in written["operations"]]
    assert "denied" == written["operations"][0]["message"]


def test_a_dropped_round_says_that_nothing_was_tried():
    written = record_of(turned(receipts=()), Policy(), "dropped", "we no longer lead")

    assert ("dropped", "we no longer lead") == (written["outcome"], written["why"])
    assert {"skipped"} == {step["result"] for step in written["operations"]}


def test_a_round_with_many_gangs_lists_those_that_are_moved_and_counts_the_rest():
    turn = turned()
    starts, waits = (
        next(line for line in turn.plan.gangs if line.state == state)
        for state in ("Starting", "Waiting")
    )
    plan = replace(turn.plan, gangs=(*[waits] * (MOST_GANGS + 4), starts))
    written = record_of(turned(plan=plan), Policy(), "done")["gangs"]
    foot = recorded_gangs({"name": "r1", "gangs": written}).foot(written["items"])

    assert (MOST_GANGS, 5) == (len(written["items"]), written["leftOut"])
    assert "default/starts" == written["items"][0]["name"]
    assert {"Starting": 1, "Waiting": MOST_GANGS + 4} == written["states"]
    assert foot.endswith("nor are 5 that wait")


def test_a_huge_round_lists_the_first_operations_and_counts_the_rest():
    turn = turned()
    many = turn.receipts * MOST_OPERATIONS
    written = record_of(turned(receipts=many), Policy(), "done")

    assert MOST_OPERATIONS == len(written["operations"])
    assert MOST_OPERATIONS == written["operationsLeftOut"]
    assert 2 * MOST_OPERATIONS == written["receipts"]["Bind"]["done"]
