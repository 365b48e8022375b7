"""
What is always true of "at the latest": played to its end, it is never too early.

What runs ends as late as its limit lets it, and a round is planned at each end.
"""

from dataclasses import replace
from random import Random

import pytest

from models.changes import PassedTime, changed
from models.changes.passed_time import ends_in
from models.gangs import pod_sets
from solver import carry_out, decide_or_fall_back, when_starts
from tests.helpers.waiting_cases import CASES

FAST, SLOW = range(20), range(20, 270)
EACH = 10
STARTED = {"Starting", "Running", "Growing"}


def limited(snapshot, seed):
    """
    Let most of what runs have a limit, and most of what waits, too.
    """
    chance = Random(f"limits-{seed}")
    gangs = []
    for gang in snapshot.gangs:
        ran = max(
            (pod.seconds for x in pod_sets(gang.tree) for pod in x.pods), default=0
        )
        limit = ran + 600 * chance.randint(1, 12) if chance.random() < 0.85 else None
        gangs.append(replace(gang, max_runtime=limit))
    return replace(snapshot, gangs=tuple(gangs))


def starts_by(snapshot, policy, plan, gang, latest):
    """
    Play rounds until a gang starts, or it should have.
    """
    now = 0
    for _ in range(60):
        if any(x.name == gang and x.state in STARTED for x in plan.gangs):
            return True
        after = carry_out(snapshot, plan, 0)
        ends = [end for x in after.gangs if (end := ends_in(x))]
        if not ends or now + min(ends) > latest:
            return False
        now += min(ends)
        snapshot = changed(after, (PassedTime(seconds=min(ends)),))
        plan = decide_or_fall_back(snapshot, policy)
    return False


def confirm(case, first):
    told = 0
    for seed in range(first, first + EACH):
        snapshot, policy = CASES[case](seed)
        snapshot = limited(snapshot, seed)
        plan = decide_or_fall_back(snapshot, policy)
        for line in plan.gangs:
            found = when_starts(snapshot, policy, plan, line.name)
            if line.state == "Waiting" and found.latest is not None:
                told += 1
                by = starts_by(snapshot, policy, plan, line.name, found.latest)
                assert by, (seed, line.name, found)
    return told


@pytest.mark.drawn
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", FAST[::EACH])
def test_who_is_told_a_latest_start_has_started_by_then(case, first):
    confirm(case, first)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", SLOW[::EACH])
def test_many_who_are_told_a_latest_start_have_started_by_then(case, first):
    confirm(case, first)
