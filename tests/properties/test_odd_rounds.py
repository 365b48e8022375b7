"""
Odd but legal rounds, drawn anew by the word in ``ODD_ROUNDS``: all are planned legally.

A round that fails is made small and shown; the command that repeats it stands above.
"""

import os

import pytest

from adapters.files.writing.yaml_writer import yaml_text
from models.gangs import pod_sets
from solver import decide
from tests.campaign import failure_of
from tests.odd.rounds import odd_round, read

SEED = os.environ.get("ODD_ROUNDS", "0")
LOT = 100
LOTS = 11
EXACTLY = 40
KINDS = {
    "parts": 40,
    "stale": 40,
    "beside": 200,
    "full": 80,
    "full+beside": 80,
    "full+parts+stale": 80,
    "timed": 40,
    "full+timed": 40,
    "tied": 40,
    "full+tied": 80,
    "rare": 80,
    "full+rare": 80,
}
PARCEL = 10
LATER = 12
MIDDLE = 24


@pytest.mark.drawn
@pytest.mark.parametrize("lot", range(LOTS))
def test_odd_rounds_are_planned_legally_and_no_worse_than_by_greedy(lot):
    for at in range(lot * LOT, (lot + 1) * LOT):
        exact = at % EXACTLY == 0
        found = failure_of(f"{SEED}-{at}", exact=exact)

        assert found is None, (
            f"{found.why}\n"
            f"python -m tests.campaign --seed {SEED} --first {at} --rounds 1"
            f" --exactly {int(exact)}\n\n"
            f"{yaml_text(found.document)}"
        )


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("word", "first"),
    [(word, at) for word, many in KINDS.items() for at in range(0, many, PARCEL)],
)
def test_odd_rounds_of_some_kinds_are_planned_legally(word, first):
    for at in range(first, first + PARCEL):
        exact = at % 4 == 0 and word != "parts"
        found = failure_of(f"{word}-{at}", exact=exact)

        assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


@pytest.mark.drawn
@pytest.mark.parametrize("at", range(LATER))
@pytest.mark.parametrize("word", ["lent", "full+lent", "full+beside+stale"])
def test_rounds_that_follow_from_plans_are_planned_legally(word, at):
    found = failure_of(f"{word}-follows-{at}", exact=at % 4 == 0, later=3)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


@pytest.mark.drawn
@pytest.mark.timeout(1800)  # a slow machine takes minutes for one that uses all limits
@pytest.mark.parametrize("at", range(MIDDLE))
def test_middle_sized_rounds_are_proven_whatever_the_names(at):
    found = failure_of(f"middle-{SEED}-{at}", exact=False, later=1, names=True)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


@pytest.mark.drawn
def test_what_is_proven_beside_held_nodes_does_not_depend_on_their_names():
    found = failure_of("middle-2026-11-28b-7", exact=False, names=True)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


@pytest.mark.drawn
def test_a_promise_that_is_kept_gives_no_right_that_depends_on_names():
    found = failure_of("middle-2026-11-30e-8", exact=False, later=1, names=True)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


@pytest.mark.drawn
@pytest.mark.parametrize("at", [4, 35, 43])
def test_what_comes_to_as_much_as_without_held_nodes_is_proven(at):
    given = read(odd_round(f"middle-{at}"))
    plan = decide(given.snapshot, given.policy)

    assert {"proven"} == {tier.proof for tier in plan.tiers}


@pytest.mark.drawn
def test_nobody_is_restarted_where_it_is_for_whom_there_will_be_room_anyway():
    given = read(odd_round("middle-u2-41"))
    plan = decide(given.snapshot, given.policy)

    assert "Reserve" in {one.op for one in plan.operations}
    assert not [one for one in plan.operations if one.op == "Move"]


def test_who_is_entitled_in_a_second_step_is_within_the_share_with_the_first():
    found = failure_of("nineteen-23269", exact=True)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


def test_who_can_only_leave_together_leaves_by_one_rule():
    found = failure_of("full+parts-v22-3", exact=True)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


def test_the_same_word_draws_the_same_round():
    assert odd_round("word-1") == odd_round("word-1")
    assert odd_round("word-1") != odd_round("word-2")


def test_most_rounds_with_parts_ask_for_some():
    rounds = [str(read(odd_round(f"parts-{at}")).snapshot) for at in range(40)]

    assert sum("gpu-part" in said for said in rounds) > 20


def test_most_rounds_beside_others_say_whom_and_where():
    rounds = [str(odd_round(f"beside-{at}")) for at in range(200)]

    assert sum("selectedBy" in s and "topologyKey" in s for s in rounds) > 100


def test_rare_words_are_said_in_many_of_the_rounds_that_are_to_say_them():
    rounds = [str(odd_round(f"rare-{at}")) for at in range(80)]

    for word in (
        *("nodeAffinity", "'NotIn'", "'Gt'", "'claim'", "nodeSelectorTerms"),
        *("'UDP'", "'10.0.0.2'", "attachable-volumes", "linked-gpus", "'refused'"),
    ):
        assert sum(word in said for said in rounds) >= 5, word


def test_odd_rounds_say_what_can_be_said_of_gangs():
    said = set()
    for at in range(150):
        for gang in odd_round(f"fields-{at}")["given"]["gangs"]:
            said.update(gang)

    assert said >= {
        *("namespace", "queue", "priority", "preemptible", "age", "group", "mode"),
        *("matchPolicy", "onceSatisfied", "waitingTime", "timedOut", "minResources"),
        *("maxRuntime", "staleAfter", "staleSince", "evictedAgo", "passedOver"),
        *("backoff", "count", "min", "replicas", "created", "gated", "succeeded"),
        *("failed", "requests", "nodeSelector", "affinity", "tolerations"),
        *("exclusive", "topology", "running", "terminating", "reserved", "groups"),
        *("minGroups", "minPods"),
    }


def test_somebody_waits_and_somebody_runs_in_most_odd_rounds():
    rounds = [read(odd_round(f"fields-{at}")).snapshot for at in range(50)]
    running = [
        any(pod.node for leaf in leaves_of(snapshot) for pod in leaf.pods)
        for snapshot in rounds
    ]

    assert sum(running) > 35


def leaves_of(snapshot):
    return [leaf for gang in snapshot.gangs for leaf in pod_sets(gang.tree)]
