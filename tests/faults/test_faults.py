"""
Every fault is caught by the scenarios that it names; without it they hold.
"""

import pytest

from tests.faults.catch import FOLDER, wrongs
from tests.faults.faults import FAULTS

NAMED = sorted({(name, fault.strategy) for fault in FAULTS for name in fault.caught_by})


@pytest.mark.drawn
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_every_scenario_that_a_fault_names_fails_with_it(fault):
    with fault.apply():
        missed = [name for name in fault.caught_by if not wrongs(name, fault.strategy)]

    assert [] == missed


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("name", "strategy"), NAMED, ids=[f"{name}-{strategy}" for name, strategy in NAMED]
)
def test_a_named_scenario_holds_without_faults(name, strategy):
    assert [] == wrongs(name, strategy)


def test_every_fault_names_a_scenario():
    assert [] == [fault.name for fault in FAULTS if not fault.caught_by]


def test_every_named_scenario_exists():
    names = {name for name, _ in NAMED}

    assert [] == [name for name in names if not (FOLDER / f"{name}.yaml").is_file()]


def test_no_two_faults_have_one_name():
    names = [fault.name for fault in FAULTS]

    assert sorted(set(names)) == sorted(names)
