"""
For every rule a plan that breaks it and nothing else, and the same plan repaired.
"""

import re
from pathlib import Path

import pytest

from models.queues import Queue, QueueResource
from models.resources import GPU
from solver.verify import RULES, Violation, verify
from tests.helpers.build import (
    bind,
    gang,
    nodes,
    plan,
    snapshot,
)
from tests.unit.solver.verify.verify_cases import POLICY
from tests.unit.solver.verify.verify_devices import DEVICES
from tests.unit.solver.verify.verify_evictions import EVICTIONS
from tests.unit.solver.verify.verify_gangs import GANGS
from tests.unit.solver.verify.verify_neighbours import NEIGHBOURS
from tests.unit.solver.verify.verify_plans import PLANS
from tests.unit.solver.verify.verify_promises import PROMISES
from tests.unit.solver.verify.verify_queues import QUEUES
from tests.unit.solver.verify.verify_reserves import RESERVES
from tests.unit.solver.verify.verify_rights import RIGHTS

DOCUMENT = Path(__file__).parents[4] / "docs" / "reference" / "verify.md"

CASES = [
    *PLANS,
    *DEVICES,
    *GANGS,
    *QUEUES,
    *RESERVES,
    *EVICTIONS,
    *RIGHTS,
    *PROMISES,
    *NEIGHBOURS,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verify_names_exactly_the_broken_rule(case):
    found = verify(case.given, case.policy, case.plan)

    assert {case.rule} == {violation.rule for violation in found}, found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verify_passes_the_repaired_plan(case):
    assert () == verify(case.given, case.allowing or case.policy, case.repaired)


def test_room_is_kept_by_any_number_of_queues():
    """
    Which of them count with what they keep is not tried set by set.
    """
    queues = [
        Queue(name=f"q{at}", resources={GPU: QueueResource(quota=2**at, lend=0)})
        for at in range(40)
    ]
    given = snapshot(nodes(1), [gang("a", queue="q0")], queues)

    assert () == verify(given, POLICY, plan())


def test_messages_are_single_sentences_about_something():
    for case in CASES:
        for found in verify(case.given, case.policy, case.plan):
            assert found.subject
            assert re.fullmatch(r"[^.\n][^\n]*[^.\n]", found.message)


def test_every_rule_has_a_broken_plan():
    assert set(RULES) == {case.rule for case in CASES}


def test_the_reference_lists_every_rule_in_order():
    rows = re.findall(r"^\| `([a-z-]+)` \|", DOCUMENT.read_text(), re.MULTILINE)

    assert list(RULES) == rows


def test_a_violation_reads_as_rule_subject_and_message():
    given = snapshot(nodes(1), [gang("a", gpus=9)])

    (found,) = verify(given, POLICY, plan(bind("a-0")))

    assert "node-capacity: n0: nvidia.com/gpu: 0 in use and 9 bound exceed 8" == str(
        found
    )
    assert isinstance(found, Violation)


def test_an_empty_plan_holds_in_an_empty_snapshot():
    assert () == verify(snapshot(), POLICY, plan())
