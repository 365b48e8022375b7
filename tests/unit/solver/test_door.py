"""
The door of the solver: what others may import, loaded when it is asked for.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import solver


def told():
    """
    List the names that the type checker is told of.
    """
    tree = ast.parse(Path(solver.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            yield from (alias.asname for alias in node.names if alias.asname)
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets)


@pytest.mark.parametrize("name", [n for n in told() if not n.startswith("_")])
def test_each_name_of_the_door_can_be_had(name):
    assert getattr(solver, name) is not None


def test_a_name_that_is_not_at_the_door_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = solver.nothing


def test_who_wants_a_version_loads_no_solver():
    code = "import sys, solver; solver.VERSION; print('ortools' in sys.modules)"

    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "False" == run.stdout.strip()


def test_a_round_does_not_wait_for_pandas():
    code = (
        "import sys, solver; solver.decide; print('pandas' in sys.modules); "
        "import pandas; print(len(pandas.Series([1, 2])))"
    )

    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert ["False", "2"] == run.stdout.split()
