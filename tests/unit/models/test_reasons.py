"""
Sentences about waiting: numbers with their nouns and units, and none missing.
"""

import string

import pytest

from models.reasons import _SENTENCES, Reason, Waiting, counted

FROM = {"whom": "mate"}
"""
Words of a sentence that are made of another fact.
"""


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence_also_without_facts(reason):
    message = Waiting(reason).message

    assert message
    assert "{" not in message
    assert not message.endswith(".")


@pytest.mark.parametrize("reason", Reason)
def test_sentences_give_every_fact_they_have(reason):
    named = {name for _, name, _, _ in string.Formatter().parse(_SENTENCES[reason])}
    names = {FROM.get(name, name) for name in named if name}
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
