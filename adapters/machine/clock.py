"""
The clock of this machine, handed to whoever may look at one.
"""

import time


def monotonic() -> float:
    """
    Give seconds that only ever grow.
    """
    return time.perf_counter()


def used() -> float:
    """
    Give the seconds that cores have worked for this process.
    """
    return time.process_time()
