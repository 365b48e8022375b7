"""
The model of a round as a linear program: what it says without whole numbers.
"""

from collections.abc import Collection, Mapping
from typing import Any

from solver.effort.cp_sat import cp_model
from solver.effort.linear_program import LinearProgram
from solver.encode.variables import Linear

_ENDLESS = 2**53


def relaxation(
    model: cp_model.CpModel, goal: Linear, without: Collection[int] = ()
) -> tuple[LinearProgram, dict[int, int]]:
    """
    Relax a model to the linear rows it always keeps; give each variable its column.

    Those that it is ``without`` are left out, with all rows that name them.
    """
    proto = model.proto
    program = LinearProgram()
    largest = max(map(abs, goal.coefficients), default=1)
    worth = {at: number / largest for at, number in goal.by_index().items()}
    columns: dict[int, int] = {}
    for at, variable in enumerate(proto.variables):
        if at not in without:
            least, *_, most = variable.domain
            high = None if most > _ENDLESS else most
            columns[at] = program.column(worth.get(at, 0.0), (), least, high)
    for constraint in proto.constraints:
        if not constraint.has_linear() or len(constraint.enforcement_literal):
            continue
        linear = constraint.linear
        names = list(linear.vars)
        if all(name in columns for name in names):
            _add_row(program, columns, linear, names)
    return program, columns


def _add_row(
    program: LinearProgram,
    columns: Mapping[int, int],
    linear: Any,  # noqa: ANN401 - the type has no public name
    names: list[int],
) -> None:
    numbers = list(linear.coeffs)
    largest = max(map(abs, numbers), default=1)
    least, *_, most = linear.domain
    high = float("inf") if most > _ENDLESS else most / largest
    row = program.row(high, None if least < -_ENDLESS else least / largest)
    sums: dict[int, int] = {}
    for name, number in zip(names, numbers, strict=True):
        sums[name] = sums.get(name, 0) + number
    for name, number in sums.items():
        program.set(row, columns[name], number / largest)
