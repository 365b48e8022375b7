"""
What a snapshot is after each kind of change, and how changes are refused.
"""

from dataclasses import replace

import pytest

from models.changes import (
    AddedNodes,
    CancelledGangs,
    ChangesRejectedError,
    ClosedNode,
    EvictedGangs,
    GangAllows,
    GangPriority,
    NewAmount,
    PassedTime,
    QueueRule,
    RemovedNodes,
    SubmittedGangs,
    changed,
)
from models.devices.gpu_models import PRODUCT, of_model, with_models
from models.devices.gpu_parts import TakenDevice
from models.gangs import DisruptionBudget, PodPhase, pod_sets
from models.neighbours import Neighbours
from models.nodes import HOSTNAME, NodeDemand, Taint
from models.policy import Policy
from models.queues import QueueResource
from models.resources import CPU, GPU, GPU_SHARE, SHARES_PER_GPU
from solver import decide
from tests.helpers.build import gang, node, queue, requests, snapshot

MODELS = ("old", "new")
FREE = QueueResource(quota=None)


def phases(after, key):
    one = next(each for each in after.gangs if each.key == key)
    return [pod.phase for leaf in pod_sets(one.tree) for pod in leaf.pods]


def refused(before, *changes):
    with pytest.raises(ChangesRejectedError) as caught:
        changed(before, changes)
    return [str(problem) for problem in caught.value.problems]


def test_new_nodes_are_empty_copies_that_stand_where_the_first_of_the_class_stands():
    first = node("dgx-0", rack="r1", unschedulable=True, used={CPU: 500, GPU: 2})
    second = node("dgx-1", rack="r2", used={CPU: 700})

    after = changed(snapshot([first, second]), [AddedNodes(like="dgx", number=2)])

    assert ["dgx-0", "dgx-1", "dgx-new-0", "dgx-new-1"] == [n.name for n in after.nodes]
    new = after.nodes[2]
    assert first.allocatable == new.allocatable
    assert ({CPU: 500}, False) == (new.used, new.unschedulable)
    assert {**first.labels, HOSTNAME: "dgx-new-0"} == new.labels


def test_new_nodes_bear_devices_and_neighbours_of_others_only_where_all_do():
    daemon, web = Neighbours(selected=("logs",)), Neighbours(selected=("web",))
    on_all, on_first = TakenDevice(device=0), TakenDevice(device=1, contract="hami")
    first = node(
        "n-0", used={GPU: 2}, taken=(on_all, on_first), others=((daemon, 2), (web, 1))
    )
    second = node("n-1", used={GPU: 1}, taken=(on_all,), others=((daemon, 1),))

    new = changed(snapshot([first, second]), [AddedNodes(like="n", number=1)]).nodes[-1]

    assert {GPU: 1} == new.used
    assert (on_all,) == new.taken
    assert ((daemon, 1),) == new.others


