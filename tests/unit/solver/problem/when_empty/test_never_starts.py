"""
What a gang that can never start is told, and what it asks for meanwhile.
"""

import pytest

from models.nodes import LabelRule, NodeDemand, Taint
from models.policy import Evict, Policy
from models.resources import CPU, GPU
from solver.problem.problem import problem_of
from solver.round import decide
from tests.helpers.build import (
    gang,
    group,
    leaf,
    node,
    nodes,
    queue,
    requests,
    required,
    selector,
    snapshot,
)

RACKS = (node("a", 4, zone="z", rack="r1"), node("b", 4, zone="z", rack="r2"))
RULES = (
    LabelRule(key="kind", operator="In", values=("y", "z")),
    LabelRule(key="size", operator="Gt", values=("3",)),
    LabelRule(key="kind", operator="DoesNotExist"),
)
TAINTED = node("t", taints=(Taint(key="team", value="red"),))


def message(nodes, *gangs, queues=()):
    """
    Say why the first gang waits.
    """
    calm = Evict(preempt=False, reclaim=False, consolidate=False)
    plan = decide(snapshot(nodes, gangs, queues), Policy(evict=calm))
    (waiting,) = [line.waiting for line in plan.gangs if line.name == gangs[0].key]
    return waiting.message


NEVER = {
    "too large": (
        nodes(2),
        gang("g", gpus=12),
        "asks for 12 GPUs, the largest node has 8",
    ),
    "memory in its unit": (
        nodes(1),
        gang("g", requests=requests(memory=2**41)),
        "asks for 2Ti memory, the largest node has 768Gi",
    ),
    "too large for the nodes it may use": (
        (node("a", 8, labels={"kind": "x"}), node("b", 4, labels={"kind": "y"})),
        gang("g", gpus=6, demand=selector(kind="y")),
        "matching node has 4; of 1 node large enough 1 lacks its labels (kind=y)",
    ),
    "misspelt resource": (
        nodes(2),
        gang("g", requests=requests(memroy=1)),
        "no node offers memroy (did you mean memory?)",
    ),
    "devices that nobody offers": (
        nodes(2),
        gang("g", requests={"claimed-devices.gpu": 2}),
        "needs 2 devices of class gpu by claim; no node has any that the claim allows",
    ),
    "misspelt label": (
        (node("a", labels={"kind": "h200"}),),
        gang("g", demand=selector(kind="h20")),
        "no node has the label kind: h20 (did you mean h200?)",
    ),
    "taints and cordons": (
        (TAINTED, node("u", unschedulable=True), node("v", labels={"kind": "x"})),
        gang("g", demand=NodeDemand(terms=((), ()), tolerations=())),
        "of 3 nodes 3 lack its labels (nothing or nothing)",
    ),
    "taints": (
        (TAINTED, node("u", unschedulable=True)),
        gang("g"),
        (
            "of 2 nodes 1 has taints it does not tolerate (team=red:NoSchedule), "
            "1 is unschedulable"
        ),
    ),
    "taints where there is room": (
        (TAINTED, node("small", 2)),
        gang("g", gpus=4),
        (
            "asks for 4 GPUs, the largest matching node has 2; of 1 node "
            "large enough 1 has taints it does not tolerate (team=red:NoSchedule)"
        ),
    ),
    "two resources apart, but for a taint": (
        (TAINTED, node("cpus", 0), node("gpus", allocatable={CPU: 1})),
        gang("g", requests=requests(4, cpu=2000)),
        (
            "no matching node has enough of all resources at once; of 1 node large "
            "enough 1 has taints it does not tolerate (team=red:NoSchedule)"
        ),
    ),
    "labels of any kind": (
        (node("a", labels={"kind": "x", "size": "3"}),),
        gang(
            "g",
            demand=NodeDemand(
                terms=(RULES, (LabelRule(key="old", operator="Exists"),))
            ),
        ),
        "of 1 node 1 lacks its labels (kind in (y, z) and size>3 and no kind or old)",
    ),
    "a resource of which every node has none": (
        (node("a", allocatable={"pods": 0}),),
        gang("g"),
        "no node offers pods",
    ),
    "no node at all": ((), gang("g"), "there is no node"),
    "pods that fit one by one": (
        nodes(2),
        gang("g", minimum=3, gpus=5),
        "needs 3 pods, all matching nodes together hold 2 when empty",
    ),
    "hosts of their own": (
        nodes(2),
        gang("g", minimum=3, exclusive=True),
        "needs 3 pods with a host each, all matching nodes together hold 2 when empty",
    ),
    "one leaf of several": (
        nodes(2),
        gang("g", leaf("workers", 3, gpus=5), leaf("driver", 1, gpus=0)),
        "needs 3 pods of workers, all matching nodes together hold 2 when empty",
    ),
    "one leaf in one rack": (
        RACKS,
        gang("g", leaf("workers", 3, gpus=2, topology=required()), leaf("driver", 1)),
        "needs 3 pods of workers in one rack, the largest holds 2 when empty",
    ),
    "no rack at all": (
        nodes(2),
        gang("g", topology=required()),
        "the largest holds 0 when empty (no node has the labels of a rack)",
    ),
    "two leaves in one rack": (
        RACKS,
        gang("g", leaf("x", 1, gpus=3), leaf("y", 1, gpus=3), topology=required()),
        "needs 6 GPUs in one rack, the largest holds 4 when empty",
    ),
}


