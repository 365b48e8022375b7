"""
Wants: the pods that an answer places, by the counts of the model.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from solver.encode.encoding import Encoding
from solver.encode.variables import (
    Cell,
    ChoiceVars,
    Count,
    Footprint,
    RigidVars,
    TypeVars,
    Var,
)
from solver.problem.gang_state import Standing
from solver.problem.problem import Unit

Value = Callable[[Var], int]


@dataclass(frozen=True, slots=True)
class Want:
    """
    Pods of one leaf in one place; core pods are what the gang needs to start.
    """

    unit: Unit
    state: Standing
    leaf: int
    level: int
    cell: Cell
    count: int
    core: bool


def wants_of(encoding: Encoding, value: Value) -> tuple[list[Want], set[str]]:
    """
    List the pods that an answer places, and the gangs it starts as entitled.
    """
    wants: list[Want] = []
    entitled: set[str] = set()
    teams: dict[int, list[_FootprintGang]] = {}
    for kind in encoding.types:
        num = _value(kind.starts, value)
        started = kind.units[:num]
        for unit in started[: _value(kind.entitled, value)]:
            if unit.starts:
                entitled.update(state.key for state in unit.states)
        for vars_ in kind.states:
            if isinstance(vars_, RigidVars) and vars_.footprint is not None:
                team = teams.setdefault(id(vars_.footprint), [])
                team += _members(kind, vars_, started, value)
            elif isinstance(vars_, RigidVars):
                wants += _rigid_wants(kind, vars_, started, value)
            else:
                wants += _choice_wants(kind, vars_, value)
    for footprint in encoding.demand.footprints.values():
        wants += _footprint_wants(footprint, teams.get(id(footprint), []), value)
    wants.sort(key=lambda w: w.core, reverse=True)
    return wants, entitled


def cores_of(encoding: Encoding, value: Value) -> dict[str, dict[int, int]]:
    """
    Give the cores that an answer counts as entitled, of gangs with a choice.
    """
    return {
        vars_.state.key: {i: _value(count, value) for i, count in vars_.core.items()}
        for kind in encoding.types
        for vars_ in kind.states
        if isinstance(vars_, ChoiceVars) and vars_.core
    }


def _value(count: Count, value: Value) -> int:
    return count.upper if count.variable is None else value(count.variable)


def _rigid_wants(
    kind: TypeVars, vars_: RigidVars, started: tuple[Unit, ...], value: Value
) -> Iterator[Want]:
    which = kind.sample.states.index(vars_.state)
    cells: list[tuple[Cell, tuple[Unit, ...]]] = [(None, started)]
    if vars_.level >= 0:
        cells = []
        rest = started
        for cell, active in vars_.active.items():
            num = _value(active, value)
            cells.append((cell, rest[:num]))
            if active.variable is not None:
                rest = rest[num:]
    for place, units in cells:
        for i, need in enumerate(vars_.core):
            more = vars_.surplus.get((i, place))
            left = 0 if more is None else _value(more, value)
            for unit in units:
                state = unit.states[which]
                extra = min(left, len(state.leaves[i].pending) - need)
                left -= extra
                if need:
                    yield Want(unit, state, i, vars_.level, place, need, core=True)
                if extra:
                    yield Want(unit, state, i, vars_.level, place, extra, core=False)


@dataclass(slots=True)
class _FootprintGang:
    """
    A gang that starts in a footprint, with the surplus it gets per leaf.
    """

    unit: Unit
    state: Standing
    extra: dict[int, int]


def _members(
    kind: TypeVars, vars_: RigidVars, started: tuple[Unit, ...], value: Value
) -> Iterator[_FootprintGang]:
    which = kind.sample.states.index(vars_.state)
    left = {i: _value(more, value) for (i, _), more in vars_.surplus.items()}
    for unit in started:
        state = unit.states[which]
        extra = {}
        for i, more in left.items():
            extra[i] = min(more, len(state.leaves[i].pending) - vars_.core[i])
            left[i] = more - extra[i]
        yield _FootprintGang(unit, state, extra)


def _footprint_wants(
    footprint: Footprint, team: list[_FootprintGang], value: Value
) -> Iterator[Want]:
    """
    Deal members to domains: those with most surplus where most surplus has its place.
    """
    more = {key: _value(count, value) for key, count in footprint.surplus.items()}
    active = {cell: _value(count, value) for cell, count in footprint.active.items()}

    def spare(cell: int) -> float:
        total = sum(more.get((i, cell), 0) for i in range(len(footprint.core)))
        return -total / active[cell]

    rest = sorted(team, key=lambda m: -sum(m.extra.values()))
    for cell in sorted((c for c, num in active.items() if num), key=spare):
        here, rest = rest[: active[cell]], rest[active[cell] :]
        for member in here:
            for i, need in enumerate(footprint.core):
                want = partial(
                    Want, member.unit, member.state, i, footprint.level, cell
                )
                if need:
                    yield want(need, core=True)
                extra = min(member.extra.get(i, 0), more.get((i, cell), 0))
                if extra:
                    more[i, cell] -= extra
                    yield want(extra, core=False)


def _choice_wants(kind: TypeVars, vars_: ChoiceVars, value: Value) -> Iterator[Want]:
    for (i, cell), count in vars_.counts.items():
        num = _value(count, value)
        if num:
            level = vars_.level[i]
            yield Want(kind.sample, vars_.state, i, level, cell, num, core=True)