def test_new_nodes_keep_devices_for_who_shares_them_with_the_least_that_all_have():
    def hami(*cores):
        taken = tuple(TakenDevice(at, "hami", n) for at, n in enumerate(cores))
        share = sum(cores) * SHARES_PER_GPU // 1000
        offered, used = {GPU_SHARE: 2 * SHARES_PER_GPU}, {GPU: 2, GPU_SHARE: share}
        return {"gpus": 2, "allocatable": offered, "used": used, "taken": taken}

    nodes = [node("n-0", **hami(500, 250)), node("n-1", **hami(0, 750))]
    new = changed(snapshot(nodes), [AddedNodes(like="n", number=1)]).nodes[-1]

    assert {GPU: 2, GPU_SHARE: SHARES_PER_GPU // 4} == new.used
    assert [(0, 0), (1, 250)] == [(one.device, one.cores) for one in new.taken]


def test_new_nodes_bear_nothing_that_pods_of_ours_share_on_the_first():
    first = node("n-0", used={CPU: 500, GPU: 2}, tied=({GPU: 1}, {GPU: 1}))

    new = changed(snapshot([first]), [AddedNodes(like="n", number=1)]).nodes[-1]

    assert ({CPU: 500}, ()) == (new.used, new.tied)


def test_the_class_begins_with_its_lowest_number_not_with_its_lowest_name():
    nodes = [node("n-10", rack="r10"), node("n-9", rack="r9")]

    after = changed(snapshot(nodes), [AddedNodes(like="n", number=1)])

    assert "r9" == after.nodes[-1].labels["rack"]


def test_a_new_node_has_the_taints_of_its_kind_and_none_of_its_state():
    own = Taint(key="gpu", value="yes")
    bad = Taint(key="node.kubernetes.io/unreachable")

    after = changed(
        snapshot([node("n0", taints=(own, bad))]), [AddedNodes(like="n0", number=1)]
    )

    assert (own,) == after.nodes[1].taints


def test_nodes_added_twice_get_names_of_their_own():
    more = AddedNodes(like="n0", number=1)

    after = changed(snapshot([node("n0")]), [more, more])

    assert ["n0", "n0-new-0", "n0-new-1"] == [n.name for n in after.nodes]


def test_pods_of_a_removed_node_wait_again_and_what_terminates_there_is_made_anew():
    runs = gang("runs", replicas=2, running=["n0", "n1"])
    leaves = gang("leaves", replicas=1, created=1, terminating=["n0"])
    keeps = gang("keeps", replicas=1, reserved=["n0"])
    before = snapshot([node("n0"), node("n1")], [runs, leaves, keeps])

    after = changed(before, [RemovedNodes(names=("n0",))])

    assert ["n1"] == [n.name for n in after.nodes]
    assert [PodPhase.PENDING, PodPhase.RUNNING] == phases(after, "default/runs")
    assert [PodPhase.PENDING] == phases(after, "default/leaves")
    assert [PodPhase.PENDING] == phases(after, "default/keeps")


def test_gangs_elsewhere_stay_the_very_same_objects():
    before = snapshot([node("n0"), node("n1")], [gang("g", running=["n1"])])

    after = changed(before, [RemovedNodes(names=("n0",))])

    assert before.gangs[0] is after.gangs[0]


def test_a_drained_node_is_closed_and_empty_and_a_cordoned_one_only_closed():
    before = snapshot([node("n0")], [gang("g", running=["n0"])])

    drained = changed(before, [ClosedNode(node="n0", how="drain")])
    cordoned = changed(before, [ClosedNode(node="n0", how="cordon")])

    assert drained.nodes[0].unschedulable
    assert cordoned.nodes[0].unschedulable
    assert [PodPhase.PENDING] == phases(drained, "default/g")
    assert before.gangs == cordoned.gangs
    opened = changed(cordoned, [ClosedNode(node="n0", how="open")])
    assert before.nodes == opened.nodes


@pytest.mark.parametrize(
    ("field", "amount", "rule"),
    [
        ("quota", NewAmount(8), QueueResource(quota=8, limit=6)),
        ("quota", NewAmount(by=2), QueueResource(quota=6, limit=6)),
        ("quota", NewAmount(None), QueueResource(quota=None, limit=6)),
        ("limit", NewAmount(by=-2), QueueResource(quota=4, limit=4)),
        ("weight", NewAmount(3), QueueResource(quota=4, limit=6, weight=3)),
        ("weight", NewAmount(0), QueueResource(quota=4, limit=6, weight=0)),
    ],
)
def test_a_number_of_a_queue_is_set_or_changed(field, amount, rule):
    before = snapshot([node()], queues=[queue("q", quota=4, limit=6), queue("other")])
    change = QueueRule(field=field, queue="q", resource=GPU, amount=amount)

    after = changed(before, [change])

    assert [before.queues[0], rule] == [after.queues[0], after.queues[1].rule(GPU)]


def test_what_a_queue_cannot_lose_of_its_gpus_is_said_as_people_write_it():
    half = QueueResource(limit=SHARES_PER_GPU // 2)
    before = snapshot([node()], queues=[queue("q", resources={GPU_SHARE: half})])
    less = NewAmount(by=-SHARES_PER_GPU)
    change = QueueRule(field="limit", queue="q", resource=GPU_SHARE, amount=less)

    (said,) = refused(before, change)

    assert f"limit of {GPU} of queue q: would be -0.5 (take away at most 0.5)" == said


def test_a_resource_that_got_its_first_rule_has_none_in_other_queues():
    before = snapshot([node()], queues=[queue("q", quota=4), queue("other")])
    change = QueueRule(field="limit", queue="q", resource=CPU, amount=NewAmount(4000))

    after = changed(before, [change])

    assert QueueResource(quota=None) == after.queues[0].rule(CPU)
    assert QueueResource(quota=None, limit=4000) == after.queues[1].rule(CPU)


def test_a_gang_gets_another_priority_and_another_is_cancelled_with_its_budget():
    before = snapshot([node()], [gang("a"), gang("b", running=["n0"])])
    before = replace(
        before, budgets=(DisruptionBudget(name="b", gangs=("default/b",), allowed=0),)
    )

    after = changed(
        before,
        [
            GangPriority(gang="default/a", priority=7),
            CancelledGangs(gangs=("default/b",)),
        ],
    )

    assert [7] == [each.priority for each in after.gangs]
    assert () == after.budgets


def test_submitted_gangs_find_the_ports_of_hosts_that_they_ask_for():
    asks = gang("new", requests=requests(1, **{"host-port/TCP/80": 1024}))

    after = changed(snapshot([node()]), [SubmittedGangs(gangs=(asks,))])

    assert 1024 == after.nodes[0].allocatable["host-port/TCP/80"]
    assert "Starting" == decide(after, Policy()).gangs[0].state


def test_after_a_change_it_is_known_that_something_changed():
    before = snapshot([node("n0")])

    known = changed(
        replace(before, unchanged_for=60), [AddedNodes(like="n0", number=1)]
    )
    unknown = changed(before, [AddedNodes(like="n0", number=1)])

    assert (0, None) == (known.unchanged_for, unknown.unchanged_for)


def test_every_change_that_cannot_be_made_is_named_with_its_field_and_a_way_out():
    before = snapshot([node("dgx-0")], [gang("train")], [queue("research", quota=2)])

    problems = refused(
        before,
        AddedNodes(like="dxg", number=1),
        AddedNodes(like="dgx", number=-1),
        RemovedNodes(names=("dgx-1",)),
        ClosedNode(node="zzz", how="drain"),
        QueueRule(field="quota", queue="reserch", resource=GPU, amount=NewAmount(1)),
        QueueRule(
            field="quota", queue="research", resource="nvidia/gpu", amount=NewAmount(1)
        ),
        QueueRule(
            field="quota", queue="research", resource=GPU, amount=NewAmount(by=-3)
        ),
        QueueRule(
            field="weight", queue="research", resource=GPU, amount=NewAmount(None)
        ),
        GangPriority(gang="default/trian", priority=1),
        CancelledGangs(gangs=("default/none-at-all-like-it",)),
        SubmittedGangs(gangs=(gang("train"),)),
    )

    assert [
        "node or class of nodes: there is no dxg (did you mean dgx?)",
        "number: -1 nodes cannot be added (add 0 to 100,000)",
        "node: there is no dgx-1 (did you mean dgx-0?)",
        "node: there is no zzz (there is dgx-0)",
        "queue: there is no reserch (did you mean research?)",
        "resource: there is no nvidia/gpu (did you mean nvidia.com/gpu?)",
        "quota of nvidia.com/gpu of queue research: would be -1 (take away at most 2)",
        (
            "weight of nvidia.com/gpu of queue research: cannot be unlimited "
            "(say 0 or more)"
        ),
        "gang: there is no default/trian (did you mean default/train?)",
        "gang: there is no default/none-at-all-like-it (there is default/train)",
        "gang: there is default/train already (give it another name)",
    ] == problems


@pytest.mark.parametrize(("running", "unchanged"), [((), 0), (["n0"], 100)])
def test_time_changes_what_is_wanted_where_somebody_is_tried_again(running, unchanged):
    before = snapshot([node("n0")], [gang("a", running=running, backoff=30)])
    before = replace(before, unchanged_for=40)

    assert unchanged == changed(before, [PassedTime(seconds=60)]).unchanged_for


@pytest.mark.parametrize(
    ("asks", "change"),
    [
        ({"running": ["new"]}, ClosedNode(node="new", how="drain")),
        ({"running": ["new"]}, RemovedNodes(names=("new",))),
        ({"running": ["new"]}, EvictedGangs(gangs=("default/g",))),
        (
            {"demand": NodeDemand(selector=(("kind", "new"),))},
            GangAllows(gang="default/g", key="kind", value="old"),
        ),
    ],
)
def test_what_waits_after_a_change_asks_for_the_model_that_it_would_be_read_with(
    asks, change
):
    before = with_models(
        snapshot(
            [node(name, labels={PRODUCT: name, "kind": name}) for name in MODELS],
            [gang("g", **asks)],
            [queue("default", resources={of_model(GPU, m): FREE for m in MODELS})],
        )
    )

    after = changed(before, [change])

    assert [["new"], ["old"]] == [
        [m for m in MODELS if of_model(GPU, m) in leaf.requests]
        for each in (before, after)
        for leaf in pod_sets(each.gangs[0].tree)
    ]
    assert with_models(after) == after
