"""
What was said already is not said again, unless there is somebody new to tell.
"""

from dataclasses import replace

from adapters.kube.dialects.protocol import Claim, GroupStanding
from adapters.kube.status.sayings import Saying
from adapters.kube.status.writer import _is_same

COUNTS = dict.fromkeys(
    ["minimum", "total", "running", "succeeded", "failed", "binding"], 1
)
TOP, LOW, NEW = ({"metadata": {"name": name}} for name in ("top", "low", "new"))
STANDING = GroupStanding(key="ns/g", state="Waiting", **COUNTS)


def said(*others, source=TOP):
    claim = Claim(key="ns/g", dialect="native", source=source, others=others)
    return Saying(claim=claim, standing=STANDING)


def test_a_later_round_that_says_the_same_is_not_told():
    later = replace(said(LOW), standing=replace(STANDING, round="r2", now=9.0))

    assert _is_same(said(LOW), later)


def test_an_object_that_a_gang_gets_or_that_is_made_anew_is_told():
    assert not _is_same(None, said(LOW))
    assert not _is_same(said(LOW), said(LOW, NEW))
    assert not _is_same(said(LOW), said({**LOW}))
    assert not _is_same(said(LOW), said(LOW, source={**TOP}))
