"""
Amounts in verdicts stand with what they are amounts of.
"""

import pytest

from models.resources import GPU_SHARE, SHARES_PER_GPU
from models.why.verdicts import Blocker, Verdict, amount


@pytest.mark.parametrize(
    ("resource", "number", "text"),
    [
        ("nvidia.com/gpu", 1, "1 GPU"),
        ("nvidia.com/gpu", 4, "4 GPUs"),
        (GPU_SHARE, SHARES_PER_GPU, "1 GPU"),
        (GPU_SHARE, SHARES_PER_GPU // 2, "0.5 GPUs"),
        ("pods", 3, "3 pods"),
        ("memory", 16 * 2**30, "16Gi memory"),
    ],
)
def test_an_amount_is_said_with_its_noun(resource, number, text):
    assert text == amount(resource, number)


@pytest.mark.parametrize(
    ("who", "end"), [("team/a (too young)", ": team/a (too young)"), ("", "")]
)
def test_who_is_protected_is_named_where_that_is_known(who, end):
    entry = Blocker(rule=Verdict.PROTECTED, facts={"who": who})

    assert f"the gangs that could make room are protected{end}" == entry.sentence
