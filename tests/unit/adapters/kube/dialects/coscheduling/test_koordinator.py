"""
Koordinator: each documented word changes the claim, the reason or a warning.
"""

import pytest

from adapters.kube.dialects.coscheduling.keys import KeyRules
from adapters.kube.dialects.coscheduling.koordinator import DIALECT, Koordinator
from models.gangs import MatchPolicy, PodPhase
from tests.helpers.kube.koordinator_objects import annotated
from tests.unit.adapters.kube.dialects.family import (
    GANG,
    LABEL,
    claim,
    claims,
    group,
    pod,
    why,
)

CRD_FIRST = Koordinator(annotations_first=False)


def test_annotations_alone_make_a_gang():
    made = annotated()

    assert "default/g" == made.key
    assert "koordinator" == made.dialect
    assert 2 == made.tree.minimum
    assert made.refused is None
    assert made.source is None


def test_an_empty_name_is_no_gang():
    assert DIALECT.membership(pod(notes={f"{GANG}/name": ""})) is None


def test_the_first_word_for_the_name_is_heard():
    words = {LABEL: "a", f"{LABEL}/name": "b"}
    one = pod(labels=words, notes={f"{GANG}/name": "c"})
    two = pod(labels={f"{LABEL}/name": "b"}, notes={f"{GANG}/name": "c"})
    three = pod(notes={f"{GANG}/name": "c"})

    heard = [DIALECT.membership(each).gang for each in (one, two, three)]
    assert ["default/a", "default/b", "default/c"] == heard


def test_a_pod_that_names_two_gangs_stops_the_first():
    two = pod(
        labels={LABEL: "a"}, notes={f"{GANG}/name": "c", f"{GANG}/min-available": "1"}
    )

    assert "ConfigConflict" in why(claim(DIALECT, [two]))


def test_a_bad_name_is_invalid_and_the_field_is_named():
    bad = claim(
        DIALECT, [pod(notes={f"{GANG}/name": "A_b", f"{GANG}/min-available": "1"})]
    )

    assert why(bad).startswith("InvalidGang")
    assert f"annotation {GANG}/name" in why(bad)


def test_without_a_minimum_a_gang_is_invalid():
    bare = claim(DIALECT, [pod(notes={f"{GANG}/name": "g"})])

    assert why(bare).startswith("InvalidGang")
    assert f"{GANG}/min-available" in why(bare)


@pytest.mark.parametrize("word", ["two", "", "1.5", "-1", "99999999999999999999"])
def test_a_minimum_that_is_no_number_is_invalid(word):
    bad = annotated(min_available=word)

    assert why(bad).startswith("InvalidGang")
    assert f"annotation {GANG}/min-available" in why(bad)


def test_pods_that_disagree_on_the_minimum_are_a_conflict():
    pods = [
        pod(f"p-{i}", notes={f"{GANG}/name": "g", f"{GANG}/min-available": str(i)})
        for i in (1, 2)
    ]

    assert why(claim(DIALECT, pods)).startswith("ConfigConflict")


def test_pods_that_have_ended_do_not_disagree():
    pods = [
        pod(
            f"p-{i}",
            notes={f"{GANG}/name": "g", f"{GANG}/min-available": str(i)},
            phase=phase,
        )
        for i, phase in ((1, PodPhase.SUCCEEDED), (2, PodPhase.PENDING))
    ]

    assert 2 == claim(DIALECT, pods).tree.minimum


def of_both(reader, **spec):
    member = pod(labels={LABEL: "g"}, notes={f"{GANG}/min-available": "3"})
    return claim(reader, [member], [group(**spec)])


def test_annotations_win_over_the_podgroup_with_a_warning():
    made = of_both(DIALECT, minMember=5)

    assert 3 == made.tree.minimum
    assert any("spec.minMember: '5'" in warning for warning in made.warnings)


def test_a_switch_lets_the_podgroup_win():
    made = of_both(CRD_FIRST, minMember=5)

    assert 5 == made.tree.minimum
    assert any("min-available: '3'" in warning for warning in made.warnings)


def test_what_is_said_twice_alike_needs_no_warning():
    assert () == of_both(DIALECT, minMember=3).warnings


def test_annotations_of_the_podgroup_stand_between():
    raw = group(minMember=5, notes={f"{GANG}/min-available": "4"})
    member = pod(labels={LABEL: "g"})

    minimums = [claim(d, [member], [raw]).tree.minimum for d in (DIALECT, CRD_FIRST)]
    assert [4, 5] == minimums


