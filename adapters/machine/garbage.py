"""
The cycle collector, paused where millions of objects are made and none is garbage.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """
    Pause the cycle collector.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def let_stay() -> None:
    """
    Look no more at what is there: of a process that has begun, little of it goes.

    Else a collection stops every thread for a tenth of a second now and then.
    """
    gc.collect()
    gc.freeze()
