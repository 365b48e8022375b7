"""
What is always true of remedies: the gang starts with them, and not with less of them.
"""

import pytest

from tests.helpers.waiting_cases import CASES
from tests.why_campaign import complaints

FAST = (2,)


@pytest.mark.drawn
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", FAST)
def test_a_remedy_starts_the_gang_and_neither_less_nor_a_cheaper_one_does(case, seed):
    assert [] == complaints(case, seed, only="remedies")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3, 123))
def test_of_many_remedies_neither_less_nor_a_cheaper_one_starts_it(case, seed):
    assert [] == complaints(case, seed, only="remedies")
