"""
Gangs whose pods share claims, on nodes where each device is had by one claim.
"""

import pytest

from tests.helpers.rounds.shared_claims import SharedClaims

SEEDS = range(150)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_who_shares_a_claim_starts_together_where_it_has_its_devices(seed):
    world = SharedClaims(seed)
    for _ in range(3):
        started = world.round()
        assert started or not world.idle()
        world.arrive()


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_evicted_gives_back_what_others_get_reserved(seed):
    world = SharedClaims(seed, differ=True)
    for _ in range(4):
        world.round()
        world.arrive()
