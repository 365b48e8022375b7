"""
Manifests that nobody would write: each is refused or planned, none breaks anything.

What is planned can be saved, and what was saved can be read.
"""

from copy import deepcopy
from pathlib import Path
from random import Random

import pytest

from adapters.files import scenario_of
from adapters.files.text import parse_text, read_text
from adapters.files.writing.snapshot_writer import snapshot_document
from models.errors import InputRejectedError
from solver.round import decide

FOLDER = Path(__file__).parents[2] / "scenarios"
JUNK = (
    *(5, -1, 10**18, 1e30, True, None, "", "x", "-5", "1.5", "A_B", "9" * 30),
    *([], {}, ["a"], [None], [{"a": 1}], {"a": "b"}),
)


def documents():
    for file in sorted(FOLDER.glob("*/*.yaml")):
        document = parse_text(*read_text(str(file)))
        if "manifests" in document.get("given", {}):
            document.pop("expect", None)
            yield document


def places(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, below in inner:
        yield (*path, key)
        if isinstance(below, dict | list):
            yield from places(below, (*path, key))


def put(value, path, junk):
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = deepcopy(junk)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(6))
def test_odd_manifests_are_refused_or_planned(seed):
    chance = Random(seed)
    for document in documents():
        odd = deepcopy(document)
        manifests = odd["given"]["manifests"]
        put(manifests, chance.choice(list(places(manifests))), chance.choice(JUNK))
        try:
            scenario = scenario_of("odd", odd)
        except InputRejectedError:
            continue
        scenario_of("saved", snapshot_document(scenario.snapshot))
        decide(scenario.snapshot, scenario.policy, strategy="greedy")
