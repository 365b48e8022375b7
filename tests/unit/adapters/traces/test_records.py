"""
The record of a loop as a trace, and what no record holds.
"""

import json
from dataclasses import replace

import pytest

from adapters.files.bundles import FailedRound, save
from adapters.loop.interfaces import Turn
from adapters.observe.reporters import RoundRecorder
from adapters.observe.round_file import RoundFile
from adapters.traces import read_trace
from adapters.traces.row_faults import TraceRejectedError
from models.policy import Policy
from models.receipt import Receipt
from models.resources import GPU, PODS
from solver.next_snapshot import carry_out
from solver.round import decide
from tests.helpers.build import gang, leaf, nodes, snapshot

BEGAN = 1_793_520_000.0
MINUTE = 60


class Kept:
    """
    A loop that records its rounds, one a minute; gangs come and end as a test says.
    """

    def __init__(self, path, *gangs):
        self.seen = snapshot(nodes=nodes(2), gangs=gangs)
        self.recorder = RoundRecorder(RoundFile(path), Policy(), lambda: BEGAN)
        self.recorder.start()
        self.rounds = 0

    def round(self, *coming, gone=(), result="done"):
        """
        Hold a round after some gangs have come and others have gone.
        """
        stay = (g for g in self.seen.gangs if g.name not in gone)
        gangs = tuple(sorted((*stay, *coming), key=lambda g: g.key))
        seen = replace(self.seen, gangs=gangs)
        plan = decide(seen, Policy(), strategy="greedy")
        done = tuple(Receipt(operation=s, result=result) for s in plan.operations)
        began = BEGAN + MINUTE * self.rounds
        turn = Turn(seen, plan, done, f"r{self.rounds}", began, {})
        self.recorder.planned(turn)
        if done:
            self.recorder.carried_out(turn)
        self.seen = carry_out(seen, plan, MINUTE)
        self.rounds += 1

    def end(self):
        """
        Write what there is.
        """
        self.recorder.stop()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rounds.jsonl"


def jobs(path, **said):
    return {job.name: job for job in read_trace(str(path), **said).jobs}


def test_gangs_that_a_loop_started_and_saw_end_are_jobs(path):
    loop = Kept(path, gang("first", leaf(minimum=2, gpus=4), age=600, priority=7))
    loop.round()
    loop.round(gang("second", leaf(minimum=1, gpus=8)))
    loop.round(gone=["first"])
    loop.round(gone=["second"])
    loop.end()
    found = read_trace(str(path))
    first, second = found.jobs

    assert ("round", "2026-11-01T07:50:00+00:00") == (found.form, found.begins)
    assert ("first", 0, 120, 7) == (
        first.name,
        first.submit,
        first.duration,
        first.priority,
    )
    assert ("second", 660, 120) == (second.name, second.submit, second.duration)
    (role,) = first.roles
    assert (2, 2, {GPU: 4, PODS: 1}) == (role.pods, role.minimum, role.requests)
    assert any("before the record" in note for note in found.notes)


def test_a_gang_ends_once_it_is_gone_though_its_pods_went_before(path):
    loop = Kept(path, gang("slow", leaf(minimum=1, gpus=8)))
    loop.round()
    loop.round(gang("slow", leaf(minimum=1, gpus=8, terminating=["n0"])), gone=["slow"])
    loop.round(gang("slow", leaf(minimum=1, gpus=8, created=0)), gone=["slow"])
    loop.round(gone=["slow"])
    loop.end()
    records = [json.loads(line) for line in path.read_text().splitlines()]

    assert ["default/slow"] == records[-1]["gangs"]["ended"]
    assert 180 == jobs(path)["slow"].duration


def test_a_gang_that_a_plan_made_leave_does_not_end_while_it_waits(path):
    runs = gang("cheap", leaf(minimum=1, gpus=8, running=["n0"]), priority=0)
    more = gang("other", leaf(minimum=1, gpus=8, running=["n1"]), priority=9)
    loop = Kept(path, runs, more)
    loop.round(gang("dear", leaf(minimum=1, gpus=8), priority=5, age=60))
    loop.round(gang("cheap", leaf(minimum=1, gpus=8)), gone=["cheap"])
    loop.round(gone=["cheap"])
    loop.end()
    records = [json.loads(line) for line in path.read_text().splitlines()]

    assert "Evict" in [step["op"] for step in records[0]["operations"]]
    assert [] == [name for each in records for name in each["gangs"]["ended"]]


