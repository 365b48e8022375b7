"""
The words that the page on status promises stand in the golden files.
"""

import re

import pytest

from tests.docs.pages import REPOSITORY

PAGE = (REPOSITORY / "docs" / "reference" / "status.md").read_text(encoding="utf-8")
GOLDEN = REPOSITORY / "tests" / "golden" / "status"
SYSTEMS = {
    "Volcano, kube-batch, roc": ("volcano", "kube-batch", "roc"),
    "KAI": ("kai",),
    "Koordinator": ("koordinator",),
    "scheduler-plugins": ("coscheduling",),
    "`scheduling.k8s.io`": ("native",),
}
RARE = {
    "NotEnoughPodsOfTask",
    "Completed",
    "Unknown",
    "NonPreemptibleOverQuota",
    "QueueDoesNotExist",
    "CompositePodGroupInitiallyScheduled",
    "SchedulerError",
    "Invalid",
}
"""
What none of the gangs of the golden files comes to; the tests of the dialects have it.
"""


def last_part(word):
    """
    Give the name of a field without its path; a sentence stays as it is.
    """
    return word if " " in word or "/" in word else word.rpartition(".")[2]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_words_of_each_system_are_those_that_are_written(system):
    (row,) = re.findall(rf"^\| {re.escape(system)} \|(.*)\|$", PAGE, re.MULTILINE)
    _, waits, starts, _ = row.strip().split(" | ")
    words = set(re.findall(r"`([^`]+)`", f"{waits} {starts}")) - RARE

    assert words
    for name in SYSTEMS[system]:
        held = (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
        assert [] == [word for word in words if last_part(word) not in held], name


def test_every_golden_file_is_of_a_system_on_the_page():
    here = {path.stem for path in GOLDEN.glob("*.json")}
    listed = {name for names in SYSTEMS.values() for name in names}

    assert here - listed == {"ack", "koordinator-annotations"}
