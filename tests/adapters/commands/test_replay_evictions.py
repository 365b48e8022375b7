"""
``phalanx replay --evictions``: who is evicted, and what is lost by it.
"""

import csv
import json

import pytest

from adapters.cli.main import run
from adapters.service.shipped import BOUNDS

HOUR = 3600
RESTARTS = 18_000
NO_BOUND = {"maxLostPerGpu": None}
TRACE = """\
job,submit,duration,gpus,pods,queue
early,0,18000,8,1,red
other,0,18000,8,1,red
late,8000,18000,8,1,blue
later,8000,18000,8,1,blue
"""


def settings_of(path, evict):
    head = {"apiVersion": "phalanx/v1", "kind": "Config"}
    path.write_text(json.dumps({**head, "policy": {"evict": evict}}))
    return path


def played(folder, *words, policy=None):
    """
    Play a queue that takes all there is, and one that comes for its share.
    """
    trace = folder / "jobs.csv"
    trace.write_text(TRACE)
    known = ("--strategy", "greedy", "--workers", "1", "--quotas", "gpu-hours")
    known += ("--evictions", "-O", str(folder / "out"))
    if policy:
        known += ("--policy", str(settings_of(folder / "settings.yaml", policy)))

    assert 0 == run(["replay", str(trace), "--cluster", "2x8", *known, *words])
    with (folder / "out" / "runs" / "greedy" / "seed-0" / "jobs.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["evictions"])]
    settings = json.loads((folder / "out" / "results.json").read_text())["settings"]
    return settings, rows


@pytest.mark.parametrize(
    ("words", "saves"),
    [((), None), (("--saves", "1h"), HOUR), (("--saves", "6h"), 6 * HOUR)],
    ids=["never", "each hour", "too seldom"],
)
def test_what_was_saved_is_not_done_again(tmp_path, words, saves):
    settings, (row,) = played(tmp_path, *words, policy=NO_BOUND)
    ran = 8100
    lost = ran % HOUR if saves == HOUR else ran

    assert settings["saves"] == saves
    assert int(row["lost"]) == 8 * lost
    assert int(row["end"]) == RESTARTS + int(row["duration"]) - (ran - lost)


@pytest.mark.parametrize(
    ("policy", "bound", "evicted"),
    [
        (None, HOUR, 0),
        ({"again": "0s"}, HOUR, 0),
        ({"maxLostPerGpu": 3 * HOUR}, 3 * HOUR, 1),
        (NO_BOUND, None, 1),
    ],
    ids=["nothing said", "another thing said", "a wider bound", "no bound"],
)
def test_what_is_lost_is_bounded_as_shipped_unless_the_policy_says_how(
    tmp_path, policy, bound, evicted
):
    settings, rows = played(tmp_path, policy=policy)

    found = settings["policy"]["evict"]
    assert (found["maxLostPerGpu"], len(rows)) == (bound, evicted)
    assert BOUNDS["maxPods"] == found["maxPods"]


def test_a_wrong_output_is_refused_before_anything_is_read(tmp_path, capsys):
    missing = str(tmp_path / "missing.csv")

    assert 2 == run(["replay", missing, "--cluster", "2x8", "-o", "yaml"])
    assert "-o yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--saves", "1h"), "add --evictions"),
        (("--saves", "0s", "--evictions"), "without --saves"),
    ],
    ids=["nothing is evicted", "no time between two saves"],
)
@pytest.mark.parametrize(
    "command", [["replay"], ["study", "policy"], ["study", "capacity"]]
)
def test_saves_that_would_change_nothing_are_refused(
    tmp_path, capsys, command, words, hint
):
    (tmp_path / "jobs.csv").write_text(TRACE)
    known = [str(tmp_path / "jobs.csv"), "--cluster", "2x8", "-O", str(tmp_path / "o")]

    assert 2 == run([*command, *known, *words])
    said = " ".join(capsys.readouterr().err.split())
    assert "--saves" in said
    assert hint in said
    assert not (tmp_path / "o").exists()


def test_saves_are_a_time(tmp_path, capsys):
    (tmp_path / "jobs.csv").write_text(TRACE)
    words = ("--cluster", "2x8", "--evictions", "--saves", "often")

    assert 2 == run(["replay", str(tmp_path / "jobs.csv"), *words])
    assert "--saves" in capsys.readouterr().err
