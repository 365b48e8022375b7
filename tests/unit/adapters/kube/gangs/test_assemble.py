"""
Objects to a snapshot: who is heard, what is refused, what is load.
"""

import pytest

from adapters.kube.dialects.protocol import Part
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.pod_reader import pod_record
from models.gangs import Group, MatchPolicy, PodPhase
from models.why.reasons import Reason
from tests.helpers.kube.group_objects import kind, members
from tests.helpers.kube.manifests import (
    GPU,
    NOW,
    Words,
    assembled,
    gang_of,
    in_group,
    node,
    objects,
    pod,
    pod_group,
    refusal,
)

BY_NUMBER = [{"key": "k", "operator": "Gt", "value": "4"}]


def test_pods_are_in_the_order_of_their_last_number_then_of_their_name():
    names = ("g-10", "g-9", "g-b", "g-a")
    pods = [pod(name, labels=in_group("g")) for name in names]
    tree = gang_of(*pods, pod_group("g", 4)).tree

    assert ["g-9", "g-10", "g-a", "g-b"] == [p.name for p in tree.pods]


def test_an_index_label_goes_before_the_name():
    key = "batch.kubernetes.io/job-completion-index"
    pods = [
        pod(f"g-{name}", labels={**in_group("g"), key: index})
        for name, index in (("1", "2"), ("2", "1"))
    ]
    tree = gang_of(*pods, pod_group("g", 2)).tree

    assert ["g-2", "g-1"] == [p.name for p in tree.pods]


def test_pods_that_differ_in_shape_are_leaves_below_the_minimum():
    tree = gang_of(*members(0, 1), *members(2, gpus=4), pod_group("g", 2)).tree

    assert isinstance(tree, Group)
    assert (0, 2) == (tree.min_groups, tree.min_pods)
    assert [(0, 2, 1), (0, 1, 4)] == [
        (leaf.minimum, leaf.replicas, leaf.requests[GPU]) for leaf in tree.children
    ]


def test_finished_and_placed_pods_make_no_shape_where_they_need_none():
    tree = gang_of(
        *members(0, nodeSelector={"a": "b"}),
        *members(1, nodeName="n", status={"phase": "Running"}),
        *members(2, gpus=7, status={"phase": "Succeeded"}),
        pod_group("g", 2),
    ).tree

    assert [PodPhase.PENDING, PodPhase.RUNNING, PodPhase.SUCCEEDED] == [
        p.phase for p in tree.pods
    ]
    assert (("a", "b"),) == tree.demand.selector


def roles(*running):
    """
    Make a gang of a driver, workers that need two, and a helper that needs nothing.
    """
    parts = (
        Part(name="driver", minimum=1),
        Part(name="worker", minimum=2, after=("driver",)),
        Part(name="helper", minimum=0, after=("driver", "worker")),
    )
    tree = Part(parts=parts, min_groups=2)
    pods = [
        pod(name, labels={"x": f"g.{name.partition('-')[0]}"}, **fields)
        for name in ("driver-0", "worker-0", "worker-1", "helper-0")
        for fields in [{"nodeName": "n"} if name in running else {}]
    ]
    return gang_of(*pods, words=[Words("one", "x", tree=tree)]).tree


STAND_INS = {
    "nothing runs": ((), 2),
    "all that come first run": (("driver-0", "worker-0", "worker-1", "helper-0"), 2),
    "the driver is lost": (("worker-0", "worker-1", "helper-0"), 3),
    "a worker is lost": (("driver-0", "worker-0", "helper-0"), 3),
    "no helper runs": (("worker-0", "worker-1"), 2),
}


@pytest.mark.parametrize("case", STAND_INS)
def test_what_comes_later_does_not_stand_in_for_what_comes_first(case):
    running, needed = STAND_INS[case]

    assert needed == roles(*running).min_groups


def test_a_minimum_above_the_pods_there_are_is_kept():
    tree = gang_of(*members(0), pod_group("g", 3)).tree

    assert (3, 3, 1) == (tree.minimum, tree.replicas, len(tree.pods))


def test_a_pod_that_leaves_without_a_place_is_gone():
    meta = {"deletionTimestamp": "2027-01-15T08:00:00Z"}
    tree = gang_of(*members(0), *members(1, meta=meta), pod_group("g", 1)).tree

    assert ["g-0"] == [p.name for p in tree.pods]


def test_running_and_waiting_times_are_those_at_the_time_of_the_snapshot():
    started = {"phase": "Running", "startTime": "2027-01-15T07:59:00Z"}
    group = pod_group("g", 1)
    group["metadata"]["creationTimestamp"] = "2027-01-15T07:50:00Z"
    gang = gang_of(*members(0, nodeName="n", status=started), group)

    assert 60 == gang.tree.pods[0].seconds
    assert 600 == gang.age


