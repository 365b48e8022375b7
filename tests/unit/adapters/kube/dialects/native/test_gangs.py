"""
Kubernetes' own words: policies, topologies, trees of groups, conditions.
"""

import pytest

from adapters.kube.dialects.native.gangs import DIALECT
from models.topology import Topology
from tests.helpers.kube.dialects import (
    claim,
    claims,
    difference,
    refusal,
    tree,
    world,
)
from tests.helpers.kube.native_objects import (
    GANG,
    OF,
    WORKLOAD,
    child,
    composite,
    group,
)

BASIC = "schedulingPolicy: {basic: {}}"


def pod(name="p", group_name="g", spec="", scheduler="phalanx"):
    named = f"schedulingGroup: {{podGroupName: {group_name}}}, " if group_name else ""
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{{named}schedulerName: {scheduler}{spec}}}
"""


PAIRS = {
    "minCount": (
        f"{{{GANG}}}",
        "{schedulingPolicy: {gang: {minCount: 3}}}",
        {"tree"},
    ),
    "basic": (f"{{{GANG}}}", f"{{{BASIC}}}", {"over", "tree"}),
    "topology": (
        f"{{{GANG}}}",
        f"{{{GANG}, schedulingConstraints: {{topology: [{{key: rack}}]}}}}",
        {"tree"},
    ),
    "priority": (f"{{{GANG}}}", f"{{{GANG}, priority: 7}}", {"priority"}),
    "priorityClassName": (
        f"{{{GANG}}}",
        f"{{{GANG}, priorityClassName: high}}",
        {"priority", "priority_class"},
    ),
    "preemptionPolicy": (
        f"{{{GANG}, preemptionPolicy: PreemptLowerPriority}}",
        f"{{{GANG}, preemptionPolicy: Never}}",
        {"warnings"},
    ),
    "disruptionMode": (
        f"{{{GANG}, disruptionMode: {{single: {{}}}}}}",
        f"{{{GANG}, disruptionMode: {{all: {{}}}}}}",
        {"warnings"},
    ),
    "workloadRef": (
        f"{{{GANG}, {OF}}}",
        f"{{{GANG}, workloadRef: {{workloadName: x, templateName: t}}}}",
        {"warnings"},
    ),
    "workloadRef template": (
        f"{{{GANG}, {OF}}}",
        f"{{{GANG}, workloadRef: {{workloadName: w, templateName: x}}}}",
        {"warnings"},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_field_changes_what_is_claimed(name):
    plain, changed, expected = PAIRS[name]

    assert expected == difference(DIALECT, group(plain), group(changed))


REFUSED = {
    "{schedulingPolicy: {gang: {minCount: 0}}}": (
        "InvalidGang: PodGroup g: spec.schedulingPolicy.gang.minCount: 0 is less than 1"
    ),
    "{schedulingPolicy: {gang: {}}}": (
        "InvalidGang: PodGroup g: spec.schedulingPolicy.gang.minCount: it must be set"
    ),
    "{schedulingPolicy: {gang: {minCount: 1}, basic: {}}}": (
        "InvalidGang: PodGroup g: spec.schedulingPolicy: "
        "exactly one of basic and gang must be set"
    ),
    "{}": (
        "InvalidGang: PodGroup g: spec.schedulingPolicy: "
        "exactly one of basic and gang must be set"
    ),
    "all": "InvalidGang: PodGroup g: spec: 'all' is not a mapping of fields",
    f"{{{GANG}, schedulingConstraints: {{topology: [{{key: a}}, {{key: b}}]}}}}": (
        "InvalidGang: PodGroup g: spec.schedulingConstraints.topology: "
        "2 topologies are given, and only one may be"
    ),
    f"{{{GANG}, priority: 1000000001}}": (
        "InvalidGang: PodGroup g: spec.priority: 1000000001 is more than 1000000000"
    ),
    f"{{{GANG}, preemptionPolicy: Sometimes}}": (
        "InvalidGang: PodGroup g: spec.preemptionPolicy: 'Sometimes' is not known"
    ),
    f"{{{GANG}, disruptionMode: {{single: {{}}, all: {{}}}}}}": (
        "InvalidGang: PodGroup g: spec.disruptionMode: "
        "exactly one of single and all must be set"
    ),
    f"{{{BASIC}, disruptionMode: {{all: {{}}}}}}": (
        "InvalidGang: PodGroup g: spec.disruptionMode: all needs a gang, this is basic"
    ),
}


@pytest.mark.parametrize("spec", REFUSED)
def test_what_cannot_be_obeyed_names_the_field(spec):
    assert REFUSED[spec] == refusal(claim(DIALECT, group(spec)))


@pytest.mark.parametrize(
    ("mode", "same"), [("Pod", "{single: {}}"), ("PodGroup", "{all: {}}")]
)
def test_how_a_group_of_an_older_version_is_disrupted_is_read(mode, same):
    said, now = (
        claim(DIALECT, group(f"{{{GANG}, disruptionMode: {word}}}"))
        for word in (mode, same)
    )

    assert (now.warnings, None) == (said.warnings, said.refused)


def test_a_gang_is_refused_for_itself_alone():
    found = claims(DIALECT, group("{}"), group(name="other").partition(WORKLOAD)[0])

    assert found["default/g"].refused is not None
    assert found["default/other"].refused is None


def test_a_bad_name_is_refused():
    assert refusal(claim(DIALECT, group(name="G_1"))) == (
        "InvalidGang: PodGroup G_1: spec: the name is not an RFC 1123 subdomain"
    )


def test_a_pod_names_its_group_in_its_spec():
    _, (member, single) = world(pod(), pod(group_name=""))

    assert DIALECT.membership(member).gang == "default/g"
    assert DIALECT.membership(single) is None


def test_pods_of_one_group_have_one_priority():
    good = claim(DIALECT, group(), pod(), pod("q"))
    bad = claim(DIALECT, group(), pod(), pod("q", spec=", priority: 5"))

    assert good.refused is None
    assert refusal(bad) == (
        "ConfigConflict: the priority of pod q is 5, that of its group is 0"
    )


def test_pods_of_one_group_have_one_scheduler():
    found = claim(DIALECT, group(), pod(), pod("q", scheduler="other"))

    assert refusal(found) == (
        "ConfigConflict: spec.schedulerName of pod q is 'other', "
        "that of pod p is 'phalanx'"
    )


def test_a_composite_is_one_gang_of_its_groups():
    pods = [pod(f"p{number}", f"g{number // 2}") for number in range(4)]

    found = claim(DIALECT, WORKLOAD, composite(), child("g0"), child("g1"), *pods)

    assert found.key == "default/top"
    assert tree(found.tree) == {
        "name": "top",
        "min_groups": 1,
        "parts": [{"name": "g0", "minimum": 2}, {"name": "g1", "minimum": 2}],
    }
    assert found.placed == {
        "default/p0": "g0",
        "default/p1": "g0",
        "default/p2": "g1",
        "default/p3": "g1",
    }


def test_the_least_number_of_groups_changes_the_tree():
    texts = [WORKLOAD, child("g0"), child("g1")]

    one = claim(DIALECT, composite(least=1), *texts)
    two = claim(DIALECT, composite(least=2), *texts)

    assert (one.tree.min_groups, two.tree.min_groups) == (1, 2)


def test_composites_nest_and_their_leaves_have_paths():
    inner = composite("inner", more="parentCompositePodGroupName: top")

    found = claim(DIALECT, WORKLOAD, composite(), inner, child("g", "inner"), pod())

    assert found.placed == {"default/p": "inner/g"}


def test_each_node_of_a_tree_has_its_own_topology():
    more = "schedulingConstraints: {topology: [{key: zone}]}"
    texts = [
        WORKLOAD,
        composite(more=more),
        child("g", more=", schedulingConstraints: {topology: [{key: rack}]}"),
    ]
    objects, _ = world(*texts)

    found = claim(DIALECT, *texts).tree

    assert found.topology.required == "zone"
    assert found.parts[0].topology.required == "rack"
    assert list(DIALECT.topologies(objects, [])) == [
        Topology(name="rack", levels=("rack",)),
        Topology(name="zone", levels=("zone",)),
    ]


def test_a_group_without_its_parent_waits_for_it():
    found = claim(DIALECT, WORKLOAD, child("g"))

    assert found.refused.reason == "WaitingForGroup"
    assert found.refused.facts["mate"] == "default/top"


def test_a_circle_of_composites_is_refused():
    one = composite("a", more="parentCompositePodGroupName: b")
    other = composite("b", more="parentCompositePodGroupName: a")

    found = claims(DIALECT, WORKLOAD, one, other)

    assert {refusal(each) for each in found.values()} == {
        "InvalidGang: its parents form a cycle"
    }


def test_a_tree_that_is_too_deep_is_refused():
    above = [
        composite(f"c{n}", more=f"parentCompositePodGroupName: c{n - 1}" if n else "")
        for n in range(4)
    ]

    found = claim(DIALECT, WORKLOAD, *above, child("g", "c3"))

    assert refusal(found) == (
        "InvalidGang: PodGroup g: spec: more than 4 groups are above one another"
    )


@pytest.mark.parametrize("top", ["", "parentCompositePodGroupName: missing"])
def test_a_chain_of_any_length_is_refused_for_itself_alone(top):
    parents = [f"parentCompositePodGroupName: c{n}" for n in range(1_200)]
    chain = [composite(f"c{n}", more=more) for n, more in enumerate([top, *parents])]

    found = claims(DIALECT, WORKLOAD, *chain, child("g", "c1200"), group(name="alone"))

    assert refusal(found["default/alone"]) is None
    assert refusal(found["default/c0"])


def test_a_composite_without_groups_is_refused():
    assert refusal(claim(DIALECT, WORKLOAD, composite())) == (
        "InvalidGang: CompositePodGroup top: spec: no group names it as its parent"
    )


def test_a_group_in_a_tree_must_name_its_workload():
    spec = f"{{{GANG}, parentCompositePodGroupName: top}}"

    found = claim(DIALECT, composite(), group(spec))

    assert refusal(found) == (
        "InvalidGang: PodGroup g: spec.workloadRef: a group in a tree must set it"
    )


def test_a_tree_is_of_one_workload():
    spec = (
        f"{{{GANG}, parentCompositePodGroupName: top, "
        "workloadRef: {workloadName: x, templateName: t}}"
    )

    found = claim(DIALECT, composite(), group(spec))

    assert refusal(found) == "InvalidGang: one tree is of several Workloads: w, x"


def test_a_tree_has_one_priority():
    found = claim(DIALECT, WORKLOAD, composite(), child("g", more=", priority: 3"))

    assert refusal(found) == (
        "ConfigConflict: the priority of PodGroup g: spec "
        "is not that of CompositePodGroup top: spec"
    )
