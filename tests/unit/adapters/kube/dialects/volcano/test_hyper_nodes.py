"""
HyperNodes: who is in them, which trees are left out and why, what gangs demand of them.
"""

import pytest

from adapters.kube.dialects.registry import dialects
from adapters.kube.dialects.volcano.hyper_nodes import hyper_nodes, level
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.objects.node_record import node_record
from models.nodes import Node
from tests.helpers.kube.manifests import NOW, assembled, node, obj, objects, pod

NODES = [
    Node(name="n0", allocatable={}, labels={"rack": "a"}),
    Node(name="n1", allocatable={}, labels={"rack": "b"}),
    Node(name="m0", allocatable={}),
]


def exact(name, kind="Node"):
    return {"type": kind, "selector": {"exactMatch": {"name": name}}}


def pattern(text):
    return {"type": "Node", "selector": {"regexMatch": {"pattern": text}}}


def labelled(**selector):
    return {"type": "Node", "selector": {"labelMatch": selector}}


def hyper_node(name, tier, *members, **spec):
    given = {"tier": tier, "members": list(members), **spec}
    return obj("topology.volcano.sh/v1alpha1", "HyperNode", name, spec=given)


def found(*raws):
    return hyper_nodes(raws, NODES)


def names(*raws):
    return [raw["metadata"]["name"] for raw in found(*raws).sound]


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (exact("n0"), ["n0"]),
        (exact("gone"), []),
        (pattern("^n[0-9]+$"), ["n0", "n1"]),
        (pattern("0"), ["m0", "n0"]),
        (pattern("n(0|1)$"), ["n0", "n1"]),
        (labelled(matchLabels={"rack": "a"}), ["n0"]),
        (
            labelled(matchExpressions=[{"key": "rack", "operator": "Exists"}]),
            ["n0", "n1"],
        ),
        (labelled(), []),
    ],
)
def test_members_are_named_or_chosen(member, expected):
    assert expected == sorted(found(hyper_node("s", 1, member)).places)


def test_a_node_is_in_one_hyper_node_of_each_tier():
    made = found(
        hyper_node("s0", 1, exact("n0")),
        hyper_node("s2", 3, exact("s0", "HyperNode"), exact("m0")),
        hyper_node("other", 2, exact("n1")),
    )

    assert made.places == {
        "n0": {level(1): "s0", level(2): "s0", level(3): "s2"},
        "m0": {level(3): "s2"},
        "n1": {level(2): "other", level(3): "other"},
    }
    assert made.warnings == ()


def test_a_node_that_is_named_again_above_stays_in_the_lower_one():
    made = found(
        hyper_node("s2", 2, exact("n0"), exact("s0", "HyperNode")),
        hyper_node("s0", 1, exact("n0")),
    )

    assert made.places["n0"] == {level(1): "s0", level(2): "s2"}


FAULTY = {
    "HyperNode s: spec.tier: it must be set": [hyper_node("s", None, exact("n0"))],
    "HyperNode s: spec.tier: -1 is less than 0": [hyper_node("s", -1, exact("n0"))],
    "HyperNode s: spec.members[0].type: 'Rack' is neither Node nor HyperNode": [
        hyper_node("s", 1, exact("n0", "Rack"))
    ],
    (
        "HyperNode s: spec.members[0].selector: one of exactMatch, regexMatch, "
        "labelMatch must be set, and no other"
    ): [hyper_node("s", 1, {"type": "Node"})],
    "HyperNode s: spec.members[0].selector.exactMatch.name: it must be set": [
        hyper_node("s", 1, exact(""))
    ],
    (
        "HyperNode s: spec.members[0].selector.regexMatch: "
        "HyperNodes are named by exactMatch alone"
    ): [
        hyper_node(
            "s",
            2,
            {"type": "HyperNode", "selector": {"regexMatch": {"pattern": "s"}}},
        )
    ],
    (
        "HyperNode s: spec.members[0].selector.regexMatch.pattern: "
        "'(n+)+$' repeats too much: it could take too long"
    ): [hyper_node("s", 1, pattern("(n+)+$"))],
    (
        "HyperNode s: spec.members[0].selector.regexMatch.pattern: "
        "'(?=n)' is not a pattern that Phalanx can read"
    ): [hyper_node("s", 1, pattern("(?=n)"))],
    (
        "HyperNode s: spec.members[0].selector.regexMatch.pattern: "
        "'n(': missing ), unterminated subpattern at position 1"
    ): [hyper_node("s", 1, pattern("n("))],
    (
        "HyperNode t: spec.members[0].selector.exactMatch.name: "
        "HyperNode s is a member of s2 already"
    ): [
        hyper_node("s", 1, exact("n0")),
        hyper_node("s2", 2, exact("s", "HyperNode")),
        hyper_node("t", 2, exact("s", "HyperNode")),
    ],
    "HyperNode s: spec.members: they form a cycle": [
        hyper_node("s", 1, exact("t", "HyperNode")),
        hyper_node("t", 2, exact("s", "HyperNode")),
    ],
    "HyperNode t: spec.tier: 1, and its member s is of tier 1, which is not lower": [
        hyper_node("s", 1, exact("n0")),
        hyper_node("t", 1, exact("s", "HyperNode")),
    ],
    (
        "HyperNode t: spec.members[0].selector.labelMatch: node n0 is in HyperNode s "
        "too, and neither is a member of the other"
    ): [
        hyper_node("s", 1, exact("n0")),
        hyper_node("t", 1, labelled(matchLabels={"rack": "a"})),
    ],
}


