"""
What nodes would take once somebody has left: kept from gang to gang, and always right.
"""

import pytest

from adapters.files import scenario_of
from benchmarks.cases.part_victims import part_victim_case
from benchmarks.cases.victims import victim_case
from solver.evict.greedy.places_once_left import PlacesOnceLeft
from solver.round import decide
from tests.helpers.rounds.full_of_parts import full_of_parts

DRAWN = (full_of_parts, part_victim_case, victim_case)


@pytest.fixture
def compared(monkeypatch):
    """
    Have each answer beside one that is made anew, and how much either looked at.
    """
    kept, anew = [], []
    of, counted = PlacesOnceLeft.of, PlacesOnceLeft._counted
    looked = [kept]

    def both(self, order, request, may):
        found = of(self, order, request, may)
        looked[0] = anew
        fresh = of(PlacesOnceLeft(self._room, self._table), order, request, may)
        looked[0] = kept
        assert found[may].tolist() == fresh[may].tolist()
        return found

    def noted(self, order, request, at):
        looked[0].append(len(at))
        return counted(self, order, request, at)

    monkeypatch.setattr(PlacesOnceLeft, "of", both)
    monkeypatch.setattr(PlacesOnceLeft, "_counted", noted)
    return kept, anew


@pytest.mark.drawn
@pytest.mark.parametrize("draw", DRAWN)
def test_what_is_kept_is_what_would_be_found_anew(compared, draw):
    kept, anew = compared
    for seed in range(12):
        case = scenario_of("drawn", draw(seed))
        decide(case.snapshot, case.policy, strategy="greedy")

    assert 0 < sum(kept) < sum(anew)