def test_gangs_that_went_while_nobody_led_end_with_the_next_record(path):
    loop = Kept(path, gang("short", leaf(minimum=1, gpus=8)))
    loop.round(gang("long", leaf(minimum=1, gpus=8)))
    loop.end()
    after = Kept(path, gang("long", leaf(minimum=1, gpus=8, running=["n1"])))
    after.rounds = 5
    after.round()
    after.end()
    records = [json.loads(line) for line in path.read_text().splitlines()]

    assert ["default/short"] == records[-1]["gangs"]["ended"]
    assert 300 == jobs(path)["short"].duration


def test_a_gang_that_was_never_bound_does_not_end(path):
    loop = Kept(path, gang("refused", leaf(minimum=1, gpus=8)))
    loop.round(result="refused")
    loop.round(gang("refused", leaf(minimum=1, gpus=8, created=0)), gone=["refused"])
    loop.round(gone=["refused"])
    loop.end()
    records = [json.loads(line) for line in path.read_text().splitlines()]

    assert [] == [name for each in records for name in each["gangs"]["ended"]]


def test_a_gang_that_waited_is_submitted_when_it_came(path):
    loop = Kept(path, gang("large", leaf(minimum=2, gpus=8)))
    loop.round()
    loop.round(gang("late", leaf(minimum=1, gpus=8)))
    loop.round()
    loop.round(gone=["large"])
    loop.round(gone=["late"])
    loop.end()

    assert (60, 60) == (jobs(path)["late"].submit, jobs(path)["late"].duration)


def test_a_gang_of_the_same_name_that_comes_again_is_another_job(path):
    loop = Kept(path, gang("daily", leaf(minimum=1, gpus=8)))
    loop.round()
    loop.round(gone=["daily"])
    loop.round(gang("daily", leaf(minimum=1, gpus=4)))
    loop.round(gone=["daily"])
    loop.end()

    assert {"daily": 8, "daily-x1": 4} == {
        name: job.gpus for name, job in jobs(path).items()
    }


def test_what_runs_at_the_end_counts_with_its_max_runtime_or_is_left_out(path):
    known = gang("known", leaf(minimum=1, gpus=8), max_runtime=900)
    loop = Kept(path, known, gang("ends", leaf(minimum=1, gpus=1)))
    loop.round()
    loop.round(gang("open", leaf(minimum=1, gpus=1)), gone=["ends"])
    loop.end()
    found = read_trace(str(path))

    assert {"no-duration": 1} == found.left_out
    assert {"known": 900, "ends": 60} == {j.name: j.duration for j in found.jobs}


def test_a_gang_that_ran_before_the_record_is_in_no_trace(path):
    loop = Kept(path, gang("old", leaf(minimum=1, running=["n0"])))
    loop.round(gang("new", leaf(minimum=1, gpus=1)))
    loop.round(gone=["old", "new"])
    loop.end()

    assert ["new"] == list(jobs(path))


def test_lines_that_are_no_records_of_this_version_are_counted(path):
    loop = Kept(path, *(gang(f"g{at}", leaf(minimum=1, gpus=1)) for at in range(6)))
    loop.round()
    loop.round(gone=[f"g{at}" for at in range(6)])
    loop.end()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    del lines[0]["gangs"]["items"][0]["asks"]
    lines[0]["gangs"]["items"][1]["asks"]["roles"] = None
    odd = {"kind": "Round", "name": "odd", "began": "yesterday", "outcome": "done"}
    hostile = json.loads(json.dumps(lines[0]))
    hostile["gangs"]["items"][2]["asks"]["age"] = -(10**40)
    path.write_text("\n".join(map(json.dumps, [odd, hostile, *lines, 5])) + '\n{"cut')
    found = read_trace(str(path))

    assert 4 == len(found.jobs)
    assert {"bad-record": 2, "no-requests": 1, "tree": 1} == found.left_out


def test_a_record_of_rounds_in_which_nothing_started_is_refused(path):
    loop = Kept(path, gang("old", leaf(minimum=1, running=["n0"])))
    loop.round()
    loop.end()

    with pytest.raises(TraceRejectedError):
        read_trace(str(path))


def test_the_bundle_of_a_round_is_read_by_its_gangs(tmp_path):
    seen = snapshot(
        nodes=nodes(1),
        gangs=[gang("a", leaf("w", minimum=1, gpus=1), age=60, max_runtime=300)],
    )
    path = save(tmp_path, "r1", FailedRound(seen, Policy()), ValueError("broken"))

    assert {"a": 300} == {name: job.duration for name, job in jobs(path).items()}


def test_a_round_says_of_what_starts_what_it_asks_for_and_of_nothing_else(path):
    loop = Kept(path, gang("large", leaf(minimum=2, gpus=8)))
    loop.round(gang("waits", leaf(minimum=1, gpus=8)))
    loop.round()
    loop.end()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    asked = [
        [item["name"] for item in record["gangs"]["items"] if "asks" in item]
        for record in records
    ]

    assert [["default/large"], []] == asked
