"""
Processes that end with the one that started them, also where that one is killed.
"""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

_DIE_WITH_PARENT = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def start(command: list[str], **how: Any) -> subprocess.Popen:
    """
    Start a process that is killed once the thread that calls this has ended.

    Only Linux can promise that; elsewhere it is a process like any other.  It hears
    interrupts, although shells let what they detach ignore them.
    """
    parent = os.getpid()

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if _LIBC is None:
            return
        _LIBC.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:  # it has ended meanwhile
            os.kill(os.getpid(), signal.SIGKILL)

    return subprocess.Popen(command, preexec_fn=prepare, **how)  # noqa: PLW1509


def lives(pid: int) -> bool:
    """
    Tell whether a process runs; one that nobody waited for yet does not.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
