"""
What is always true of remedies: the gang starts with them, and not with less of them.
"""

import pytest

from tests.helpers.rounds.waiting_cases import CASES
from tests.why_campaign import complaints

FAST = (5,)
FOUND = (
    ("victims", 1002),
    ("random", 2000),
    ("calm", 3027),
    ("random", 5015),
    ("claims", 91002),
)
"""
Rounds in which what was said to help was wrong once: who could not start alone may take
what leaves for another one; of what others take first, less helps where more does not;
who waits for one of its group starts by what lets that one start; more nodes leave more
beside the room that queues keep; who leaves frees volumes.
"""


@pytest.mark.drawn
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", FAST)
def test_a_remedy_starts_the_gang_and_neither_less_nor_a_cheaper_one_does(case, seed):
    assert [] == complaints(case, seed, only="remedies")


@pytest.mark.drawn
@pytest.mark.parametrize(("case", "seed"), FOUND)
def test_what_was_said_wrongly_to_help_once_is_said_rightly(case, seed):
    assert [] == complaints(case, seed, only="remedies")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(6, 126))
def test_of_many_remedies_neither_less_nor_a_cheaper_one_starts_it(case, seed):
    assert [] == complaints(case, seed, only="remedies")
