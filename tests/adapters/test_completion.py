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


LAB = """
apiVersion: phalanx/v1
kind: Scenario
given:
  nodes: [{name: n0, allocatable: {nvidia.com/gpu: 8}}]
  queues: [{name: research}]
  gangs:
    - {name: train, queue: research, min: 1, requests: {nvidia.com/gpu: 1}}
    - {name: serve, queue: research, min: 1, requests: {nvidia.com/gpu: 1}}
    - name: serve
      namespace: other
      queue: research
      min: 1
      requests: {nvidia.com/gpu: 1}
"""


ALL = ["train", "default/serve", "default/train", "other/serve"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("describe gang -f {} tr", ["train"]),
        ("describe gang -f {} ", ALL),
        ("describe gang -f {} other/", ["other/serve"]),
        ("describe queue -f {} ", ["research"]),
        ("describe node -f {} n", ["n0"]),
        ("describe gang -f {}.gone t", []),
        ("why g", ["gang"]),
        ("why gang {} ", []),
    ],
)
def test_a_name_is_completed(words, names, tmp_path):
    path = tmp_path / "lab.yaml"
    path.write_text(LAB)

    assert names == completed(f"phalanx {words.format(path)}")
