"""
KAI's words: SubGroups, topology, preemptibility, back-off, staleness, queues, answers.
"""

import json

import pytest

from adapters.kube.dialects.kai.gangs import DIALECT, Kai
from tests.helpers.kube.dialects import (
    claim,
    claims,
    difference,
    refusal,
    tree,
    world,
)
from tests.helpers.kube.kai_objects import CLASSES, MARK, group, pod

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
        "InvalidGang: spec.minMember: minSubGroup is set too, and only one may be"
    ),
    "{minMember: -1}": "InvalidGang: spec.minMember: -1 is less than 0",
    "{minMember: '2'}": "InvalidGang: spec.minMember: '2' is not a whole number",
    "{subGroups: [{name: a}]}": (
        "InvalidGang: SubGroup a.minMember: a SubGroup of pods must set it"
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
        "InvalidGang: SubGroup a: its parents form a cycle"
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


@pytest.mark.timeout(60)  # where each walks up to the top it is not done
@pytest.mark.parametrize(
    ("number", "why"),
    [
        (16, None),
        (17, "InvalidGang: SubGroup s16: more than 16 SubGroups are above one another"),
        (30_000, "InvalidGang: SubGroup s16: more than 16 SubGroups are above"),
    ],
)
def test_subgroups_above_one_another_are_few(number, why):
    parents = ["", *(f"s{at}" for at in range(number - 1))]
    chain = [{"name": f"s{at}", "parent": up} for at, up in enumerate(parents)]
    chain[-1]["minMember"] = 1

    found = refusal(claim(DIALECT, group(json.dumps({"subGroups": chain}))))

    assert found == why or found.startswith(why)


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
