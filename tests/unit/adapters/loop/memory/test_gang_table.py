"""
What is remembered of each gang: whose fault it is that it runs in half, and how long.
"""

import pytest

from adapters.loop.memory.gangs import Memory
from models.receipt import Receipt
from tests.helpers.build import bind, binds, gang, nodes, snapshot

NOW = 1_000_000.0
YEAR = 365 * 86400.0


def tried(memory, steps, *results):
    here = snapshot(nodes(2), [gang("g", minimum=3)])
    pairs = zip(steps, results, strict=True)
    receipts = [Receipt(operation=step, result=result) for step, result in pairs]
    memory.carried_out(here, receipts, NOW)


@pytest.mark.parametrize("again", [("refused", "skipped"), ("skipped", "skipped")])
def test_a_gang_that_we_left_in_half_is_so_until_it_is_whole(again):
    memory = Memory(stale_after=60)
    half = gang("g", minimum=3, replicas=3, running=["n0"], stale_after=-1)
    tried(memory, binds("g", "n0", "n0", "n1"), "done", "refused", "skipped")
    tried(memory, binds("g", "n0", "n1", start=1), *again)
    (found,) = memory.applied(snapshot(nodes(2), [half]), NOW).gangs

    assert 60 == found.stale_after


def test_gangs_that_went_while_a_clock_was_ahead_are_forgotten():
    memory = Memory()
    gone = snapshot(nodes(1), [gang("g", minimum=1)])
    refused = [Receipt(operation=bind("g-0"), result="refused")]
    exits = [Receipt(operation=bind("g-0", op="Evict"), result="refused")]
    memory.carried_out(gone, [*refused, *exits], NOW + YEAR)
    memory.applied(snapshot(nodes(1)), NOW)
    memory.applied(snapshot(nodes(1)), NOW + 601)
    memory.carried_out(gone, [], NOW + 601)

    assert {} == memory.gangs
    assert {} == memory.refused._kept