def test_a_pod_of_a_missing_group_waits_and_is_no_single_pod():
    gang = gang_of(*members(0))

    assert "default/g" == gang.key
    assert Reason.WAITING_FOR_GROUP == gang.refused.reason
    assert {"mate": "default/g", "why": "does not exist", "cause": "no-pod-group"} == (
        gang.refused.facts
    )
    assert "its PodGroup default/g does not exist" == gang.refused.message


def test_what_is_wrong_as_written_is_told_before_a_missing_group():
    kai = {"pod-group-name": "k"}
    labels = {"scheduling.x-k8s.io/pod-group": "b"}
    two = assembled(pod(annotations=kai, labels=labels)).snapshot.gangs
    bad = gang_of(pod(annotations=kai, tolerations=BY_NUMBER))

    assert Reason.CONFIG_CONFLICT == next(
        gang.refused.reason for gang in two if gang.name == "k"
    )
    assert Reason.UNSUPPORTED_CONSTRAINT == bad.refused.reason


def test_two_different_memberships_are_a_conflict():
    words = (Words("kai", "a"), Words("volcano", "b"))
    one = refusal(pod(labels={"a": "x", "b": "x"}), words=words)
    two = assembled(pod(labels={"a": "x", "b": "y"}), words=words).snapshot.gangs

    assert one is None
    refused = {gang.key: gang.refused for gang in two}
    assert Reason.CONFIG_CONFLICT == refused["default/x"].reason
    assert "default/y in those of volcano" in refused["default/x"].message


def test_the_dialect_that_comes_first_is_heard_and_people_are_told():
    words = (Words("kai", "a", queue="one"), Words("volcano", "b", queue="two"))
    made = assembled(pod(labels={"a": "x", "b": "x"}), words=words)

    assert ["one"] == [gang.queue for gang in made.snapshot.gangs]
    expected = "default/x is described by kai and volcano: kai is used"
    assert (expected,) == made.snapshot.warnings


def test_one_dialect_that_claims_what_two_name_needs_no_warning():
    words = (Words("kai", "a", claims=False), Words("volcano", "b", queue="two"))
    made = assembled(pod(labels={"a": "x", "b": "x"}), words=words)

    assert ["two"] == [gang.queue for gang in made.snapshot.gangs]
    assert () == made.snapshot.warnings


def test_a_pod_in_a_leaf_that_is_not_there_makes_the_gang_invalid():
    tree = Part(parts=(Part(name="a"), Part(name="b")))
    words = (Words("kai", "g", tree=tree),)

    assert refusal(pod(labels={"g": "x.a"}), words=words) is None
    reason, detail = refusal(pod(labels={"g": "x.c"}), words=words)
    assert ("InvalidGang", "pod p-0 is in 'c', the gang has a, b") == (reason, detail)


def test_a_claim_may_place_pods_of_other_memberships():
    tree = Part(parts=(Part(name="a"), Part(name="b")))
    placed = {"default/p-0": "b"}
    words = (Words("native", "g", tree=tree, placed=placed),)
    gang = gang_of(pod(labels={"g": "x.a"}), words=words)

    assert [0, 1] == [len(leaf.pods) for leaf in gang.tree.children]


def test_a_group_whose_pods_are_for_another_scheduler_is_not_ours():
    theirs = members(0, schedulerName="volcano")

    assert () == assembled(*theirs, pod_group("g", 1)).snapshot.gangs


def test_a_group_with_pods_for_two_schedulers_is_a_conflict():
    mixed = (*members(0), *members(1, schedulerName="volcano"))
    reason, detail = refusal(*mixed, pod_group("g", 1))

    assert "ConfigConflict" == reason
    assert "pod g-1 of it is for the scheduler volcano" == detail


SCHEDULED = [{"type": "PodGroupInitiallyScheduled", "status": "True"}]

GANG = {"gang": {"minCount": 2}}

WITHOUT_PODS = {
    "volcano": (kind("scheduling.volcano.sh/v1beta1", "Inqueue", minMember=2), True),
    "volcano, ended": (
        kind("scheduling.volcano.sh/v1beta1", "Completed", minMember=2),
        False,
    ),
    "roc, ended": (kind("scheduling.roc/v1beta1", "Completed", minMember=2), False),
    "coscheduling": (kind("scheduling.x-k8s.io/v1alpha1", "", minMember=2), True),
    "coscheduling, ended": (
        kind("scheduling.x-k8s.io/v1alpha1", "Finished", minMember=2),
        False,
    ),
    "koordinator": (kind("scheduling.sigs.k8s.io/v1alpha1", minMember=2), True),
    "koordinator, failed": (
        kind("scheduling.sigs.k8s.io/v1alpha1", "Failed", minMember=2),
        False,
    ),
    "native": (kind("scheduling.k8s.io/v1beta1", schedulingPolicy=GANG), True),
    "native, started once": (
        kind("scheduling.k8s.io/v1beta1", conditions=SCHEDULED, schedulingPolicy=GANG),
        False,
    ),
    "native, basic": (
        kind("scheduling.k8s.io/v1beta1", schedulingPolicy={"basic": {}}),
        False,
    ),
    "kai": (kind("scheduling.run.ai/v2alpha2", minMember=2), True),
}


