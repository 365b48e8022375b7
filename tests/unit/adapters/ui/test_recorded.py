"""
Frames of what was recorded: replays and rounds.
"""

import gzip
import json
from dataclasses import replace

import pytest

from adapters.loop.interfaces import Turn
from adapters.observe.round_file import NoRecordError, RoundFile
from adapters.observe.round_record import record_of
from adapters.reports.replay.results import ResultsRejectedError
from adapters.ui.record_frames import record_store
from adapters.ui.replay_frames import MOST_MOMENTS, replay_store
from models.policy import Policy
from models.receipt import Receipt
from solver import carry_out, decide
from tests.helpers.build import gang, node, queue, snapshot
from tests.helpers.replays import write_replay


def frame(store, number):
    return json.loads(gzip.decompress(store.body(number)))


def used(frame):
    return sum(gpus for row in frame["cells"] for _, gpus, _ in row)


def test_a_replay_shows_what_ran_where_at_each_moment(tmp_path):
    store = replay_store(str(write_replay(tmp_path / "r", num_nodes=4)))
    lines = store.lines()["rounds"]
    found = frame(store, len(lines) // 2)

    assert 1 < len(lines) <= MOST_MOMENTS
    assert ("solver", 4) == (found["plan"]["strategy"], len(found["nodes"]))
    assert used(found) == found["plan"]["gpus"]
    names = {each["name"] for each in found["queues"]}
    assert {f"queue-{i}" for i in range(4)} == names


def test_the_other_strategy_is_shown_at_the_same_moment(tmp_path):
    store = replay_store(str(write_replay(tmp_path / "r")))
    number = store.lines()["rounds"][-1]["id"] // 2
    other = json.loads(gzip.decompress(store.greedy(number)))

    assert "greedy" == other["plan"]["strategy"]
    assert frame(store, number)["name"] == other["name"]


def test_a_replay_without_its_rounds_tells_the_same_in_head_and_frame(tmp_path):
    """
    What is said of a moment in the list is what its jobs say, and where that is from.
    """
    store = replay_store(str(write_replay(tmp_path / "r", num_nodes=4)))
    lines = store.lines()
    told = [
        [(x["starts"], x["waits"], x["gpus"]) for x in (line, frame(store, at)["plan"])]
        for at, line in enumerate(lines["rounds"])
    ]

    assert lines["source"].endswith("without rounds.jsonl")
    assert all(head == found for head, found in told)
    assert any(head[0] for head, _ in told)
    assert any(line["value"] for line in lines["rounds"])


def test_the_time_of_a_round_with_which_a_replay_ends_is_its_decision(tmp_path):
    folder = write_replay(tmp_path / "r", strategies=("greedy",))
    rounds = [{"t": 0, "free": 1}, {"t": 300, "free": 1}]
    times = [{"t": 0, "decision": 1.5}, {"t": 300, "decision": 2.5}, {"t": 300}]
    for name, lines in (("rounds", rounds), ("timings", times)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (next(folder.glob("runs/greedy/*")) / f"{name}.jsonl").write_text(text)
    found = replay_store(str(folder)).lines()["rounds"]

    assert [1.5, 2.5] == [line["seconds"] for line in found]


def test_a_replay_of_one_strategy_has_nothing_beside_it(tmp_path):
    folder = write_replay(tmp_path / "r", strategies=("greedy",))
    store = replay_store(str(folder))

    assert store.greedy(0) is None
    assert not store.lines()["answers"]


def test_what_is_no_replay_is_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")

    with pytest.raises(ResultsRejectedError):
        replay_store(str(tmp_path))


@pytest.fixture
def recorded(tmp_path):
    """
    Record two rounds: in the first a gang starts, in the second it has ended.
    """
    path = tmp_path / "rounds.jsonl"
    there = snapshot(
        [node("n0"), node("n1")],
        [
            gang("a", queue="q", gpus=6),
            gang("b", queue="q", gpus=8),
            gang("c", gpus=64),
        ],
        [queue("q", quota=16), queue("default")],
    )
    file = RoundFile(path)
    ended = ()
    for name in ("r1", "r2"):
        plan = decide(there, Policy())
        receipts = tuple(Receipt(operation=s, result="done") for s in plan.operations)
        turn = Turn(there, plan, receipts, name, 1_793_520_000.0, {"plan": 0.5})
        file.append(record_of(turn, Policy(), "done", ended=ended))
        there = carry_out(there, plan, 60)
        kept = tuple(each for each in there.gangs if each.name != "b")
        there, ended = replace(there, gangs=kept), ("default/b",)
    return path


def test_a_record_shows_what_it_has_seen_bound_and_not_end(recorded):
    store = record_store(recorded)
    first, second = frame(store, 0), frame(store, 1)

    assert [14, 6] == [used(first), used(second)]
    assert ["n0", "n1"] == [each[0] for each in first["nodes"]]
    waiting = [each["name"] for each in second["gangs"] if each["state"] == "Waiting"]
    assert ["default/c"] == waiting
    assert {"q", "default"} == {each["name"] for each in first["queues"]}


def test_rounds_of_a_record_have_value_bound_and_time(recorded):
    (line, _) = record_store(recorded).lines()["rounds"]

    assert (0.5, True) == (line["seconds"], line["planned"])
    assert line["value"] == line["bound"] > 0
    assert 1_793_520_000.0 == line["began"]


def test_gpus_at_work_are_those_of_all_rounds_so_far(recorded):
    store = record_store(recorded)

    for at in (0, 1):
        assert used(frame(store, at)) == frame(store, at)["plan"]["gpus"], at


def test_what_was_held_first_and_bound_later_is_shown_from_then_on(recorded):
    rows = [json.loads(line) for line in recorded.read_text().splitlines()]
    for step in rows[0]["operations"]:
        step["result"] = "held"
    done = [{**each, "result": "done"} for each in rows[0]["operations"]]
    rows[1]["heldBinds"] = [each for each in done if each["gang"] == "default/a"]
    recorded.write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = record_store(recorded)

    assert [0, 6] == [used(frame(store, 0)), used(frame(store, 1))]


def test_without_a_record_it_is_said(tmp_path):
    path = tmp_path / "rounds.jsonl"
    with pytest.raises(NoRecordError, match="there is no record of rounds at"):
        record_store(path)
    path.touch()
    with pytest.raises(NoRecordError, match="holds no round"):
        record_store(path)
