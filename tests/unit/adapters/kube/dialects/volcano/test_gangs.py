"""
Volcano's words, and those of the two systems that serve the same objects.
"""

import json

import pytest

from adapters.kube.dialects.volcano.gangs import DIALECTS
from models.resources import LONGEST_SECONDS
from tests.helpers.dialects import (
    after,
    claim,
    claims,
    difference,
    examples,
    golden,
    queue,
    refusal,
    standing,
    tree,
    world,
)

VOLCANO, BATCH, ROC = DIALECTS
VERSIONS = {
    "volcano": "scheduling.volcano.sh/v1beta1",
    "kube-batch": "scheduling.incubator.k8s.io/v1alpha1",
    "roc": "scheduling.roc/v1beta1",
}
CLASSES = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: low}
value: 10
"""


def group(spec="{minMember: 2}", meta="", status=None, version=VERSIONS["volcano"]):
    text = f"""
apiVersion: {version}
kind: PodGroup
metadata: {{name: g{meta}}}
spec: {spec}
"""
    text += "" if status is None else f"status: {json.dumps(status)}\n"
    return text + CLASSES


def pod(name="p", labels="", annotations="", spec="{}", group_name="g"):
    member = f"scheduling.volcano.sh/group-name: {group_name}"
    annotations = ", ".join(filter(None, [member if group_name else "", annotations]))
    return f"""
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{{labels}}}
  annotations: {{{annotations}}}
  ownerReferences:
    - {{apiVersion: batch/v1, kind: Job, name: job, uid: u1, controller: true}}
