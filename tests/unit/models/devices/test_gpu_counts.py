"""
Numbers of GPUs as people read them.
"""

import pytest

from models.devices.gpu_counts import (
    counted_gpus,
    held_on,
    in_gpus,
    shares_asked,
    shares_held,
    shown_gpus,
    signed_gpus,
    written_amounts,
    written_request,
)
from models.devices.gpu_parts import (
    TakenDevice,
    with_shares,
    with_shares_of_others,
)
from models.resources import CLAIMED_GPUS, GPU, PODS, SHARES_PER_GPU
from tests.helpers.rounds.parts import asking, fraction, memory, mig


@pytest.mark.parametrize(
    ("shares", "gpus", "text"),
    [
        (0, 0, "0 GPUs"),
        (7000, 1, "1 GPU"),
        (3500, 0.5, "0.5 GPUs"),
        (15750, 2.25, "2.25 GPUs"),
        (875, 0.125, "0.125 GPUs"),
        (3000, 0.429, "0.429 GPUs"),
        (1, 0.001, "0.001 GPUs"),
        (1234 * 7000 + 700, 1234.1, "1,234.1 GPUs"),
    ],
)
def test_gpus_are_written_to_the_thousandth_and_whole_ones_without_a_point(
    shares, gpus, text
):
    assert gpus == in_gpus(shares)
    assert isinstance(in_gpus(shares), int) == (shares % 7000 == 0)
    assert text == counted_gpus(in_gpus(shares))


def test_tenths_and_sevenths_add_up():
    assert 0.3 == in_gpus(sum(map(shares_asked, (asking(fraction(100)),) * 3)))
    assert 1 == in_gpus(sum(map(shares_asked, (asking(mig("1g.10gb")),) * 7)))


def test_whole_gpus_of_any_vendor_count_where_nobody_asks_for_parts():
    assert 3 * SHARES_PER_GPU == shares_asked({GPU: 2, "amd.com/gpu": 1})
    assert 3 * SHARES_PER_GPU == shares_asked(
        with_shares({GPU: 2, "amd.com/gpu": 1}, ())
    )


def test_memory_counts_as_on_the_node_where_it_lies():
    asked = asking(memory(20 * 1024))

    assert [0.25, 0.5] == [
        in_gpus(shares_held(asked, size * 1024)) for size in (80, 40)
    ]


def test_differences_have_a_sign():
    assert ("+0.5", "-2") == (signed_gpus(0.5), signed_gpus(-2))
    assert "1,000" == shown_gpus(1000)


def test_amounts_name_gpus_once_and_requests_say_parts_in_words():
    asked = asking(fraction(250, 2))

    assert {GPU: "0.5", PODS: "1"} == written_amounts(asked)
    assert {PODS: "1", "0.25 of each of 2 GPUs": ""} == written_request(asked)
    twice = {name: 2 * amount for name, amount in asked.items()}
    assert "2 ×" == written_request(twice)["0.25 of each of 2 GPUs"]


def test_gpus_that_pods_claim_count_where_they_run():
    claimed = with_shares({CLAIMED_GPUS: 2 * SHARES_PER_GPU}, ())

    assert 2 == in_gpus(shares_held(claimed, 0))
    assert 2 == in_gpus(shares_asked(held_on(claimed, 0, is_known=True)))


def test_a_gpu_that_is_only_kept_for_parts_is_not_in_use():
    kept = [TakenDevice(device=at, contract="gpushare") for at in range(2)]

    assert 0 == shares_asked(with_shares_of_others({GPU: 2}, kept, 15 * 1024))
    assert SHARES_PER_GPU == shares_asked(with_shares_of_others({GPU: 3}, kept, 0))
