"""
Rounds of a loop: what it remembers does what is played by ``carry_out``.

The same full clusters as in ``test_rounds``, but a snapshot says only what a cluster
shows: who left, and since when nothing changed, comes from the memory of the loop.
"""

from dataclasses import replace

import pytest

from adapters.loop.memory.gangs import Memory
from models.policy import Policy
from models.receipt import Receipt
from models.snapshot import Snapshot
from solver.next_snapshot import carry_out
from solver.round import decide
from tests.properties.test_rounds import full_cluster

POLICY = Policy()
MINUTE = 60
ROUNDS = 5
BEGIN = 1_000_000.0


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(8))
def test_a_loop_remembers_what_carrying_out_says(seed):
    memory, given, moments = Memory(), full_cluster(seed), range(ROUNDS)
    leaving = []
    for moment in moments:
        now = BEGIN + moment * MINUTE
        known = memory.applied(shown(given), now)
        remembered = {gang.key: gang.evicted_ago for gang in known.gangs}

        assert {gang.key: gang.evicted_ago for gang in given.gangs} == remembered

        plan = decide(known, POLICY)
        memory.planned(known, plan, now)
        steps = [step for step in plan.operations if step.op != "Reserve"]
        done = [Receipt(operation=step, result="done") for step in steps]
        memory.carried_out(known, done, now)
        leaving += [moment] * any(step.op in {"Evict", "Move"} for step in steps)
        given = carry_out(known, plan, MINUTE)

    assert len(leaving) <= 1
    after = memory.applied(shown(given), BEGIN + ROUNDS * MINUTE)
    wanted = (ROUNDS - leaving[0]) * MINUTE if leaving else None
    assert wanted == after.unchanged_for


def shown(snapshot: Snapshot) -> Snapshot:
    """
    Give a snapshot as a cluster shows it.
    """
    gangs = (
        replace(gang, passed_over=0, evicted_ago=None, stale_since=None)
        for gang in snapshot.gangs
    )
    return replace(snapshot, gangs=tuple(gangs), unchanged_for=None)
