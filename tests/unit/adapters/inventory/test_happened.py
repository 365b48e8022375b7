"""
What happened to gangs is told from the record of rounds.
"""

import json
import re
from pathlib import Path

import pytest

from adapters.cli.main import run
from adapters.inventory.happened import EVENTS, happenings
from adapters.observe.round_file import RoundFile


def step(op, gang, result="done", **more):
    pod = {"pod": f"{gang}-0", "node": "n0"}
    return {"op": op, "gang": gang, **pod, "result": result, **more}


def record(*operations, name="r1", outcome="done", states=None, ended=()):
    found = (states or {}).items()
    items = [{"name": name, "queue": "q", "state": state} for name, state in found]
    return {
        "kind": "Round",
        "name": name,
        "began": "2026-11-22T20:00:00Z",
        "outcome": outcome,
        "why": "we stop" if outcome != "done" else None,
        "gangs": {"items": items, "ended": list(ended)},
        "operations": list(operations),
    }


BUSY = record(
    step("Bind", "a/new"),
    step("Bind", "a/new"),
    step("Bind", "a/old"),
    step("Evict", "b/low", rule="reclaim", **{"for": ["a/new"]}),
    step("Move", "b/far", rule="consolidate", **{"for": ["a/new"]}),
    step("Bind", "c/bad", "refused", message="quota exceeded"),
    step("Bind", "c/not", "skipped"),
    step("Reserve", "c/place"),
    states={"a/new": "Starting", "a/old": "Growing"},
    ended=["d/done"],
)


def test_each_gang_and_cause_is_told_once_with_its_pods():
    told = [(each.event, each.gang, each.pods, each.why) for each in happenings([BUSY])]

    assert [
        ("Started", "a/new", 2, ""),
        ("Grew", "a/old", 1, ""),
        ("Evicted", "b/low", 1, "reclaim for a/new"),
        ("Moved", "b/far", 1, "consolidate for a/new"),
        ("BindFailed", "c/bad", 1, "quota exceeded"),
        ("Ended", "d/done", 0, ""),
    ] == told


def test_a_round_that_came_to_nothing_is_an_event_too():
    (told,) = happenings([record(outcome="dropped")])

    assert ("RoundDropped", "", "we stop") == (told.event, told.gang, told.why)


def test_a_round_of_which_nothing_was_tried_says_why():
    why = "the role lacks a rule"
    steps = (step("Bind", "a/new", "skipped", message=why), step("Reserve", "a/place"))
    (told,) = happenings([record(*steps)])

    assert ("RoundSkipped", "", why) == (told.event, told.gang, told.why)


def test_a_round_of_which_its_record_says_nothing_stops_no_listing():
    told = [each.event for each in happenings([{"kind": "Round"}, BUSY])]

    assert ["RoundFailed", "Started"] == told[:2]


def test_events_are_listed_by_gang_and_kind(tmp_path, capsys):
    path = tmp_path / "rounds.jsonl"
    RoundFile(path).append(BUSY)
    words = ["get", "events", "--rounds", str(path)]

    assert 0 == run([*words, "low", "-o", "json"])
    (row,) = json.loads(capsys.readouterr().out)["items"]
    assert ("Evicted", "r1") == (row["event"], row["round"])
    assert 0 == run([*words, "--event", "started"])
    assert "1 event in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["events", "--event", "evict"], "did you mean Evicted?"),
        (["rounds", "--outcome", "finished"], "there is done, dropped"),
    ],
)
def test_a_word_that_no_event_or_round_can_have_is_refused(
    words, said, tmp_path, capsys
):
    RoundFile(tmp_path / "rounds.jsonl").append(BUSY)

    assert 2 == run(["get", *words, "--rounds", str(tmp_path)])
    assert said in " ".join(capsys.readouterr().err.split())


def test_each_event_of_the_page_can_be_asked_for():
    page = Path(__file__).parents[4] / "docs" / "reference" / "command.md"
    (line,) = [
        line
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("`phalanx get events` reads")
    ]

    assert set(EVENTS) <= set(re.findall(r"`(\w+)`", line))
