"""
What the scheduler of a cluster remembers is shown beside what is there.
"""

from types import SimpleNamespace

import pytest

from adapters.cli.views.held_for import held_words
from adapters.inventory.listed import Seen
from adapters.kube.acting.intent import Intent
from adapters.loop.memory.held import HeldTime
from adapters.loop.memory.held_gangs import HoldMemory
from adapters.service import remembered
from models.plan import Hold
from models.policy import Policy
from tests.helpers.build import snapshot

NOW = 1_000_000.0


@pytest.fixture
def kept(monkeypatch):
    """
    A memory in which 4 GPUs have idled for half an hour, for one gang.
    """
    held, holds = HeldTime(), HoldMemory()
    held.note(4, NOW - 1800)
    holds.planned([Hold(gang="default/large", nodes=("n",), expected=60)], NOW - 1800)
    memory = {"held": held.document(), "holds": holds.document()}
    monkeypatch.setattr(remembered, "looked_at", lambda *_: Intent(memory=memory))
    monkeypatch.setattr(remembered.time, "time", lambda: NOW)
    return memory


def looked(**said):
    seen = Seen(snapshot=snapshot(**said), policy=Policy(), source="there")
    return remembered.with_memory(seen, SimpleNamespace(transport=None))


def test_what_is_held_now_is_counted_up_to_this_moment(kept):
    found = looked()

    assert 4 * 1800 == found.snapshot.held
    assert {"default/large": 1800} == found.holds
    assert held_words(found).endswith(
        "2.0 GPU-hours of the last 1d idled for gangs passed over for long, "
        "and 2 % of all GPU time may"
    )


def test_a_memory_without_holds_shows_none(kept):
    kept.clear()
    found = looked()

    assert (0, {}, "") == (found.snapshot.held, found.holds, held_words(found))
