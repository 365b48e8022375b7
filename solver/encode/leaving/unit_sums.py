"""
Sums over the units that leave: how much of a resource, and the largest of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from solver.effort.cp_sat import cp_model
from solver.encode.leaving.evicted_units import Piece
from solver.encode.variables import Linear, Var


@dataclass
class LargestUnit:
    """
    The size of the largest unit that goes: one amount may be chosen of those that do.
    """

    model: cp_model.CpModel
    chosen: list[Var] = field(default_factory=list)
    total: Linear = field(default_factory=Linear)

    def add(self, pieces: Sequence[Piece], resource: str) -> None:
        """
        Ensure that an amount counts only if a unit of that size goes.
        """
        by_amount: dict[int, list[Piece]] = {}
        for piece in pieces:
            amount = piece.amounts.get(resource, 0)
            if amount:
                by_amount.setdefault(amount, []).append(piece)
        for amount, same in sorted(by_amount.items()):
            pick = self.model.new_bool_var("")
            self.chosen.append(pick)
            self.total.add(pick, amount, 1)
            goes = Linear()
            for piece in same:
                if piece.emptied is None:
                    goes.extend(piece.exists)
                else:
                    goes.add(_emptied(self.model, piece, piece.emptied), 1, 1)
            self.model.add(pick <= goes.expression)
        if len(self.chosen) > 1:
            self.model.add_at_most_one(self.chosen)


def _emptied(model: cp_model.CpModel, piece: Piece, emptied: Var) -> Var:
    """
    Give a literal that implies that all below a tree node leave by one rule.
    """
    whole = model.new_bool_var("")
    model.add_implication(whole, emptied)
    model.add(piece.exists.expression >= piece.needs * whole)
    return whole


def add_holding(
    model: cp_model.CpModel, pieces: Sequence[Piece], name: str, pick: Var
) -> None:
    """
    Ensure that every unit that goes holds a picked resource, or goes with a core.
    """
    for piece in pieces:
        if piece.number is None or piece.amounts.get(name):
            continue
        free = [
            _emptied(model, core, core.emptied)
            for core in pieces
            if core.emptied is not None
            and core.wide == piece.wide
            and set(piece.leaves) <= set(core.leaves)
            and core.amounts.get(name)
        ]
        most = piece.number.most
        allowed = cp_model.LinearExpr.sum([1 - pick, *free])
        model.add(piece.number.expression <= most * allowed)


def all_hold(pieces: Sequence[Piece], name: str) -> bool:
    """
    Tell whether all units hold a resource.
    """
    return all(piece.amounts.get(name) for piece in pieces)


def amount_of(pieces: Sequence[Piece], name: str) -> Linear:
    """
    Add up what leaves of a resource.
    """
    total = Linear()
    for piece in pieces:
        if piece.number is not None:
            total.extend(piece.number, piece.amounts.get(name, 0))
    return total


def falls_short(
    model: cp_model.CpModel,
    pieces: Sequence[Piece],
    name: str,
    rest: int,
    losses: Sequence[Linear],
) -> Var:
    """
    Give a literal that holds only where a queue loses some of its share.

    Then all of ``rest``, which it runs above that, is lost before its last unit goes.
    What it loses is the least of ``losses``.
    """
    short = model.new_bool_var("")
    none = defaultdict[int, Var](lambda: model.new_bool_var(""))
    for piece in pieces if rest else ():
        stays, row = none[piece.amounts.get(name, 0)], piece.exists.expression
        model.add(row <= piece.needs - 1).only_enforce_if(stays)
    for row in (loss.expression for loss in losses):
        model.add(row >= 1).only_enforce_if(short)
        for amount, stays in none.items():
            model.add(row >= rest + amount).only_enforce_if(short, ~stays)
    return short
