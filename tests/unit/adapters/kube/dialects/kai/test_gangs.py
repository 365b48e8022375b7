"""
KAI's words: SubGroups, topology, preemptibility, back-off, staleness, queues, answers.
"""

import json

import pytest

from adapters.kube.dialects.kai.gangs import DIALECT, Kai
from models.topology import Topology
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

RACKS = """
---
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: block}, {nodeLabel: rack, alias: shelf}]}
"""
CLASSES = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: low}
value: 10
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
"""
MARK = {
    "type": "UnschedulableOnNodePool",
    "nodePool": "default",
    "status": "True",
    "transitionID": "1",
}


def group(spec="{minMember: 2}", meta="", status=None):
    text = f"""
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {{name: g{meta}}}
spec: {spec}
"""
    text += "" if status is None else f"status: {json.dumps(status)}\n"
    return text + RACKS + CLASSES


def pod(name="p", labels="", annotations=""):
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{{labels}}}, annotations: {{{annotations}}}}}
"""


MEMBER = "pod-group-name: g"
TWO = "subGroups: [{name: a, minMember: 1}, {name: b, minMember: 2}]"
PAIRS = {
    "minMember": ("{}", "{minMember: 3}", {"tree"}),
    "minMember 0": ("{}", "{minMember: 0}", {"tree"}),
    "subGroups": ("{}", f"{{{TWO}}}", {"tree"}),
    "minSubGroup": (f"{{{TWO}}}", f"{{{TWO}, minSubGroup: 1}}", {"tree"}),
    "minSubGroup beyond": (
        f"{{{TWO}}}",
        f"{{{TWO}, minSubGroup: 3}}",
        {"tree", "warnings"},
    ),
    "root minMember beside SubGroups": (
        f"{{{TWO}}}",
        f"{{{TWO}, minMember: 1}}",
        {"tree", "warnings"},
    ),
    "root minMember above SubGroups": (
        f"{{{TWO}}}",
        f"{{{TWO}, minMember: 4}}",
        {"warnings"},
    ),
    "both minimums": (
        f"{{{TWO}, minSubGroup: 1}}",
        f"{{{TWO}, minSubGroup: 1, minMember: 1}}",
        {"tree", "refused"},
    ),
    "queue": ("{}", "{queue: team}", {"queue"}),
    "priorityClassName": (
        "{priorityClassName: low}",
        "{priorityClassName: high}",
        {"priority", "preemptible"},
    ),
    "priorityClassName of KAI": (
        "{}",
        "{priorityClassName: inference}",
        {"priority", "preemptible"},
    ),
    "priorityClassName unknown": (
        "{}",
        "{priorityClassName: nobody}",
        {"priority", "priority_class", "preemptible"},
    ),
    "preemptibility": ("{}", "{preemptibility: non-preemptible}", {"preemptible"}),
    "preemptibility explicit": (
        "{priorityClassName: high}",
        "{priorityClassName: high, preemptibility: preemptible}",
        {"preemptible"},
    ),
    "preemptibility wrong": (
        "{}",
        "{preemptibility: maybe}",
        {"preemptible", "refused"},
    ),
    "topology": (
        "{}",
        "{topologyConstraint: {topology: racks, requiredTopologyLevel: rack}}",
        {"tree"},
    ),
    "preferredTopologyLevel": (
        "{topologyConstraint: {topology: racks, requiredTopologyLevel: block}}",
        (
            "{topologyConstraint: {topology: racks, requiredTopologyLevel: block, "
            "preferredTopologyLevel: rack}}"
        ),
        {"tree"},
    ),
    "stalenessGracePeriod": ("{}", "{stalenessGracePeriod: 2m}", {"stale_after"}),
    "stalenessGracePeriod never": (
        "{}",
        "{stalenessGracePeriod: -1s}",
        {"stale_after"},
    ),
    "preemptionDelay": ("{}", "{preemptionDelay: 5m}", {"warnings"}),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_field_changes_what_is_claimed(name):
    plain, changed, expected = PAIRS[name]

    assert expected == difference(DIALECT, group(plain), group(changed))


REFUSED = {
    "{minMember: 1, minSubGroup: 1, subGroups: [{name: a, minMember: 1}]}": (
        "InvalidGang: spec.minMember: minSubGroup stands beside it, only one may"
    ),
    "{minMember: -1}": "InvalidGang: spec.minMember: -1 is less than 0",
    "{minMember: '2'}": "InvalidGang: spec.minMember: '2' is not a whole number",
    "{subGroups: [{name: a}]}": (
        "InvalidGang: SubGroup a.minMember: a SubGroup of pods must say it"
    ),
    "{subGroups: [{name: a, minSubGroup: 1}]}": (
        "InvalidGang: SubGroup a.minSubGroup: no SubGroup names it as its parent"
    ),
    "{subGroups: [{name: A, minMember: 1}]}": (
        "InvalidGang: spec.subGroups[0].name: 'A' is not an RFC 1123 label"
    ),
    "{subGroups: [{name: a, minMember: 1}, {name: a, minMember: 1}]}": (
        "InvalidGang: spec.subGroups[1].name: there are two SubGroups a"
    ),
    "{subGroups: [{name: a, minMember: 1, parent: b}]}": (
        "InvalidGang: SubGroup a: its parent b does not exist"
    ),
    "{subGroups: [{name: a, parent: b}, {name: b, parent: a}]}": (
        "InvalidGang: SubGroup a: its parents lead round in a circle"
    ),
    "{topologyConstraint: {topology: x, requiredTopologyLevel: rack}}": (
        "InvalidGang: spec.topologyConstraint.topology: the Topology 'x' does not exist"
    ),
    "{topologyConstraint: {topology: racks, preferredTopologyLevel: x}}": (
        "InvalidGang: spec.topologyConstraint.preferredTopologyLevel: "
        "the Topology racks has no level 'x'"
    ),
    "{schedulingBackoff: 3}": (
        "InvalidGang: spec.schedulingBackoff: 3 is neither -1 nor 1"
    ),
    "{stalenessGracePeriod: soon}": (
        "InvalidGang: spec.stalenessGracePeriod: "
        "'soon' is not a duration such as 90s, 10m or 1h30m"
    ),
}


@pytest.mark.parametrize("spec", REFUSED)
def test_what_cannot_be_obeyed_names_the_field(spec):
    assert REFUSED[spec] == refusal(claim(DIALECT, group(spec)))


def test_a_gang_is_refused_for_itself_alone():
    second = group().replace("name: g", "name: other").split("---")[0]

    found = claims(DIALECT, group("{minMember: -1}"), second)

    assert found["default/g"].refused is not None
    assert found["default/other"].refused is None


def test_a_group_in_a_node_pool_demands_its_nodes():
    found = claim(DIALECT, group(meta=", labels: {kai.scheduler/node-pool: a100}"))

    assert refusal(found) is None
    assert found.nodes == (("kai.scheduler/node-pool", "a100"),)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("minMember: 2", False),
        ("minMember: 0", True),
        ("subGroups: [{name: a, minMember: 0}]", True),
        ("subGroups: [{name: a, minMember: 1}]", False),
        ("minSubGroup: 0, subGroups: [{name: a, minMember: 1}]", True),
    ],
)
def test_what_is_semi_preemptible_is_kept_where_it_has_a_core(spec, expected):
    found = claim(DIALECT, group(f"{{preemptibility: semi-preemptible, {spec}}}"))

    assert found.preemptible is expected
    assert bool(found.warnings) is not expected


