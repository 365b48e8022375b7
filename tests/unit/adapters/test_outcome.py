"""
What is counted for people: gaps that are never nothing, and which plan is better.
"""

from adapters.outcome import certainty, first_difference, is_better, label
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
