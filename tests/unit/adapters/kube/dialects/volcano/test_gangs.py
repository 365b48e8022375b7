"""
Volcano's words, and those of the two systems that serve the same objects.
"""

import json

import pytest

from adapters.kube.dialects.volcano.gangs import DIALECTS
from tests.helpers.kube.dialects import (
    claim,
    claims,
    difference,
    refusal,
    tree,
    world,
)
from tests.helpers.kube.volcano_objects import (
    BATCH,
    VERSIONS,
    VOLCANO,
    group,
    pod,
    task,
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
        "highestTierAllowed and highestTierName are both set"
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


LONG = {
    "subGroupPolicy": (256, lambda n: [{"name": f"s{at}"} for at in range(n)]),
    "minResources": (200, lambda n: {f"example.com/r{at}": "1" for at in range(n)}),
}


@pytest.mark.parametrize("word", LONG)
def test_lists_longer_than_anybody_needs_are_refused(word):
    most, make = LONG[word]
    found, other = (
        refusal(claim(VOLCANO, group(json.dumps({word: make(number)}))))
        for number in (most + 1, most)
    )

    assert f"InvalidGang: spec.{word}: it has {most + 1} entries" in found
    assert "entries" not in str(other)


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
