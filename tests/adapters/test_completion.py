"""
A shell completes the words behind an option, as its help lists them.
"""

import os
import subprocess
import sys

import pytest


def completed(line):
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "adapters.cli.main"],
        env=os.environ | asked | {"_PHALANX_COMPLETE": "complete_bash"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("phalanx plan --strategy ", ["solver", "greedy"]),
        ("phalanx plan --diff ", ["greedy"]),
        ("phalanx replay --strategy e", ["easy"]),
        ("phalanx get gangs --reason Inv", ["InvalidGang"]),
        ("phalanx get gangs -o j", ["json"]),
        ("phalanx get q", ["queues"]),
    ],
)
def test_a_word_is_completed(line, words):
    assert words == completed(line)