def test_a_bad_name_is_refused():
    found = claim(DIALECT, group().replace("{name: g}", "{name: G_1}"))

    assert refusal(found) == (
        "InvalidGang: metadata.name: 'G_1' is not an RFC 1123 subdomain"
    )


def test_an_alias_stands_for_its_level():
    spec = "{topologyConstraint: {topology: racks, requiredTopologyLevel: shelf}}"

    demand = claim(DIALECT, group(spec)).tree.topology

    assert demand.required == "rack"


def test_a_middle_node_with_min_member_counts_its_children():
    spec = (
        "{subGroups: [{name: m, minMember: 1}, "
        "{name: a, parent: m, minMember: 1}, {name: b, parent: m, minMember: 2}]}"
    )
    found = claim(DIALECT, group(spec))

    assert tree(found.tree)["parts"] == [
        {
            "name": "m",
            "min_groups": 1,
            "parts": [{"name": "a", "minimum": 1}, {"name": "b", "minimum": 2}],
        }
    ]
    assert "read as minSubGroup" in found.warnings[0]


@pytest.mark.parametrize(
    ("tries", "pool", "parked"),
    [(1, "default", True), (1, "other", False), (-1, "default", False)],
)
def test_a_marked_group_with_a_back_off_is_left_alone(tries, pool, parked):
    status = {"schedulingConditions": [MARK | {"nodePool": pool}]}
    found = claim(DIALECT, group(f"{{schedulingBackoff: {tries}}}", status=status))

    assert (found.timed_out, bool(found.warnings)) == (parked, parked)


