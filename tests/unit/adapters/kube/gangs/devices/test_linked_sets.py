"""
Nodes whose GPUs must be linked: what is free of them, and what closes them.
"""

import json

import pytest

from adapters.kube.objects.parts.gpu_partitions import POLICY
from models.policy import Policy
from solver import decide
from tests.helpers.kube.manifests import GPU, assembled
from tests.helpers.rounds.shared_gpus import asks, device, given, node_of

MODEL = {"node.koordinator.sh/gpu-model": "H100"}


def node(name="n", **labels):
    raw = node_of("koordinator", name, **labels)
    raw["status"]["allocatable"] |= {GPU: "8"}
    return raw


def linked(name="n"):
    return [node(name, **MODEL, **{POLICY: "Honor"}), device(name, tuple(range(8)))]


def has(name, *minors, scheduler="other", on="n"):
    """
    A pod that runs and has some GPUs whole.
    """
    listed = json.dumps({"gpu": [{"minor": one} for one in minors]})
    said = {"scheduling.koordinator.sh/device-allocated": listed}
    return asks(name, said=said, scheduler=scheduler, on=on, **{GPU: len(minors)})


def links(found, node="n"):
    """
    What a node offers of sets.
    """
    (here,) = [x for x in found.snapshot.nodes if x.name == node]
    begin = "linked-gpus-from-"
    return {
        int(name.removeprefix(begin)): amount
        for name, amount in here.allocatable.items()
        if name.startswith(begin)
    }


def starts(*raws):
    plan = decide(assembled(*raws).snapshot, Policy())
    return {step.pod.partition("/")[2]: step.node for step in plan.operations}


def test_free_sets_of_each_size_are_counted_by_their_gpus():
    found = assembled(*linked(), has("there", 1), asks("p", **{GPU: 2}))

    assert {1: 7, 2: 6, 4: 4, 8: 0} == links(found)


def test_what_our_pods_have_is_offered_and_asked_for_by_them():
    mine = has("mine", 4, 5, scheduler="phalanx")
    found = assembled(*linked(), has("there", 1), mine)

    assert {1: 5 + 2, 2: 4 + 2, 4: 0, 8: 0} == links(found)
    (gang,) = found.snapshot.gangs
    asked = gang.tree.requests
    assert (2, 2) == (asked["linked-gpus-from-1"], asked["linked-gpus-from-2"])
    assert "linked-gpus-from-4" not in asked


def test_other_nodes_have_plenty_and_where_none_is_linked_nothing_is_said():
    raws = [node("far"), device("far", tuple(range(8))), asks("p", **{GPU: 3})]
    assert {} == links(assembled(*raws), "far")
    assert {"p": "far"} == starts(*linked(), *raws)


@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_gpus_are_not_given_across_sets(gpus):
    odd = [has(f"x{at}", at) for at in (1, 3, 5, 7)]

    assert {} == starts(*linked(), *odd, asks("p", **{GPU: gpus}))
    assert {"one": "n"} == starts(*linked(), *odd, asks("one", **{GPU: 1}))


def test_parts_go_where_gpus_need_not_be_linked():
    plain = [node("far"), device("far")]
    half = asks("h", **{"koordinator.sh/gpu": 50})

    assert {} == starts(*linked(), half)
    assert {"h": "far"} == starts(*linked(), *plain, half)


def test_a_node_is_closed_where_nobody_knows_who_has_which():
    lost = asks("lost", scheduler="other", on="n", **{GPU: 1})
    found = assembled(*linked(), lost, asks("p", **{GPU: 1}))

    assert {1: 0, 2: 0, 4: 0, 8: 0} == links(found)
    (said,) = [one for one in found.summary.warnings if "must be linked" in one]
    assert said.startswith("node n: nothing new gets its GPUs, which must be linked: ")
    assert said.endswith("nobody knows who has which of its GPUs")


def test_a_node_is_closed_where_nobody_says_which_are_linked():
    raws = [node(**{POLICY: "Honor"}), device("n", tuple(range(8)))]
    found = assembled(*raws, asks("p", **{GPU: 1}))

    assert {} == starts(*raws, asks("p", **{GPU: 1}))
    assert any("nobody says which" in one for one in found.summary.warnings)


def test_parts_that_run_there_take_their_gpu_out_of_its_sets():
    there = asks(
        "there",
        said=given("koordinator", 1),
        scheduler="other",
        on="n",
        **{"koordinator.sh/gpu": 50},
    )
    found = assembled(*linked(), there, asks("p", **{"koordinator.sh/gpu": 200}))

    assert {1: 7, 2: 6, 4: 4, 8: 0} == links(found)
