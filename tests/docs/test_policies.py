"""
The policies that the documentation hands out: each is a file as commands read it.
"""

import pytest

from adapters.files import read_scenario
from models.policy import Policy
from tests.docs.pages import REPOSITORY

FILES = sorted((REPOSITORY / "docs" / "policies").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_policy_is_read_and_is_not_the_default(path):
    assert Policy() != read_scenario(str(path)).policy


def test_short_waits_protect_one_large_head_late_and_let_late_ones_go_first():
    (path,) = [path for path in FILES if path.stem == "short-waits"]
    policy = read_scenario(str(path)).policy
    waiting = policy.waiting

    assert ("cluster", 1, 1) == (waiting.heads_of, waiting.heads, waiting.firm)
    assert waiting.protect_after == waiting.firm_after == 14 * 86400
    assert ("late", "gangs") == tuple(tier.name for tier in policy.tiers[:2])
    assert (8, 8, 10 * 86400) == (waiting.gpus, policy.late.gpus, policy.late.after)
