"""
Objects to a snapshot: who is heard, what is refused, what is load.
"""

import pytest

from adapters.kube.dialects.protocol import Part
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.pod_reader import pod_record
from models.gangs import Group, MatchPolicy, PodPhase, PodSet, pod_sets
from models.neighbours import Apart, Spread
from models.nodes import HOSTNAME
from models.policy import Policy
from models.why.reasons import Reason
from solver.problem.problem import problem_of
from tests.helpers.manifests import (
    GPU,
    NOW,
    Words,
    assembled,
    gang_of,
    in_group,
    node,
    obj,
    objects,
    pod,
    pod_group,
    refusal,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
BY_NUMBER = [{"key": "k", "operator": "Gt", "value": "4"}]


def members(*numbers, group="g", **fields):
    return [pod(f"{group}-{i}", labels=in_group(group), **fields) for i in numbers]


# --- pods of a leaf -----------------------------------------------------------


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


# --- membership ---------------------------------------------------------------


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
    expected = "default/x is said by kai and volcano: kai is heard"
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


def kind(version, phase=None, conditions=None, name="g", **spec):
    status = {"phase": phase, "conditions": conditions or []}
    return obj(version, "PodGroup", name, "default", spec=spec, status=status)


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


# --- priority, queue, defaults ------------------------------------------------


def priority_class(name, value, **fields):
    return obj("scheduling.k8s.io/v1", "PriorityClass", name, value=value, **fields)


HIGH = priority_class("high", 1000)
PRIORITIES = {
    "no class": ({}, [HIGH], 0),
    "the global default": ({}, [priority_class("d", 7, globalDefault=True)], 7),
    "a class": ({"priorityClassName": "high"}, [HIGH], 1000),
    "what admission wrote": ({"priorityClassName": "x", "priority": 5}, [HIGH], 5),
    "of the cluster": (
        {"priorityClassName": "system-cluster-critical"},
        [],
        2_000_000_000,
    ),
    "of the node": ({"priorityClassName": "system-node-critical"}, [], 2_000_001_000),
}


@pytest.mark.parametrize("case", PRIORITIES)
def test_the_priority_of_a_gang_is_that_of_its_pods(case):
    spec, classes, expected = PRIORITIES[case]

    assert expected == gang_of(pod(**spec), *classes).priority


def test_an_unknown_class_makes_the_gang_invalid():
    reason, detail = refusal(pod(priorityClassName="hihg"), HIGH)

    assert "InvalidGang" == reason
    assert "there is no priority class hihg" in detail


def test_pods_that_differ_in_priority_are_a_conflict():
    group = pod_group("g", 2)
    same = (*members(0, priority=5), *members(1, priority=5))
    differ = (*members(0, priority=5), *members(1, priority=6))

    assert refusal(*same, group) is None
    assert "ConfigConflict" == refusal(*differ, group)[0]


def test_a_finished_pod_has_no_say_in_the_priority():
    done = members(1, priority=6, status={"phase": "Succeeded"})

    assert refusal(*members(0, priority=5), *done, pod_group("g", 1)) is None


def test_the_group_says_its_priority_where_its_dialect_means_so():
    words = (Words("volcano", "a"),)
    pods = [pod(f"p-{i}", labels={"a": "x"}, priority=i) for i in (5, 6)]
    gang = gang_of(*pods, words=words)

    assert (None, 0) == (gang.refused, gang.priority)


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

    assert (False, 60, "default-queue") == (kai.preemptible, kai.stale_after, kai.queue)
    assert (True, -1) == (volcano.preemptible, volcano.stale_after)
    assert MatchPolicy.WAITING_RUNNING_SUCCEED == volcano.match_policy


# --- load and summary ---------------------------------------------------------


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
    "a priority that is no number": {"priority": "high"},
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


# --- constraints that need other objects --------------------------------------


def apart(**labels):
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    term = {
        "labelSelector": {"matchLabels": labels},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {"podAntiAffinity": {word: [term]}}


def two(selected, **fields):
    return [
        pod(
            f"g-{i}", labels={**in_group("g"), "i": str(i)}, affinity=selected, **fields
        )
        for i in (0, 1)
    ]


def test_pods_that_keep_their_own_gang_apart_are_exclusive():
    gang = gang_of(*two(apart(**in_group("g"))), pod_group("g", 2))

    assert gang.refused is None
    assert gang.tree.exclusive


def test_pods_that_keep_apart_nobody_are_not_exclusive():
    gang = gang_of(*two(apart(app="other")), pod_group("g", 2))

    assert gang.refused is None
    assert not gang.tree.exclusive


def neighbours(*raws):
    """
    Give what is said of the pods of each gang, leaf by leaf.
    """
    made = assembled(*raws).snapshot.gangs
    return {
        gang.name: [leaf.neighbours for leaf in pod_sets(gang.tree)] for gang in made
    }


def test_keeping_a_part_of_the_gang_apart_parts_its_leaf():
    first, other = neighbours(*two(apart(i="0")), pod_group("g", 2))["g"]

    assert ("i=0 in default",) == first.selected
    assert () == other.selected
    assert first.apart == other.apart == (Apart("i=0 in default", HOSTNAME),)


def test_pods_of_other_gangs_are_selected():
    other = pod("other", labels={"app": "x", **in_group("g")}, namespace="elsewhere")
    near = pod("near", labels={"app": "x", **in_group("h")})
    group = (pod_group("h", 1), pod_group("g", 1, "elsewhere"))
    found = neighbours(*two(apart(app="x")), pod_group("g", 2), near, *group, other)

    assert ("app=x in default",) == found["h"][0].selected


def keeping(**fields):
    fields = {"schedulerName": "default-scheduler", "nodeName": "n", **fields}
    return pod("keeper", status={"phase": "Running"}, **fields)


REPELLED = {
    "by host": ({}, "kubernetes.io/hostname", "default"),
    "by zone": ({}, "zone", "default"),
    "over a namespace": ({"namespaces": ["default"]}, "zone", "other"),
    "over all namespaces": ({"namespaceSelector": {}}, "zone", "other"),
    "over one by its name": (
        {
            "namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": "default"}
            }
        },
        "zone",
        "other",
    ),
    "over labels that nobody knows": (
        {"namespaceSelector": {"matchLabels": {"team": "a"}}},
        "zone",
        "other",
    ),
}