@pytest.mark.parametrize("minimum", [0, -1, "3", True, 10**7])
def test_a_bad_min_member_is_invalid(minimum):
    bad = claim(DIALECT, [pod(labels={LABEL: "g"})], [group(minMember=minimum)])

    assert "InvalidGang" in why(bad)
    assert "spec.minMember" in why(bad)


def test_a_pod_that_refers_to_no_podgroup_waits():
    lost = claim(DIALECT, [pod(labels={LABEL: "g"})])

    assert why(lost).startswith("WaitingForGroup")


def test_a_podgroup_without_pods_is_a_gang():
    empty = claim(DIALECT, raws=[group(minMember=2)])

    assert empty.refused is None
    assert 2 == empty.tree.minimum


def test_the_total_number_informs():
    assert annotated().tree.replicas is None
    assert 7 == annotated(total_number="7").tree.replicas


def test_a_total_below_the_minimum_is_the_minimum():
    made = annotated(total_number="1")

    assert 2 == made.tree.replicas
    assert "below the minimum" in made.warnings[0]


def test_a_bad_total_is_not_used():
    made = annotated(total_number="many")

    assert made.tree.replicas is None
    assert "total-number" in made.warnings[0]


def test_the_mode_is_strict_unless_said():
    modes = [annotated(mode=word) for word in ("Strict", "NonStrict", "Loose")]

    assert ["Strict", "NonStrict", "Strict"] == [made.mode for made in modes]
    assert () == modes[0].warnings
    assert "no part of a gang holds room" in modes[1].warnings[0]
    assert "'Loose' is unknown" in modes[2].warnings[0]


