"""
The first tier in which two plans differ.
"""

from dataclasses import replace

from models.plan import TierResult
from models.policy import Policy
from solver.round import decide
from tests.helpers.build import nodes, snapshot
from tests.odd.difference import first_difference

NOTHING = decide(snapshot(nodes(1), []), Policy())


def plan(**values):
    return replace(NOTHING, tiers=tuple(tier(name, *v) for name, v in values.items()))


def tier(name, value, proof="proven", band=None):
    name = name.replace("_", "-")
    direction = "min" if name.startswith("disruption") else "max"
    return TierResult(
        name=name,
        band=band,
        direction=direction,
        value=value,
        bound=value,
        proof=proof,
        pieces=1,
    )


def test_what_a_plan_does_not_list_of_losses_is_nothing():
    few = plan(disruption_pods=[1], borrowing=[5])
    more = plan(disruption_pods=[1], disruption_rank=[2], borrowing=[9])

    one, other = first_difference(few, more), first_difference(more, few)

    assert ("disruption-rank", True, False) == (one.name, one.is_better, one.is_proven)
    assert ("disruption-rank", False, True) == (
        other.name,
        other.is_better,
        other.is_proven,
    )


def test_the_first_difference_counts():
    few = plan(disruption_pods=[1], borrowing=[5], packing=[9])
    more = plan(disruption_pods=[1], borrowing=[6, "gap"], packing=[1])

    assert first_difference(few, few) is None
    assert (5, 6, False) == (
        first_difference(few, more).value,
        first_difference(few, more).other,
        first_difference(few, more).is_better,
    )
    assert not first_difference(more, few).is_proven


def test_only_tiers_of_bands_above_a_priority_count_where_it_is_said():
    few = replace(NOTHING, tiers=(tier("entitled", 1, band=10), tier("packing", 1)))
    more = replace(NOTHING, tiers=(tier("entitled", 2, band=10), tier("packing", 2)))

    assert first_difference(few, more, 9).name == "entitled"
    assert first_difference(few, more, 10) is None
