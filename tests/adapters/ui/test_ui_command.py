"""
``phalanx ui`` as a process: what it prints, what it serves, how it ends.
"""

import http.client
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

REPOSITORY = Path(__file__).parents[3]
HERE = ("--listen", "127.0.0.1:0")


def begun(*words) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "adapters.cli.main", "ui", *map(str, words)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def asked(url: str, path: str):
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_it_prints_where_to_look_serves_the_round_and_ends_when_interrupted():
    process = begun("scenarios/demo/reclaim.yaml", *HERE)
    try:
        url = process.stdout.readline().removeprefix("open ").strip()
        told = asked(url, "/rounds")
        time.sleep(0.5)
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)

    assert url.startswith("http://127.0.0.1:")
    assert ["one round"] == [line["name"] for line in told["rounds"]]
    assert "scenarios/demo/reclaim.yaml" == told["source"]
    assert (0, "") == (process.returncode, err)
    assert out.endswith("ended\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nowhere.yaml",), 4, "nowhere.yaml"),
        (("scenarios/demo/reclaim.yaml", "--listen", "there"), 2, "is not an address"),
    ],
)
def test_what_cannot_be_shown_or_served_is_said(words, code, said):
    process = begun(*words)
    _, err = process.communicate(timeout=30)

    assert code == process.returncode
    assert said in err


def test_a_replay_that_is_not_finished_is_said_to_be_one(tmp_path):
    run = tmp_path / "runs" / "greedy" / "seed-0"
    run.mkdir(parents=True)
    (run / "checkpoint.json").touch()
    process = begun(*HERE, tmp_path)
    _, error = process.communicate(timeout=60)

    assert 4 == process.returncode
    assert "the replay is not finished: run it again with the same options" in error
