"""
What a round is not shown makes no plan better.
"""

from dataclasses import dataclass, field

import pytest

from adapters.replay.world_source import WorldSource
from models.policy import Evict, Policy
from solver.round import decide
from tests.helpers.played import driven, run, some_jobs

STILL = Evict(preempt=False, reclaim=False, consolidate=False)
LATE = Policy.model_validate(
    {
        "evict": STILL,
        "tiers": [{"name": "late", "after": "1h", "gpus": 8}, "gangs", "packing"],
        "waiting": {
            "protectAfter": "2h",
            "firmAfter": "2h",
            "headsOf": "cluster",
            "gpus": 8,
        },
    }
)


@dataclass
class Both:
    """
    A planner that also plans for all who wait, and compares the two.
    """

    hidden: int = 0
    differing: list[str] = field(default_factory=list)

    def __call__(self, world, snapshot, policy):
        plan = decide(snapshot, policy, explained=False)
        shown = world.shown
        world.shown = [idx for kind in world.line.waiting() for _, _, idx in kind.line]
        self.hidden += len(world.shown) - len(shown)
        whole = decide(WorldSource(world).snapshot(), policy, explained=False)
        world.shown = shown
        for one, other in zip(plan.tiers, whole.tiers, strict=True):
            assert one.name == other.name
            if one.name != "order" and one.value != other.value:
                self.differing.append(f"{world.now} {one} {other}")
                break
        return plan


@pytest.mark.drawn
@pytest.mark.parametrize("policy", [Policy(evict=STILL), LATE], ids=["default", "late"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_plan_for_the_window_is_as_good_as_one_for_the_whole_line(
    tmp_path, seed, policy
):
    both = Both()
    driven(
        tmp_path, run(some_jobs(seed, 60, elastic=False), "3x8", policy=policy), both
    )

    assert both.hidden > 0
    assert [] == both.differing
