"""
What a report says is proven of plans, and what is not of what they come to.
"""

import json

import pytest

from adapters.reports.replay.replay_page import replay_page
from adapters.reports.replay.results import load
from tests.helpers.replays import write_replay

EACH = "That is proven of each plan by itself"
OPEN = "Of a plan that is not proven only its bound is."


@pytest.mark.parametrize(
    ("by", "proven", "worse", "is_open"),
    [(60, 1.0, True, False), (60, 0.5, True, True), (-60, 0.5, False, False)],
)
def test_who_is_worse_is_told_what_is_proven(tmp_path, by, proven, worse, is_open):
    folder = write_replay(tmp_path / "results")
    path = folder / "results.json"
    document = json.loads(path.read_text())
    row = next(r for r in document["paired"] if r["metric"] == "wait.mean")
    row["difference"]["mean"], document["paired"] = by, [row]
    for run in document["runs"]:
        rounds = run["metrics"]["rounds"]
        rounds["proven"] = round(rounds["planned"] * proven)
    path.write_text(json.dumps(document))

    said = replay_page(load(str(folder))).certainty

    assert (worse, is_open) == (EACH in said, OPEN in said)
    assert worse == ("in 1 measure it is worse" in said)
