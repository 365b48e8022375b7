"""
What is listed of a small cluster: rows, items and names.
"""

from tests.adapters.commands.command import phalanx

GPU = "nvidia.com/gpu"


def table(capsys, *words):
    assert 0 == phalanx(*words)
    return capsys.readouterr().out.splitlines()
