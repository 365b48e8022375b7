"""
The documented examples of Koordinator, ACK and scheduler-plugins, read and answered.

Their plans are judged where all scenarios are; here stands what each system's words
became on the way, and what is said back in them.
"""

import pytest

from tests.helpers.kube.dialects import examples, golden
from tests.unit.adapters.kube.dialects.family import (
    FAMILY,
    SCENARIOS,
    manifests,
    read_by_family,
    shown,
)

CASES = [
    (system, file.stem)
    for system in FAMILY
    for file in sorted((SCENARIOS / system).glob("*.yaml"))
]


@pytest.mark.parametrize("system", FAMILY)
def test_the_documented_examples_are_read_and_answered_as_ever(system):
    assert golden(system) == examples(system)


@pytest.mark.parametrize(("system", "case"), CASES)
def test_the_order_of_objects_does_not_matter(system, case):
    raws = manifests(SCENARIOS / system / f"{case}.yaml")

    forwards, backwards = read_by_family(raws), read_by_family(raws[::-1])
    assert [shown(claim) for claim in forwards] == [shown(c) for c in backwards]