spec: {spec}
"""


def task(name, task_name, spec="{}", **more):
    return pod(
        name, annotations=f"volcano.sh/task-spec: {task_name}", spec=spec, **more
    )


TOPOLOGY = "networkTopology: {mode: soft, highestTierAllowed: 1}"
PAIRS = {
    "minMember": ("{}", "{minMember: 3}", {"tree"}),
    "minTaskMember": (
        "{minMember: 2}",
        "{minMember: 2, minTaskMember: {ps: 1, worker: 1}}",
        {"tree"},
    ),
    "minTaskMember beyond minMember": (
        "{minMember: 2}",
        "{minMember: 2, minTaskMember: {ps: 1, worker: 2}}",
        {"warnings"},
    ),
    "queue": ("{}", "{queue: team}", {"queue"}),
    "priorityClassName": (
        "{}",
        "{priorityClassName: high}",
        PRIORITY := {
            "priority",
            "priority_class",
        },
    ),
    "priorityClassName of the system": (
        "{}",
        "{priorityClassName: system-node-critical}",
        PRIORITY,
    ),
    "minResources": ("{}", "{minResources: {cpu: 3, memory: 2Gi}}", {"min_resources"}),
    "networkTopology soft": ("{}", f"{{{TOPOLOGY}}}", {"warnings"}),
    "networkTopology": (
        "{}",
        "{networkTopology: {highestTierAllowed: 1}}",
        {"refused"},
    ),
    "subGroupPolicy without a minimum": (
        "{}",
        "{subGroupPolicy: [{name: s, subGroupSize: 2}]}",
        set(),
    ),
    "subGroupPolicy": (
        "{}",
        "{subGroupPolicy: [{name: s, subGroupSize: 2, minSubGroups: 1}]}",
        {"tree"},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_field_changes_what_is_claimed(name):
    plain, changed, expected = PAIRS[name]

    assert expected == difference(VOLCANO, group(plain), group(changed))


REFUSED = {
    "{minMember: -1}": "InvalidGang: spec.minMember: -1 is less than 0",
    "{minTaskMember: {a: x}}": (
        "InvalidGang: spec.minTaskMember.a: 'x' is not a whole number"
    ),
    "{minResources: {cpu: lots}}": (
        "InvalidGang: spec.minResources.cpu: "
        "'lots' is not a quantity such as 4, 500m or 16Gi"
    ),
    "{queue: Not_A_Name}": (
        "InvalidGang: spec.queue: 'Not_A_Name' is not an RFC 1123 subdomain"
    ),
    "{networkTopology: {mode: near}}": (
        "InvalidGang: spec.networkTopology.mode: 'near' is neither hard nor soft"
    ),
    "{networkTopology: {highestTierAllowed: 1, highestTierName: spine}}": (
        "InvalidGang: spec.networkTopology: "
        "highestTierAllowed and highestTierName are both said"
    ),
    "{networkTopology: {highestTierAllowed: 1}}": (
        "InvalidGang: spec.networkTopology.highestTierAllowed: "
        "there is no HyperNode of tier 1 or lower"
    ),
    "{networkTopology: {highestTierName: spine}}": (
        "InvalidGang: spec.networkTopology.highestTierName: "
        "there is no HyperNode of a tier spine"
    ),
    "{subGroupPolicy: [{name: s, networkTopology: {highestTierAllowed: 1}}]}": (
        "InvalidGang: spec.subGroupPolicy[0].networkTopology.highestTierAllowed: "
        "there is no HyperNode of tier 1 or lower"
    ),
    "{subGroupPolicy: [{name: s, subGroupSize: 0}]}": (
        "InvalidGang: spec.subGroupPolicy[0].subGroupSize: 0 is less than 1"
    ),
}


@pytest.mark.parametrize("spec", REFUSED)
def test_what_cannot_be_obeyed_names_the_field(spec):
    assert REFUSED[spec] == refusal(claim(VOLCANO, group(spec)))


def test_a_gang_is_refused_for_itself_alone():
    other = group().replace("{name: g}", "{name: other}").partition("---")[0]

    found = claims(VOLCANO, group("{minMember: -1}"), other)

    assert found["default/g"].refused is not None
    assert found["default/other"].refused is None


def test_a_bad_name_is_refused():
    found = claim(VOLCANO, group().replace("{name: g}", "{name: G_1}"))

    assert refusal(found) == (
        "InvalidGang: metadata.name: 'G_1' is not an RFC 1123 subdomain"
    )


def test_names_of_resource_quotas_are_no_resources():
    spec = (
        "{minResources: {cpu: 3500m, requests.cpu: 3500m, limits.cpu: 4, "
        "count/pods: '4', pods: '4'}}"
    )

    assert claim(VOLCANO, group(spec)).min_resources == {"cpu": 3500, "pods": 4}


@pytest.mark.parametrize(
    ("said", "expected"), [("'true'", True), ("'false'", False), ("'no'", False)]
)
def test_a_gang_says_whether_it_may_be_evicted(said, expected):
    word = f"volcano.sh/preemptable: {said}"
    by_group = claim(VOLCANO, group(meta=f", annotations: {{{word}}}"))
    by_pod = claim(VOLCANO, group(), pod(annotations=word))

    assert (by_group.preemptible, by_pod.preemptible) == (expected, expected)
    assert bool(by_group.warnings) is not expected
    assert claim(VOLCANO, group()).preemptible is None


@pytest.mark.parametrize("word", ["cooldown-time", "numa-topology-policy"])
def test_an_annotation_that_changes_nothing_is_told(word):
    found = claim(VOLCANO, group(), pod(annotations=f"volcano.sh/{word}: '1'"))

    assert found.warnings == (f"annotation volcano.sh/{word} is not obeyed",)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_each_system_reads_its_own_group_and_no_other(dialect):
    found = {
        name: list(claims(dialect, group(version=version)))
        for name, version in VERSIONS.items()
    }

    assert {name for name, keys in found.items() if keys} == {dialect.name}


def test_an_object_that_is_served_in_two_versions_is_one_gang():
    newer = group(version="scheduling.incubator.k8s.io/v1alpha2").partition("---")[0]

    assert len(claims(BATCH, group(version=VERSIONS["kube-batch"]), newer)) == 1


def test_a_pod_names_its_group_by_the_old_annotation_too():
    _, (old, new, none) = world(
        pod(group_name="", annotations="scheduling.k8s.io/group-name: g"),
        pod(),
        pod(group_name=""),
    )

    assert VOLCANO.membership(old).gang == "default/g"
    assert VOLCANO.membership(new).gang == "default/g"
    assert VOLCANO.membership(none) is None
    assert BATCH.membership(old).gang == "default/g"
    assert BATCH.membership(new) is None


def test_pods_without_a_group_make_one_for_their_owner():
    words = (
        "scheduling.volcano.sh/group-min-member: '3', "
        "scheduling.volcano.sh/queue-name: team, "
        """scheduling.volcano.sh/group-min-resources: '{"cpu": "4"}'"""
    )
    found = claims(VOLCANO, pod(group_name="", annotations=words))

    (made,) = found.values()
    assert list(found) == ["default/podgroup-u1"]
    assert (made.tree.minimum, made.queue) == (3, "team")
    assert (made.min_resources, made.source) == ({"cpu": 4000}, None)


def test_pods_of_a_group_that_does_not_exist_claim_nothing():
    assert claims(VOLCANO, pod()) == {}


def test_tasks_are_leaves_below_one_minimum():
    spec = "{minMember: 3, minTaskMember: {ps: 1, worker: 2}}"
    found = claim(VOLCANO, group(spec), task("a", "ps"), task("b", "worker"))

    assert tree(found.tree) == {
        "min_groups": 2,
        "min_pods": 3,
        "parts": [{"name": "ps", "minimum": 1}, {"name": "worker", "minimum": 2}],
    }


def test_a_task_without_a_minimum_comes_after_those_that_have_one():
    spec = "{minMember: 2, minTaskMember: {worker: 1}}"
    found = claim(VOLCANO, group(spec), task("a", "helper"), task("b", "worker"))

    assert tree(found.tree) == {
        "min_groups": 1,
        "min_pods": 2,
        "parts": [
            {"name": "helper", "minimum": 0, "after": ["worker"]},
            {"name": "worker", "minimum": 1},
        ],
    }


def ranked(*pods):
    return [
        pod(name, spec=f"{{priorityClassName: {class_name}}}")
        for name, class_name in pods
    ]


def test_pods_of_a_higher_priority_come_first():
    pods = ranked(("driver", "high"), ("e1", "low"), ("e2", "low"), ("e3", "low"))

    found = claim(VOLCANO, group("{minMember: 2}"), *pods)

    assert tree(found.tree) == {
        "min_groups": 2,
        "min_pods": 2,
        "parts": [
            {"name": "high", "minimum": 1},
            {"name": "low", "minimum": 1, "after": ["high"]},
        ],
    }


def test_a_minimum_below_the_first_task_leaves_the_later_ones_to_surplus():
    pods = ranked(("d1", "high"), ("d2", "high"), ("e1", "low"))

    found = claim(VOLCANO, group("{minMember: 1}"), *pods)

    assert tree(found.tree) == {
        "min_groups": 1,
        "min_pods": 1,
        "parts": [
            {"name": "high", "minimum": 1},
            {"name": "low", "minimum": 0, "after": ["high"]},
        ],
    }


@pytest.mark.parametrize(("dialect", "least"), [(VOLCANO, 1), (BATCH, 0)])
def test_a_driver_that_succeeded_counts_where_its_system_counts_it(dialect, least):
    driver, *executors = ranked(("driver", "high"), ("e1", "low"), ("e2", "low"))
    done = driver.rstrip() + "\nstatus: {phase: Succeeded}\n"
    texts = [
        text.replace("scheduling.volcano.sh/group-name", "scheduling.k8s.io/group-name")
        for text in (done, *executors)
    ]

    found = claim(
        dialect, group("{minMember: 2}", version=VERSIONS[dialect.name]), *texts
    )

    first, _ = sorted(found.tree.parts, key=lambda part: part.name)
    assert (first.minimum, found.tree.min_pods) == (least, 2)


def test_the_two_classes_of_the_system_rank_above_all():
    pods = ranked(
        ("c", "high"), ("a", "system-node-critical"), ("b", "system-cluster-critical")
    )

    parts = claim(VOLCANO, group("{minMember: 3}"), *pods).tree.parts

    assert [part.name for part in parts] == [
        "system-node-critical",
        "system-cluster-critical",
        "high",
    ]


def test_sub_groups_take_pods_by_their_labels():
    spec = (
        "{minMember: 2, subGroupPolicy: [{name: s, subGroupSize: 2, "
        "minSubGroups: 1, labelSelector: {matchLabels: {app: x}}, "
        "matchLabelKeys: [replica]}]}"
    )
    pods = [
        pod(f"p{number}", labels=f"app: x, replica: '{number // 2}'")
        for number in range(4)
    ]

    found = claim(VOLCANO, group(spec), *pods)

    assert tree(found.tree) == {
        "min_groups": 1,
        "min_pods": 2,
        "parts": [
            {
                "name": "s",
                "min_groups": 1,
                "parts": [
                    {"name": "s-0-group", "minimum": 2},
                    {"name": "s-1-group", "minimum": 2},
                ],
            }
        ],
    }
    assert found.placed["default/p3"] == "s-1-group"


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("labelSelector: {matchLabels: {app: y}}", "pod p is in no group"),
        (
            (
                "labelSelector: {matchExpressions: "
                "[{key: app, operator: NotIn, values: [x]}]}"
            ),
            "pod p is in no group",
        ),
        ("matchLabelKeys: [replica]", "pod p is in no group"),
        (
            (
                "labelSelector: {matchExpressions: "
                "[{key: app, operator: In, values: [x]}]}"
            ),
            None,
        ),
    ],
)
def test_a_pod_in_no_sub_group_is_refused(spec, what):
    text = f"{{subGroupPolicy: [{{name: s, minSubGroups: 1, {spec}}}]}}"

    said = refusal(claim(VOLCANO, group(text), pod(labels="app: x")))

    assert (said is None) if what is None else said.endswith(what)


def queues(*specs, dialect=VOLCANO, warnings=None):
    text = "".join(
        f"""
