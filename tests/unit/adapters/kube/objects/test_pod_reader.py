"""
Raw pods to records: what one asks for, where it may be, what is not modelled.
"""

import gc

import pytest

from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.pod_reader import Reducer, pod_record
from models.gangs import PodPhase
from models.nodes import Node
from tests.helpers.kube.manifests import GPU, pod

GIB = 2**30


def container(name="c", limits=None, **requests):
    resources = {"requests": {k.replace("_", "-"): v for k, v in requests.items()}}
    if limits:
        resources["limits"] = limits
    return {"name": name, "resources": resources}


def sidecar(**requests):
    return {**container("side", **requests), "restartPolicy": "Always"}


REQUESTS = {
    "containers are summed": (
        {"containers": [container(cpu="500m"), container(cpu="1")]},
        {"cpu": 1500},
    ),
    "a limit stands for a request that is not said": (
        {"containers": [container(limits={GPU: "4", "cpu": "9"}, cpu="1")]},
        {GPU: 4, "cpu": 1000},
    ),
    "init containers run one by one": (
        {
            "containers": [container(cpu="1")],
            "initContainers": [container(cpu="3"), container(cpu="2")],
        },
        {"cpu": 3000},
    ),
    "sidecars run beside containers and later init containers": (
        {
            "containers": [container(cpu="1")],
            "initContainers": [
                container(cpu="3"),
                sidecar(cpu="2"),
                container(cpu="2"),
            ],
        },
        {"cpu": 4000},
    ),
    "an init container beside a sidecar needs more than the rest": (
        {
            "containers": [container(cpu="1")],
            "initContainers": [sidecar(cpu="2"), container(cpu="5")],
        },
        {"cpu": 7000},
    ),
    "overhead is added": (
        {"containers": [container(cpu="1")], "overhead": {"cpu": "250m"}},
        {"cpu": 1250},
    ),
    "the pod's own resources replace the sum": (
        {
            "containers": [container(cpu="1"), container(memory="1Gi")],
            "resources": {"requests": {"cpu": "6"}},
        },
        {"cpu": 6000, "memory": GIB},
    ),
    "the pod's own limit stands where no container asks": (
        {
            "containers": [container(cpu="1")],
            "resources": {"limits": {"cpu": "6", "memory": "2Gi"}},
        },
        {"cpu": 1000, "memory": 2 * GIB},
    ),
    "fractions of a unit round up": (
        {"containers": [container(cpu="100u", memory="1500m")]},
        {"cpu": 1, "memory": 2},
    ),
    "nothing asked for is a pod still": ({"containers": [{"name": "c"}]}, {}),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_requests_are_those_of_the_scheduler(case):
    spec, expected = REQUESTS[case]

    assert {**expected, "pods": 1} == pod_record(pod(**spec)).requests


def test_a_resized_container_counts_as_large_as_it_is():
    running = {"name": "c", "allocatedResources": {"cpu": "3"}}
    raw = pod(
        nodeName="n",
        containers=[container(cpu="2")],
        status={"phase": "Running", "containerStatuses": [running]},
    )

    assert 3000 == pod_record(raw).requests["cpu"]


def required(*terms):
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"nodeAffinity": {word: {"nodeSelectorTerms": list(terms)}}}


def rule(operator, *values, key="k"):
    return {"key": key, "operator": operator, "values": list(values)}


AFFINITY = {
    "In": (rule("In", "a", "b"), {"k": "b"}, {"k": "c"}),
    "NotIn": (rule("NotIn", "a"), {}, {"k": "a"}),
    "Exists": (rule("Exists"), {"k": ""}, {}),
    "DoesNotExist": (rule("DoesNotExist"), {}, {"k": "a"}),
    "Gt": (rule("Gt", "4"), {"k": "5"}, {"k": "4"}),
    "Lt": (rule("Lt", "4"), {"k": "3"}, {"k": "4"}),
}


@pytest.mark.parametrize("operator", AFFINITY)
def test_every_operator_of_node_affinity_is_obeyed(operator):
    expression, yes, no = AFFINITY[operator]
    demand = pod_record(pod(affinity=required({"matchExpressions": [expression]})))

    assert demand.demand.allows(Node(name="n", allocatable={}, labels=yes))
    assert not demand.demand.allows(Node(name="n", allocatable={}, labels=no))


def test_a_field_rule_is_about_the_name_of_a_node_and_not_a_label():
    field = rule("In", "n1", key="metadata.name")
    demand = pod_record(pod(affinity=required({"matchFields": [field]}))).demand

    assert demand.allows(Node(name="n1", allocatable={}, labels={NAME_FIELD: "n1"}))
    assert not demand.allows(
        Node(name="x", allocatable={}, labels={"metadata.name": "n1"})
    )


def test_any_term_may_hold_and_an_empty_one_never_does():
    one = {"matchExpressions": [rule("In", "a")]}
    either = pod_record(pod(affinity=required(one, {}))).demand

    assert either.matches({"k": "a"})
    assert not either.matches({})


def anti(key="kubernetes.io/hostname", **term):
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    found = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": key, **term}
    return {"podAntiAffinity": {word: [found]}}


SOFT = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}}
SPREAD = {"topologyKey": "zone", "maxSkew": 1}
UNSUPPORTED = {
    "podAffinity": (None, {"affinity": SOFT}),
    "podAntiAffinity": (None, {"affinity": anti("zone")}),
    "namespaceSelector": (
        None,
        {"affinity": anti(namespaceSelector={"matchLabels": {"team": "a"}})},
    ),
    "topologySpreadConstraints": (None, {"topologySpreadConstraints": [SPREAD]}),
    "tolerations[0].operator": (
        {"tolerations": [{"key": "k", "operator": "Gt", "value": "4"}]},
        {"tolerations": [{"key": "k", "operator": "Equal", "value": "4"}]},
    ),
    "runtime class": (None, {"runtimeClassName": "kata", "overhead": {"cpu": "1"}}),
}