@pytest.mark.parametrize("scheduler", ["default-scheduler", "phalanx"])
@pytest.mark.parametrize("case", REPELLED)
def test_a_running_pod_keeps_ours_away_by_any_topology(case, scheduler):
    term, key, namespace = REPELLED[case]
    rules = apart(app="x")
    (inner,) = rules["podAntiAffinity"].values()
    inner[0] |= {**term, "topologyKey": key}
    keeper = keeping(namespace=namespace, schedulerName=scheduler, affinity=rules)
    other = node("m", labels={"zone": "b"})
    place = node("n", labels={"zone": "a"})

    def nodes_for(app):
        waits = pod("waits", labels={"app": app})
        found = assembled(place, other, keeper, waits).snapshot
        problem = problem_of(found, Policy())
        fits = problem.shapes.fits[problem.shapes.of_leaf["default/waits", 0]]
        return {n.name for n, fit in zip(found.nodes, fits, strict=True) if fit}

    assert {"m", "n"} == nodes_for("y")
    assert {"m"} == nodes_for("x")


def liking(weight, key="zone", kind="podAffinity", **labels):
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": key}
    word = "preferredDuringSchedulingIgnoredDuringExecution"
    return {kind: {word: [{"weight": weight, "podAffinityTerm": term}]}}


def test_what_waiting_pods_prefer_is_said_of_them_and_of_whom_they_mean():
    rules = liking(5, app="x") | liking(2, kind="podAntiAffinity", app="y")
    there = keeping(labels={"app": "y"})
    pods = [
        pod(f"p-{i}", labels={"app": "x", **in_group("g")}, affinity=rules)
        for i in range(2)
    ]
    found = assembled(node("n"), pod_group("g", 2), there, *pods).snapshot
    (one,) = pod_sets(found.gangs[0].tree)

    assert {(r.key, r.weight) for r in one.neighbours.preferred} == {
        ("zone", 5),
        ("zone", -2),
    }
    assert ("preferred app=x in default",) == one.neighbours.preferred_by
    assert not one.neighbours
    ((other, _),) = found.nodes[0].others
    assert ("preferred app=y in default",) == other.preferred_by