---
apiVersion: {VERSIONS[dialect.name]}
kind: Queue
metadata: {{name: {name}}}
spec: {spec}
status: {status}
"""
        for name, spec, status in specs
    )
    objects, _ = world(text)
    return {
        found.name: queue(found)
        for found in dialect.queues(objects, [] if warnings is None else warnings)
    }


OPEN = "{state: Open}"
PLAIN = queues(("q", "{}", OPEN))["q"]
QUEUES = {
    "weight": ("{weight: 3}", {"nvidia.com/gpu": [0, None, 3]}),
    "capability": (
        "{capability: {nvidia.com/gpu: 8}}",
        {"nvidia.com/gpu": [0, 8, 1], "cpu": [0, None, 1]},
    ),
    "deserved": (
        "{deserved: {nvidia.com/gpu: 4}}",
        {"nvidia.com/gpu": [4, None, 1]},
    ),
    "guarantee": (
        "{guarantee: {resource: {nvidia.com/gpu: 2}}}",
        {"nvidia.com/gpu": [2, None, 1]},
    ),
    "another resource": (
        "{capability: {amd.com/gpu: 8}}",
        {"amd.com/gpu": [0, 8, 1]},
    ),
}


def test_what_a_queue_is_guaranteed_is_kept_for_it():
    text = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
spec: {deserved: {cpu: 6}, guarantee: {resource: {cpu: 2}}}
"""
    (found,) = VOLCANO.queues(world(text)[0], [])

    assert found.rule("cpu").lend == 4000
    assert found.rule("cpu").kept == 2000


