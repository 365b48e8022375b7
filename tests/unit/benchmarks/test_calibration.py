"""
Calibration: every job of a trace is asked about, whatever it asks for.
"""

import pytest

from benchmarks.calibration import calibrated
from tests.helpers.played import job, trace


@pytest.mark.parametrize("gpus", [0, 2, "0.5", "4x0.25"])
def test_jobs_that_are_alike_end_by_the_time_when_all_should_have(gpus):
    jobs = (job(f"j{at}", submit=1000 * at, gpus=gpus) for at in range(80))
    begun, *later = calibrated(trace(*jobs)).values()

    assert (80, 0) == (begun.asked, sum(each.asked for each in later[1:]))
    assert 0 < begun.told == begun.ended[95]
