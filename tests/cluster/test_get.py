"""
`phalanx get` and `describe` beside a scheduler, looking at a real cluster.
"""

import json
import signal
import sys

import pytest

from adapters.cli.main import run
from tests.cluster.stage import Kubelet, Scheduler
from tests.helpers.eventually import eventually
from tests.helpers.rounds.mortal import start

pytestmark = pytest.mark.cluster
SPACE = "team"


@pytest.fixture
def looks(stage, capsys, monkeypatch):
    """
    A function that runs the command as an admin and gives what it prints.
    """
    monkeypatch.setenv("KUBECONFIG", stage.plane.kubeconfig("admin"))
    stage.ensure(SPACE)
    stage.empty(SPACE)

    def looked(*words):
        assert 0 == run(list(words))
        return capsys.readouterr().out

    return looked


def test_a_watch_prints_what_becomes_of_a_gang(stage, looks, tmp_path):
    stage.nodes(2)
    words = [sys.executable, "-m", "adapters.cli.main", "get", "gangs", "-w"]
    path = tmp_path / "rows"

    def states(name):
        lines = map(json.loads, path.read_text().splitlines())
        return [line["state"] for line in lines if line["name"] == name]

    with (
        path.open("wb") as rows,
        start([*words, "-o", "json"], stdout=rows) as watch,
    ):
        try:
            with Kubelet(stage), Scheduler(stage, folder=tmp_path):
                stage.gang(SPACE, "fits", 2, 8)
                eventually(lambda: "Running" in states("fits"), 60)
                stage.empty(SPACE)
                eventually(lambda: "Gone" in states("fits"), 60)
            watch.send_signal(signal.SIGINT)
            code = watch.wait(30)
        finally:
            watch.kill()

    assert 130 == code
    assert "Gone" == states("fits")[-1]


def test_a_gang_that_waits_says_why_wherever_one_looks(stage, looks, tmp_path):
    stage.nodes(2)
    group = stage.group(SPACE, "large", 3)
    group["metadata"]["labels"] = {"team": "blue"}
    with Kubelet(stage), Scheduler(stage, folder=tmp_path):
        stage.create([group, *stage.members(SPACE, "large", 3, 8)])
        stage.gang(SPACE, "fits", 1, 8)
        eventually(lambda: stage.whole(SPACE, fits=1, large=0), 60)
        eventually(lambda: "DemandExceedsCluster" in looks("get", "gangs"), 60)
        listed = json.loads(looks("get", "gangs", "-l", "team=blue", "-o", "json"))
        told = looks("describe", "gang", f"{SPACE}/large")
        nodes = looks("get", "nodes", "--sort-by", "-free", "--no-headers")
        rounds = looks("get", "rounds", "--rounds", _record(tmp_path), "-o", "json")
        last = looks("describe", "round", "last", "--rounds", _record(tmp_path))

    (row,) = listed["items"]
    assert ("large", "Waiting", "DemandExceedsCluster") == (
        row["name"],
        row["state"],
        row["reason"],
    )
    assert "needs 24 " in told  # of the round, then proven
    assert ["0/8", "8/8"] == [line.split()[2] for line in nodes.splitlines()[:2]]
    assert 1 == sum(r["receipts"]["Bind"]["done"] for r in _binding(rounds))
    assert "DemandExceedsCluster" in last


def _record(folder):
    return str(folder / "default" / "rounds.jsonl")


def _binding(text):
    return [r for r in json.loads(text)["items"] if "Bind" in r["receipts"]]
