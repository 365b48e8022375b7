"""
Drawing: the same trace for seed 0, for others one made of blocks of it.
"""

from dataclasses import replace

import numpy as np

from models.trace import Job, Trace

FEWEST_BLOCKS = 4


def poorly_drawn(trace: Trace, seeds: int, block: int) -> str | None:
    """
    Say that drawn traces are hardly different, where the trace has few blocks.
    """
    count = trace.span // block + 1
    if seeds <= 1 or count >= FEWEST_BLOCKS:
        return None
    return (
        f"drawn from {count} block(s) of {block // 86400} days: other seeds hardly "
        "differ, so intervals are too narrow"
    )


def drawn(trace: Trace, seed: int, block: int) -> tuple[Job, ...]:
    """
    Draw whole blocks of time from a trace, with replacement, in a new order.

    A block keeps its jobs and their moments inside it, so that what belongs together,
    such as the hours of a day, stays together.

    Parameters
    ----------
    trace
        What happened.
    seed
        0 gives the trace as it is.
    block
        Seconds of a block.
    """
    if not seed or not trace.jobs:
        return trace.jobs
    count = trace.span // block + 1
    by_block: list[list[Job]] = [[] for _ in range(count)]
    for job in trace.jobs:
        by_block[job.submit // block].append(job)
    chosen = np.random.default_rng(seed).integers(count, size=count)
    jobs = [
        replace(
            job,
            name=f"{job.name}-b{at}",
            submit=job.submit + (at - int(number)) * block,
        )
        for at, number in enumerate(chosen)
        for job in by_block[number]
    ]
    if not jobs:
        return trace.jobs
    jobs.sort(key=lambda job: (job.submit, job.name))
    first = jobs[0].submit
    return tuple(replace(job, submit=job.submit - first) for job in jobs)