def test_the_time_below_the_minimum_is_read():
    note = "kai.scheduler/stale-podgroup-timestamp: '1970-01-01T00:01:00Z'"
    found = claim(DIALECT, group(meta=f", annotations: {{{note}}}"))

    assert found.stale_since == 60


def test_a_pod_names_its_group_and_its_subgroup():
    _, pods = world(pod(labels="kai.scheduler/subgroup-name: a", annotations=MEMBER))
    _, alone = world(pod())

    found = DIALECT.membership(pods[0])

    assert (found.gang, found.leaf) == ("default/g", "a")
    assert DIALECT.membership(alone[0]) is None


@pytest.mark.parametrize(
    ("spec", "labels", "expected"),
    [
        (f"{{{TWO}}}", "kai.scheduler/subgroup-name: a", None),
        (f"{{{TWO}}}", "kai.scheduler/subgroup-name: c", "has no leaf SubGroup 'c'"),
        (f"{{{TWO}}}", "", "the PodGroup has SubGroups"),
        ("{}", "kai.scheduler/subgroup-name: a", "has no leaf SubGroup 'a'"),
        ("{}", "", None),
    ],
)
def test_a_pod_must_be_in_a_subgroup_that_exists(spec, labels, expected):
    found = claim(DIALECT, group(spec), pod(labels=labels, annotations=MEMBER))

    said = refusal(found)
    assert (said is None) if expected is None else (expected in said)


def test_a_group_is_read_again_only_when_something_changed():
    objects, pods = world(group(), pod(annotations=MEMBER))
    members = {"default/g": tuple(pods)}
    other, _ = world(group("{minMember: 3}"))
    ranked, _ = world(group() + CLASSES.replace("value: 100", "value: 101"))
    dialect = Kai()

    (first,) = dialect.claims(objects, members)
    (same,) = dialect.claims(objects, members)
    (grown,) = dialect.claims(objects, {})
    (changed,) = dialect.claims(other, members)
    (again,) = dialect.claims(ranked, members)

    assert same is first
    assert grown is not first
    assert (changed.tree.minimum, again.tree.minimum) == (3, 2)


def queues(*specs, warnings=None):
    text = "".join(
        f"""
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {{name: {name}}}
spec: {spec}
"""
        for name, spec in specs
    )
    objects, _ = world(text)
    return {
        found.name: queue(found)
        for found in DIALECT.queues(objects, [] if warnings is None else warnings)
    }


def test_numbers_that_a_queue_leaves_out_are_zero():
    found = queues(("q", "{resources: {gpu: {quota: 4}}}"))

    assert found["q"] == {
        "parent": None,
        "priority": 100,
        "open": True,
        "resources": {
            "cpu": [0, 0, 0],
            "memory": [0, 0, 0],
            "nvidia.com/gpu": [4, 0, 0],
        },
        "runtimes": [0, 0],
    }


