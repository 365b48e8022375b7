"""
The queues of all dialects together: who is heard, what is left out, who names none.
"""

import pytest

from models.policy import Policy
from solver.round import decide
from tests.helpers.kube.manifests import GPU, assembled, obj, pod, pod_group

VOLCANO = "scheduling.volcano.sh/v1beta1"
KAI = "scheduling.run.ai/v2"
SIGS = "scheduling.sigs.k8s.io/v1alpha1"
X_K8S = "scheduling.x-k8s.io/v1alpha1"
PREFIX = "quota.scheduling.koordinator.sh"
NAMESPACES = f"{PREFIX}/namespaces"
TEAM = "pods of the namespace team"


def kai(name, **spec):
    return obj(KAI, "Queue", name, spec=spec)


def volcano(name, **spec):
    return obj(VOLCANO, "Queue", name, spec=spec)


def quota(name, version=SIGS, namespace="default", meta=None, **spec):
    return obj(version, "ElasticQuota", name, namespace, meta, spec=spec)


def read(*raws):
    """
    Give the queues by name, the queue of each gang, and the warnings.
    """
    snapshot = assembled(*raws).snapshot
    homes = {gang.name: gang.queue for gang in snapshot.gangs}
    return {queue.name: queue for queue in snapshot.queues}, homes, snapshot.warnings


# --- what is kept ---------------------------------------------------------------


def test_five_queues_keep_room_and_those_that_keep_less_lend():
    amounts = {"a": 3, "b": 1, "c": 5, "d": 2, "e": 4, "f": 6, "g": 0}
    raws = [
        volcano(name, guarantee={"resource": {GPU: amount}})
        for name, amount in amounts.items()
    ]

    queues, _, warnings = read(*raws)

    kept = {name: queue.rule(GPU).kept for name, queue in queues.items()}
    assert {**amounts, "b": 0} == kept
    assert [
        "6 queues keep room for themselves, and at most 5 can: b lends all it has"
    ] == list(warnings)


# --- what is left out -----------------------------------------------------------

BELOW = {
    "kai": lambda name, parent: kai(name, parentQueue=parent),
    "volcano": lambda name, parent: volcano(name, parent=parent),
    "koordinator": lambda name, parent: quota(
        name, meta={"labels": {f"{PREFIX}/parent": parent}}
    ),
}


@pytest.mark.parametrize("system", BELOW)
def test_queues_below_a_missing_one_are_left_out_and_warned_of(system):
    below = BELOW[system]
    queues, _, warnings = read(below("a", "b"), below("b", "gone"))

    assert not {"a", "b"} & set(queues)
    assert [
        f"queue {name} is left out: above it, gone does not exist" for name in "ab"
    ] == list(warnings)


# --- who names none -------------------------------------------------------------

NATIVE = obj(
    "scheduling.k8s.io/v1beta1",
    "PodGroup",
    "g",
    "default",
    spec={"schedulingPolicy": {"basic": {}}},
)
PLAIN = {
    "a pod": (pod("g"),),
    "a native group": (NATIVE, pod("g", schedulingGroup={"podGroupName": "g"})),
    "a group of scheduler-plugins": (
        pod_group("g", 1),
        pod("g", labels={"scheduling.x-k8s.io/pod-group": "g"}),
    ),
    "a gang of Koordinator": (
        pod(
            "g",
            annotations={
                f"gang.scheduling.koordinator.sh/{word}": said
                for word, said in (("name", "g"), ("min-available", "1"))
            },
        ),
    ),
}


@pytest.mark.parametrize("case", PLAIN)
def test_work_of_a_system_without_queues_gets_one_beside_those_of_others(case):
    queues, homes, warnings = read(kai("research", priority=70), *PLAIN[case])

    assert {"g": "default"} == homes
    assert (70, {}, None) == (
        queues["default"].priority,
        queues["default"].resources,
        queues["default"].parent,
    )
    assert any(text.startswith("1 gang names no queue") for text in warnings)


def test_work_that_names_no_queue_goes_to_the_default_one_where_there_is_one():
    queues, homes, warnings = read(kai("default-queue"), kai("research"), pod("g"))

    assert ({"g": "default-queue"}, ()) == (homes, warnings)
    assert {"default-queue", "research"} == set(queues)


def test_a_default_queue_that_has_others_below_it_holds_no_work():
    queues, homes, _ = read(
        volcano("default"), volcano("research", parent="default"), pod("g")
    )

    assert {"g": "default-queue"} == homes
    assert {"default", "default-queue", "research"} == set(queues)


def test_no_queue_is_made_up_where_nobody_needs_one():
    group = obj("scheduling.run.ai/v2alpha2", "PodGroup", "g", "default", spec={})
    member = pod("g-0", annotations={"pod-group-name": "g"})
    named = pod("p", labels={"kai.scheduler/queue": "lost"})

    assert {"research"} == set(read(kai("research"), group, member, named)[0])
    assert {} == read(pod("g"))[0]


