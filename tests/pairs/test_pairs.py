"""
Every field that the reference says is read changes plan, reason or warning by itself.
"""

import re
from pathlib import Path

import pytest

from tests.pairs import (
    ack,
    any_pod,
    coscheduling,
    kai,
    koordinator,
    native,
    parts,
    queues,
    unread,
    volcano,
    workloads,
)
from tests.pairs.pair import manifests, matches, outcome

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "dialects.md"
MODULES = (
    *(
        any_pod,
        parts,
        unread,
        queues,
        kai,
        volcano,
        koordinator,
        ack,
        coscheduling,
        native,
    ),
    workloads,
)
PAIRS = {
    f"{module.SECTION}: {row} {at}": made
    for module in MODULES
    for row, pairs in (module.ROWS | getattr(module, "PROSE", {})).items()
    for at, made in enumerate(pairs)
}
KINDS = {
    "TFJob, PyTorchJob, MPIJob, XGBoostJob, JAXJob, PaddleJob",
    "StatefulSet, Deployment, ReplicaSet, ReplicationController",
    "DaemonSet, Node, Workflow, TaskRun, PipelineRun",
}
"""
Rows whose first cell is a list of kinds, each of which has a pair.
"""
_WORD = re.compile(r"`([^`]+)`")


def rows():
    """
    Give the rows of all tables of fields: section, first cell, names in it.

    Of workloads the other cells name fields too.
    """
    section, inside = "", False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = line.strip("# ")
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            inside = False
        elif re.match(r"(field|word|owner)\b", cells[0]):
            inside = True
        elif inside and not line.startswith("|--"):
            yield section, cells


def wanted():
    for section, cells in rows():
        if section == workloads.SECTION:
            said = {word for cell in cells for word in _WORD.findall(cell)}
            said -= workloads.NAMES
        else:
            said = set(_WORD.findall(cells[0])) - koordinator.VALUES
        if cells[0] in KINDS:
            said |= set(cells[0].split(", "))
        yield section, cells[0], said


WANTED = {f"{section}: {row}": (section, row, said) for section, row, said in wanted()}


@pytest.mark.parametrize("name", WANTED)
def test_every_field_of_the_reference_has_a_pair(name):
    section, row, said = WANTED[name]
    module = next(module for module in MODULES if module.SECTION == section)

    pairs = module.ROWS[row]
    named = {made.word for made in pairs}
    assert pairs
    assert len(said) <= 1 or said <= named, sorted(said - named)


def test_no_pair_is_about_what_the_reference_no_longer_says():
    page = PAGE.read_text(encoding="utf-8")
    first = {f"{section}: {row}" for section, row, _ in wanted()}

    for module in MODULES:
        assert {f"{module.SECTION}: {row}" for row in module.ROWS} <= first
        assert all(said in page for said in getattr(module, "PROSE", {}))


@pytest.mark.drawn
@pytest.mark.parametrize("name", PAIRS)
def test_a_field_changes_plan_reason_or_warning(name):
    made = PAIRS[name]
    one, other = (outcome(manifests(made, value)) for value in made.values)

    assert one != other
    for said, expected in ((one, made.says[0]), (other, made.says[1])):
        assert matches(expected, said), f"{said!r} is not {expected!r}"
