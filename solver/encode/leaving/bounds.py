"""
Rights: how much may be reclaimed from a queue, and preempted inside one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from models.resources import PODS
from solver.effort.cp_sat import cp_model
from solver.encode.leaving.variables import Leaving, Piece, extend_by, units
from solver.encode.queue_rows import placed
from solver.encode.variables import Linear, RigidVars, StateVars, TypeVars, Var
from solver.evict.guarantees import share_excess
from solver.problem.problem import Problem, Step

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Start:
    """
    What the starts of one type ask for in one queue, and those that are guaranteed.
    """

    queue: str
    band: int
    amounts: Mapping[str, Linear]
    sure: Mapping[str, Linear] = field(default_factory=dict)


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
        for at, vars_ in enumerate(kind.states):
            pods: Mapping[int, Linear] = placed(vars_, kind.starts)
            if step is Step.BORROWING:
                pods = _borrowed(model, kind, vars_, pods)
            sure = _amounts(vars_, kind.sure[at]) if kind.sure else {}
            gang = vars_.state.gang
            amounts = _amounts(vars_, pods)
            found.append(Start(gang.queue, kind.sample.band, amounts, sure))
    return found


def _amounts(vars_: StateVars, pods: Mapping[int, Linear]) -> dict[str, Linear]:
    amounts: dict[str, Linear] = {}
    for i, row in pods.items():
        requests = vars_.state.leaves[i].pod_set.requests
        for name, amount in requests.items():
            if amount:
                extend_by(amounts.setdefault(name, Linear()), row, amount)
    return amounts


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
    _Reclaim(model, problem, leaving, starts).add()
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
        leaving: Leaving,
        starts: Sequence[Start],
    ) -> None:
        self.model = model
        self.problem = problem
        self.starts = starts
        self.below: dict[str, list[Piece]] = {}
        self.below_share = leaving.below_share
        for piece in units(leaving, "reclaimed"):
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
        short = model.new_bool_var("")
        rest = max(0, excess)
        model.add(lost.expression >= rest).only_enforce_if(short, *where)
        for literal in where:
            model.add_implication(short, literal)
        some = _amount(self.below[queue], resource)
        model.add(some.expression >= 1).only_enforce_if(short)
        for leaf in sorted({piece.queue for piece in self.below[queue]}):
            self.below_share.setdefault(leaf, []).append(short)
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
        where = [] if self._excess(queue, name) > 0 else [some]
        self._add_bound(queue, name, gone, outside, where)

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
        gone = _amount(pieces, name)
        if inside is None:
            row = Linear()
            row.extend(gone)
            row.extend(largest.total, -1)
            self._add_bound(queue, name, row, outside, [pick])
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
        before_last = Linear()
        before_last.add(lost, 1, max(0, gone.most))
        before_last.add(credit, -1, max(0, largest.total.most))
        self._add_bound(queue, name, before_last, outside, [pick])


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