@pytest.mark.parametrize("case", NEVER)
def test_who_can_never_start_is_told_the_numbers(case):
    room, waiting, words = NEVER[case]

    assert message(room, waiting).endswith(words)


def test_nobody_is_told_of_what_it_does_not_ask_for():
    room = (node("a", used={GPU: 9}),)
    large = gang("g", requests={CPU: 100_000})

    said = message(room, large, gang("other", gpus=1))

    assert said.endswith("an empty one: asks for 100 cpu, the largest node has 96")


NOT_NOW = {
    "whole pods": (
        gang("g", minimum=2, gpus=5),
        (5, 4, 4),
        "there is room for 1 of its 2 pods",
    ),
    "hosts of their own": (
        gang("g", minimum=2, gpus=4, exclusive=True),
        (8, 2),
        "there is room for 1 of its 2 pods with a host each",
    ),
    "leaves that fit one without the other": (
        gang("g", leaf("x", 1, gpus=5), leaf("y", 1, gpus=3)),
        (6, 2),
        "room for 1 of 1 pod of x, 1 of 1 pod of y, but not for all of them at once",
    ),
}


@pytest.mark.parametrize("case", NOT_NOW)
def test_who_fits_in_total_only_is_told_the_pieces(case):
    waiting, free, words = NOT_NOW[case]
    others = [
        gang(f"busy-{i}", gpus=8 - left, running=[f"n{i}"])
        for i, left in enumerate(free)
        if left < 8
    ]

    assert message(nodes(len(free)), waiting, *others).endswith(words)


def test_what_a_group_needs_together_is_told_of_the_group():
    pair = [
        gang("a", minimum=1, gpus=5, mates=["a", "b"]),
        gang("b", minimum=1, gpus=5, mates=["a", "b"]),
    ]

    assert message(nodes(1), *pair) == (
        "needs 10 GPUs with its group, matching nodes have 8 free"
    )


def test_a_quota_for_non_preemptible_work_is_no_limit_of_the_queue():
    fixed = gang("g", gpus=4, preemptible=False)

    assert message(nodes(1), fixed, queues=[queue(quota=2)]) == (
        "needs 4 GPUs, queue default may never hold more than 2 of non-preemptible work"
    )


def test_an_unknown_queue_comes_with_the_nearest_name():
    lost = gang("g", queue="reserch")

    assert message(nodes(1), lost, queues=[queue("research")]) == (
        "queue reserch does not exist (did you mean research?)"
    )


def test_pods_below_a_group_are_counted_where_they_are_missing():
    inner = group("inner", leaf("x", 0, 2), leaf("y", 0, 2, created=0), min_pods=3)

    assert message(nodes(1), gang("g", inner, leaf("z", 1))) == (
        "needs 3 pods in inner, has 2 that may start"
    )


ASKS = {
    "a leaf that fits nowhere": (
        gang("g", leaf("x", 1, gpus=9), leaf("y", 1), min_groups=1),
        1,
    ),
    "a leaf after one that fits nowhere": (
        gang(
            "g",
            leaf("x", 1, gpus=9),
            leaf("y", 5, after=("x",)),
            leaf("z", 1),
            min_groups=1,
        ),
        1,
    ),
    "a leaf too large for every rack": (
        gang("g", leaf("x", 5, topology=required()), leaf("y", 1), min_groups=1),
        1,
    ),
    "a group that holds no pods in any rack": (
        gang(
            "g",
            group("in", leaf("x", 1, gpus=5), min_groups=0, topology=required()),
            leaf("y", 1),
            min_groups=1,
        ),
        1,
    ),
    "all of one that may start": (gang("g", minimum=1, replicas=6), 6),
    "a giant": (gang("g", minimum=9), 0),
}


@pytest.mark.parametrize("case", ASKS)
def test_only_what_could_be_satisfied_asks_for_a_share(case):
    asking, share = ASKS[case]
    problem = problem_of(snapshot(RACKS, [asking], [queue()]), Policy())

    assert share == problem.shares["default"]["nvidia.com/gpu"]