@pytest.mark.parametrize("weight", [0, 101, "much", None])
def test_a_preference_that_cannot_be_read_is_left_out(weight):
    found = assembled(node("n"), pod(affinity=liking(weight, app="x"))).snapshot

    assert found.gangs[0].refused is None
    assert found.gangs[0].tree.neighbours.preferred == ()


def test_what_is_preferred_parts_no_pods_of_a_leaf():
    first = pod(
        "p-0", labels={"app": "x", **in_group("g")}, affinity=liking(5, app="x")
    )
    found = assembled(
        node("n"), pod_group("g", 2), first, pod("p-1", labels=in_group("g"))
    )

    assert isinstance(found.snapshot.gangs[0].tree, PodSet)


TEAM_A = {"namespaceSelector": {"matchLabels": {"team": "a"}}}


def namespace(name, **labels):
    return obj("v1", "Namespace", name, meta={"labels": labels})


def by_team(team, *, waits=False):
    """
    Give where a pod may be that is apart by zone from pods of the namespaces of team a.
    """
    rules = apart(app="x")
    (inner,) = rules["podAntiAffinity"].values()
    inner[0] |= {**TEAM_A, "topologyKey": "zone"}
    labels = {"app": "x"}
    one = keeping(
        namespace="other", labels=labels, **({} if waits else {"affinity": rules})
    )
    two = pod("waits", labels=labels, **({"affinity": rules} if waits else {}))
    nodes = node("n", labels={"zone": "a"}), node("m", labels={"zone": "b"})
    spaces = (
        ()
        if team is None
        else (namespace("default", team=team), namespace("other", team=team))
    )
    return assembled(*nodes, *spaces, one, two).snapshot


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize(("team", "expected"), [("a", {"m"}), ("b", {"m", "n"})])
def test_namespaces_are_meant_by_their_labels(team, expected, waits):
    found = by_team(team, waits=waits)
    problem = problem_of(found, Policy())

    fits = problem.shapes.fits[problem.shapes.of_leaf["default/waits", 0]]
    assert expected == {n.name for n, f in zip(found.nodes, fits, strict=True) if f}


def test_labels_of_namespaces_that_nobody_knows_let_a_gang_wait():
    (gang,) = by_team(None, waits=True).gangs

    assert gang.refused.facts["detail"] == (
        "pod waits, spec.affinity: namespaceSelector: namespaces are meant by their "
        "labels, and no Namespace is among the objects"
    )


def test_selectors_of_pods_that_nobody_waits_for_are_not_said():
    rules = apart(app="x")
    there = keeping(affinity=rules, schedulerName="phalanx", labels={"app": "x"})
    found = neighbours(node("n"), there, pod("waits", labels={"app": "y"}))

    assert not any(leaf for leaves in found.values() for leaf in leaves)


def test_spread_is_read_with_its_policies():
    rule = {
        "topologyKey": "zone",
        "maxSkew": 2,
        "minDomains": 3,
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": {"app": "x"}},
        "matchLabelKeys": ["v"],
    }
    labels = {"app": "x", "v": "1"}
    waits = pod("waits", labels=labels, topologySpreadConstraints=[rule])
    (said,) = neighbours(waits)["waits"]

    name = "spread app=x, v=1 in default"
    assert (Spread(name, "zone", 2, 3, by_affinity=False, by_taints=True),) == (
        said.spread
    )
    assert (name,) == said.selected


