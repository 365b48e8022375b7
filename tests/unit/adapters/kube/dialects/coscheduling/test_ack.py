"""
ACK: each documented word changes the claim, the reason or a warning.
"""

import pytest

from adapters.kube.dialects.coscheduling.ack import ACK, Ack
from adapters.kube.dialects.coscheduling.keys import KeyRules
from models.gangs import MatchPolicy, PodPhase
from models.why.reasons import Reason
from tests.unit.adapters.kube.dialects.family import (
    GANG,
    LABEL,
    QUOTA,
    SIGS,
    X_K8S,
    claim,
    claims,
    dialect,
    group,
    pod,
    quota,
    standing,
    why,
)

ALONE = Ack(family=KeyRules.ACK)
LIGHT = {f"{LABEL}/name": "g", f"{LABEL}/min-available": "3"}
NOTED = {f"{GANG}/name": "g", f"{GANG}/min-available": "2"}


def labelled(notes=None, **words):
    labels = LIGHT | {f"{LABEL}/{k.replace('_', '-')}": v for k, v in words.items()}
    return claim(ACK, [pod(labels=labels, notes=notes)])


def test_two_labels_make_a_gang():
    made = labelled()

    assert "default/g" == made.key
    assert "ack" == made.dialect
    assert 3 == made.tree.minimum
    assert made.refused is None
    assert made.match_policy is None
    assert () == made.warnings


def test_a_gang_is_claimed_by_one_system_only():
    member = pod(labels=LIGHT)

    assert [] == claims(dialect("koordinator"), [member])
    assert [] == claims(dialect("coscheduling"), [member])


def test_the_name_is_a_subdomain():
    bad = claim(ACK, [pod(labels={**LIGHT, f"{LABEL}/name": "Tf_Smoke"})])

    assert why(bad).startswith("InvalidGang")
    assert f"label {LABEL}/name" in why(bad)


@pytest.mark.parametrize("word", ["three", "", "-3"])
def test_a_minimum_that_is_no_number_is_invalid(word):
    assert f"label {LABEL}/min-available" in why(labelled(min_available=word))


def test_a_name_without_a_minimum_is_invalid():
    bare = claim(ACK, [pod(labels={f"{LABEL}/name": "g"})])

    assert why(bare).startswith("InvalidGang")


def test_the_label_for_the_minimum_wins_over_the_annotation():
    both = labelled(notes={f"{GANG}/min-available": "2"})

    assert 3 == both.tree.minimum
    assert "gives way" in both.warnings[0]


@pytest.mark.parametrize("api", [SIGS, X_K8S])
@pytest.mark.parametrize("word", [LABEL, f"{LABEL}/name"])
def test_a_podgroup_of_either_api_is_named_by_either_label(api, word):
    raw = group(api=api, minMember=3, scheduleTimeoutSeconds=10)
    raw["metadata"]["labels"] = {f"{LABEL}/match-policy": "only-waiting"}
    made = claim(ACK, [pod(labels={word: "g"})], [raw])

    assert 3 == made.tree.minimum
    assert 10 == made.waiting_time
    assert made.source is raw
    assert MatchPolicy.ONLY_WAITING == made.match_policy


def test_a_podgroup_of_the_newer_api_is_acks_where_its_label_names_it():
    made = claim(ACK, [pod(labels={LABEL: "g"})], [group(api=X_K8S, minMember=2)])

    assert 2 == made.tree.minimum


def test_the_newer_api_is_heard_where_both_hold_the_podgroup():
    raws = [group(minMember=2), group(api=X_K8S, minMember=4)]

    assert 4 == claim(ACK, [pod(labels={f"{LABEL}/name": "g"})], raws).tree.minimum


def test_a_podgroup_that_does_not_exist_is_waited_for():
    lost = claim(ALONE, [pod(labels={LABEL: "g"})])

    assert why(lost).startswith("WaitingForGroup")


@pytest.mark.parametrize("word", ["mode", "total-number"])
def test_koordinators_words_are_not_read_and_that_is_said(word):
    made = labelled(notes={f"{GANG}/{word}": "7"})

    assert "Strict" == made.mode
    assert made.tree.replicas is None
    assert f"{word}: ACK does not read it" in made.warnings[0]


