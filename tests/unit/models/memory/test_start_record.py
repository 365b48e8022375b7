from random import Random

import pytest

from models.memory.start_record import (
    DAY,
    ENOUGH,
    FIRST_LEVELS,
    StartRecord,
    class_of,
    lines_of,
)
from tests.helpers.build import gang

PACED = StartRecord(gpus={"q": 240}, seconds=DAY)
HOUR = 3600


def taught(number, seed=0):
    """
    Teach a record of starts spread evenly from nought to twice what was expected.
    """
    record, chance = PACED, Random(seed)
    kind = class_of(1, 2 * HOUR)
    for _ in range(number):
        record = record.having(kind, 2 * HOUR, chance.randint(1, 4 * HOUR))
    return record


def test_what_is_expected_is_the_work_ahead_at_the_pace_of_the_queue():
    assert 2 * HOUR == PACED.expected("q", 20)


@pytest.mark.parametrize(
    "record",
    [StartRecord(), StartRecord(gpus={"q": 9}, seconds=60), PACED],
    ids=["nothing seen", "seen for a minute", "another queue"],
)
def test_without_a_pace_nothing_is_expected(record):
    assert record.expected("other" if record is PACED else "q", 20) is None


def test_a_few_starts_tell_nothing():
    assert taught(ENOUGH - 1).likely(1, 2 * HOUR) is None
    assert taught(ENOUGH).likely(1, 2 * HOUR) is not None


def test_half_most_and_nearly_all_are_where_starts_were():
    said = taught(500).likely(1, 2 * HOUR)

    assert said.half == pytest.approx(2 * HOUR, rel=0.1)
    assert said.most == pytest.approx(0.8 * 4 * HOUR, rel=0.1)
    assert said.nearly == pytest.approx(0.95 * 4 * HOUR, rel=0.1)


def test_other_sizes_and_farther_starts_are_told_by_their_own():
    record = taught(500)

    assert record.likely(8, 2 * HOUR) is None
    assert record.likely(1, 20 * HOUR) is None


def test_who_waits_still_counts_as_late():
    record, kind = taught(200), class_of(1, 2 * HOUR)
    counts = {max(record.started[kind]): 64 * 200}
    late = StartRecord(
        started=record.started, late={kind: counts}, gpus=PACED.gpus, seconds=DAY
    )

    assert late.likely(1, 2 * HOUR) is None or (
        late.likely(1, 2 * HOUR).half > record.likely(1, 2 * HOUR).half
    )


def test_what_came_true_too_often_is_told_earlier_and_too_seldom_later():
    kind = class_of(1, 2 * HOUR)
    often = PACED.judged(kind, 1, kept=True).levels[kind]
    seldom = PACED.judged(kind, 1, kept=False).levels[kind]

    assert often[1] < FIRST_LEVELS[1] < seldom[1]
    assert (FIRST_LEVELS[0], FIRST_LEVELS[2]) == (often[0], often[2])


def test_the_newest_starts_count_most():
    record, kind = PACED, class_of(1, 2 * HOUR)
    for waited in [HOUR] * 2000 + [8 * HOUR] * 700:
        record = record.having(kind, 2 * HOUR, waited)

    assert record.likely(1, 2 * HOUR).half > 6 * HOUR


def test_a_line_counts_the_important_and_the_old_first():
    waiting = [
        gang("young", queue="q", gpus=2, age=1),
        gang("old", queue="q", gpus=4, age=9),
        gang("first", queue="q", gpus=8, priority=5),
        gang("other", queue="p", gpus=1),
    ]

    assert lines_of(waiting) == {
        "default/first": ("q", 8, 8),
        "default/old": ("q", 4, 12),
        "default/young": ("q", 2, 14),
        "default/other": ("p", 1, 1),
    }