QUEUES = {
    "quota": (
        "{resources: {gpu: {quota: 8, limit: -1}}}",
        {"nvidia.com/gpu": [8, None, 0]},
    ),
    "quota unlimited": (
        "{resources: {gpu: {quota: -1, limit: -1}}}",
        {"nvidia.com/gpu": [None, None, 0]},
    ),
    "parts of GPUs": (
        "{resources: {gpu: {quota: 1.5, limit: 2.9}}}",
        {"nvidia.com/gpu": [1, 2, 0]},
    ),
    "milli-CPU": (
        "{resources: {cpu: {quota: 1500, limit: 2000}}}",
        {"cpu": [1500, 2000, 0]},
    ),
    "millions of bytes": (
        "{resources: {memory: {quota: 1, limit: 2}}}",
        {"memory": [1000000, 2000000, 0]},
    ),
    "overQuotaWeight": (
        "{resources: {gpu: {overQuotaWeight: 3}}}",
        {"nvidia.com/gpu": [0, 0, 3]},
    ),
}


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_is_read_in_our_units(name):
    spec, expected = QUEUES[name]

    assert expected.items() <= queues(("q", spec))["q"]["resources"].items()


def test_weights_keep_their_ratio():
    found = queues(
        ("a", "{resources: {gpu: {overQuotaWeight: 0.5}}}"),
        ("b", "{resources: {gpu: {overQuotaWeight: 2}}}"),
    )

    weights = [found[name]["resources"]["nvidia.com/gpu"][2] for name in "ab"]
    assert weights == [500, 2000]


def test_a_queue_says_its_parent_priority_and_runtimes():
    found = queues(
        ("top", "{}"),
        (
            "q",
            (
                "{parentQueue: top, priority: 7, preemptMinRuntime: 1m, "
                "reclaimMinRuntime: 2h}"
            ),
        ),
    )

    assert (found["q"]["parent"], found["q"]["priority"]) == ("top", 7)
    assert found["q"]["runtimes"] == [60, 7200]


@pytest.mark.parametrize(
    "spec",
    [
        "{resources: {gpu: {quota: -2}}}",
        "{resources: {gpu: {quota: many}}}",
        "{priority: high}",
        "{reclaimMinRuntime: long}",
    ],
)
def test_a_queue_that_cannot_be_read_is_closed_and_warned_of(spec):
    warnings = []

    assert queues(("q", spec), warnings=warnings)["q"]["open"] is False
    assert warnings[0].startswith("Queue q cannot be read, so it is taken as closed: ")
    assert "spec." in warnings[0]


@pytest.mark.parametrize(
    "levels",
    [
        "[]",
        "rack",
        "[{alias: rack}]",
        "[{nodeLabel: 5}]",
        "[{nodeLabel: rack}, {nodeLabel: rack}]",
    ],
)
def test_a_topology_that_cannot_be_read_is_left_out_and_warned_of(levels):
    objects, _ = world(f"""
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {{name: racks}}
spec: {{levels: {levels}}}
""")
    warnings = []

    assert [] == list(DIALECT.topologies(objects, warnings))
    assert warnings[0].startswith("Topology racks is left out: spec.levels")


def test_a_topology_is_read_outermost_first():
    objects, _ = world(RACKS)

    assert list(DIALECT.topologies(objects, [])) == [
        Topology(name="racks", levels=("block", "rack"))
    ]


LIMIT = {
    "reason": "QuotaLimitReached",
    "message": "ours",
    "facts": {
        "resource": "nvidia.com/gpu",
        "queue": "q",
        "needs": 8,
        "used": 4,
        "limit": 10,
    },
}
SAID = {
    "OverLimit": LIMIT,
    "NonPreemptibleOverQuota": LIMIT
    | {"facts": LIMIT["facts"] | {"work": " of non-preemptible work"}},
    "QueueDoesNotExist": {
        "reason": "QueueNotFound",
        "message": "ours",
        "facts": {"queue": "q"},
    },
    "PodSchedulingErrors": {"reason": "Fragmented", "message": "no room"},
}


@pytest.mark.parametrize("word", SAID)
def test_a_waiting_gang_is_marked_with_the_reason_in_kais_words(word):
    found = claim(DIALECT, group())

    condition, event = DIALECT.answer(found, standing(**SAID[word]))

    (mark,) = condition.patch["status"]["schedulingConditions"]
    assert condition.subresource == "status"
    assert mark["type"] == "UnschedulableOnNodePool"
    assert mark["reasons"][0]["reason"] == word
    assert mark["message"].startswith(f"{word}: ")
    assert (mark["transitionID"], mark["status"]) == ("1", "True")
    assert event.event[1] == "Unschedulable"