@pytest.mark.parametrize(
    ("word", "seconds"),
    [
        ("3600s", 3600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("500ms", 1),
        (".5s", 1),
        ("+2m", 120),
    ],
)
def test_the_waiting_time_is_a_duration_as_go_writes_it(word, seconds):
    made = annotated(waiting_time=word)

    assert seconds == made.waiting_time
    assert () == made.warnings


@pytest.mark.parametrize("word", ["soon", "0", "0s", "-5s", "1d", "5", "9" * 80 + "s"])
def test_a_bad_waiting_time_is_the_default(word):
    made = annotated(waiting_time=word)

    assert 600 == made.waiting_time
    assert "waiting-time" in made.warnings[0]


def test_the_waiting_time_of_a_podgroup_is_its_timeout():
    member = pod(labels={LABEL: "g"}, notes={f"{GANG}/waiting-time": "30s"})
    raw = group(minMember=1, scheduleTimeoutSeconds=10)

    assert 30 == claim(DIALECT, [member], [raw]).waiting_time
    assert 10 == claim(CRD_FIRST, [member], [raw]).waiting_time
    assert 10 == claim(DIALECT, [pod(labels={LABEL: "g"})], [raw]).waiting_time
    assert 600 == annotated().waiting_time


def test_a_timeout_of_nothing_is_unread():
    raw = group(minMember=1, scheduleTimeoutSeconds=0)
    made = claim(DIALECT, raws=[raw])

    assert 600 == made.waiting_time
    assert "scheduleTimeoutSeconds" in made.warnings[0]


def test_groups_are_gangs_that_start_together():
    assert () == annotated().mates
    assert () == annotated(groups="").mates
    assert () == annotated(groups='["default/g"]').mates
    assert ("b/h", "default/g") == annotated(groups='["default/g", "b/h"]').mates


def test_a_group_is_read_from_a_podgroup():
    raw = group(minMember=1, notes={f"{GANG}/groups": '["default/g", "default/h"]'})

    assert ("default/g", "default/h") == claim(DIALECT, raws=[raw]).mates


@pytest.mark.parametrize("word", ["[", "{}", "[1]", '"default/g"', "[" * 5000])
def test_groups_that_are_no_list_leave_the_gang_alone(word):
    made = annotated(groups=word)

    assert () == made.mates
    assert "groups" in made.warnings[0]
    assert made.refused is None


@pytest.mark.parametrize("name", ["g", "default/", "/g", "default/G", "a/b/c"])
def test_a_bad_name_in_a_group_is_invalid(name):
    bad = annotated(groups=f'["default/g", "{name}"]')

    assert why(bad).startswith("InvalidGang")
    assert f"annotation {GANG}/groups" in why(bad)


@pytest.mark.parametrize(
    ("word", "policy"),
    [
        ("", MatchPolicy.ONCE_SATISFIED),
        ("only-waiting", MatchPolicy.ONLY_WAITING),
        ("waiting-and-running", MatchPolicy.WAITING_AND_RUNNING),
        ("once-satisfied", MatchPolicy.ONCE_SATISFIED),
    ],
)
def test_match_policies(word, policy):
    made = annotated(match_policy=word)

    assert policy == made.match_policy
    assert () == made.warnings


@pytest.mark.parametrize("word", ["waiting-running-succeed", "any"])
def test_an_unknown_match_policy_is_the_default(word):
    made = annotated(match_policy=word)

    assert MatchPolicy.ONCE_SATISFIED == made.match_policy
    assert "match-policy" in made.warnings[0]


def test_the_match_policy_has_a_second_name():
    notes = {
        f"{GANG}/name": "g",
        f"{GANG}/min-available": "1",
        f"{LABEL}/match-policy": "only-waiting",
    }
    own = {**notes, f"{GANG}/match-policy": "waiting-and-running"}

    assert MatchPolicy.ONLY_WAITING == claim(DIALECT, [pod(notes=notes)]).match_policy
    made = claim(DIALECT, [pod(notes=own)])
    assert MatchPolicy.WAITING_AND_RUNNING == made.match_policy


def test_the_timeout_mark_parks_a_gang():
    assert not annotated().timed_out
    assert not annotated(timeout="false").timed_out
    assert annotated(timeout="true").timed_out


def test_the_mark_of_a_pod_that_runs_parks_nothing():
    notes = {f"{GANG}/name": "g", f"{GANG}/min-available": "1"}
    pods = [
        pod("p-0", notes=notes),
        pod("p-1", notes={**notes, f"{GANG}/timeout": "true"}, phase=PodPhase.RUNNING),
    ]

    assert not claim(DIALECT, pods).timed_out


@pytest.mark.parametrize(
    ("phase", "mark"), [("Pending", False), ("Scheduled", True), ("Running", True)]
)
def test_a_podgroup_that_was_scheduled_once_is_satisfied(phase, mark):
    raw = group(minMember=1, status={"phase": phase})

    assert mark == claim(DIALECT, raws=[raw]).once_satisfied


def test_min_resources_are_read():
    raw = group(minMember=1, minResources={"cpu": "5", "memory": "2048Mi"})
    made = claim(DIALECT, raws=[raw])

    assert {"cpu": 5000, "memory": 2 * 2**30} == made.min_resources


def test_bad_min_resources_are_invalid():
    raw = group(minMember=1, minResources={"cpu": "five"})

    assert "spec.minResources.cpu" in why(claim(DIALECT, raws=[raw]))


def test_a_gang_is_as_old_as_its_podgroup():
    raw = group(minMember=1)
    raw["metadata"]["creationTimestamp"] = "1970-01-01T00:01:00Z"

    assert 60 == claim(DIALECT, raws=[raw]).created


def test_gathering_that_is_a_must_is_unsupported():
    spec = '{"gatherStrategy": [{"layer": "SpineLayer", "strategy": "%s"}]}'
    must = annotated(network_topology_spec=spec % "MustGather")
    may = annotated(network_topology_spec=spec % "PreferGather")
    broken = annotated(network_topology_spec="{")

    assert why(must).startswith("UnsupportedConstraint")
    assert "SpineLayer" in why(must)
    assert may.refused is None
    assert "network layers are not planned" in may.warnings[0]
    assert "is not JSON" in broken.warnings[0]


def test_the_topology_index_is_said_to_be_unread():
    assert "network-topology-index" in annotated(network_topology_index="0").warnings[0]


def test_labels_of_acks_form_are_acks_unless_it_is_said_otherwise():
    labels = {f"{LABEL}/name": "g", f"{LABEL}/min-available": "2"}
    alone = Koordinator(family=KeyRules.KOORDINATOR)

    assert [] == claims(DIALECT, [pod(labels=labels)])
    assert 2 == claim(alone, [pod(labels=labels)]).tree.minimum


def test_the_label_for_the_minimum_is_read_before_the_annotation():
    labels = {f"{LABEL}/name": "g", f"{LABEL}/min-available": "2"}
    both = pod(labels=labels, notes={f"{GANG}/min-available": "3"})
    made = claim(Koordinator(family=KeyRules.KOORDINATOR), [both])

    assert 2 == made.tree.minimum
    assert "gives way" in made.warnings[0]
