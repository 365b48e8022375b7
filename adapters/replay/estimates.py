"""
Estimates: what a scheduler is told of how long each job runs, right or wrong.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log
from random import Random
from typing import Literal

from models.trace import Job

Estimates = float | Literal["drawn"] | None
"""
A factor of the true run time, a factor drawn for each job, or nothing known.
"""
LEAST, MOST = 0.001, 1000.0
UP_TO = (60, 600, 3600, 21600)
"""
Run times in seconds at which another row of factors begins.
"""
LEVELS = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
FACTORS = (
    (1.0, 11.2, 17.9, 64.0, 231.0, 849.0, 3184.0, 6324.0, 15242.0, 15242.0),
    (1.0, 2.34, 3.19, 5.98, 15.0, 53.3, 145.0, 234.0, 519.0, 519.0),
    (1.0, 1.07, 1.25, 1.74, 3.05, 6.93, 14.0, 23.8, 48.7, 48.7),
    (1.0, 1.0, 1.0, 1.09, 1.46, 2.35, 3.95, 5.3, 9.24, 9.24),
    (1.0, 1.0, 1.0, 1.0, 1.03, 1.23, 1.65, 1.97, 2.64, 2.64),
)
"""
By run time, how often so many times as long was asked for as a job then ran.

Quantiles of five logs, each counted alike (their geometric mean): KTH SP2 1996, LLNL
Atlas 2006, CEA Curie 2012, all of the Parallel Workloads Archive, and ALCF Mira 2018
and Theta 2023; 135,615 jobs.  A job that outran its limit counts as 1, since limits end
jobs.  Short jobs ask for a hundred times too much, those of a day for next to nothing.
"""


def estimates_of(text: str | None) -> Estimates:
    """
    Read how run times are known: a factor, or that one is drawn for each job.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if text is None:
        return None
    if text == "drawn":
        return "drawn"
    factor = float(text)
    if not LEAST <= factor <= MOST:
        raise ValueError(text)
    return factor


def said(estimates: Estimates) -> str:
    """
    Say in words what is known of run times.
    """
    if estimates is None:
        return "none"
    if estimates == "drawn":
        return "a drawn factor × duration"
    return f"{estimates:g} × duration"


def with_estimates(
    jobs: Sequence[Job], estimates: Estimates, seed: int
) -> tuple[Job, ...]:
    """
    Let jobs say how long they run: as their trace does, else a factor of the truth.

    Where nothing is known, not even what the trace says is.
    """
    if estimates is None:
        return tuple(replace(j, estimate=None) if j.estimate else j for j in jobs)
    random = Random(seed)  # noqa: S311 - no secrets
    factors = (
        (drawn_factor(job.duration, random.random()) for job in jobs)
        if estimates == "drawn"
        else (estimates for _ in jobs)
    )
    return tuple(
        replace(job, estimate=job.estimate or max(1, round(job.duration * factor)))
        for job, factor in zip(jobs, factors, strict=True)
    )


def drawn_factor(duration: int, level: float) -> float:
    """
    Give the factor that so large a part of the jobs of a duration stays below.
    """
    row = FACTORS[bisect_right(UP_TO, duration - 1)]
    steps = pairwise(zip(LEVELS, row, strict=True))
    for (low, least), (high, most) in steps:
        if level < high:
            part = (level - low) / (high - low)
            return exp(log(least) * (1 - part) + log(most) * part)
    return row[-1]
