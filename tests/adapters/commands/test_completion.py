"""
A shell completes the words behind an option, as its help lists them.
"""

import os
import subprocess
import sys

import pytest

from adapters.cli.terminal.completion import complete


def asked(line):
    at = len(line.split(" ")) - 1
    said = {"COMP_WORDS": line, "COMP_CWORD": str(at)}
    return said | {"_PHALANX_COMPLETE": "complete_bash"}


@pytest.fixture
def completed(monkeypatch, capsys):
    """
    Answer as a shell is answered, in this process.
    """

    def answer(line):
        for name, value in asked(line).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit):
            complete("phalanx")
        return capsys.readouterr().out.split()

    return answer


def test_the_command_answers_a_shell_that_asks():
    done = subprocess.run(
        [sys.executable, "-m", "adapters.cli.main"],
        env=os.environ | asked("phalanx plan --strategy "),
        check=True,
        capture_output=True,
        text=True,
    )

    assert ["solver", "greedy"] == done.stdout.split()


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
def test_a_word_is_completed(line, words, completed):
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
def test_a_name_is_completed(words, names, tmp_path, completed):
    path = tmp_path / "lab.yaml"
    path.write_text(LAB)

    assert names == completed(f"phalanx {words.format(path)}")
