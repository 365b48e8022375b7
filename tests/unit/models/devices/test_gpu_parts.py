"""
Parts of GPUs as resources, and what they count.
"""

import pytest

from models.devices.gpu_parts import (
    GpuPart,
    counts_as,
    part_named,
    part_of,
    with_shares,
)
from models.resources import GPU, GPU_SHARE, SHARES_PER_GPU, format_quantity
from tests.helpers.rounds.parts import fraction, memory, mig


@pytest.mark.parametrize(
    "part",
    [fraction(500), fraction(250, 4, "kai"), memory(20480, 300, 2), mig("1g.10gb", 2)],
    ids=str,
)
def test_a_part_is_read_back_from_the_name_of_its_resource(part):
    assert part == part_named(part.resource)
    assert part == part_of({"cpu": 1, part.resource: 1})


@pytest.mark.parametrize(
    ("part", "gpus"),
    [
        (fraction(500), "0.5"),
        (fraction(125), "0.125"),
        (fraction(333), "0.333"),
        (fraction(250, devices=4), "1"),
        (memory(20 * 1024), "0.25"),
        (memory(20 * 1024, cores=300), "0.3"),
        (memory(27 * 1024), "0.338"),
        (memory(60 * 1024), "0.75"),
        (mig("3g.40gb", 2), "0.8571"),
    ],
    ids=str,
)
def test_a_part_counts_the_larger_of_its_shares_in_thousandths(part, gpus):
    shares = counts_as(part, (80 * 1024, 141 * 1024))

    assert gpus == format_quantity(GPU_SHARE, shares)


@pytest.mark.parametrize(
    ("part", "gpus"),
    [
        (GpuPart("kai", 125, 125), "0.13"),
        (GpuPart("kai", 124, 124), "0.12"),
        (GpuPart("kai", 333, 333, count=3), "0.99"),
        (GpuPart("kai", 1, 1), "0.01"),
        (GpuPart("kai", memory=27 * 1024), "0.34"),
    ],
    ids=str,
)
def test_parts_of_kai_count_the_hundredths_that_it_counts(part, gpus):
    assert gpus == format_quantity(GPU_SHARE, counts_as(part, (80 * 1024,)))


def test_eight_eighths_count_one_gpu():
    assert 8 * counts_as(fraction(125), ()) == with_shares({GPU: 1}, ())[GPU_SHARE]


def test_tenths_add_up_without_a_rest():
    tenth, fifth = (counts_as(fraction(x), ()) for x in (100, 200))

    assert counts_as(fraction(300), ()) == tenth + fifth


def test_whole_gpus_count_as_shares_too():
    assert 2 * SHARES_PER_GPU == with_shares({GPU: 2}, ())[GPU_SHARE]


def test_a_part_is_said_as_people_say_it():
    assert "0.5 of one GPU" == str(fraction(500))
    assert "0.3 of the compute and 20 GiB of each of 2 GPUs" == str(
        memory(20480, 300, 2)
    )
    assert "2 × MIG 1g.10gb" == str(mig("1g.10gb", 2))
