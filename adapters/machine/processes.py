"""
Fan-out: the same function over many values, on all cores or on many machines.

Whatever runs it, results come back as they are ready, with the number of their value.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from typing import Literal, TypeVar

from models.errors import PhalanxError

V = TypeVar("V")
R = TypeVar("R")
On = Literal["processes", "ray"]


class FanOutError(PhalanxError):
    """
    What was to do the work is not there.
    """


def fan_out(
    work: Callable[[V], R],
    values: Sequence[V],
    *,
    workers: int = 0,
    on: On = "processes",
) -> Iterator[tuple[int, R]]:
    """
    Apply a function to every value, in any order.

    Parameters
    ----------
    work
        A function of a module: it travels by its name.
    values
        What it is applied to; they travel, too.
    workers
        How many at once; as many as cores if 0.
    on
        Processes of this machine, or the Ray cluster that the environment names; a
        local one is started where none is named.
    """
    if not values:
        return iter(())
    if on == "ray":
        return _ray(work, values, workers)
    count = min(workers or cores(), len(values))
    if count == 1:
        return ((at, work(value)) for at, value in enumerate(values))
    return _processes(work, values, count)


def cores() -> int:
    """
    Count the cores that this process may use.
    """
    return max(1, len(os.sched_getaffinity(0)))


def _processes(
    work: Callable[[V], R], values: Sequence[V], count: int
) -> Iterator[tuple[int, R]]:
    # Spawned, not forked: OR-Tools and Arrow have threads that do not survive a fork.
    context = get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_begin) as pool:
        futures = {pool.submit(work, value): at for at, value in enumerate(values)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin() -> None:
    """
    Let a worker end at once, without a word, when the command is interrupted or gone.

    One that is idle would else wait for ever for the work of a killed command, and one
    that works would go on for nobody.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ray(
    work: Callable[[V], R], values: Sequence[V], workers: int
) -> Iterator[tuple[int, R]]:
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "Ray is not installed: pip install 'phalanx[ray]'"
        raise FanOutError(message) from error
    begun = not ray.is_initialized()
    if begun:
        ray.init(
            num_cpus=None if os.environ.get("RAY_ADDRESS") else workers or cores(),
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    try:
        remote = ray.remote(work)
        waiting = {remote.remote(value): at for at, value in enumerate(values)}
        while waiting:
            done, _ = ray.wait([*waiting], num_returns=1)
            for reference in done:
                yield waiting.pop(reference), ray.get(reference)
    finally:
        if begun:
            ray.shutdown()