@pytest.mark.parametrize("case", WITHOUT_PODS)
def test_a_group_without_pods_is_no_gang_once_its_system_says_that_it_has_ended(case):
    group, waits = WITHOUT_PODS[case]

    assert [waits] == [bool(assembled(group).snapshot.gangs)]


def test_a_group_that_has_ended_stays_while_others_hold_it_in_their_list():
    said = {"gang.scheduling.koordinator.sh/groups": '["default/a", "default/b"]'}
    ended, waiting = (
        kind("scheduling.sigs.k8s.io/v1alpha1", phase, name=name, minMember=1)
        for name, phase in (("a", "Finished"), ("b", ""))
    )
    for group in (ended, waiting):
        group["metadata"]["annotations"] = said

    assert ["a", "b"] == [g.name for g in assembled(ended, waiting).snapshot.gangs]


def test_a_group_without_pods_waits_for_them():
    gang = gang_of(pod_group("g", 2))

    assert (2, 0) == (gang.tree.minimum, len(gang.tree.pods))


def test_pods_that_name_two_queues_are_a_conflict():
    label = "kai.scheduler/queue"
    pods = [pod(f"g-{i}", labels={**in_group("g"), label: f"q{i}"}) for i in (0, 1)]
    reason, detail = refusal(*pods, pod_group("g", 2))

    assert ("ConfigConflict", "its pods name the queues q0, q1") == (reason, detail)


def test_each_dialect_means_something_by_what_it_leaves_out():
    kai, volcano = (
        gang_of(pod(labels={"a": "x"}, priority=p), words=(Words(name, "a"),))
        for name, p in (("kai", 100), ("volcano", 100))
    )

    assert (False, "default-queue") == (kai.preemptible, kai.queue)
    assert kai.stale_after is None  # the policy says it
    assert (True, -1) == (volcano.preemptible, volcano.stale_after)
    assert MatchPolicy.WAITING_RUNNING_SUCCEED == volcano.match_policy


def test_a_bad_value_is_a_fault_of_its_gang_alone():
    made = assembled(pod("bad", gpus="x"), pod("good"))

    bad, good = made.snapshot.gangs
    assert Reason.INVALID_GANG == bad.refused.reason
    assert "requests.nvidia.com/gpu: 'x'" in bad.refused.message
    assert good.refused is None


def test_an_object_without_a_name_is_left_out_and_told():
    made = assembled({"apiVersion": "v1", "kind": "Pod", "metadata": {}}, pod())

    assert 1 == len(made.snapshot.gangs)
    assert "is left out: metadata.name" in made.snapshot.warnings[0]


def test_nodes_are_labelled_with_their_names_where_a_pod_asks_for_one():
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    field = {"key": "metadata.name", "operator": "In", "values": ["n"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    asks = pod(affinity={"nodeAffinity": {word: terms}})

    assert NAME_FIELD not in assembled(node("n"), pod()).snapshot.nodes[0].labels
    assert "n" == assembled(node("n"), asks).snapshot.nodes[0].labels[NAME_FIELD]


def test_the_order_of_the_pods_of_a_gang_that_cannot_be_planned_does_not_matter():
    large = pod("a", gpus=8, labels=in_group("g"), priority=1)
    small = pod("b", gpus=2, labels=in_group("g"), priority=2, tolerations=BY_NUMBER)
    group = pod_group("g", 2)

    said = gang_of(group, large, small)
    assert said.refused is not None
    assert gang_of(group, small, large) == said


def test_the_order_of_the_objects_does_not_matter():
    raws = [node("n"), node("m"), *members(0, 1, 2), pod_group("g", 3), pod("x")]

    assert assembled(*raws).snapshot == assembled(*reversed(raws)).snapshot


def test_time_is_given_and_not_asked_for():
    status = {"startTime": "2027-01-15T08:00:00Z", "phase": "Running"}
    running = pod(nodeName="n", status=status)

    assert 0 == gang_of(running).tree.pods[0].seconds
    assert 9 == gang_of(running, now=NOW + 9.5).tree.pods[0].seconds


@pytest.mark.drawn
def test_what_pods_said_before_is_forgotten():
    """
    One pod may name another group each second, for as long as it likes.
    """
    assembler = Assembler(dialects())
    for number in range(2100):
        one = pod_record(pod(labels=in_group(f"group-{number}")))
        assembler.assembled([one], [], objects(), NOW)

    assert 2000 > len(assembler._gangs._looks["default"]._memberships._words)
