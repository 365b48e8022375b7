"""
Reserved starts: a start of a step is bound unless it has no room now.

It has none where what is bound beside it leaves too little, on a node or below a limit;
or it is the only one for which somebody may leave who does.  Where a queue loses some
of its share, those that are guaranteed may be reserved, too.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from models.plan import Rule
from solver.effort.cp_sat import cp_model
from solver.encode.encoding import Encoding
from solver.encode.leaving.lost_per_gpu import add_lost_per_gpu, worth_of
from solver.encode.leaving.variables import RULES, Leaving
from solver.encode.queue_rows import Key, charge, placed
from solver.encode.variables import Linear, TypeVars, Var
from solver.evict.beneficiaries import may_be_for
from solver.evict.open_step import some_may_wait
from solver.evict.rights.guarantees import may_be_guaranteed
from solver.place.gang_order import rank_of
from solver.problem.node_room import Bools
from solver.problem.problem import Problem, Step, Unit

Claim = tuple[Rule, str, int]
"""
A rule, and the queue and band of who leaves by it.
"""


def add_reservations(
    starts: Encoding, bound: Encoding, held: Sequence[TypeVars], leaving: Leaving
) -> None:
    """
    Ensure that who is reserved has no room now, or is needed by somebody who leaves.

    ``starts`` are all of a step, no two of one shape; ``bound`` are those that have
    room now, in the same shapes.
    """
    model = starts.model
    asking = _Asking(model, starts.problem, leaving)
    rooms = _Rooms(starts, bound)
    for kind, own in zip(held, starts.types, strict=True):
        short, needed = model.new_bool_var(""), model.new_bool_var("")
        model.add(short + needed == kind.starts.chosen)
        before = [
            other
            for other in bound.types
            if not asking.is_after(other.sample, kind.sample)
        ]
        why = [
            *rooms.short_of(own.sample, before),
            *_short_of_limits(starts, bound, own, before),
        ]
        model.add_bool_or([~short, *why])
        served = _served(starts, own, kind.starts.chosen)
        asking.add(kind, short, needed, served)
    asking.close()
    add_lost_per_gpu(model, starts.problem, leaving, asking.gained)


def reserve_for_somebody(
    model: cp_model.CpModel,
    problem: Problem,
    held: Sequence[TypeVars],
    leaving: Leaving,
) -> None:
    """
    Ensure that nobody is reserved where nobody leaves, whoever else starts beside it.
    """
    is_said = problem.around is None and problem.room.parts is None
    if is_said or some_may_wait(problem):
        return
    gone = cp_model.LinearExpr.sum([row.expression for row in leaving.gone])
    some = _not_none(model, gone)
    for kind in held:
        model.add(kind.starts.chosen == 0).only_enforce_if(~some)


def _served(starts: Encoding, own: TypeVars, held: Var) -> Var:
    """
    Give a literal that holds only where others may leave for a reserved start.

    In the step of those that borrow nobody leaves for entitled ones.
    """
    entitled = own.entitled.variable
    if starts.problem.step is Step.ENTITLED or entitled is None:
        return held
    served = starts.model.new_bool_var("")
    starts.model.add_implication(served, held)
    starts.model.add(served + entitled <= 1)
    return served


class _Rooms:
    """
    What a step's starts, and those of them that are bound, have on each node.
    """

    def __init__(self, starts: Encoding, bound: Encoding) -> None:
        self.model = starts.model
        self.problem = bound.problem
        ready = {
            item.nodes: bound.capacity.class_terms(at)
            for at, item in enumerate(bound.classes.items)
        }
        self.nodes = [
            (item.nodes[0], starts.capacity.class_terms(at), ready.get(item.nodes, {}))
            for at, item in enumerate(starts.classes.items)
        ]

    def short_of(self, unit: Unit, before: Sequence[TypeVars]) -> Iterator[Var]:
        """
        Walk literals that say of nodes that they have no room for a unit's pods there.

        One says it of all nodes on which no pod of it has room, or may have none.
        """
        problem, none = self.problem, Linear()
        mine = _shapes_of(problem, [unit])
        full = self._full_for(sorted(mine))
        earlier = _shapes_of(problem, [kind.sample for kind in before])
        for node, wanted, ready in self.nodes:
            own = {shape: wanted[shape] for shape in mine if shape in wanted}
            if not own:
                continue
            if full[node]:
                for count in (count for counts in own.values() for count in counts):
                    none.add(count, 1, 1)
                continue
            beside = {shape: ready[shape] for shape in earlier if shape in ready}
            for column in problem.room.sums:
                row = _asked(problem, own, column)
                if not row.variables:
                    continue
                short = _not_none(self.model, row.expression)
                row.extend(_asked(problem, beside, column))
                free = int(problem.room.now[node, column])
                self.model.add(row.expression >= free + 1).only_enforce_if(short)
                yield short
        if none.variables:
            yield _not_none(self.model, none.expression)

    def _full_for(self, shapes: Sequence[int]) -> Bools:
        """
        Tell of each node whether any pod of some shapes lacks room there, or may do so.
        """
        problem, now = self.problem, self.problem.room.now.clip(min=0)
        said = any(problem.shapes.items[shape].neighbours for shape in shapes)
        if said or problem.room.parts is not None or not shapes:
            return np.ones(len(now), dtype=bool)
        least = problem.shapes.requests[shapes].min(axis=0)
        return np.asarray((least > now).any(axis=1))


def _shapes_of(problem: Problem, units: Sequence[Unit]) -> set[int]:
    return {
        problem.shapes.of_leaf[state.key, i]
        for unit in units
        for state in unit.states
        for i, leaf in enumerate(state.leaves)
        if leaf.pending
    }


def _asked(problem: Problem, terms: Mapping[int, Sequence[Var]], column: int) -> Linear:
    row = Linear()
    for shape, counts in terms.items():
        for count in counts:
            row.add(count, int(problem.shapes.requests[shape, column]), 1)
    return row


def _short_of_limits(
    starts: Encoding, bound: Encoding, own: TypeVars, before: Sequence[TypeVars]
) -> Iterator[Var]:
    """
    Walk literals that say of a queue that its limit leaves no room for a unit.
    """
    model, problem = starts.model, bound.problem
    queues = problem.queues
    for hard, left_of in ((False, queues.limit_left), (True, queues.quota_left)):
        rows: dict[Key, Linear] = {}
        for kind in (own, *before):
            for vars_ in kind.states:
                gang = vars_.state.gang
                if not (hard and gang.preemptible):
                    pods = placed(vars_, kind.starts)
                    charge(problem, gang, vars_.state, pods, rows)
        for (queue, name), row in rows.items():
            left = left_of(queue, name)
            mine = any(
                queue in queues.path(state.gang.queue) for state in own.sample.states
            )
            if mine and left is not None:
                short = model.new_bool_var("")
                model.add(row.expression >= left + 1).only_enforce_if(short)
                yield short


class _Asking:
    """
    Who of those who leave could do so for none that has no room.
    """

    def __init__(
        self, model: cp_model.CpModel, problem: Problem, leaving: Leaving
    ) -> None:
        self.model = model
        self.problem = problem
        self.low = _any_of(model, leaving.below_share)
        self.alone: dict[Claim, Var] = {}
        self.needed: list[Var] = []
        self.gained = Linear()
        self.gone = _claims(leaving)
        self.asking: dict[Claim, list[Var]] = {claim: [] for claim in self.gone}
        self._known: dict[str, set[Claim]] = {}
        for claim, gone in self.gone.items():
            self.alone[claim] = _not_none(model, gone.expression)

    def is_after(self, one: Unit, other: Unit) -> bool:
        """
        Tell whether a unit is bound only in the room that another one leaves it.

        Those go first for whom nobody may leave, then those that come first anyway.
        """
        asked = self._claims_for(other)
        return rank_of(one)[:2] > rank_of(other)[:2] and asked <= self._claims_for(one)

    def _claims_for(self, unit: Unit) -> set[Claim]:
        if unit.key not in self._known:
            self._known[unit.key] = {
                claim
                for claim in self.alone
                if any(may_be_for(state, unit.band, *claim) for state in unit.states)
            }
        return self._known[unit.key]

    def add(self, kind: TypeVars, short: Var, needed: Var, served: Var) -> None:
        """
        Ensure that a unit is needed only where nobody else may ask for who leaves.
        """
        unit = kind.sample
        mine = sorted(self._claims_for(unit))
        self._gain(kind, mine, served)
        for claim in mine:
            self.asking[claim].append(served)
        claims = [self.alone[claim] for claim in mine]
        for literal in claims:
            self.model.add_at_most_one([short, literal])
        if self.low is not None and may_be_guaranteed(self.problem, unit):
            claims.append(self.low)
        self.model.add_bool_or([~needed, *claims])
        self.needed.append(needed)

    def _gain(self, kind: TypeVars, mine: Sequence[Claim], served: Var) -> None:
        """
        Count what may be lost for a reserved start, where somebody may leave for it.
        """
        worth = worth_of(self.problem, kind)
        if len(mine) == len(self.gone) and served is kind.starts.variable:
            self.gained.extend(worth)
        elif worth.most:
            counted = self.model.new_int_var(0, worth.most, "")
            leaves = cp_model.LinearExpr.sum([self.gone[x].expression for x in mine])
            self.model.add(counted <= worth.expression)
            self.model.add(counted <= worth.most * served)
            self.model.add(counted <= worth.most * leaves)
            self.gained.add(counted, 1, worth.most)

    def close(self) -> None:
        """
        Ensure that somebody is reserved for each who leaves, and no more than needed.
        """
        for claim, gone in self.gone.items():
            some = cp_model.LinearExpr.sum(self.asking[claim])
            self.model.add(gone.expression <= gone.most * some)
        needed = cp_model.LinearExpr.sum(self.needed)
        alone = cp_model.LinearExpr.sum([*self.alone.values()])
        if self.low is not None:
            alone += len(self.needed) * self.low
        self.model.add(needed <= alone)


def _not_none(model: cp_model.CpModel, count: cp_model.LinearExprT) -> Var:
    """
    Give a literal that holds only where some are counted.
    """
    some = model.new_bool_var("")
    model.add(count >= 1).only_enforce_if(some)
    return some


def _any_of(model: cp_model.CpModel, literals: Sequence[Var]) -> Var | None:
    """
    Give a literal that holds only where one of some does.
    """
    if not literals:
        return None
    some = model.new_bool_var("")
    model.add_bool_or([~some, *literals])
    return some


def _claims(leaving: Leaving) -> dict[Claim, Linear]:
    """
    Count who leaves by each rule, per queue and band.
    """
    found: dict[Claim, Linear] = {}
    for at, account in enumerate(leaving.victims.accounts):
        for rule in RULES:
            row = leaving.parting[at][rule]
            if row.variables:
                claim = rule, account.queue, account.band
                found.setdefault(claim, Linear()).extend(row)
    return found
