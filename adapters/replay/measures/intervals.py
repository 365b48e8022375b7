"""
Intervals: in which range the truth is, from a few pairs, with a certainty of 95 %.

By Student's and Fieller's way: exact for values and pairs of values that are normally
distributed, however few there are.
"""

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
FEWEST = 3
"""
The fewest values of which an interval is given.
"""
_FEW = (12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216)
"""
How many standard errors hold 95 % with 1 to 9 degrees of freedom.
"""


def interval_of_mean(values: Floats) -> tuple[float, float] | None:
    """
    Give the range of the mean of what some values are drawn from; none of too few.
    """
    return interval_of_ratio(values, np.ones(len(values)))


def interval_of_ratio(above: Floats, below: Floats) -> tuple[float, float] | None:
    """
    Give the range of a ratio of two means; none of too few pairs, or where any may be.

    With a, b the means and A, B, C the variances and covariance of the means, these are
    the ratios q with (a - qb)^2 <= t^2 (A - 2qC + q^2 B).
    """
    number = len(above)
    if number < FEWEST:
        return None
    square = _standard_errors(number - 1) ** 2
    spread = np.cov(above, below) / number
    top, bottom = float(above.mean()), float(below.mean())
    first = bottom**2 - square * float(spread[1, 1])
    second = top * bottom - square * float(spread[0, 1])
    third = top**2 - square * float(spread[0, 0])
    if first <= 0:
        return None
    half = max(0.0, second**2 - first * third) ** 0.5
    return (second - half) / first, (second + half) / first


def _standard_errors(freedom: int) -> float:
    """
    Give how many standard errors hold 95 % of what is drawn, by Student's distribution.
    """
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
