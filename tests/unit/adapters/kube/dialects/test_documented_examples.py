"""
The documented examples of Koordinator, ACK and scheduler-plugins, read as claims.

Their plans are judged where all scenarios are; here stands what each system's words
became on the way.
"""

import json

import pytest

from tests.unit.adapters.kube.dialects.family import (
    FAMILY,
    GOLDEN,
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


def test_there_are_examples_of_every_system():
    assert {system for system, _ in CASES} == set(FAMILY)


@pytest.mark.parametrize(("system", "case"), CASES)
def test_an_example_is_read_as_its_golden_claims_say(system, case):
    golden = json.loads((GOLDEN / f"{system}.json").read_text(encoding="utf-8"))
    made = read_by_family(manifests(SCENARIOS / system / f"{case}.yaml"))

    assert golden[case] == [shown(claim) for claim in made]


@pytest.mark.parametrize(("system", "case"), CASES)
def test_the_order_of_objects_does_not_matter(system, case):
    raws = manifests(SCENARIOS / system / f"{case}.yaml")

    forwards, backwards = read_by_family(raws), read_by_family(raws[::-1])
    assert [shown(claim) for claim in forwards] == [shown(c) for c in backwards]