@pytest.mark.parametrize("said", FAULTY)
def test_a_faulty_tree_is_left_out_with_field_and_reason(said):
    other = hyper_node("other", 1, exact("m0"))

    made = found(*FAULTY[said], other)

    assert said in made.warnings
    assert made.places == {"m0": {level(1): "other"}}
    assert made.sound == (other,)


def test_a_member_that_does_not_exist_yet_is_passed_over():
    made = found(hyper_node("s", 2, exact("later", "HyperNode"), exact("n0")))

    assert made.places == {"n0": {level(2): "s"}}
    assert made.warnings == (
        (
            "HyperNode s: spec.members[0].selector.exactMatch.name: "
            "there is no HyperNode later"
        ),
    )


def gang(**spec):
    version = "scheduling.volcano.sh/v1beta1"
    group = obj(version, "PodGroup", "g", "default", spec={"minMember": 1, **spec})
    return group, pod(annotations={"scheduling.volcano.sh/group-name": "g"})


TREE = (
    node("n0"),
    hyper_node("s0", 1, exact("n0"), tierName="rack"),
    hyper_node("s2", 2, exact("s0", "HyperNode"), tierName="spine"),
)


@pytest.mark.parametrize(
    ("demand", "required", "preferred"),
    [
        ({"highestTierAllowed": 1}, 1, None),
        ({"highestTierAllowed": 2}, 2, 1),
        ({"highestTierAllowed": 3}, None, 1),
        ({"highestTierName": "spine"}, 2, 1),
        ({"mode": "soft", "highestTierAllowed": 1}, None, 1),
        ({"mode": "hard"}, None, 1),
    ],
)
def test_a_demand_on_tiers_is_one_on_a_topology(demand, required, preferred):
    (made,) = assembled(*TREE, *gang(networkTopology=demand)).snapshot.gangs

    assert made.refused is None
    assert made.tree.topology.required == (required and level(required))
    assert made.tree.topology.preferred == (preferred and level(preferred))


def test_the_name_of_several_tiers_is_refused():
    other = hyper_node("s9", 9, exact("far"), tierName="spine")

    (made,) = assembled(
        *TREE, other, *gang(networkTopology={"highestTierName": "spine"})
    ).snapshot.gangs

    assert made.refused.facts["detail"] == (
        "spec.networkTopology.highestTierName: spine is the name of the tiers 2, 9"
    )


def test_what_is_kept_follows_nodes_and_objects():
    raws = (
        node("n0", labels={"rack": "a"}),
        hyper_node("s0", 1, labelled(matchLabels={"rack": "a"})),
        hyper_node("s1", 1, labelled(matchLabels={"rack": "b"})),
        *gang(networkTopology={"highestTierAllowed": 1}),
    )
    assembler = Assembler(dialects())

    def seen(given, rack):
        record = node_record(node("n0", labels={"rack": rack}))
        made = assembler.assembled([], [record], given, NOW).snapshot
        tiers = {k: v for k, v in made.nodes[0].labels.items() if "tier" in k}
        return tiers, [each.levels for each in made.topologies]

    given = objects(*raws)
    assert seen(given, "a") == ({level(1): "s0"}, [(level(1),)])
    assert seen(given, "b") == ({level(1): "s1"}, [(level(1),)])
    assert seen(objects(*raws[:2]), "b") == ({}, [(level(1),)])
    assert seen(objects(raws[0]), "b") == ({}, [])