def test_annotations_alone_are_acks_where_only_ack_is_there():
    assert [] == claims(ACK, [pod(notes=NOTED)])
    made = claim(ALONE, [pod(notes=NOTED)])

    assert 2 == made.tree.minimum
    assert MatchPolicy.ONCE_SATISFIED == made.match_policy


def test_by_annotation_the_match_policy_is_once_satisfied_alone():
    key = f"{GANG}/match-policy"
    good = claim(ALONE, [pod(notes={**NOTED, key: "once-satisfied"})])
    bad = claim(ALONE, [pod(notes={**NOTED, key: "only-waiting"})])

    assert () == good.warnings
    assert MatchPolicy.ONCE_SATISFIED == bad.match_policy
    assert "match-policy: 'only-waiting'" in bad.warnings[0]


@pytest.mark.parametrize("policy", list(MatchPolicy))
def test_by_label_there_are_four_match_policies(policy):
    made = labelled(match_policy=policy.value)

    assert policy == made.match_policy
    assert () == made.warnings


def test_an_unknown_match_policy_is_unread():
    made = labelled(match_policy="running")

    assert made.match_policy is None
    assert "it is unread" in made.warnings[0]


BOTH = '["default/g", "default/h"]'


def test_groups_by_label():
    assert ("default/g", "default/h") == labelled(groups=BOTH).mates


def test_groups_by_annotation():
    assert ("default/g", "default/h") == labelled(notes={f"{GANG}/groups": BOTH}).mates


@pytest.mark.parametrize("api", [SIGS, X_K8S])
def test_groups_by_label_of_the_podgroup(api):
    raw = group(api=api, labels={f"{LABEL}/groups": BOTH}, minMember=1)

    assert ("default/g", "default/h") == claim(ACK, raws=[raw]).mates


def test_the_label_for_groups_wins_over_the_annotation():
    made = labelled(notes={f"{GANG}/groups": '["default/g", "a/b"]'}, groups=BOTH)

    assert ("default/g", "default/h") == made.mates
    assert "gives way" in made.warnings[0]


@pytest.mark.parametrize(
    ("phase", "mark"), [("Pending", False), ("Scheduling", False), ("Running", True)]
)
def test_a_podgroup_that_ran_once_is_satisfied(phase, mark):
    raw = group(api=X_K8S, minMember=1, status={"phase": phase})

    made = claim(ACK, [pod(labels={LABEL: "g"})], [raw])
    assert mark == made.once_satisfied


def test_pods_that_have_ended_say_nothing():
    pods = [
        pod("p-0", {**LIGHT, f"{LABEL}/min-available": "9"}, phase=PodPhase.SUCCEEDED),
        pod("p-1", LIGHT),
    ]

    assert 3 == claim(ACK, pods).tree.minimum


def test_the_quota_of_a_pod_is_the_queue_of_its_gang():
    member = pod(labels={**LIGHT, f"{QUOTA}/name": "a"})

    assert "a" == claim(ACK, [member], [quota("a")]).queue


# --- answers ------------------------------------------------------------------


def answers(api, reader=ACK, status=None, **fields):
    raw = group(api=api, minMember=2, status=status)
    read = claim(ACK, [pod(labels={f"{LABEL}/name": "g"})], [raw])
    return list(reader.answer(read, standing(minimum=2, **fields)))


def test_a_waiting_gang_is_rejected_by_its_podgroup():
    kept, told = answers(X_K8S, reason=Reason.FRAGMENTED, message="no hole")
    words = "rejected by podgroup g: no hole"

    assert {"phalanx/waiting": f"Fragmented: {words}"} == kept.patch["metadata"][
        "annotations"
    ]
    assert ("Warning", "FailedScheduling", words) == told.event
    assert X_K8S == told.group


def test_the_older_api_counts_what_is_scheduled():
    counted, *_ = answers(SIGS, state="Starting", binding=2)

    assert (SIGS, {"status": {"scheduled": 2}}) == (counted.group, counted.patch)


def test_without_a_controller_phases_are_those_of_the_api():
    owner = Ack(owns_status=True)
    older, *_ = answers(SIGS, owner, state="Starting", total=2, binding=2)
    newer, *_ = answers(X_K8S, owner, state="Starting", total=2, binding=2)

    assert "Scheduled" == older.patch["status"]["phase"]
    assert "Scheduling" == newer.patch["status"]["phase"]


def test_a_gang_of_labels_alone_is_not_answered():
    assert [] == list(ACK.answer(labelled(), standing(reason="Fragmented")))
