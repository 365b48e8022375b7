import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.inventory.told_whys import sentence_of, why_said
from models.why.remedies import WhenStarts
from models.why.verdicts import Blocker, Verdict, WhyWaits

NOW = 1_793_520_000.0
UNKNOWN = WhenStarts(sentence="unknown")


def why(sentence="needs 16 GPUs; 8 of 16 are free", rule=Verdict.NODES, at="dgx-old"):
    entry = Blocker(rule=rule, at=at)
    return WhyWaits(
        gang="a/b",
        state="Waiting",
        verdict=rule,
        sentence=sentence,
        because=(entry,),
        proof="model",
    )


def told(sentence, reason="InsufficientCapacity"):
    return why_said(f"{reason}: {sentence}")


def test_what_was_proven_is_read_again_with_what_is_waited_for():
    said, starts = told(sentence_of(why(), UNKNOWN, NOW))

    assert "nodes dgx-old" == said.waits_for
    assert "needs 16 GPUs; 8 of 16 are free" == said.message
    assert "" == starts


def test_who_has_places_that_others_leave_starts_next():
    said, starts = told("has 1 place on 1 node", "WaitingForPreemption")

    assert ("has 1 place on 1 node", "next") == (said.message, starts)


def test_when_it_starts_is_read_again():
    when = WhenStarts(latest=5400, sentence="at the latest in 1h30m")
    said, starts = told(sentence_of(why(), when, NOW))

    assert "needs 16 GPUs; 8 of 16 are free" == said.message
    assert "by 2026-11-01T09:30Z at the latest" == starts


def test_a_start_is_never_said_too_early_and_stays_for_minutes():
    said = {
        sentence_of(why(), WhenStarts(latest=5400 - after, sentence=""), NOW + after)
        for after in range(0, 5000, 7)
    }
    at = {
        sentence_of(why(), WhenStarts(latest=late, sentence=""), NOW)
        for late in range(5100, 5400)
    }

    assert 1 == len(said)
    assert len(at) <= 2


def test_the_reason_of_a_round_is_read_with_the_verdict_that_it_names():
    said, _ = told("needs 16 GPUs, matching nodes have 8 free")

    assert "room" == said.waits_for
    assert "needs 16 GPUs, matching nodes have 8 free" == said.message


def test_what_others_wrote_is_not_read():
    assert why_said("0/3 nodes are available: 3 Insufficient gpu.") is None


@pytest.mark.drawn
@given(st.text(), st.text())
def test_whatever_names_are_in_it_it_is_one_bounded_line(sentence, at):
    said = sentence_of(why(sentence, at=at), UNKNOWN, NOW)

    assert said.isprintable()
    assert len(said) <= 400
    assert told(said) is not None