# --- what is wrong with one -----------------------------------------------------


def test_of_queues_of_one_name_the_first_dialect_is_heard_and_people_are_told():
    queues, _, warnings = read(
        kai("a", resources={"gpu": {"quota": 4}}), volcano("a", deserved={GPU: "2"})
    )

    assert queues["a"].resources[GPU].quota == 4
    assert ("queue a is described by kai and volcano: kai is used",) == warnings


def test_queues_in_a_circle_are_left_out_with_all_below_them():
    queues, _, warnings = read(
        volcano("a", parent="b"),
        volcano("b", parent="a"),
        volcano("c", parent="a"),
        volcano("d"),
    )

    assert {"d"} == set(queues)
    assert [f"queue {name} is left out" for name in "abc"] == [
        text.partition(":")[0] for text in warnings
    ]


@pytest.mark.parametrize("more", [(), (kai("d"),)])
def test_gangs_of_queues_that_are_left_out_wait_and_are_told_why(more):
    pods = [
        pod(name, labels={"kai.scheduler/queue": name}) for name in ("c", "e", "none")
    ]
    ring = [kai("a", parentQueue="b"), kai("b", parentQueue="a")]
    below = [kai("c", parentQueue="a"), kai("e", parentQueue="gone")]
    snapshot = assembled(*ring, *below, *more, *pods).snapshot
    waiting = decide(snapshot, Policy()).gangs

    told = [line.waiting for line in waiting if line.waiting]

    assert ["ConfigConflict", "QueueNotFound", "QueueNotFound"] == [
        why.reason.value for why in told
    ]
    assert [
        "the parents of queue c form a cycle: a → b → a",
        "queue gone does not exist",
        "queue none does not exist",
    ] == [why.message.rpartition("group: ")[2] for why in told]


@pytest.mark.timeout(60)  # where each looks at all above it, it is not done
@pytest.mark.parametrize("top", [None, "q1999", "gone"])
def test_queues_far_below_others_are_left_out(top):
    parents = [top, *(f"q{at}" for at in range(1_999))]
    chain = [kai(f"q{at}", parentQueue=up) for at, up in enumerate(parents)]
    waits = pod("p", labels={"kai.scheduler/queue": "q20"})
    snapshot = assembled(*chain, waits, kai("d")).snapshot

    (line,) = decide(snapshot, Policy()).gangs

    usable = {f"q{at}" for at in range(16)} if top is None else set()
    assert usable | {"d"} == {queue.name for queue in snapshot.queues}
    assert line.waiting.reason.value == "ConfigConflict"
    assert "queue q20: more than 16 queues are above" in line.waiting.message


FAULTS = {
    "an amount that is none": (
        quota("a", min={GPU: "many"}),
        "ElasticQuota default/a cannot be read, so it is taken as closed: spec.min.",
    ),
    "a weight that is no JSON": (
        quota("a", meta={"annotations": {f"{PREFIX}/shared-weight": "{"}}),
        "ElasticQuota default/a cannot be read, so it is taken as closed: metadata.",
    ),
    "namespaces that are no list": (
        quota("a", meta={"annotations": {NAMESPACES: "{}"}}),
        "ElasticQuota default/a cannot be read, so it is taken as closed: metadata.",
    ),
    "a namespace that is no text": (
        quota("a", meta={"annotations": {NAMESPACES: '["team", 5]'}}),
        "ElasticQuota default/a cannot be read, so it is taken as closed: metadata.",
    ),
    "an amount that is a list, for a namespace": (
        quota("a", version=X_K8S, max={GPU: [1]}),
        "ElasticQuota default/a cannot be read, so it is taken as closed: spec.max.",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_quota_that_cannot_be_read_is_closed_and_warned_of_once(case):
    raw, wanted = FAULTS[case]
    queues, _, warnings = read(raw)

    assert [wanted] == [text[: len(wanted)] for text in warnings]
    assert [False] == [q.open for n, q in queues.items() if n in {"a", "default.a"}]


def test_two_quotas_of_one_name_or_namespace_are_told_apart():
    spaces = {"annotations": {NAMESPACES: '["team"]'}}
    shared, _, told = read(
        quota("a", min={GPU: 1}, meta=spaces),
        quota("a", namespace="other", min={GPU: 2}),
        quota("b", min={GPU: 3}, meta=spaces),
    )
    plugin, _, also = read(
        quota("a", X_K8S, min={GPU: 1}), quota("b", X_K8S, min={GPU: 2})
    )

    assert {"a": 1, "b": 3} == {n: shared[n].resources[GPU].quota for n in "ab"}
    assert told == (
        "ElasticQuota other/a is left out: ElasticQuota default/a has its name",
        f"ElasticQuota default/b: annotation {NAMESPACES}: {TEAM} are in a",
    )
    assert {"default", "default.a", "elastic-quotas"} == set(plugin)
    assert also == (
        "ElasticQuota default/b is left out: ElasticQuota default/a has its namespace",
    )
