"""
Rows of tables as others write them, cell by cell.
"""

import pytest

from adapters.traces import read_trace

HEAD = "job,submit,duration,gpus,pods,queue\n"


@pytest.mark.parametrize(
    ("rows", "names", "left"),
    [
        ('"my\njob",0,5,1,1,q\nb,1,5,1,1,q\n', ["my-job", "b"], {}),
        ('a,0,5,1,1,"q\r\n\r\nr"\r\nb,1,5,1,1,q\r\n', ["a", "b"], {}),
        (
            '"a,0,5,1,1,q\nb,1,5,1,1,q\nc,2,5,1,1,q\n',
            ["b", "c"],
            {"too-few-cells": 1},
        ),
        ('5" disk,0,5,1,1,q\nb",1,5,1,1,q\n', ["5-disk", "b"], {}),
        (
            f'"{"x" * 200_000}",0,5,1,1,q\nb,1,5,1,1,q\nc,2,5,1,1,q\n',
            ["b", "c"],
            {"too-few-cells": 1},
        ),
    ],
    ids=["name", "queue", "never-closed", "stray", "too-long"],
)
def test_a_cell_in_quotes_may_hold_line_ends(tmp_path, rows, names, left):
    path = tmp_path / "jobs.csv"
    path.write_bytes((HEAD + rows).encode())

    found = read_trace(str(path))

    assert (names, left) == ([job.name for job in found.jobs], dict(found.left_out))
