"""
The command, called in this process and in one of its own.
"""

from adapters.cli.main import run


def phalanx(*words: object) -> int:
    return run([str(word) for word in words])