@pytest.mark.parametrize("word", UNSUPPORTED)
def test_what_is_not_modelled_is_named_with_its_field(word):
    wrong, fine = UNSUPPORTED[word]

    assert () == pod_record(pod(**fine)).unsupported
    if wrong is not None:
        (said,) = pod_record(pod(**wrong)).unsupported
        assert word in said


PHASES = {
    PodPhase.PENDING: ({}, {}, {}),
    PodPhase.GATED: ({}, {"schedulingGates": [{"name": "g"}]}, {}),
    PodPhase.RUNNING: ({}, {"nodeName": "n"}, {"phase": "Pending"}),
    PodPhase.TERMINATING: (
        {"deletionTimestamp": "2027-01-15T08:00:30Z"},
        {"nodeName": "n"},
        {"phase": "Running"},
    ),
    PodPhase.SUCCEEDED: ({}, {"nodeName": "n"}, {"phase": "Succeeded"}),
    PodPhase.FAILED: (
        {"deletionTimestamp": "2027-01-15T08:00:30Z"},
        {"nodeName": "n"},
        {"phase": "Failed"},
    ),
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_pod_is_where_its_life_says(phase):
    meta, spec, status = PHASES[phase]

    assert phase == pod_record(pod(meta=meta, status=status, **spec)).phase


def test_a_pod_leaves_since_it_was_asked_to_and_not_since_its_deadline():
    meta = {
        "deletionTimestamp": "2027-01-15T08:00:30Z",
        "deletionGracePeriodSeconds": 30,
    }

    assert 1_800_000_000 == pod_record(pod(meta=meta, nodeName="n")).deleted


FAULTS = {
    "cpu": ({"containers": [container(cpu="four")]}, "requests.cpu: 'four'"),
    "gpu": ({"containers": [container(limits={GPU: "0.5"})]}, "only whole pieces"),
    "labels": ({"labels": {"a": 1}}, "metadata.labels.a: 1 is not text"),
    "priority": ({"priority": "high"}, "spec.priority: 'high'"),
    "operator": (
        {"affinity": required({"matchExpressions": [rule("Is", "a")]})},
        "'Is' is not known",
    ),
    "no terms": ({"affinity": required()}, "nodeSelectorTerms: the list is empty"),
    "time": ({"status": {"startTime": "noon"}}, "status.startTime: 'noon'"),
    "tolerations": ({"tolerations": [{"value": "a"}]}, "an empty key needs"),
    "containers": ({"containers": {"name": "c"}}, "spec.containers: a mapping"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_bad_value_is_a_fault_that_names_the_field(case):
    fields, expected = FAULTS[case]
    record = pod_record(pod(**fields))

    assert "default/p-0" == record.key
    assert len(record.invalid) == 1
    assert expected in record.invalid[0]


def test_a_pod_without_a_name_is_no_pod():
    with pytest.raises(FieldError, match=r"metadata\.name"):
        pod_record({"metadata": {}})


def test_pods_of_one_template_share_what_they_ask_for():
    reducer = Reducer()
    one, other = (
        reducer.pod(pod(f"p-{i}", nodeSelector={"a": "b"}, labels={"c": "d"}))
        for i in range(2)
    )

    assert one.requests is other.requests
    assert one.demand is other.demand
    assert one.labels is other.labels


def test_what_a_pod_says_of_its_place_makes_no_other_record():
    said = {"type": "PodScheduled", "reason": "Unschedulable", "message": "no room"}
    silent, speaking = pod(), pod()
    speaking["status"] = {"conditions": [{"type": "Ready"}, said]}

    assert pod_record(silent) == pod_record(speaking)
    assert "no room" == pod_record(speaking).said


def test_what_is_said_for_another_reason_is_not_ours():
    gated = {"type": "PodScheduled", "reason": "SchedulingGated", "message": "gates"}
    raw = pod()
    raw["status"] = {"conditions": [gated]}

    assert pod_record(raw).said == ""


def test_what_pods_of_gangs_that_are_gone_shared_is_forgotten():
    reducer = Reducer()

    def made(number: int):
        raw = pod("p", labels={"gang": str(number)}, nodeSelector={"gang": str(number)})
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{number}"}
        raw["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
        return reducer.pod(raw)

    one, same = made(0), made(0)
    for number in range(1000):
        made(number)
    gc.collect()

    assert one.labels is same.labels
    assert one.owner is same.owner
    assert one.demand is same.demand
    kept = reducer._texts, reducer._owners, reducer._wants
    assert [1, 1, 1] == list(map(len, kept))


def test_annotations_of_many_letters_are_kept_as_far_as_they_are_read():
    short = {"scheduling.x-k8s.io/pod-group": "g"}
    few = pod_record(pod(annotations={**short, "a": "x" * 16_000}))
    many = pod_record(pod(annotations={**short, "a": "x" * 16_000, "b": "y" * 200_000}))

    assert 16_000 == len(few.annotations["a"])
    assert short.items() <= many.annotations.items()
    assert 2_000 > sum(map(len, many.annotations.values()))
    assert () == many.invalid


def test_what_only_one_pod_asks_for_at_great_length_is_not_remembered():
    reducer = Reducer()
    for number in range(10):
        rule = {"key": "zone", "operator": "In", "values": [f"{number}" * 10_000]}
        term = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
        word = "requiredDuringSchedulingIgnoredDuringExecution"
        record = reducer.pod(pod(affinity={"nodeAffinity": {word: term}}))
        assert record.demand.terms

    assert not reducer._wants
