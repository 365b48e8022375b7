"""
GPUs in cells of our own tables: whole ones, and parts of one or of each of several.
"""

import pytest

from adapters.traces.cells import RowLeftOutError
from adapters.traces.gpu_amounts import read_gpus, written_gpus
from models.devices.gpu_parts import GpuPart, part_of
from models.resources import GPU


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("0.5", GpuPart(cores=500, share=500)),
        (".125", GpuPart(cores=125, share=125)),
        ("4x0.25", GpuPart(cores=250, share=250, count=4)),
        ("0.3/0.5", GpuPart(cores=300, share=500)),
        ("20Gi", GpuPart(memory=20480)),
        ("2x20Gi", GpuPart(memory=20480, count=2)),
        ("0.3+8Gi", GpuPart(cores=300, memory=8192)),
        ("1g.10gb", GpuPart(profile="1g.10gb")),
        ("2x3g.40gb", GpuPart(profile="3g.40gb", count=2)),
        ("kai:0.5", GpuPart("kai", 500, 500)),
    ],
)
def test_a_part_is_read_and_written_again(text, part):
    found = read_gpus(text)

    assert part == part_of(found)
    assert found == read_gpus(written_gpus(found))


@pytest.mark.parametrize(("text", "gpus"), [("8", 8), ("8.0", 8), ("", 0), ("0", 0)])
def test_whole_gpus_are_a_number(text, gpus):
    assert {GPU: gpus} == read_gpus(text)
    assert str(gpus) == written_gpus({GPU: gpus})


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("1.5", "not-whole"),
        ("nan", "bad-number"),
        ("-0.5", "out-of-range"),
        ("one", "bad-number"),
        ("0x0.5", "bad-part"),
        ("2x1", "bad-part"),
        ("2x0", "bad-part"),
        ("2x1.5", "bad-part"),
        ("0.0001", "bad-part"),
        ("9g.9gb", "bad-part"),
        ("nobody:0.5", "bad-part"),
        ("0.5+", "bad-part"),
        ("0.3/0.5+8Gi", "bad-part"),
        ("0Gi", "bad-part"),
    ],
)
def test_what_is_no_part_is_left_out(text, rule):
    with pytest.raises(RowLeftOutError) as caught:
        read_gpus(text)

    assert rule == caught.value.rule
