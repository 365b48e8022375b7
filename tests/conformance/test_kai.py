"""
Cases from the tests of another scheduler: legal, and at least as good as its end.
"""

from functools import cache

import pytest

from tests.conformance.cases import FOLDER, MISSING, read_cases
from tests.conformance.exceptions import MOST, listed
from tests.conformance.play import Verdict, judged

CASES = {case.name: case for case in read_cases("kai")}
PLAIN = sorted(name for name, case in CASES.items() if not case.needs)
OTHERS = sorted(name for name, case in CASES.items() if case.needs)
DESIGN = FOLDER.parent / "design" / "semantics.md"

pytestmark = pytest.mark.skipif(not CASES, reason=MISSING)


@cache
def verdict(name: str) -> Verdict:
    return judged(CASES[name])


@pytest.mark.drawn
@pytest.mark.parametrize("name", PLAIN)
def test_rounds_are_legal_and_end_at_least_as_well(name):
    found = verdict(name)

    assert () == found.ours.violations
    assert not found.worse or name in listed(), found.worse


@pytest.mark.parametrize("name", PLAIN)
def test_whatever_ran_in_the_end_is_a_gang_of_its_case(name):
    gangs = {gang.key for gang in CASES[name].snapshot.gangs}

    assert set() == CASES[name].running.keys() - gangs


@pytest.mark.parametrize("name", OTHERS)
def test_cases_beyond_whole_gpus_wait_for_their_features(name):
    pytest.skip(f"{name} needs {', '.join(CASES[name].needs)}")


def test_few_differences_are_listed_and_each_is_there():
    found = listed()

    assert len(found) <= MOST
    assert set() == found.keys() - set(PLAIN)
    assert [] == [name for name in found if not verdict(name).worse]


@pytest.mark.parametrize("name", sorted(listed()))
def test_the_reason_of_a_difference_is_a_sentence_of_the_design(name):
    text = " ".join(DESIGN.read_text().split())

    assert listed()[name].sentence in text
