"""
A gang that is held and a scheduler that is paused, on a real API server.
"""

import pytest

from adapters.cli.main import run
from tests.cluster.stage import SPACE, Kubelet, Scheduler
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
TEAM = "held"


def test_nothing_of_a_pause_or_a_hold_is_bound_and_all_of_it_afterwards(
    stage, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("KUBECONFIG", stage.plane.kubeconfig("admin"))
    stage.ensure(TEAM)
    stage.empty(TEAM)
    stage.nodes(2)
    assert 0 == run(["pause", "--namespace", SPACE, "--reason", "a new fabric"])

    def says(word):
        capsys.readouterr()
        assert 0 == run(["get", "gangs", "-n", TEAM])
        return word in capsys.readouterr().out

    with Kubelet(stage), Scheduler(stage, folder=tmp_path, interval="1"):
        stage.gang(TEAM, "train", 2, 8)
        eventually(lambda: says("Paused"), 60)
        assert 0 == run(["hold", "gang", f"{TEAM}/train", "--reason", "no data"])
        assert 0 == run(["resume", "--namespace", SPACE])
        stage.gang(TEAM, "other", 1, 8)
        eventually(lambda: stage.whole(TEAM, other=1, train=0), 60)
        assert says("Held")
        stage.delete(f"/api/v1/namespaces/{TEAM}/pods/other-0")
        assert 0 == run(["release", "gang", f"{TEAM}/train"])
        eventually(lambda: stage.whole(TEAM, train=2), 60)
