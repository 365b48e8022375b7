"""
Odd but legal rounds, drawn anew by the word in ``ODD_ROUNDS``: all are planned legally.

A round that fails is made small and shown; the command that repeats it stands above.
"""

import os

import pytest

from adapters.files.writing.yaml_writer import yaml_text
from models.gangs import pod_sets
from tests.campaign import failure_of
from tests.odd.rounds import odd_round, read

SEED = os.environ.get("ODD_ROUNDS", "0")
LOT = 100
LOTS = 11
EXACTLY = 40
PARTS = 40
STALE = 40
BESIDE = 200
FULL = 80
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


def test_odd_rounds_with_parts_of_gpus_are_planned_legally():
    asks = 0
    for at in range(PARTS):
        asks += "gpu-part" in str(read(odd_round(f"parts-{at}")).snapshot)
        found = failure_of(f"parts-{at}", exact=False)

        assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"
    assert asks > PARTS / 2


def test_odd_rounds_with_many_stale_gangs_are_planned_legally():
    for at in range(STALE):
        found = failure_of(f"stale-{at}", exact=at % 4 == 0)

        assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


def test_odd_rounds_beside_others_are_planned_legally():
    beside = 0
    for at in range(BESIDE):
        said = str(odd_round(f"beside-{at}"))
        beside += "selectedBy" in said and "topologyKey" in said
        found = failure_of(f"beside-{at}", exact=at % 4 == 0)

        assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"
    assert beside > BESIDE / 2


@pytest.mark.parametrize("word", ["full", "full+beside", "full+parts+stale"])
def test_odd_rounds_in_full_clusters_are_planned_legally(word):
    for at in range(FULL):
        found = failure_of(f"{word}-{at}", exact=at % 4 == 0)

        assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


@pytest.mark.parametrize("word", ["lent", "full+lent", "full+beside+stale"])
def test_rounds_that_follow_from_plans_are_planned_legally(word):
    for at in range(LATER):
        found = failure_of(f"{word}-follows-{at}", exact=at % 4 == 0, later=3)

        assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


@pytest.mark.drawn
@pytest.mark.parametrize("at", range(MIDDLE))
def test_middle_sized_rounds_are_proven_whatever_the_names(at):
    found = failure_of(f"middle-{SEED}-{at}", exact=False, later=1, names=True)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


def test_what_is_proven_beside_held_nodes_does_not_depend_on_their_names():
    found = failure_of("middle-2026-11-28b-7", exact=False, names=True)

    assert found is None, f"{found.why}\n\n{yaml_text(found.document)}"


def test_the_same_word_draws_the_same_round():
    assert odd_round("word-1") == odd_round("word-1")
    assert odd_round("word-1") != odd_round("word-2")


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
