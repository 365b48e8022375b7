"""
What is counted for people: gaps that are never nothing, and which plan is better.
"""

from adapters.compare.outcome import (
    certainty,
    first_difference,
    is_better,
    label,
    paired_tiers,
)
from models.plan import ModelSize, Plan, TierResult


def tier(value, bound=None, *, name="gpus", band=None, direction="max", proof="gap"):
    return TierResult(
        name=name,
        band=band,
        direction=direction,
        value=value,
        bound=value if bound is None else bound,
        proof=proof,
    )


def plan(*tiers):
    return Plan(
        strategy="solver",
        status="feasible",
        deterministic=True,
        snapshot="",
        seed=0,
        versions={},
        tiers=tiers,
        gangs=(),
        operations=(),
        model=ModelSize(),
    )


def test_a_gap_is_in_percent_of_the_larger_number_and_never_reads_as_nothing():
    assert "50.0 %" == certainty(tier(5, 10))
    assert "< 0.1 %" == certainty(tier(99_999, 100_000))
    assert "proven" == certainty(tier(5, proof="proven"))
    assert "conditional" == certainty(tier(5, proof="conditional"))


def test_the_first_tier_that_differs_decides():
    mine = plan(tier(3), tier(9, name="packing", direction="min"), tier(1))
    theirs = plan(tier(3), tier(4, name="packing", direction="min"), tier(2))
    found = first_difference(mine, theirs)

    assert found is not None
    assert "packing" == found[0].name
    assert not is_better(*found)
    assert first_difference(mine, mine) is None


def test_a_tier_of_one_band_is_named_as_in_files():
    assert "gpus" == label(tier(1))
    assert "entitled/100" == label(tier(1, name="entitled", band=100))


def test_a_tier_of_losses_that_one_plan_does_not_list_is_nothing_there():
    first, lost, last = (
        tier(5, name="entitled"),
        tier(3, name="disruption-pods", direction="min"),
        tier(2, name="borrowing"),
    )
    more = tier(7, name="preemption", direction="min")
    pairs = paired_tiers(plan(first, lost, last), plan(first, last, more))

    assert [("entitled", 5, 5), ("disruption-pods", 3, 0), ("borrowing", 2, 2)] == [
        (a.name, a.value, b.value) for a, b in pairs[:3]
    ]
    assert ("preemption", 0, 7) == (
        pairs[3][0].name,
        pairs[3][0].value,
        pairs[3][1].value,
    )


def test_who_loses_less_is_better():
    lost = tier(3, name="disruption-pods", direction="min")
    found = first_difference(plan(tier(1)), plan(tier(1), lost))

    assert found is not None
    assert is_better(*found)
