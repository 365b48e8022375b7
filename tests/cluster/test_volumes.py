"""
`phalanx run` and claims that wait for their first pod, on a real API server.
"""

import re

import pytest

from tests.cluster.conftest import applier
from tests.cluster.manifests import pod
from tests.cluster.provisioner import (
    SELECTED,
    ZONE,
    Provisioner,
    claim,
    local_volume,
    mounting,
    storage_class,
)
from tests.cluster.stage import GROUP, SPACE
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture
def gang(stage, scheduler, request):
    """
    Give a function that makes a gang of pods, each with a claim of a class.
    """
    space = "volumes-" + re.sub("[^a-z]+", "-", request.node.name)[-40:].strip("-")
    stage.ensure(space)

    def made(of: str, number: int, **places: object) -> str:
        stage.create([storage_class(of, **places)])
        stage.create(claim(space, f"g-{i}", of) for i in range(number))
        stage.create([stage.group(space, "g", number)])
        stage.create(
            pod(space, f"g-{i}", labels={GROUP: "g"}, volumes=mounting(f"g-{i}"))
            for i in range(number)
        )
        return space

    return made


def selected(stage, space: str) -> list[str | None]:
    path = f"/api/v1/namespaces/{space}/persistentvolumeclaims"
    return [
        raw["metadata"].get("annotations", {}).get(SELECTED)
        for raw in stage.admin.call("GET", path)["items"]
    ]


def test_a_gang_is_bound_once_all_its_claims_have_volumes(stage, scheduler, gang):
    stage.nodes(1, **{ZONE: "a"})
    stage.nodes(1, first=1, **{ZONE: "b"})
    rules = [{"key": ZONE, "values": ["b"]}]
    space = gang("cloud", 3, allowedTopologies=[{"matchLabelExpressions": rules}])
    eventually(lambda: selected(stage, space) == ["gpu-1"] * 3)
    early = stage.bound(space)
    with Provisioner(stage.admin):
        eventually(lambda: len(stage.bound(space)) == 3)

    assert {} == early
    assert {"gpu-1"} == set(stage.bound(space).values())


def test_each_claim_of_a_gang_gets_a_free_volume_of_its_own(stage, scheduler, gang):
    stage.nodes(2)
    hosts, applied = ("gpu-0", "gpu-0", "gpu-1", "elsewhere"), applier(stage.admin)
    for at, host in enumerate(hosts):
        applied(local_volume(f"disk-{at}", host, "10Gi" if at else "1Ti"))
    space = gang("local", 3, provisioner="kubernetes.io/no-provisioner")
    with Provisioner(stage.admin):
        eventually(lambda: len(stage.bound(space)) == 3)
    listed = stage.admin.call(
        "GET", f"/api/v1/namespaces/{space}/persistentvolumeclaims"
    )
    has = {x["metadata"]["name"]: x["spec"]["volumeName"] for x in listed["items"]}
    bound = stage.bound(space)

    assert {"disk-0", "disk-1", "disk-2"} == set(has.values())
    assert [None] * 3 == selected(stage, space)
    for pod_name, node in bound.items():
        at = int(has[pod_name].removeprefix("disk-"))
        assert hosts[at] == node


def test_one_claim_that_gets_no_volume_lets_go_of_all_and_it_is_tried_again(
    stage, scheduler, gang
):
    stage.nodes(2, **{ZONE: "a"})
    with Provisioner(stage.admin, refuses=frozenset({"g-1"})) as broken:
        space = gang("broken", 2)
        eventually(lambda: broken.refused)
        eventually(lambda: selected(stage, space)[1] is None)
        eventually(lambda: scheduler.events("operation_failed"))
    bound = stage.bound(space)
    with Provisioner(stage.admin):
        eventually(lambda: len(stage.bound(space)) == 2, 30)

    assert {} == bound
    said = [line["message"] for line in scheduler.events("operation_failed")]
    assert any("its provisioner has given up" in text for text in said)


def raised(stage, space: str, least: int) -> None:
    path = f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{space}/podgroups/g"
    stage.admin.call("PATCH", path, {"spec": {"minMember": least}})


def paused(stage, why: str | None) -> None:
    said = {"metadata": {"annotations": {"phalanx.dev/pause": why}}}
    stage.admin.call("PATCH", f"/api/v1/namespaces/{SPACE}", said)


def test_a_gang_that_needs_more_pods_while_its_volumes_are_made_is_not_bound(
    stage, scheduler, gang
):
    stage.nodes(2, **{ZONE: "a"})
    space = gang("slow", 2)
    eventually(lambda: all(selected(stage, space)))
    raised(stage, space, 3)
    eventually(lambda: not any(selected(stage, space)))
    with Provisioner(stage.admin):
        eventually(lambda: scheduler.events("operation_failed"))
        early = stage.bound(space)
        raised(stage, space, 2)
        eventually(lambda: len(stage.bound(space)) == 2, 30)
    said = [line["message"] for line in scheduler.events("operation_failed")]

    assert {} == early
    assert any("needs other pods now than it was to get" in text for text in said)


def test_a_pause_lets_go_of_a_gang_whose_volumes_are_made(stage, scheduler, gang):
    stage.nodes(2, **{ZONE: "a"})
    space = gang("paused", 2)
    eventually(lambda: all(selected(stage, space)))
    try:
        paused(stage, "a new fabric")
        eventually(lambda: not any(selected(stage, space)))
        with Provisioner(stage.admin):
            eventually(lambda: scheduler.receipts().get("skipped"))
            early = stage.bound(space)
            paused(stage, None)
            eventually(lambda: len(stage.bound(space)) == 2, 30)
    finally:
        paused(stage, None)

    assert {} == early
