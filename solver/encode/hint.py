"""
Hints: a draft written as values of the model's variables.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from solver.effort.cp_sat import cp_model
from solver.encode.encoding import Encoding
from solver.encode.leaving.step_hint import LeavingHint
from solver.encode.variables import ChoiceVars, Footprint, RigidVars, TypeVars, Var
from solver.place.draft import Draft
from solver.problem.gang_state import Standing
from solver.problem.node_room import NO_PLACES, Places


def hint(model: cp_model.CpModel, pairs: list[tuple[Var, int]]) -> None:
    """
    Tell a model values of its variables as its first solution.
    """
    model.clear_hints()  # type: ignore[no-untyped-call]
    hints = model.proto.solution_hint
    hints.vars.extend([variable.index for variable, _ in pairs])
    hints.values.extend([value for _, value in pairs])


def hint_values(encoding: Encoding, draft: Draft) -> list[tuple[Var, int]]:
    """
    List what variables would be in a draft, as far as easily told.

    What follows from these is left to the solver, and where gangs find new places that
    are moved.
    """
    pairs = kept_starts(encoding, draft)
    if encoding.leaving is None:
        return pairs + _places(encoding, draft, _classes_of_nodes(encoding))
    leaving = LeavingHint(encoding.leaving, draft)
    pairs += leaving.values()
    if any(one.rule == "consolidate" for one in draft.exits):
        return pairs
    bins = leaving.bins()
    if any(bins.get(node, -1) < 0 for node in _nodes_of(encoding, draft)):
        return pairs
    where = {node: (at, 0) for node, at in bins.items()}
    return pairs + _places(encoding, draft, where)


NodeTable = Mapping[int, tuple[int, int]]
"""
The class that each node is in, and the part of it.
"""


def _classes_of_nodes(encoding: Encoding) -> NodeTable:
    return {
        node: (at, part)
        for at, item in enumerate(encoding.classes.items)
        for part, inner in enumerate(item.parts or (item,))
        for node in inner.nodes
    }


def _nodes_of(encoding: Encoding, draft: Draft) -> set[int]:
    """
    Gather the nodes on which gangs of the model start in a draft.
    """
    return {
        host
        for kind in encoding.types
        for unit in kind.units
        for state in unit.states
        for hosts in draft.places.get(state.key, NO_PLACES)
        for host in hosts
    }


def _places(
    encoding: Encoding, draft: Draft, where: NodeTable
) -> list[tuple[Var, int]]:
    """
    List how many pods of each shape are where.
    """
    pairs: list[tuple[Var, int]] = []
    for kind in encoding.types:
        for which, vars_ in enumerate(kind.states):
            if isinstance(vars_, RigidVars):
                pairs += _rigid(encoding, kind, which, vars_, draft)
            else:
                pairs += _choice(encoding, vars_, draft)
    return pairs + _footprints(encoding, draft) + _loads(encoding, draft, where)


def kept_starts(encoding: Encoding, draft: Draft) -> list[tuple[Var, int]]:
    """
    List how many units of each type start in a draft, and how many are entitled.
    """
    pairs: list[tuple[Var, int]] = []
    for kind in encoding.types:
        pairs += started(kind, draft)
        if kind.ranks:
            number = sum(map(draft.starts, kind.units))
            pairs += [(v, int(k < number)) for k, v in enumerate(kind.ranks)]
    return pairs


def started(kind: TypeVars, draft: Draft) -> Iterator[tuple[Var, int]]:
    """
    Say how many units of one type start in a draft, and how many are entitled.
    """
    units = [unit for unit in kind.units if draft.starts(unit)]
    if kind.starts.variable is not None:
        yield kind.starts.variable, len(units)
    entitled = kind.entitled.variable
    if entitled is not None and entitled is not kind.starts.variable:
        yield entitled, sum(unit.key in draft.entitled for unit in units)


def _footprints(encoding: Encoding, draft: Draft) -> list[tuple[Var, int]]:
    active: Counter[tuple[int, int]] = Counter()
    surplus: Counter[tuple[int, int, int]] = Counter()
    for footprint, state in _footprint_gangs(encoding):
        places = draft.places.get(state.key)
        if places is None:
            continue
        host = next(h for hosts in places for h in hosts)
        cell = int(encoding.classes.domain_of[host, footprint.level])
        active[id(footprint), cell] += 1
        for i, hosts in enumerate(places):
            surplus[id(footprint), i, cell] += len(hosts) - footprint.core[i]
    pairs: list[tuple[Var, int]] = []
    for footprint in encoding.demand.footprints.values():
        name = id(footprint)
        for cell, count in footprint.active.items():
            pairs.append((count.chosen, active[name, cell]))
        for (i, cell), count in footprint.surplus.items():
            pairs.append((count.chosen, surplus[name, i, cell]))
    return pairs


def _footprint_gangs(encoding: Encoding) -> Iterator[tuple[Footprint, Standing]]:
    for kind in encoding.types:
        for which, vars_ in enumerate(kind.states):
            if isinstance(vars_, RigidVars) and vars_.footprint is not None:
                for unit in kind.units:
                    yield vars_.footprint, unit.states[which]


def _rigid(
    encoding: Encoding, kind: TypeVars, which: int, vars_: RigidVars, draft: Draft
) -> list[tuple[Var, int]]:
    domain_of = encoding.classes.domain_of
    active: Counter[int] = Counter()
    surplus: Counter[tuple[int, int | None]] = Counter()
    for unit in kind.units:
        state = unit.states[which]
        places = draft.places.get(state.key)
        if places is None:
            continue
        cell = None
        if vars_.level >= 0 and vars_.footprint is None:
            host = next(h for hosts in places for h in hosts)
            cell = int(domain_of[host, vars_.level])
            active[cell] += 1
        for i, hosts in enumerate(places):
            surplus[i, cell] += len(hosts) - vars_.core[i]
    pairs = [
        (count.variable, active[cell])
        for cell, count in vars_.active.items()
        if count.variable is not None
    ]
    pairs += [
        (count.variable, surplus[key])
        for key, count in vars_.surplus.items()
        if count.variable is not None
    ]
    return pairs


def _choice(
    encoding: Encoding, vars_: ChoiceVars, draft: Draft
) -> list[tuple[Var, int]]:
    state = vars_.state
    places = draft.places.get(state.key) or Places(tuple(() for _ in state.leaves))
    domain_of = encoding.classes.domain_of
    pairs: list[tuple[Var, int]] = []
    counts: Counter[tuple[int, int | None]] = Counter()
    for i, hosts in enumerate(places):
        level = vars_.level[i]
        for host in hosts:
            counts[i, None if level < 0 else int(domain_of[host, level])] += 1
    for key, count in vars_.counts.items():
        if count.variable is not None:
            pairs.append((count.variable, counts[key]))
    for at, here in vars_.active.items():
        node = state.nodes[at]
        if here.variable is not None and node.parent >= 0:
            pairs.append((here.variable, int(any(places[i] for i in node.leaves))))
    return pairs


def _loads(encoding: Encoding, draft: Draft, where: NodeTable) -> list[tuple[Var, int]]:
    capacity = encoding.capacity
    loose: Counter[tuple[int, int]] = Counter()
    scoped: Counter[tuple[str, int, int, int]] = Counter()
    for kind in encoding.types:
        for which, vars_ in enumerate(kind.states):
            for unit in kind.units:
                state = unit.states[which]
                for i, hosts in enumerate(draft.places.get(state.key, NO_PLACES)):
                    shape = encoding.problem.shapes.of_leaf[state.key, i]
                    level = (
                        vars_.level if isinstance(vars_, RigidVars) else vars_.level[i]
                    )
                    for host in hosts:
                        at, part = where[host]
                        if level < 0:
                            loose[shape, at] += 1
                        else:
                            name = encoding.classes.levels[level][0]
                            scoped[name, shape, at, part] += 1
    touched = Counter(where[host][0] for host in _nodes_of(encoding, draft))
    pairs = [(v, loose[key]) for key, v in capacity.loose.items()]
    for name, table in capacity.scoped.items():
        pairs += [(v, scoped[(name, *key)]) for key, v in table.items()]
    pairs += [(v, touched[at]) for at, v in capacity.touched.items()]
    return pairs
