"""
Pods of other schedulers: what is load, what closes a node and what does not.
"""

import pytest

from adapters.files import scenario_of
from adapters.files.writing.snapshot_writer import snapshot_document
from models.policy import Policy
from models.why.reasons import Reason
from solver.round import decide
from tests.helpers.kube.manifests import (
    GPU,
    assembled,
    in_group,
    node,
    pod,
    pod_group,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def test_pods_of_others_are_load_when_they_run_and_else_ignored():
    runs = {"nodeName": "n", "status": {"phase": "Running"}}
    made = assembled(
        node("n"),
        pod("own", **runs),
        pod("a", gpus=2, schedulerName="volcano", **runs),
        pod("b", gpus=3, schedulerName="default-scheduler", **runs),
        pod("c", gpus=4, schedulerName="volcano"),
        pod(
            "d",
            schedulerName="volcano",
            nodeName="n",
            status={"phase": "Succeeded"},
        ),
    )

    assert {GPU: 5, "pods": 2} == made.snapshot.nodes[0].used
    assert {"volcano": 1, "default-scheduler": 1} == made.summary.load
    assert {"volcano": 1} == made.summary.ignored
    (said,) = made.snapshot.warnings
    assert "1 waiting, which are ignored, 2 on nodes, which are load" in said
    assert "--scheduler-name phalanx --scheduler-name default-scheduler" in said


def test_pods_of_a_named_scheduler_are_ours():
    made = assembled(pod(schedulerName="volcano"), schedulers=("volcano",))

    assert ["default/p-0"] == [gang.key for gang in made.snapshot.gangs]
    assert () == made.snapshot.warnings


def test_kinds_that_are_not_served_are_told():
    made = assembled(pod())

    assert "podgroups.scheduling.run.ai" in made.summary.missing


def test_a_pod_that_cannot_be_counted_closes_its_node():
    bad = pod("bad", gpus="x", schedulerName="volcano", nodeName="n")
    made = assembled(node("n"), node("m"), pod(), bad)

    assert [False, True] == [n.unschedulable for n in made.snapshot.nodes]
    assert "node n: nothing new goes there" in made.snapshot.warnings[0]


def odd_operator(field):
    rule = {"key": "zone", "operator": "NearlyIn", "values": ["a"]}
    if field == "tolerations":
        return [rule]
    if field == "nodeAffinity":
        return {
            field: {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}}
        }
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchExpressions": [rule]},
    }
    return {field: {REQUIRED: [term]}}


def sized(limits, requests):
    resources = {"limits": limits, "requests": requests}
    return {"containers": [{"name": "main", "resources": resources}]}


DOES_NOT_CLOSE = {
    "a limit beyond any machine": sized({"memory": "2Pi"}, {"memory": "1Mi"}),
    "a limit that is no quantity": sized({"cpu": "lots"}, {"cpu": "1"}),
    "an operator of a newer server in a toleration": {
        "tolerations": odd_operator("tolerations")
    },
    "an operator of a newer server for nodes": {
        "affinity": odd_operator("nodeAffinity")
    },
    "an operator of a newer server for pods": {
        "affinity": odd_operator("podAntiAffinity")
    },
    "an effect of a newer server": {
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoDisk"}]
    },
    "a gate without a name": {"schedulingGates": [{"name": 3}]},
    "a priority that is not a number": {"priority": "high"},
}


@pytest.mark.parametrize("case", DOES_NOT_CLOSE)
@pytest.mark.parametrize("scheduler", ["phalanx", "default-scheduler"])
def test_what_does_not_matter_for_counting_closes_no_node(case, scheduler):
    odd = pod("odd", schedulerName=scheduler, nodeName="n", **DOES_NOT_CLOSE[case])
    made = assembled(node("n"), odd)

    assert [False] == [n.unschedulable for n in made.snapshot.nodes]


def test_a_running_pod_that_asks_for_more_than_can_be_counted_fills_its_node():
    odd = pod("odd", schedulerName="x", nodeName="n", **sized({}, {"memory": "2Pi"}))
    made = assembled(node("n"), node("m"), odd)

    closed = {n.name: n.unschedulable for n in made.snapshot.nodes}
    used = {n.name: n.used for n in made.snapshot.nodes}
    assert {"n": False, "m": False} == closed
    assert 2**50 == used["n"]["memory"]
    said = " ".join(made.snapshot.warnings)
    assert "pod default/odd is counted, but cannot be read whole" in said
    assert "requests.memory: '2Pi' is too much" in said


def test_many_pods_with_one_fault_are_told_in_one_sentence():
    gate = {"schedulingGates": [{"name": 3}]}
    odd = [
        pod(f"odd-{i}", schedulerName="x", nodeName="n", **gate) for i in range(1000)
    ]
    said = assembled(node("n"), *odd).snapshot.warnings

    assert 1 == sum("default/odd-" in one for one in said)
    assert any("pod default/odd-0 and 999 more" in one for one in said)


def test_a_waiting_pod_that_asks_for_more_than_can_be_counted_is_named():
    (gang,) = assembled(pod(**sized({}, {"memory": "2Pi"}))).snapshot.gangs

    assert Reason.INVALID_GANG == gang.refused.reason
    assert "requests.memory: '2Pi' is too much" in gang.refused.message


@pytest.mark.parametrize("name", ["", "a" * 400, "-x", "a b"])
def test_a_name_that_no_resource_has_is_refused_so_that_the_rest_can_be_saved(name):
    group = pod_group("g", 1, minResources={name: "1"})
    odd = pod("odd", labels=in_group("g"))
    snapshot = assembled(node("n"), group, odd, pod("good")).snapshot
    saved = scenario_of("saved", snapshot_document(snapshot)).snapshot
    refused = {gang.name: gang.refused for gang in saved.gangs}

    assert Reason.INVALID_GANG == refused["g"].reason
    assert "this is not the name of a resource" in refused["g"].message
    assert refused["good"] is None


@pytest.mark.parametrize(
    "name",
    [
        *("gpu-part/x", "gpu-device/0", "gpu-share", "host-port/80"),
        *("free-volumes-a/b", "attachable-volumes-csi-a/b"),
    ],
)
def test_a_resource_with_a_name_of_ours_is_named_and_stops_nobody_else(name):
    said = f"requests.{name}: Phalanx counts something of its own by this name"
    odd = pod("odd", **sized({}, {name: "1"}))
    snapshot = assembled(node("n"), odd, pod("good")).snapshot
    reasons = {gang.name: gang.refused for gang in snapshot.gangs}
    started = [step.pod for step in decide(snapshot, Policy()).operations]

    assert Reason.INVALID_GANG == reasons["odd"].reason
    assert said in reasons["odd"].message
    assert ["default/good"] == started


def test_a_running_pod_with_a_resource_of_ours_closes_no_node():
    ours = sized({}, {"gpu-part/x": "1"})
    odd = pod("odd", schedulerName="x", nodeName="n", **ours)
    made = assembled(node("n"), odd)

    assert [False] == [n.unschedulable for n in made.snapshot.nodes]
    assert {"pods": 1} == made.snapshot.nodes[0].used
