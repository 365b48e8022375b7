"""
`phalanx run --observe` beside other schedulers and their gangs, on a real API server.
"""

import json
import os
import random
import time

import pytest

from adapters.cli.main import run
from adapters.kube.acting.permissions import to_observe
from adapters.kube.acting.role import roles
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import resources_of
from adapters.observe.observation import KIND, observed_in
from adapters.observe.round_file import read_rounds
from adapters.reports.observation.observation_page import document_of
from adapters.reports.observation.story import folded
from tests.cluster.peers import TEAM, Koordinator, KubeScheduler
from tests.cluster.role import bind, unbind
from tests.cluster.stage import SPACE, Kubelet, Scheduler
from tests.helpers.eventually import eventually

SECONDS = float(os.environ.get("PHALANX_CHURN", "40"))
"""
How long the churn lasts; an hour where somebody asks for it.
"""
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300 + SECONDS)]


@pytest.fixture(params=[KubeScheduler(), Koordinator()], ids=lambda peer: peer.name)
def other(request, stage):
    """
    A scheduler that binds, and that is observed.
    """
    peer = request.param
    peer.start(stage)
    yield peer
    peer.stop(stage)


@pytest.fixture
def observer(stage, other, tmp_path):
    """
    An observer with the rules that it asks for, beside another scheduler.
    """
    wide, own = roles(to_observe(resources_of(dialects())), "observe", SPACE)
    bind(stage.admin, "nobody", "ClusterRole", wide["rules"], "")
    bind(stage.admin, "nobody", "Role", own["rules"], SPACE)
    stage.ensure(TEAM)
    words = ("--observe", f"--scheduler-name={other.name}")
    with (
        Kubelet(stage),
        Scheduler(stage, *words, folder=tmp_path, user="nobody") as scheduler,
    ):
        eventually(scheduler.leads, 60)
        yield scheduler
    for kind, space in (("ClusterRole", ""), ("Role", SPACE)):
        unbind(stage.admin, "nobody", kind, space)
    stage.clear()


def churn(stage, other, seconds):
    """
    Let gangs of several sizes come, run for some seconds once they are whole, and go.
    """
    draw, begin = random.Random(7), time.monotonic()
    waiting: dict[str, list[str]] = {}
    running: dict[str, tuple[float, list[str]]] = {}
    number = 0
    while (now := time.monotonic()) < begin + seconds:
        if len(waiting) < 8:
            pods, gpus = draw.choice([(1, 8), (2, 4), (2, 8), (3, 5), (4, 8)])
            waiting[f"g{number}"] = other.gang(stage, f"g{number}", pods, gpus)
            number += 1
        bound = stage.bound(TEAM)
        for name in [n for n, pods in waiting.items() if bound.keys() >= {*pods}]:
            running[name] = now + draw.uniform(2, 8), waiting.pop(name)
        for name in [n for n, (until, _) in running.items() if until <= now]:
            other.end(stage, name, running.pop(name)[1])
        time.sleep(draw.uniform(0.1, 0.5))
    return number


def test_what_another_scheduler_binds_is_kept_beside_plans_and_nothing_is_written(
    stage, other, observer, tmp_path, capsys
):
    stage.nodes(6)
    number = churn(stage, other, SECONDS)
    path = observed_in(str(tmp_path), "observe")
    eventually(path.exists, 30)
    time.sleep(3)
    found = folded(read_rounds(path, KIND))
    document = document_of(found)
    assert 0 == run(["report", str(tmp_path)])
    page = capsys.readouterr().out

    users = {user for user, _, _, _ in stage.plane.deeds(TEAM)}
    bound = [g for g in document["gangs"] if g["boundAfter"] is not None]
    assert {"admin"} == users, "only the other scheduler binds"
    assert not observer.events("round_failed"), observer.said()[-3000:]
    assert number >= len({g["name"] for g in document["gangs"]}) > 0.5 * number
    assert bound
    assert f"Phalanx beside {other.name}" in page
    with capsys.disabled():
        print(json.dumps({k: v for k, v in document.items() if k != "gangs"}))
        print(len(document["gangs"]), "gangs,", len(bound), "bound")
        if folder := os.environ.get("PHALANX_CHURN_PAGE"):
            run(["report", str(tmp_path), "--html", folder])


def test_an_observer_asks_for_nothing_that_writes_but_its_lease():
    asked = to_observe(resources_of(dialects()))
    writing = {(p.resource, p.verb, p.own) for p in asked if p.verb not in _READS}

    assert {("leases", "create", True), ("leases", "update", True)} == writing


_READS = {"list", "watch", "get"}
