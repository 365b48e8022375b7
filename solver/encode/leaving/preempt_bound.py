"""
Preempt: lower bands of a queue lose units only for what starts above them.
"""

from collections.abc import Sequence

from models.resources import PODS
from solver.effort.cp_sat import cp_model
from solver.encode.leaving.evicted_units import Piece
from solver.encode.leaving.starts_asked import Start, asked_of
from solver.encode.leaving.unit_sums import LargestUnit, add_holding, amount_of
from solver.encode.variables import Linear, Var


def add_preempt(
    model: cp_model.CpModel, pieces: Sequence[Piece], starts: Sequence[Start]
) -> None:
    """
    Ensure for each queue and band that units go only while less than starts above.
    """
    queues: dict[str, list[Piece]] = {}
    for piece in pieces:
        queues.setdefault(piece.queue, []).append(piece)
    for queue, mine in queues.items():
        here = [start for start in starts if start.queue == queue]
        names = sorted(
            {name for piece in mine for name, n in piece.amounts.items() if n}
            & {name for start in here for name in start.amounts}
        )
        picks = [model.new_bool_var("") for _ in names]
        if picks:
            model.add_exactly_one(picks)
        else:
            _let_nobody_go(model, mine)
        for name, pick in zip(names, picks, strict=True):
            add_holding(model, mine, name, pick)
            for band in sorted({piece.band for piece in mine}):
                _add_band(model, name, pick, band, mine, here)
        for band in sorted({piece.band for piece in mine}):
            _add_no_profit(model, band, mine, here)


def _let_nobody_go(model: cp_model.CpModel, pieces: Sequence[Piece]) -> None:
    """
    Ensure that no unit goes: no start asks for anything that one of them holds.
    """
    for piece in pieces:
        if piece.number is not None:
            model.add(piece.number.expression == 0)


def _add_no_profit(
    model: cp_model.CpModel, band: int, pieces: Sequence[Piece], starts: Sequence[Start]
) -> None:
    """
    Ensure that where a band loses something, it and lower ones start nothing.

    Else a higher band's start would push out work so that its like may start.
    """
    gone = Linear()
    for piece in pieces:
        if piece.band == band and piece.number is not None:
            gone.extend(piece.number)
    low = asked_of([start for start in starts if start.band <= band], PODS)
    if not gone.variables or not low.variables:
        return
    some = model.new_bool_var("")
    model.add(gone.expression <= gone.most * some)
    model.add(low.expression <= low.most - low.most * some)


def _add_band(
    model: cp_model.CpModel,
    name: str,
    pick: Var,
    band: int,
    pieces: Sequence[Piece],
    starts: Sequence[Start],
) -> None:
    high = [piece for piece in pieces if piece.band >= band]
    gone = amount_of(high, name)
    above = asked_of([start for start in starts if start.band > band], name)
    largest = LargestUnit(model)
    largest.add(high, name)
    row = Linear()
    row.extend(gone)
    row.extend(largest.total, -1)
    row.extend(above, -1)
    some = model.new_bool_var("")
    model.add(gone.expression <= gone.most * some)
    row.add(some, 1, 1)
    model.add(row.expression <= 0).only_enforce_if(pick)