def test_a_gang_over_its_limit_says_all_numbers():
    found = claim(DIALECT, group())

    condition, _ = DIALECT.answer(found, standing(**LIMIT))

    (mark,) = condition.patch["status"]["schedulingConditions"]
    assert mark["reasons"][0] == {
        "reason": "OverLimit",
        "message": (
            "q quota has reached the allowable limit of nvidia.com/gpu. "
            "Limit is 10 nvidia.com/gpu, currently 4 nvidia.com/gpu allocated "
            "and workload requested 8 nvidia.com/gpu"
        ),
        "details": {
            "queueDetails": {
                "name": "q",
                "podGroupRequestedResources": {"nvidia.com/gpu": "8"},
                "queueResourceLimits": {"nvidia.com/gpu": "10"},
                "queueAllocatedResources": {"nvidia.com/gpu": "4"},
            }
        },
    }


def test_a_gang_that_waits_for_pods_is_not_ready():
    found = claim(DIALECT, group())
    facts = {"needs": 5, "have": 3}

    _, event = DIALECT.answer(
        found, standing(reason="WaitingForPods", message="ours", facts=facts)
    )

    assert event.event == (
        "Normal",
        "NotReady",
        (
            "PodSchedulingErrors: Job is not ready for scheduling. "
            "Waiting for 5 pods, currently 3 existing"
        ),
    )


def test_nothing_is_said_twice_and_a_new_reason_is_the_next_transition():
    found = claim(DIALECT, group())
    fragmented = standing(**SAID["PodSchedulingErrors"])
    told = after(found, DIALECT.answer(found, fragmented))

    again = list(DIALECT.answer(told, fragmented))
    other, _ = DIALECT.answer(told, standing(**LIMIT))

    assert again == []
    (mark,) = other.patch["status"]["schedulingConditions"]
    assert mark["transitionID"] == "2"


def test_the_mark_goes_once_the_pods_run_and_others_stay():
    foreign = MARK | {"nodePool": "other"}
    found = claim(DIALECT, group(status={"schedulingConditions": [MARK, foreign]}))

    (patch,) = DIALECT.answer(found, standing("Running", running=5))

    assert patch.patch == {"status": {"schedulingConditions": [foreign]}}
    binding = list(DIALECT.answer(found, standing("Growing", running=4, binding=1)))
    assert binding == []


def test_a_start_keeps_its_time_and_an_eviction_too():
    found = claim(DIALECT, group())

    (start,) = DIALECT.answer(found, standing("Starting", binding=5, now=60.0))
    (evict,) = DIALECT.answer(found, standing("Evicting", running=5, now=60.0))

    assert start.patch == {
        "metadata": {
            "annotations": {
                "kai.scheduler/last-start-timestamp": "1970-01-01T00:01:00Z"
            }
        }
    }
    assert list(evict.patch["metadata"]["annotations"]) == [
        "kai.scheduler/last-eviction-timestamp"
    ]


def test_the_stale_stamp_is_set_once_and_taken_away():
    found = claim(DIALECT, group())
    short = standing(running=3, reason="Fragmented", message="m", now=60.0)
    (stamp,) = DIALECT.answer(found, short)
    stale = after(found, [stamp])

    (gone,) = DIALECT.answer(stale, standing("Running", running=5))

    assert stamp.patch["metadata"]["annotations"] == {
        "kai.scheduler/stale-podgroup-timestamp": "1970-01-01T00:01:00Z"
    }
    assert list(DIALECT.answer(stale, short)) == []
    assert gone.patch["metadata"]["annotations"] == {
        "kai.scheduler/stale-podgroup-timestamp": None
    }


def test_a_gang_that_is_never_stale_gets_no_stamp():
    found = claim(DIALECT, group("{stalenessGracePeriod: -1s}"))
    short = standing(running=3, reason="Fragmented", message="m")

    assert list(DIALECT.answer(found, short)) == []


def test_the_documented_examples_are_read_and_answered_as_ever():
    assert golden("kai") == examples("kai")
