"""
Claims with alternatives that count differently, in a queue with a limit of GPUs.
"""

import pytest

from models.gangs import PodPhase, pod_sets
from models.resources import GPU_SHARE, SHARES_PER_GPU
from tests.helpers.rounds.claims_in_turn import SEVENTHS, ClaimsInTurn

SEEDS = range(100)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_no_queue_is_ever_above_its_limit_and_what_runs_counts_as_what_it_has(seed):
    world = ClaimsInTurn(seed)
    for _ in range(3):
        world.round()
        assert world.sevenths() <= world.limit * SEVENTHS
        assert counted(world) == world.sevenths()
        world.leave()
        world.arrive(world.chance.randint(0, 2))


def counted(world):
    """
    Say what all that runs counts, in sevenths of a GPU.
    """
    total = sum(
        leaf.requests.get(GPU_SHARE, 0)
        for gang in world.snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for one in leaf.pods
        if one.phase is PodPhase.RUNNING
    )
    return total * SEVENTHS // SHARES_PER_GPU