@pytest.mark.parametrize("name", QUEUES)
def test_a_field_of_a_queue_changes_its_rules(name):
    spec, expected = QUEUES[name]

    assert PLAIN["resources"] == {
        "cpu": [0, None, 1],
        "memory": [0, None, 1],
        "nvidia.com/gpu": [0, None, 1],
    }
    found = queues(("q", spec, OPEN))["q"]["resources"]
    assert expected.items() <= found.items()
    assert found != PLAIN["resources"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("{}", True),
        (OPEN, True),
        ("{state: Closed}", False),
        ("{state: Closing}", False),
        ("{state: Unknown}", False),
    ],
)
def test_only_an_open_queue_takes_gangs(state, expected):
    assert queues(("q", "{}", state))["q"]["open"] is expected


def test_a_queue_says_its_parent_priority_and_whether_it_gives_back():
    found = queues(
        ("root", "{}", OPEN),
        ("a", "{priority: 7, reclaimable: false}", OPEN),
        ("b", "{parent: a}", OPEN),
        ("c", "{parent: root}", OPEN),
    )

    assert [found[name]["parent"] for name in ("root", "a", "b", "c")] == [
        None,
        "root",
        "a",
        "root",
    ]
    assert found["a"]["priority"] == 7
    assert found["a"]["runtimes"] == [0, LONGEST_SECONDS]
    assert found["b"]["runtimes"] == [0, 0]


def test_without_the_queue_root_a_queue_has_no_parent():
    assert queues(("c", "{parent: root}", OPEN))["c"]["parent"] is None


