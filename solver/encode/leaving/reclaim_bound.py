"""
Reclaim: a queue loses units only while it is above its share.
"""

from collections.abc import Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.leaving.evicted_units import Piece, units
from solver.encode.leaving.starts_asked import Start, asked_of
from solver.encode.leaving.unit_sums import (
    LargestUnit,
    add_holding,
    all_hold,
    amount_of,
    falls_short,
)
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Linear, Var
from solver.evict.rights.guarantees import share_excess
from solver.problem.problem import Problem


class Reclaim:
    """
    The rows of all queues from which something may be reclaimed.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        problem: Problem,
        leaving: Leaving,
        starts: Sequence[Start],
    ) -> None:
        self.model = model
        self.problem = problem
        self.starts = starts
        self.below: dict[str, list[Piece]] = {}
        self.below_share = leaving.below_share
        for piece in units(leaving, "reclaim"):
            for queue in problem.queues.chain(piece.queue):
                self.below.setdefault(queue, []).append(piece)

    def add(self) -> None:
        """
        Ensure for each queue that it was above its share before each unit that goes.

        Above its quota is enough for what guaranteed starts ask for.
        """
        leaves = {piece.queue for row in self.below.values() for piece in row}
        for queue, pieces in self.below.items():
            outside = [s for s in self.starts if not self._is_below(s.queue, queue)]
            if queue in leaves:
                self._add_queue(queue, pieces, outside, None)
            elif outside:
                inside = [s for s in self.starts if self._is_below(s.queue, queue)]
                self._add_queue(queue, pieces, outside, inside)

    def _is_below(self, queue: str, above: str) -> bool:
        return above in self.problem.queues.path(queue)

    def _excess(self, queue: str, resource: str) -> int:
        return share_excess(self.problem, queue, resource)

    def _beyond(self, queue: str, resource: str, outside: Sequence[Start]) -> int:
        """
        Give what a queue runs above its quota, where somebody may ask for it.
        """
        if not any(resource in start.sure for start in outside):
            return 0
        return self.problem.queues.beyond_quota(queue, resource)

    def _add_bound(
        self,
        queue: str,
        resource: str,
        lost: Linear,
        outside: Sequence[Start],
        where: Sequence[Var],
        losses: Sequence[Linear],
    ) -> None:
        """
        Ensure that before its last unit goes a queue has lost less than its excess.

        That over its share; or that over its quota, where guaranteed starts ask for
        what it loses of its share.
        """
        model = self.model
        excess = self._excess(queue, resource)
        beyond = self._beyond(queue, resource, outside)
        if beyond <= max(0, excess):
            model.add(lost.expression <= excess - 1).only_enforce_if(*where)
            return
        model.add(lost.expression <= beyond - 1).only_enforce_if(*where)
        rest = max(0, excess)
        short = falls_short(model, self.below[queue], resource, rest, losses)
        self.below_share.append(short)
        for literal in where:
            model.add_implication(short, literal)
        for start in outside:
            if resource in start.sure:
                lost.extend(start.sure[resource], -1)
        model.add(lost.expression <= rest - 1).only_enforce_if(*where)

    def _add_queue(
        self,
        queue: str,
        pieces: Sequence[Piece],
        outside: Sequence[Start],
        inside: Sequence[Start] | None,
    ) -> None:
        """
        Ensure T − min(L, T) < running − F in one resource that all units hold.
        """
        named = [
            name
            for name in self.problem.queues.named
            if (self._excess(queue, name) > 0 or self._beyond(queue, name, outside))
            and any(piece.amounts.get(name) for piece in pieces)
            and any(name in start.amounts for start in outside)
        ]
        lost = self._leaves_queue(pieces, outside, inside)
        if inside is None and len(named) == 1 and all_hold(pieces, named[0]):
            self._add_only_row(queue, named[0], pieces, outside)
            return
        picks = [self.model.new_bool_var("") for _ in named]
        for name, pick in zip(named, picks, strict=True):
            self._add_row(queue, name, pick, pieces, outside, inside)
        for piece in pieces:
            if piece.number is not None:
                row, most = piece.number.expression, piece.number.most
                model = self.model.add(row <= most * cp_model.LinearExpr.sum(picks))
                if lost is not None:
                    model.only_enforce_if(lost)

    def _leaves_queue(
        self,
        pieces: Sequence[Piece],
        outside: Sequence[Start],
        inside: Sequence[Start] | None,
    ) -> Var | None:
        """
        Give a literal that must hold where an inner queue loses to others.
        """
        if inside is None:
            return None
        lost = self.model.new_bool_var("")
        names = {name for piece in pieces for name in piece.amounts}
        for name in names & set(self.problem.queues.named):
            net = amount_of(pieces, name)
            gained = asked_of(inside, name)
            net.extend(gained, -1)
            taken = asked_of(outside, name)
            which = self.model.new_bool_var("")
            self.model.add(net.expression <= 0).only_enforce_if(~lost, which)
            self.model.add(taken.expression <= 0).only_enforce_if(~lost, ~which)
        return lost

    def _add_only_row(
        self, queue: str, name: str, pieces: Sequence[Piece], outside: Sequence[Start]
    ) -> None:
        """
        Ensure Σ units − the largest < running − F, and that somebody outside asks.
        """
        gone = amount_of(pieces, name)
        largest = LargestUnit(self.model)
        largest.add(pieces, name)
        some = self.model.new_bool_var("")
        self.model.add(gone.expression <= gone.most * some)
        asked = asked_of(outside, name).expression
        self.model.add(asked >= 1).only_enforce_if(some)
        gone.extend(largest.total, -1)
        where = [] if self._excess(queue, name) > 0 else [some]
        losses = [amount_of(pieces, name)]
        self._add_bound(queue, name, gone, outside, where, losses)

    def _add_row(
        self,
        queue: str,
        name: str,
        pick: Var,
        pieces: Sequence[Piece],
        outside: Sequence[Start],
        inside: Sequence[Start] | None,
    ) -> None:
        model = self.model
        add_holding(model, pieces, name, pick)
        asked = asked_of(outside, name)
        model.add(asked.expression >= 1).only_enforce_if(pick)
        largest = LargestUnit(model)
        largest.add(pieces, name)
        gone = amount_of(pieces, name)
        if inside is None:
            row = Linear()
            row.extend(gone)
            row.extend(largest.total, -1)
            self._add_bound(queue, name, row, outside, [pick], [gone])
            return
        lost = model.new_int_var(0, max(0, gone.most), "")
        credit = model.new_int_var(0, max(0, largest.total.most), "")
        which = model.new_bool_var("")
        net = Linear()
        net.extend(gone)
        net.extend(asked_of(inside, name), -1)
        model.add(lost >= net.expression).only_enforce_if(which)
        model.add(lost >= asked.expression).only_enforce_if(~which)
        model.add(credit <= largest.total.expression)
        model.add(credit <= lost)
        before_last = Linear()
        before_last.add(lost, 1, max(0, gone.most))
        before_last.add(credit, -1, max(0, largest.total.most))
        self._add_bound(queue, name, before_last, outside, [pick], [net, asked])
