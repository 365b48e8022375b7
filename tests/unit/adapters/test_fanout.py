"""
The same work on one process, on several, and on Ray.
"""

import sys

import pytest

from adapters.fanout import FanOutError, fan_out
from models.errors import InputRejectedError
from tests.adapters.doubling import broken, double, rejecting

VALUES = [3, 1, 4, 1, 5]
DOUBLED = [(0, 6), (1, 2), (2, 8), (3, 2), (4, 10)]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_value_has_its_result(workers):
    assert DOUBLED == sorted(fan_out(double, VALUES, workers=workers))


def test_nothing_is_done_for_no_values():
    assert [] == [*fan_out(double, [])]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_fails_in_a_worker_fails_here(workers):
    with pytest.raises(ValueError, match="broken by 3"):
        [*fan_out(broken, [3, 3], workers=workers)]  # whichever ends first


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_refused_in_a_worker_says_here_why(workers):
    with pytest.raises(InputRejectedError) as caught:
        [*fan_out(rejecting, VALUES[:2], workers=workers)]

    assert "here: is wrong" == str(caught.value.problems[0])


def test_without_ray_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(FanOutError, match=r"phalanx\[ray\]"):
        [*fan_out(double, VALUES, on="ray")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_real_ray_finds_the_same():
    pytest.importorskip("ray", reason="Ray is an extra")

    assert DOUBLED == sorted(fan_out(double, VALUES, workers=2, on="ray"))