@pytest.mark.parametrize(
    "spec",
    [
        "{weight: 0}",
        "{weight: 70000}",
        "{priority: -1}",
        "{capability: {cpu: lots}}",
        "{deserved: {cpu: 4}, capability: {cpu: 2}}",
        "{deserved: {cpu: 4}, guarantee: {resource: {cpu: 5}}}",
        "{dequeueStrategy: random}",
    ],
)
def test_a_queue_that_is_not_valid_is_closed_and_warned_of(spec):
    warnings = []

    assert queues(("q", spec, OPEN), warnings=warnings)["q"]["open"] is False
    assert warnings[0].startswith("Queue q cannot be read, so it is taken as closed: ")
    assert "spec." in warnings[0]


@pytest.mark.parametrize(
    ("spec", "refused", "warned"),
    [
        ("{}", False, False),
        ("{dequeueStrategy: fifo}", False, True),
        ("{dequeueStrategy: traverse}", False, False),
        ("{extendClusters: [{name: x}]}", False, True),
        (
            (
                "{affinity: {nodeGroupAffinity: "
                "{requiredDuringSchedulingIgnoredDuringExecution: [a]}}}"
            ),
            True,
            False,
        ),
        (
            (
                "{affinity: {nodeGroupAntiAffinity: "
                "{preferredDuringSchedulingIgnoredDuringExecution: [a]}}}"
            ),
            False,
            True,
        ),
    ],
)
def test_what_a_queue_asks_for_in_vain_is_told_to_its_gangs(spec, refused, warned):
    text = f"""
---
apiVersion: {VERSIONS["volcano"]}
kind: Queue
metadata: {{name: q}}
spec: {spec}
"""
    found = claim(VOLCANO, group("{queue: q}"), text)

    assert (found.refused is not None, bool(found.warnings)) == (refused, warned)


NO_PODS = {"minimum": 10, "total": 0, "reason": "WaitingForPods", "message": "m"}


def test_a_gang_without_pods_is_ten_of_none():
    found = claim(ROC, group("{minMember: 10}", version=VERSIONS["roc"]))

    patch, event = ROC.answer(found, standing(**NO_PODS))

    (condition,) = patch.patch["status"]["conditions"]
    assert condition == {
        "type": "Unschedulable",
        "status": "True",
        "reason": "NotEnoughResources",
        "message": (
            "10/0 tasks in gang unschedulable: pod group is not ready, 10 minAvailable"
        ),
        "transitionID": "r1",
        "lastTransitionTime": "1970-01-01T00:00:00Z",
    }
    assert (patch.group, patch.version) == ("scheduling.roc", "v1beta1")
    assert patch.subresource == ""
    assert event.event[1] == "Unschedulable"


@pytest.mark.parametrize(
    ("spec", "facts", "phase"),
    [
        ("{minMember: 10}", {}, "Inqueue"),
        ("{minMember: 10, minResources: {cpu: 1}}", {}, "Pending"),
        ("{minMember: 10, minResources: {cpu: 1}}", {"gate": "open"}, "Inqueue"),
    ],
)
def test_pods_may_be_made_once_the_gate_is_open(spec, facts, phase):
    found = claim(VOLCANO, group(spec))

    patch, _ = VOLCANO.answer(found, standing(**NO_PODS, facts=facts))

    assert patch.patch["status"]["phase"] == phase


def test_a_gang_that_starts_says_volcanos_sentence():
    found = claim(VOLCANO, group())

    patch, event = VOLCANO.answer(found, standing("Starting", binding=5))

    assert patch.patch["status"]["phase"] == "Running"
    (condition,) = patch.patch["status"]["conditions"]
    assert condition["type"] == "Scheduled"
    assert condition["reason"] == "tasks in gang are ready to be scheduled"
    assert event.event == ("Normal", "Scheduled", "pod group is ready")


