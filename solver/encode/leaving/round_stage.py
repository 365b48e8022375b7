"""
A step in the model of the whole round, node by node: who leaves, who has room now.

Its room is not its own affair: what it leaves over is that of all that follows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from solver.effort.cp_sat import cp_model
from solver.encode.activation import add_types
from solver.encode.capacity import take_no_more
from solver.encode.conversion.options import Conversion
from solver.encode.demand import Demand, pending_shapes
from solver.encode.encoding import Encoding, placed
from solver.encode.leaving.crowded_nodes import Pods, pods_of
from solver.encode.leaving.reserved_starts import add_reservations, reserve_for_somebody
from solver.encode.leaving.step_rules import add_movers, add_step_rules, released_by
from solver.encode.leaving.variables import Leaving
from solver.encode.leaving.who_leaves import add_leaving
from solver.encode.node_classes import Classes, Level, classes_of
from solver.encode.queue_limit import add_limits
from solver.encode.queue_rows import Key
from solver.encode.variables import ChoiceVars, Count, Linear, StateVars, TypeVars, Var
from solver.evict.open_step import Opened
from solver.evict.victims import Victim, Victims, held_row, vacated
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem, Unit

VictimVars = dict[tuple[int, int], list[Var]]
"""
(node, account) → whether each of its victims leaves, the one that loses least first.
"""


@dataclass(slots=True, kw_only=True)
class Stage:
    """
    A step in the model of the round.

    ``bound`` are its starts that have room now, ``held`` those that are reserved;
    ``gone`` is what has left queues with it, ``lost`` says which gangs lose something.
    """

    opened: Opened
    encoding: Encoding
    leaving: Leaving
    victim_vars: VictimVars
    bound: Encoding
    held: list[TypeVars]
    gone: Mapping[Key, Linear]
    lost: dict[str, Var] = field(default_factory=dict)

    def freed(self, node: int) -> list[Linear]:
        """
        Add up what those who leave hold on a node, column by column.
        """
        room, leaving = self.opened.now.room, self.leaving
        rows = [Linear() for _ in room.later[node]]
        victims = leaving.victims
        for account, alike in victims.on_node.get(node, {}).items():
            held = [held_row(room, victim, node) for victim in in_order(alike)]
            if victims.goes_whole(account):
                literals = [leaving.gone_whole[victims.accounts[account].wide]]
                held = [np.sum(held, axis=0)]
            else:
                literals = self.victim_vars[node, account]
            for literal, amounts in zip(literals, held, strict=True):
                for row, amount in zip(rows, amounts.tolist(), strict=True):
                    row.add(literal, amount, 1)
        return rows


def pods_on(encoding: Encoding, node: int) -> Pods:
    """
    Count what is placed on a node.
    """
    at = encoding.classes.alone(node)
    terms = {} if at is None else encoding.capacity.class_terms(at)
    return pods_of(encoding.problem.shapes.requests, terms)


def add_stage(
    model: cp_model.CpModel,
    opened: Opened,
    levels: Sequence[Level],
    before: Mapping[Key, Linear],
    *,
    is_first: bool,
) -> Stage:
    """
    Ensure what a step asks of those who leave and of its starts, but for its room.

    Its starts, and what is moved, ask for some ``levels``; ``before`` is what has left
    queues in earlier steps.  The first step ends with the least that can be lost.
    """
    opened = _apart(opened)
    encoding, leaving, victim_vars, gone = _encoded(
        model, opened, levels, before, is_first=is_first
    )
    bound = placing(model, opened.now, levels)
    for each in (encoding, bound):
        take_no_more(model, each.capacity, each.demand)
    add_limits(model, opened.now, bound.types)
    held = [
        _held_part(model, kind, ready)
        for kind, ready in zip(encoding.types, bound.types, strict=True)
    ]
    add_reservations(encoding, bound, held, leaving)
    if is_first:
        reserve_for_somebody(model, opened.now, held, leaving)
    return Stage(
        opened=opened,
        encoding=encoding,
        leaving=leaving,
        victim_vars=victim_vars,
        bound=bound,
        held=held,
        gone=gone,
        lost=_add_lost(model, leaving, victim_vars),
    )


def _encoded(
    model: cp_model.CpModel,
    opened: Opened,
    levels: Sequence[Level],
    before: Mapping[Key, Linear],
    *,
    is_first: bool,
) -> tuple[Encoding, Leaving, VictimVars, dict[Key, Linear]]:
    """
    Ensure what a step asks for once all have left who do; give what queues are rid of.
    """
    victims = opened.victims
    problem = _vacated(opened.problem, victims)
    classes = _node_classes(problem, levels, opened.moved)
    demand = Demand()
    types = add_types(model, problem, classes, demand, zip(problem.units, strict=True))
    leaving, victim_vars = _add_victim_vars(model, victims, classes, is_first=is_first)
    add_movers(model, problem, demand, leaving, opened.movers)
    encoding = placed(model, problem, classes, demand, types)
    encoding.leaving = leaving
    gone = _with(before, released_by(problem, leaving))
    add_step_rules(model, problem, leaving, types, gone)
    return encoding, leaving, victim_vars, gone


def _apart(opened: Opened) -> Opened:
    """
    Give every leaf that needs a place a shape of its own.
    """
    moved = [mover.unit for mover in opened.movers]
    return replace(
        opened,
        problem=_with_own_shapes(opened.problem, (*opened.problem.units, *moved)),
        now=_with_own_shapes(opened.now, opened.now.units),
    )


def _with_own_shapes(problem: Problem, units: Sequence[Unit]) -> Problem:
    leaves = [
        (state.key, i)
        for unit in units
        for state in unit.states
        for i in range(len(state.leaves))
    ]
    shapes = problem.shapes
    rows = [shapes.of_leaf[leaf] for leaf in leaves]
    own = replace(
        shapes,
        items=tuple(shapes.items[row] for row in rows),
        of_leaf={leaf: at for at, leaf in enumerate(leaves)},
        requests=shapes.requests[rows],
        allowed=shapes.allowed[rows],
        fits=shapes.fits[rows],
        let=None if shapes.let is None else shapes.let[rows],
    )
    return replace(problem, shapes=own)


def _vacated(problem: Problem, victims: Victims) -> Problem:
    """
    See a step as if everybody had left who may.
    """
    free = vacated(problem, victims)
    return problem.in_room(free, free)


def _node_classes(
    problem: Problem, levels: Sequence[Level], moved: Sequence[Standing] = ()
) -> Classes:
    """
    Make every node a class of its own.
    """
    number = len(problem.room.nodes)
    apart = {node: 1 + node for node in range(number)}
    shapes = pending_shapes(problem, moved)
    return classes_of(problem, shapes, levels, apart, number)


def placing(
    model: cp_model.CpModel, problem: Problem, levels: Sequence[Level]
) -> Encoding:
    """
    Ensure that starts have places in what is free, without any rule of queues.
    """
    classes, demand = _node_classes(problem, levels), Demand()
    types = add_types(model, problem, classes, demand, zip(problem.units, strict=True))
    return placed(model, problem, classes, demand, types)


def _add_victim_vars(
    model: cp_model.CpModel, victims: Victims, classes: Classes, *, is_first: bool
) -> tuple[Leaving, VictimVars]:
    """
    Count one by one what leaves each node; of like victims the least loss goes first.
    """
    counts = [Linear() for _ in victims.accounts]
    victim_vars: VictimVars = {}
    work, age = Linear(), Linear()
    for node, account, ordered in _apart_things(victims, whole=False):
        literals = [model.new_bool_var("") for _ in ordered]
        victim_vars[node, account] = literals
        for literal, victim in zip(literals, ordered, strict=True):
            counts[account].add(literal, 1, 1)
            work.add(literal, victim.cost[0], 1)
            age.add(literal, victim.cost[1], 1)
        for i in range(1, len(ordered) if is_first else 0):
            same = ordered[i - 1].pieces == ordered[i].pieces
            if same and ordered[i - 1].cost < ordered[i].cost:
                model.add_implication(literals[i], literals[i - 1])
    conversion = Conversion((), (), classes)
    leaving = add_leaving(model, victims, conversion, counts)
    for _, account, parts in _apart_things(victims, whole=True):
        gone_whole = leaving.gone_whole[victims.accounts[account].wide]
        for victim in parts:
            work.add(gone_whole, victim.cost[0], 1)
            age.add(gone_whole, victim.cost[1], 1)
    leaving.crowded_work.extend(work)
    leaving.crowded_age.extend(age)
    return leaving, victim_vars


def _apart_things(
    victims: Victims, *, whole: bool
) -> Iterator[tuple[int, int, list[Victim]]]:
    """
    Walk what may leave each node, or the parts of gangs that only go whole.
    """
    for node, here in sorted(victims.on_node.items()):
        for account, row in sorted(here.items()):
            if victims.goes_whole(account) is whole:
                yield node, account, in_order(row)


def in_order(alike: Sequence[Victim]) -> list[Victim]:
    """
    Sort victims of one account on one node as they are taken.
    """
    return sorted(alike, key=lambda x: (x.cost, x.gang.key, -x.pods[0][0]))


def _add_lost(
    model: cp_model.CpModel,
    leaving: Leaving,
    victim_vars: Mapping[tuple[int, int], Sequence[Var]],
) -> dict[str, Var]:
    """
    Ensure that a gang of which something leaves is known to have lost it.
    """
    victims = leaving.victims
    lost: dict[str, Var] = {}

    def say(key: str, literal: Var) -> None:
        if key not in lost:
            lost[key] = model.new_bool_var("")
        model.add_implication(literal, lost[key])

    for (node, account), literals in victim_vars.items():
        ordered = in_order(victims.on_node[node][account])
        for literal, victim in zip(literals, ordered, strict=True):
            say(victim.gang.key, literal)
    for at, gone_whole in leaving.gone_whole.items():
        say(victims.wide[at].gang.key, gone_whole)
    return lost


def _held_part(model: cp_model.CpModel, kind: TypeVars, ready: TypeVars) -> TypeVars:
    """
    Ensure that what starts in a step is either bound or reserved.

    For whom a queue loses some of its share, that one is reserved.
    """
    held = model.new_bool_var("")
    model.add(held + ready.starts.chosen == kind.starts.chosen)
    if kind.guaranteed.variable is not None:
        model.add(kind.guaranteed.variable <= held)
    return TypeVars(
        units=kind.units,
        starts=Count(held, 1),
        entitled=Count(None, 0),
        states=[_held_state(model, vars_, held) for vars_ in kind.states],
    )


def _held_state(model: cp_model.CpModel, vars_: StateVars, held: Var) -> StateVars:
    """
    Count what a start has where it is reserved: pods, and preferred domains they use.
    """
    if not isinstance(vars_, ChoiceVars):
        return replace(vars_, active={}, surplus={}, footprint=None)

    def part(count: Count) -> Count:
        found = model.new_int_var(0, count.upper, "")
        model.add(found == count.chosen).only_enforce_if(held)
        model.add(found == 0).only_enforce_if(~held)
        return Count(found, count.upper)

    owners = {at for at, _ in vars_.used if vars_.active[at].variable is not None}
    active = vars_.active | {at: part(vars_.active[at]) for at in owners}
    used = {key: part(Count(one, 1)).chosen for key, one in vars_.used.items()}
    counts = {key: part(count) for key, count in vars_.counts.items()}
    return replace(
        vars_, counts=counts, active=active, used=used, core={}, core_active={}
    )


def _with(one: Mapping[Key, Linear], other: Mapping[Key, Linear]) -> dict[Key, Linear]:
    """
    Add two tables of sums up.
    """
    total: dict[Key, Linear] = {}
    for table in (one, other):
        for key, row in table.items():
            total.setdefault(key, Linear()).extend(row)
    return total
