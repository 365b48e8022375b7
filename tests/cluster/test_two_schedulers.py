"""
kube-scheduler and we give the same devices through different claims at the same time.
"""

from collections import Counter
from itertools import count

import pytest

from tests.cluster.manifests import pod
from tests.cluster.peers import KubeScheduler
from tests.cluster.stage import GROUP, clear_devices
from tests.helpers.eventually import eventually
from tests.helpers.rounds.devices import (
    API,
    GPU_CLASS,
    asks,
    claim,
    claiming,
    classes,
    gpu,
    node_slice,
)

pytestmark = pytest.mark.cluster
NODES, EACH = 3, 16
_NUMBERS = count()
OTHER = KubeScheduler()


@pytest.fixture
def space(stage):
    """
    Give a namespace on a server with few devices, and with kube-scheduler.
    """
    clear_devices(stage)
    name = f"two-{next(_NUMBERS)}"
    stage.ensure(name)
    stage.create(classes())
    slices = (node_slice(x, [gpu(i) for i in range(8)]) for x in stage.nodes(NODES))
    stage.create(slices)
    OTHER.start(stage)
    yield name
    OTHER.stop(stage)


def pods_of(stage, space: str, letter: str, scheduler: str) -> list[dict]:
    """
    Write pods with a claim each; the claims are made, and the gangs of ours.
    """
    names = [f"{letter}{at}" for at in range(EACH)]
    stage.create(claim(name, asks("gpu", GPU_CLASS), space=space) for name in names)
    gangs = [f"{letter}-gang-{at // 4}" for at in range(EACH)]
    if scheduler == "phalanx":
        stage.create(stage.group(space, name, 4) for name in dict.fromkeys(gangs))
    labels = [{GROUP: gang} if scheduler == "phalanx" else {} for gang in gangs]
    return [
        pod(
            space,
            name,
            gpus=0,
            labels=mine,
            scheduler=scheduler,
            **claiming(name),
        )
        for name, mine in zip(names, labels, strict=True)
    ]


@pytest.mark.parametrize("ours_first", [True, False], ids=["ours first", "ours last"])
def test_no_device_is_given_twice_by_two_schedulers(
    stage, space, scheduler, ours_first
):
    ours = pods_of(stage, space, "p", "phalanx")
    theirs = pods_of(stage, space, "k", OTHER.name)
    for raws in (ours, theirs) if ours_first else (theirs, ours):
        stage.create(raws)

    eventually(lambda: len(stage.bound(space)) == 8 * NODES, 60.0)
    listed = stage.admin.call("GET", f"/apis/{API}/namespaces/{space}/resourceclaims")
    bound, given = set(stage.bound(space)), Counter()
    for raw in listed["items"]:
        status = raw.get("status", {})
        for each in status.get("allocation", {}).get("devices", {}).get("results", ()):
            given[each["pool"], each["device"]] += 1
        users = {each["name"] for each in status.get("reservedFor") or ()}
        name = raw["metadata"]["name"]
        assert users == ({name} if name in bound else set())
    assert 8 * NODES == len(given)
    assert {1} == set(given.values())
    for said in scheduler.events("operation_failed"):
        assert "was given to" in said["message"] or "are not free" in said["message"]


@pytest.mark.parametrize("names", [("phalanx", OTHER.name), (OTHER.name, "phalanx")])
def test_pods_of_two_schedulers_share_a_claim(stage, space, scheduler, names):
    stage.create([claim("both", asks("gpu", GPU_CLASS), space=space)])
    for at, name in enumerate(names):
        stage.create([pod(space, f"p{at}", gpus=0, scheduler=name, **claiming("both"))])
        eventually(lambda number=at + 1: len(stage.bound(space)) == number, 30.0)

    assert 1 == len(set(stage.bound(space).values()))
