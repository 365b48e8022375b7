"""
Models of GPUs: what nodes offer of them, and which one pods ask for.
"""

import pytest

from adapters.files import scenario_of
from models.gangs import pod_sets

H100, A100 = {"nvidia.com/gpu.product": "H100"}, {"nvidia.com/gpu.product": "A100"}
GPU = "nvidia.com/gpu"


def read(*gangs, models=None, **fields):
    nodes = [
        {"name": "h", "allocatable": {GPU: 8}, "labels": H100},
        {"name": "a", "allocatable": {GPU: 4}, "gpuModel": "A100", "used": {GPU: 1}},
        {"name": "t", "allocatable": {GPU: 2}},
    ]
    known = {"H100": {"quota": 4}, "A100": {"quota": 2}}
    rule = {"models": known if models is None else models, **fields}
    queues = [
        {"name": "top", "resources": {GPU: rule}},
        {"name": "q", "parent": "top"},
        {"name": "plain"},
    ]
    given = {"nodes": nodes, "queues": queues, "gangs": list(gangs)}
    document = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": "r",
        "given": given,
    }
    return scenario_of("case", document).snapshot


def asked(snapshot, name="g"):
    gang = next(gang for gang in snapshot.gangs if gang.name == name)
    (leaf,) = pod_sets(gang.tree)
    return {
        name.partition("@")[2]: n for name, n in leaf.requests.items() if "@" in name
    }


def pods(queue="q", **fields):
    return {"name": "g", "queue": queue, "min": 1, "requests": {GPU: 2}, **fields}


def test_nodes_offer_gpus_of_their_model_and_what_others_use_counts():
    offered = {node.name: node for node in read().nodes}

    assert offered["h"].allocatable[f"{GPU}@H100"] == 8
    assert offered["a"].allocatable[f"{GPU}@A100"] == 4
    assert offered["a"].used[f"{GPU}@A100"] == 1
    assert offered["t"].allocatable[f"{GPU}@other-models"] == 2


@pytest.mark.parametrize(
    ("fields", "model"),
    [
        ({}, "H100"),
        ({"nodeSelector": H100}, "H100"),
        ({"running": [{"node": "a", "pods": 1, "for": "1h"}]}, "A100"),
        ({"queue": "plain"}, "other-models"),
        ({"queue": "plain", "nodeSelector": H100}, "H100"),
    ],
)
def test_pods_ask_for_one_model(fields, model):
    assert {model: 2} == asked(read(pods(**fields)))


def test_the_first_model_that_is_listed_is_the_one_that_pods_get():
    turned = {"A100": {"quota": 2}, "H100": {"quota": 4}}

    assert {"A100": 2} == asked(read(pods(), models=turned))


def test_without_rules_for_models_nobody_asks_for_one():
    snapshot = read(pods(), models={}, quota=4)

    assert {} == asked(snapshot)
    assert not any("@" in name for node in snapshot.nodes for name in node.allocatable)


def test_a_quota_left_out_beside_models_is_their_sum():
    top = next(queue for queue in read().queues if queue.name == "top")
    said = next(queue for queue in read(quota=3).queues if queue.name == "top")

    assert (top.rule(GPU).quota, said.rule(GPU).quota) == (6, 3)


def test_a_file_with_rules_for_models_says_that_parts_count_for_none():
    half = {"name": "p", "queue": "q", "min": 1, "gpu": {"fraction": 0.5}}
    (said,) = read(half, pods()).warnings

    assert "of no single model: default/p" in said
    assert () == read(pods()).warnings