SENTENCES = {
    "resources": (
        {"reason": "Fragmented", "message": "no room"},
        "NotEnoughResources",
        (
            "5/5 tasks in gang unschedulable: pod group is not ready, 5 Pending, "
            "5 minAvailable; Pending: 5 Unschedulable. "
            "Origin reason is Fragmented: no room"
        ),
    ),
    "pods": (
        {"reason": "WaitingForPods", "total": 3, "facts": {"have": 3, "needs": 5}},
        "NotEnoughTasks",
        "Not enough valid tasks for gang-scheduling, valid: 3, min: 5",
    ),
    "pods of a task": (
        {
            "reason": "WaitingForPods",
            "facts": {"have": 1, "needs": 2, "where": " in worker"},
        },
        "NotEnoughPodsOfTask",
        (
            "Not enough valid pods of each task for gang-scheduling in worker: "
            "valid: 1, min: 2"
        ),
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_waiting_gang_says_why_in_volcanos_words(name):
    said, reason, message = SENTENCES[name]
    found = claim(VOLCANO, group())

    patch, _ = VOLCANO.answer(found, standing(**said))

    (condition,) = patch.patch["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == (reason, message)


@pytest.mark.parametrize(
    ("reason", "where", "event"),
    [
        (
            "QuotaLimitReached",
            "",
            ("Normal", "queue resource quota insufficient: insufficient cpu"),
        ),
        (
            "InsufficientCapacity",
            " as its minResources",
            ("Normal", "resource in cluster is overused: cpu"),
        ),
    ],
)
def test_an_event_says_which_resource(reason, where, event):
    found = claim(VOLCANO, group())
    facts = {"resource": "cpu", "where": where}

    _, said = VOLCANO.answer(found, standing(reason=reason, message="m", facts=facts))

    assert (said.event[0], said.event[2]) == event


PHASES = {
    "waits for room": (standing(reason="Fragmented", message="m"), "Inqueue"),
    "waits for quota": (standing(reason="QuotaLimitReached", message="m"), "Pending"),
    "waits for its queue": (standing(reason="QueueClosed", message="m"), "Pending"),
    "waits at the gate": (
        standing(
            reason="InsufficientCapacity",
            message="m",
            facts={"where": " as its minResources"},
        ),
        "Pending",
    ),
    "in part": (standing(reason="Fragmented", message="m", running=2), "Unknown"),
    "runs": (standing("Running", running=5), "Running"),
    "grows": (standing("Growing", running=5, binding=1, total=6), "Running"),
    "ended": (standing("Finished", succeeded=5), "Completed"),
    "one failed": (standing("Finished", succeeded=5, failed=1, total=6), "Completed"),
}


@pytest.mark.parametrize("name", PHASES)
def test_the_phase_follows_the_counts(name):
    decided, expected = PHASES[name]
    found = claim(VOLCANO, group())

    first, *_ = VOLCANO.answer(found, decided)

    assert first.patch["status"]["phase"] == expected


def test_a_group_let_in_stays_let_in():
    found = claim(VOLCANO, group(status={"phase": "Inqueue"}))

    patch, _ = VOLCANO.answer(found, standing(reason="QueueClosed", message="m"))

    assert "phase" not in patch.patch["status"]


@pytest.mark.parametrize("name", PHASES)
def test_nothing_is_said_twice(name):
    decided, _ = PHASES[name]
    found = claim(VOLCANO, group())

    told = after(found, VOLCANO.answer(found, decided))

    assert list(VOLCANO.answer(told, decided)) == []


def test_conditions_are_kept_one_of_each_type_the_newest_last():
    found = claim(VOLCANO, group())
    waits = standing(reason="Fragmented", message="m", now=1.0)
    starts = standing("Starting", binding=5, now=2.0)
    told = after(found, VOLCANO.answer(found, waits))
    told = after(told, VOLCANO.answer(told, starts))

    again = after(told, VOLCANO.answer(told, standing(**vars_of(waits, now=3.0))))

    kinds = [c["type"] for c in again.source["status"]["conditions"]]
    assert kinds == ["Scheduled", "Unschedulable"]


def vars_of(decided, **more):
    said = {"reason": decided.reason, "message": decided.message}
    return said | more


def test_a_gang_that_only_annotations_describe_gets_no_answer():
    words = "scheduling.volcano.sh/group-min-member: '3'"
    (found,) = claims(VOLCANO, pod(group_name="", annotations=words)).values()

    assert list(VOLCANO.answer(found, standing("Running", running=5))) == []


@pytest.mark.parametrize("folder", ["volcano", "roc"])
def test_the_documented_examples_are_read_and_answered_as_ever(folder):
    assert golden(folder) == examples(folder)
