"""
The clock of this machine, handed to whoever may look at one.
"""

import time


def monotonic() -> float:
    """
    Give seconds that only ever grow.
    """
    return time.perf_counter()
