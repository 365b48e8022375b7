"""
Work for tests of the fan-out: it travels to other processes by its name.
"""

import os
import time
from pathlib import Path

from models.errors import InputRejectedError, Problem


def rejecting(value: int) -> int:
    raise InputRejectedError(f"file-{value}", [Problem("here", "is wrong")])


def double(value: int) -> int:
    return 2 * value


def broken(value: int) -> int:
    raise ValueError(f"broken by {value}")


def lasting(path):
    """
    Write down which process works, and work for long.
    """
    (Path(path) / str(os.getpid())).touch()
    time.sleep(120)
    return path
