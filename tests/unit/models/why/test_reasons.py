"""
Sentences about waiting: numbers with their nouns and units, and none missing.
"""

import string

import pytest

from models.why.reasons import _SENTENCES, Reason, Waiting, counted, listed

FROM = {
    "are": ("free",),
    "whom": ("mate",),
    "others": ("to", "given", "free", "resource", "needs"),
    "whose": ("who", "used"),
    "told": ("by", "since", "detail"),
    "though": (),
    "lacking": ("gated", "gates", "missing"),
    "more": ("ends", "ending"),
    "holder": ("queue",),
    "after": ("seconds",),
    "uses": ("used",),
    "they": (),
}
"""
Words of a sentence that are made of other facts.
"""
TAKEN = {
    "resource": "nvidia.com/gpu",
    "needs": 4,
    "free": 8,
    "given": 6,
    "gangs": 2,
    "to": "default/a and default/b",
}


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence_also_without_facts(reason):
    message = Waiting(reason).message

    assert message
    assert "{" not in message
    assert not message.endswith(".")


@pytest.mark.parametrize("reason", Reason)
def test_sentences_give_every_fact_they_have(reason):
    named = {name for _, name, _, _ in string.Formatter().parse(_SENTENCES[reason])}
    names = {fact for name in named if name for fact in FROM.get(name, (name,))}
    facts = {name: f"<{name}>" for name in names}

    message = Waiting(reason, facts).message

    assert all(text in message for text in facts.values())


def test_one_pod_is_not_many():
    facts = {"needs": 1, "have": 0, "where": ""}

    assert "needs 1 pod, has 0 that may start" == (
        Waiting(Reason.WAITING_FOR_PODS, facts).message
    )
    assert "needs 2 pods" in (
        Waiting(Reason.WAITING_FOR_PODS, facts | {"needs": 2}).message
    )
    assert ["1 gang", "0 gangs", "1,000 gangs"] == [
        counted(number, "gang") for number in (1, 0, 1000)
    ]


def test_amounts_have_the_unit_of_their_resource():
    facts = {"resource": "memory", "needs": 3 * 2**30, "free": 2**29}

    assert "needs 3Gi memory, matching nodes have 512Mi free" == (
        Waiting(Reason.INSUFFICIENT_CAPACITY, facts).message
    )


def test_yielding_to_others_is_no_question_of_who_came_first():
    message = Waiting(Reason.LOWER_TIER_OR_PRIORITY).message

    assert "could start alone; this plan gives what it needs to others" == message


def test_yielding_to_others_says_to_whom_and_how_much():
    message = Waiting(Reason.LOWER_TIER_OR_PRIORITY, TAKEN).message

    assert (
        "could start alone; this plan gives what it needs to default/a and default/b: "
        "6 of 8 GPUs free where it fits, and it needs 4"
    ) == message


def test_of_no_more_than_is_free_others_get_a_part():
    facts = TAKEN | {"given": 9}

    assert "default/b: 9 GPUs, where 8 are free before others leave, and it needs" in (
        Waiting(Reason.LOWER_TIER_OR_PRIORITY, facts).message
    )


def test_yielding_inside_a_limit_names_the_queue():
    facts = TAKEN | {"queue": "team"}

    assert "6 of 8 GPUs that queue team may still take" in (
        Waiting(Reason.LOWER_TIER_OR_PRIORITY, facts).message
    )


def test_yielding_where_others_would_have_to_leave_says_so():
    message = Waiting(Reason.LOWER_TIER_OR_PRIORITY, TAKEN | {"evicting": 1}).message

    assert message.startswith("could start alone if others left for it; ")
    assert "default/b: 6 GPUs, and it needs 4" in message


def test_who_is_held_back_is_told_behind_whom():
    facts = {"gangs": 1, "behind": "default/first"}

    assert "could start alone; it is held back for default/first" == (
        Waiting(Reason.LOWER_TIER_OR_PRIORITY, facts).message
    )


def test_protected_work_is_named():
    facts = {"who": "default/a (not preemptible)", "used": 3, "resource": "cpu"}

    assert "in its way: 3m held by default/a (not preemptible)" in (
        Waiting(Reason.PREEMPTION_PROTECTED, facts).message
    )


def test_of_many_names_the_first_few_are_given():
    assert ["", "a", "a and b", "a, b, c and 2 more gangs"] == [
        listed(names, "gang") for names in ("", "a", "ab", "abcde")
    ]


def test_pods_that_lack_are_told_apart():
    facts = {"needs": 4, "have": 1, "gated": 2, "gates": "x.io/a", "missing": 1}

    assert Waiting(Reason.WAITING_FOR_PODS, facts).message.endswith(
        ": 2 held back by scheduling gates x.io/a, 1 not created yet"
    )


def test_a_wait_is_said_in_minutes_and_large_numbers_can_be_read():
    again = Waiting(Reason.BIND_REJECTED, {"seconds": 2700})
    needs = {"resource": "nvidia.com/gpu", "needs": 4752, "free": 1000}
    short = Waiting(Reason.INSUFFICIENT_CAPACITY, needs)

    assert "a bind was refused; it is tried again in 45m" == again.message
    assert "needs 4,752 GPUs, matching nodes have 1,000 free" == short.message


def test_yielding_to_whom_others_leave_for_says_so():
    facts = {"gangs": 1, "to": "default/b", "evicting": 1, "instead": 1}

    assert "this plan has others leave for default/b instead" in (
        Waiting(Reason.LOWER_TIER_OR_PRIORITY, facts).message
    )


GIVEN_UP = (
    "no node is held for it any more, since its start has slipped too far: it may be in"
)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"held": 1, "expected": 60}, "; 1 node is held for it"),
        ({"held": 4, "expected": 60}, "; 4 nodes are held for it"),
        ({"held": 0, "slipped": 5400}, f"; {GIVEN_UP} 1h30m"),
        ({"held": 0}, ""),
    ],
)
def test_a_head_is_told_what_is_held_for_it_and_that_holding_was_given_up(facts, words):
    needs = {"resource": "nvidia.com/gpu", "needs": 32, "free": 20}
    head = Waiting(Reason.INSUFFICIENT_CAPACITY, {**needs, **facts})

    assert head.message.endswith(f"20 free{words}")
