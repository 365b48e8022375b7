"""
How tests wait for what other threads and processes do.
"""

import time
from collections.abc import Callable

PAUSE = 0.01


def eventually(holds: Callable[[], object], seconds: float = 30.0) -> None:
    """
    Wait until something holds, and fail when it does not in time.
    """
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(f"it did not happen within {seconds:g} s")
        time.sleep(PAUSE)
