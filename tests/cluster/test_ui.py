"""
The page of `phalanx ui` beside a scheduler, of a real cluster, in a real browser.
"""

import json
import signal
import subprocess
import sys
import time

import pytest

from adapters.cli.main import run
from tests.cluster.stage import Kubelet, Scheduler
from tests.helpers.chromium import Chromium, executable
from tests.helpers.eventually import eventually
from tests.helpers.rounds.mortal import start

pytestmark = pytest.mark.cluster
SPACE = "team"
WORDS = [sys.executable, "-m", "adapters.cli.main", "ui", "--listen", "127.0.0.1:0"]
READY = "document.body && document.body.dataset.version !== undefined"
WAITS = "document.querySelector('#waits').textContent"


@pytest.fixture
def space(stage, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", stage.plane.kubeconfig("admin"))
    stage.ensure(SPACE)
    stage.empty(SPACE)
    stage.nodes(2)
    return SPACE


@pytest.mark.skipif(executable() is None, reason="there is no Chromium here")
def test_the_page_follows_a_cluster_and_proves_why_a_gang_waits(stage, space, tmp_path):
    browser = Chromium(tmp_path / "profile")
    with (
        Kubelet(stage),
        Scheduler(stage, folder=tmp_path),
        start(WORDS, stdout=subprocess.PIPE, text=True) as page,
    ):
        try:
            stage.gang(space, "fits", 1, 8)
            stage.gang(space, "large", 3, 8)
            url = page.stdout.readline().removeprefix("open ").strip()
            browser.screen(1_400, 1_000)
            browser.call("Page.navigate", url=url)
            browser.wait(READY, 60)
            browser.wait(f"{WAITS}.includes('{space}/large')", 60)
            browser.evaluate(
                "[...document.querySelectorAll('#waits button')]"
                ".find((b) => b.textContent.includes('large')).click()"
            )
            browser.wait("!!document.querySelector('#gang .why ul')", 60)
            said = browser.evaluate("document.querySelector('#gang .why').textContent")
            begun = time.monotonic()
            stage.gang(space, "later", 3, 8)
            browser.wait(f"{WAITS}.includes('{space}/later')", 60)
            seen = time.monotonic() - begun
            complaints = browser.complaints()
            page.send_signal(signal.SIGINT)
            code = page.wait(30)
        finally:
            page.kill()
            browser.close()

    print(f"seen after {seen:.2f} s")
    assert said.startswith("room: needs 24 GPUs; ")
    assert [] == complaints
    assert 0 == code


def test_pods_and_lists_say_what_a_gang_waits_for(stage, space, tmp_path, capsys):
    with Kubelet(stage), Scheduler(stage, folder=tmp_path):
        stage.gang(space, "large", 3, 8)

        def row():
            capsys.readouterr()
            assert 0 == run(["get", "gangs", "large", "-n", space, "-o", "json"])
            (found,) = json.loads(capsys.readouterr().out)["items"]
            return found

        eventually(lambda: (row()["message"] or "").startswith("needs 24 GPUs; "), 60)
        found = row()

    assert "DemandExceedsCluster" == found["reason"]
    assert "room" == found["waitsFor"]