def test_who_is_near_to_several_is_near_to_one_that_all_select():
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = [
        {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
        for key, labels in (("zone", {"app": "x"}), ("rack", {"tier": "f"}))
    ]
    waits = pod("waits", affinity={"podAffinity": {word: terms}})
    both = pod("both", labels={"app": "x", "tier": "f"})
    one = pod("one", labels={"app": "x"})
    found = neighbours(waits, both, one)

    near = found["waits"][0].near
    assert ("rack", "zone") == near.keys
    assert (near.pods,) == found["both"][0].selected
    assert () == found["one"][0].selected


def claim(name="data", **spec):
    return obj("v1", "PersistentVolumeClaim", name, "default", spec=spec)


def volume(**spec):
    return obj("v1", "PersistentVolume", "pv", spec=spec)


MOUNT = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
VOLUMES = {
    "claim data does not exist yet": [],
    "names no storage class, and no volume is bound to it": [claim()],
    "of the storage class fast, which does not exist": [claim(storageClassName="fast")],
    "bound to volume pv, which does not exist": [claim(volumeName="pv")],
    "": [claim(volumeName="pv"), volume(nfs={})],
}


@pytest.mark.parametrize("expected", VOLUMES)
def test_a_pod_waits_for_volumes_that_are_not_there(expected):
    found = refusal(pod(volumes=MOUNT), *VOLUMES[expected])

    if not expected:
        assert found is None
    else:
        assert "WaitingForVolumes" == found[0]
        assert expected in found[1]


def test_what_a_running_pod_asks_for_refuses_nothing():
    running = pod(volumes=MOUNT, nodeName="n", status={"phase": "Running"})

    assert refusal(running) is None


def budget(**fields):
    status = fields.pop("status", {})
    spec = {"selector": {"matchLabels": in_group("g")}, **fields}
    return obj(
        "policy/v1", "PodDisruptionBudget", "pdb", "default", spec=spec, status=status
    )


BUDGETS = {
    "as the cluster says": (budget(status={"disruptionsAllowed": 2}), 2),
    "minAvailable": (budget(minAvailable=1), 2),
    "minAvailable as a share": (budget(minAvailable="50%"), 1),
    "maxUnavailable": (budget(maxUnavailable=2), 1),
    "what cannot be read": (budget(maxUnavailable="some"), 0),
}


@pytest.mark.parametrize("case", BUDGETS)
def test_a_budget_says_how_many_pods_may_still_be_disturbed(case):
    raw, expected = BUDGETS[case]
    running = members(0, 1, 2, nodeName="n", status={"phase": "Running"})
    made = assembled(*running, *members(3), pod_group("g", 1), raw).snapshot

    (found,) = made.budgets
    assert ("default.pdb", ("default/g",)) == (found.name, found.gangs)
    assert expected == found.allowed


def test_time_is_given_and_not_asked_for():
    status = {"startTime": "2027-01-15T08:00:00Z", "phase": "Running"}
    running = pod(nodeName="n", status=status)

    assert 0 == gang_of(running).tree.pods[0].seconds
    assert 9 == gang_of(running, now=NOW + 9.5).tree.pods[0].seconds


def test_what_pods_said_before_is_forgotten():
    """
    One pod may name another group each second, for as long as it likes.
    """
    assembler = Assembler(dialects())
    for number in range(3000):
        one = pod_record(pod(labels=in_group(f"group-{number}")))
        assembler.assembled([one], [], objects(), NOW)

    assert 2000 > len(assembler._gangs._looks["default"]._memberships._words)


# --- for how long it runs -----------------------------------------------------

KUEUE_LIMIT = "kueue.x-k8s.io/max-exec-time-seconds"


def limited(number, *, deadline=None, label=None):
    one = pod(f"g-{number}", labels=in_group("g"))
    if deadline is not None:
        one["spec"]["activeDeadlineSeconds"] = deadline
    if label is not None:
        one["metadata"]["labels"][KUEUE_LIMIT] = label
    return one


@pytest.mark.parametrize(
    ("first", "second", "longest"),
    [
        ({"deadline": 60}, {"deadline": 600}, 600),
        ({"deadline": 60}, {}, None),
        ({"deadline": 60}, {"label": "90"}, 90),
        ({"deadline": 60, "label": "30"}, {"label": "20"}, 30),
        ({"label": "much"}, {"deadline": 60}, None),
        ({"deadline": True}, {"deadline": 60}, None),
    ],
)
def test_a_gang_runs_no_longer_than_the_longest_limit_of_all_its_pods(
    first, second, longest
):
    pods = [limited(0, **first), limited(1, **second)]

    assert longest == gang_of(*pods, pod_group("g", 2)).max_runtime
