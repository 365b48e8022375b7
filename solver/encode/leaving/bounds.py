"""
Rights: how much may be reclaimed from a queue, and preempted inside one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from models.resources import PODS
from solver.encode.leaving.variables import Leaving, Piece, extend_by, units
from solver.encode.queue_rows import placed
from solver.encode.variables import Linear, RigidVars, StateVars, TypeVars, Var
from solver.problem.problem import Problem, Step

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Start:
    """
    What the starts of one type ask for in one queue.
    """

    queue: str
    band: int
    amounts: Mapping[str, Linear]


def starts_of(
    model: cp_model.CpModel, types: Sequence[TypeVars], step: Step
) -> list[Start]:
    """
    Add up what the starts of a step ask for, per gang of each type.

    For entitled gangs nothing leaves any more in the step of those that borrow.
    """
    found = []
    for kind in types:
        if not kind.sample.starts:
            continue
        for vars_ in kind.states:
            amounts: dict[str, Linear] = {}
            pods: Mapping[int, Linear] = placed(vars_, kind.starts)
            if step is Step.BORROWING:
                pods = _borrowed(model, kind, vars_, pods)
            for i, row in pods.items():
                requests = vars_.state.leaves[i].pod_set.requests
                for name, amount in requests.items():
                    if amount:
                        total = amounts.setdefault(name, Linear())
                        extend_by(total, row, amount)
            found.append(Start(vars_.state.gang.queue, kind.sample.band, amounts))
    return found


def _borrowed(
    model: cp_model.CpModel,
    kind: TypeVars,
    vars_: StateVars,
    pods: Mapping[int, Linear],
) -> Mapping[int, Linear]:
    """
    Leave out the pods of entitled starts.
    """
    entitled = kind.entitled
    if entitled.variable is None:
        return pods
    if entitled.variable is kind.starts.variable:
        return {}
    found = {}
    for i, row in pods.items():
        found[i] = Linear()
        if isinstance(vars_, RigidVars):
            found[i].extend(row)
            found[i].add(entitled.variable, -vars_.core[i], entitled.upper)
            continue
        part = model.new_int_var(0, row.most, "")
        model.add(part <= row.expression)
        model.add(part <= row.most * (1 - entitled.variable))
        found[i].add(part, 1, row.most)
    return found


def add_rights(
    model: cp_model.CpModel,
    problem: Problem,
    leaving: Leaving,
    types: Sequence[TypeVars],
) -> None:
    """
    Ensure that reclaim and preempt stay within what queues and bands allow.
    """
    starts = starts_of(model, types, problem.step)
    _Reclaim(model, problem, list(units(leaving, "reclaimed")), starts).add()
    _add_preempt(model, list(units(leaving, "preempted")), starts)


@dataclass
class _LargestUnit:
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


class _Reclaim:
    """
    The rows of all queues from which something may be reclaimed.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        problem: Problem,
        pieces: Sequence[Piece],
        starts: Sequence[Start],
    ) -> None:
        self.model = model
        self.problem = problem
        self.starts = starts
        self.below: dict[str, list[Piece]] = {}
        for piece in pieces:
            for queue in problem.queues.path(piece.queue):
                self.below.setdefault(queue, []).append(piece)

    def add(self) -> None:
        """
        Ensure for each queue that it was above its share before each unit that goes.
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
        running = self.problem.queues.running.get(queue, {}).get(resource, 0)
        return running - self.problem.shares.get(queue, {}).get(resource, 0)

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
            if self._excess(queue, name) > 0
            and any(piece.amounts.get(name) for piece in pieces)
            and any(name in start.amounts for start in outside)
        ]
        lost = self._leaves_queue(pieces, outside, inside)
        if inside is None and len(named) == 1 and _all_hold(pieces, named[0]):
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
            net = _amount(pieces, name)
            gained = _sum(inside, name)
            net.extend(gained, -1)
            taken = _sum(outside, name)
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
        gone = _amount(pieces, name)
        largest = _LargestUnit(self.model)
        largest.add(pieces, name)
        some = self.model.new_bool_var("")
        self.model.add(gone.expression <= gone.most * some)
        asked = _sum(outside, name).expression
        self.model.add(asked >= 1).only_enforce_if(some)
        gone.extend(largest.total, -1)
        self.model.add(gone.expression <= self._excess(queue, name) - 1)

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
        _add_holding(model, pieces, name, pick)
        asked = _sum(outside, name)
        model.add(asked.expression >= 1).only_enforce_if(pick)
        largest = _LargestUnit(model)
        largest.add(pieces, name)
        excess = self._excess(queue, name)
        gone = _amount(pieces, name)
        if inside is None:
            row = Linear()
            row.extend(gone)
            row.extend(largest.total, -1)
            model.add(row.expression <= excess - 1).only_enforce_if(pick)
            return
        lost = model.new_int_var(0, max(0, gone.most), "")
        credit = model.new_int_var(0, max(0, largest.total.most), "")
        which = model.new_bool_var("")
        net = Linear()
        net.extend(gone)
        net.extend(_sum(inside, name), -1)
        model.add(lost >= net.expression).only_enforce_if(which)
        model.add(lost >= asked.expression).only_enforce_if(~which)
        model.add(credit <= largest.total.expression)
        model.add(credit <= lost)
        model.add(lost - credit <= excess - 1).only_enforce_if(pick)


def _emptied(model: cp_model.CpModel, piece: Piece, emptied: Var) -> Var:
    """
    Give a literal that implies that all below a tree node leave by one rule.
    """
    whole = model.new_bool_var("")
    model.add_implication(whole, emptied)
    model.add(piece.exists.expression >= piece.needs * whole)
    return whole


def _add_holding(
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


def _all_hold(pieces: Sequence[Piece], name: str) -> bool:
    return all(piece.amounts.get(name) for piece in pieces)


def _amount(pieces: Sequence[Piece], name: str) -> Linear:
    total = Linear()
    for piece in pieces:
        if piece.number is not None:
            extend_by(total, piece.number, piece.amounts.get(name, 0))
    return total


def _sum(starts: Sequence[Start], name: str) -> Linear:
    total = Linear()
    for start in starts:
        if name in start.amounts:
            total.extend(start.amounts[name])
    return total


def _add_preempt(
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
        for piece in mine:
            if piece.number is not None:
                most = piece.number.most
                row = cp_model.LinearExpr.sum(picks)
                model.add(piece.number.expression <= most * row)
        for name, pick in zip(names, picks, strict=True):
            _add_holding(model, mine, name, pick)
            for band in sorted({piece.band for piece in mine}):
                _add_band(model, name, pick, band, mine, here)
        for band in sorted({piece.band for piece in mine}):
            _add_no_profit(model, band, mine, here)


def _add_no_profit(
    model: cp_model.CpModel,
    band: int,
    pieces: Sequence[Piece],
    starts: Sequence[Start],
) -> None:
    """
    Ensure that where a band loses something, it and lower ones start nothing.

    Else a higher band's start would push out work so that its like may start.
    """
    gone = Linear()
    for piece in pieces:
        if piece.band == band and piece.number is not None:
            gone.extend(piece.number)
    low = _sum([start for start in starts if start.band <= band], PODS)
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
    gone = _amount(high, name)
    above = _sum([start for start in starts if start.band > band], name)
    largest = _LargestUnit(model)
    largest.add(high, name)
    row = Linear()
    row.extend(gone)
    row.extend(largest.total, -1)
    row.extend(above, -1)
    some = model.new_bool_var("")
    model.add(gone.expression <= gone.most * some)
    model.add(row.expression <= -1).only_enforce_if(pick, some)
