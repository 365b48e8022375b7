"""
Who leaves: nodes take one option each, and gangs keep their minimums or go whole.

One integer per (group of nodes, option); what leaves of an account is split into what
is reclaimed, preempted and moved.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from solver.effort.cp_sat import cp_model
from solver.encode.conversion.options import Conversion
from solver.encode.leaving.variables import Leaving, Parting
from solver.encode.variables import Linear, Var
from solver.evict.moved_gangs import may_move_singly
from solver.evict.rights.may_leave import Rights
from solver.evict.rights.policy_bounds import EVICTS
from solver.evict.victims import Account, Victims, Wide
from solver.problem.gang_state import Standing, satisfied_after
from solver.problem.leaving_pods import NOWHERE


def add_leaving(
    model: cp_model.CpModel,
    victims: Victims,
    conversion: Conversion,
    counts: Sequence[Linear] = (),
) -> Leaving:
    """
    Ensure that nodes take one option each, and that gangs keep their minimums or go.

    With ``counts`` of what leaves per account nothing is said of nodes.
    """
    leaving = Leaving(victims=victims, conversion=conversion)
    leaving.sizes = [Linear() for _ in conversion.classes.items]
    leaving.gone = list(counts) or [Linear() for _ in victims.accounts]
    _add_options(model, leaving)
    leaving.gone_whole = {at: model.new_bool_var("") for at in range(len(victims.wide))}
    for at in range(len(conversion.crowded_nodes)):
        _add_crowded(model, leaving, at)
    places = _places_of(conversion)
    for at, wide in enumerate(victims.wide):
        if wide.rights.move:
            leaving.moved_whole[at] = model.new_bool_var("")
            model.add_implication(leaving.moved_whole[at], leaving.gone_whole[at])
        if wide.state is None:
            _add_wholly(model, leaving, at, places)
        else:
            _add_loosely(model, leaving, at, wide, wide.state)
    leaving.parting = [
        _split(model, leaving, at, account)
        for at, account in enumerate(victims.accounts)
    ]
    for at, wide in enumerate(victims.wide):
        if wide.state is not None:
            _keep_rules(model, leaving, at, wide, wide.state)
    return leaving


def _add_options(model: cp_model.CpModel, leaving: Leaving) -> None:
    for g, group in enumerate(leaving.conversion.groups):
        number = len(group.nodes)
        row = []
        if group.base >= 0:
            leaving.sizes[group.base].constant += number
            leaving.sizes[group.base].most += number
        for o, option in enumerate(group.options):
            taken = model.new_int_var(0, number, "")
            leaving.taken[g, o] = taken
            row.append(taken)
            if option.bin >= 0:
                leaving.sizes[option.bin].add(taken, 1, number)
            if group.base >= 0:
                leaving.sizes[group.base].add(taken, -1, number)
            for account, count in zip(group.accounts, option.taken, strict=True):
                leaving.gone[account].add(taken, count, number)
        if len(row) > 1:
            model.add(cp_model.LinearExpr.sum(row) <= number)


def _add_crowded(model: cp_model.CpModel, leaving: Leaving, at: int) -> None:
    """
    Give a variable for each victim on a crowded node, and count what it loses.
    """
    crowded = leaving.conversion.crowded_nodes[at]
    if crowded.base >= 0:
        leaving.sizes[crowded.base] = Linear(1)
    for column, (account, costs) in enumerate(
        zip(crowded.accounts, crowded.costs, strict=True)
    ):
        literals = _victim_vars(model, leaving, account, len(costs))
        leaving.crowded[at, column] = literals
        for literal, (work, age) in zip(literals, costs, strict=True):
            leaving.crowded_work.add(literal, work, 1)
            leaving.crowded_age.add(literal, age, 1)


def _victim_vars(
    model: cp_model.CpModel, leaving: Leaving, account: int, number: int
) -> list[Var]:
    """
    Give a variable for each of some victims that are alike, the cheapest first.
    """
    wide = leaving.victims.accounts[account].wide
    if wide >= 0 and leaving.victims.wide[wide].state is None:
        return [leaving.gone_whole[wide]]
    literals = [model.new_bool_var("") for _ in range(number)]
    for first, second in pairwise(literals):
        model.add_implication(second, first)
    for literal in literals:
        leaving.gone[account].add(literal, 1, 1)
    return literals


def _places_of(conversion: Conversion) -> dict[int, list[int]]:
    """
    List the groups that each account is in.
    """
    places: dict[int, list[int]] = {}
    for g, group in enumerate(conversion.groups):
        for account in group.accounts:
            places.setdefault(account, []).append(g)
    return places


def _add_wholly(
    model: cp_model.CpModel,
    leaving: Leaving,
    at: int,
    places: Mapping[int, Sequence[int]],
) -> None:
    """
    Ensure that each node of a gang that goes whole loses its part of it, or none.
    """
    gone_whole = leaving.gone_whole[at]
    (account,) = leaving.victims.wide[at].accounts
    for g in places.get(account, ()):
        group = leaving.conversion.groups[g]
        column = group.accounts.index(account)
        row = [
            leaving.taken[g, o]
            for o, option in enumerate(group.options)
            if option.taken[column]
        ]
        model.add(cp_model.LinearExpr.sum(row) == len(group.nodes) * gone_whole)
    leaving.gone[account] = Linear()
    leaving.gone[account].add(gone_whole, 1, 1)


def _add_loosely(
    model: cp_model.CpModel, leaving: Leaving, at: int, wide: Wide, state: Standing
) -> None:
    """
    Ensure that every tree node that was live is satisfied afterwards, or emptied.
    """
    gone_whole = leaving.gone_whole[at]
    _add_lost(leaving, wide, gone_whole)
    gone = _by_leaf(leaving, wide)
    below: dict[int, Linear] = {}
    for t, node in enumerate(state.nodes):
        running = sum(len(state.leaves[i].running) for i in node.leaves)
        if not running:
            continue
        empty = gone_whole if t == 0 else model.new_bool_var("")
        leaving.emptied[at, t] = empty
        below[t] = Linear()
        for i in node.leaves:
            below[t].extend(gone[i])
        model.add(below[t].expression >= running * empty)
        model.add(below[t].expression <= running - 1 + empty)
    for t, pods in below.items():
        if state.nodes[t].live:
            _keep_minimums(model, leaving, at, state, t, pods)
    _keep_roles(model, leaving, at, state)


def _add_lost(leaving: Leaving, wide: Wide, gone_whole: Var) -> None:
    """
    Count pods on nodes that are gone: they leave with all of their gang only.
    """
    accounts = leaving.victims.accounts
    for (leaf, _), host in zip(wide.pods, wide.hosts, strict=True):
        if host == NOWHERE:
            account = next(a for a in wide.accounts if accounts[a].leaf == leaf)
            leaving.gone[account].add(gone_whole, 1, 1)


def _by_leaf(leaving: Leaving, wide: Wide) -> dict[int, Linear]:
    """
    Count what leaves of each leaf of a gang.
    """
    assert wide.state is not None
    found = {i: Linear() for i in range(len(wide.state.leaves))}
    for account in wide.accounts:
        leaf = leaving.victims.accounts[account].leaf
        found[leaf].extend(leaving.gone[account])
    return found


def _keep_minimums(
    model: cp_model.CpModel,
    leaving: Leaving,
    at: int,
    state: Standing,
    t: int,
    below: Linear,
) -> None:
    node = state.nodes[t]
    empty = leaving.emptied[at, t]
    if node.leaf >= 0:
        leaf = state.leaves[node.leaf]
        spare = leaf.counted - leaf.minimum
        if spare < len(leaf.running):
            model.add(below.expression <= spare).only_enforce_if(~empty)
        return
    if node.counted - node.min_pods < below.most:
        spare = node.counted - node.min_pods
        model.add(below.expression <= spare).only_enforce_if(~empty)
    live = [child for child in node.children if state.nodes[child].live]
    going = [
        leaving.emptied[at, child] for child in live if (at, child) in leaving.emptied
    ]
    spare = len(live) - node.min_groups
    if spare < len(going):
        row = cp_model.LinearExpr.sum(going)
        model.add(row <= spare).only_enforce_if(~empty)


def _keep_roles(
    model: cp_model.CpModel, leaving: Leaving, at: int, state: Standing
) -> None:
    """
    Ensure that a leaf does not outlive one that it comes after.
    """
    node_of = {node.leaf: t for t, node in enumerate(state.nodes) if node.leaf >= 0}
    for i, leaf in enumerate(state.leaves):
        mine = leaving.emptied.get((at, node_of[i]))
        for first in leaf.after:
            other = leaving.emptied.get((at, node_of[first]))
            if mine is None or other is None:
                continue
            if state.leaves[first].minimum and not state.leaves[first].need:
                model.add_implication(other, mine)


def _keep_rules(
    model: cp_model.CpModel, leaving: Leaving, at: int, wide: Wide, state: Standing
) -> None:
    """
    Ensure that what can only go together goes by one rule.
    """
    accounts = leaving.victims.accounts
    for t, node in enumerate(state.nodes):
        empty = leaving.emptied.get((at, t))
        if empty is None or not node.live:
            continue
        parts = [Linear() for _ in EVICTS]
        for account in wide.accounts:
            if accounts[account].leaf in node.leaves:
                for rule, part in zip(EVICTS, parts, strict=True):
                    part.extend(leaving.parting[account][rule])
        if all(part.variables for part in parts):
            first = model.new_bool_var("")
            for part, other in zip(parts, (first, ~first), strict=True):
                model.add(part.expression == 0).only_enforce_if(empty, other)


def _split(
    model: cp_model.CpModel, leaving: Leaving, at: int, account: Account
) -> Parting:
    """
    Ensure that everything that leaves of an account does so by a rule it may.
    """
    gone = leaving.gone[at]
    parting: Parting = defaultdict(Linear)
    wide = leaving.victims.wide[account.wide] if account.wide >= 0 else None
    rights = account.rights
    if not gone.variables:
        return parting
    if wide is not None and rights.move:
        parting["consolidate"] = _moved_part(model, leaving, at, account, wide, gone)
        rights = Rights(rights.reclaim, rights.preempt)
    rest = Linear()
    rest.extend(gone)
    rest.extend(parting["consolidate"], -1)
    if not rights:
        model.add(rest.expression == 0)
        return parting
    most = leaving.number_of(at)
    for rule in rights.rules():
        part = model.new_int_var(0, most, "")
        parting[rule].add(part, 1, most)
        rest.add(part, -1, most)
    model.add(rest.expression == 0)
    return parting


def _moved_part(
    model: cp_model.CpModel,
    leaving: Leaving,
    at: int,
    account: Account,
    wide: Wide,
    gone: Linear,
) -> Linear:
    """
    Count what is moved of a wide gang: all of it, or single pods of what it can spare.
    """
    moved = Linear()
    moved_whole = leaving.moved_whole.get(account.wide)
    number = 1 if wide.state is None else wide.counts[at]
    if moved_whole is not None:
        moved.add(moved_whole, number, 1)
    if wide.state is not None and may_move_singly(wide.state):
        single = model.new_int_var(0, number, "")
        leaving.moved_singly[at] = single
        moved.add(single, 1, number)
        gone_whole, leaves = leaving.gone_whole[account.wide], wide.state.leaves
        firsts = leaves[account.leaf].after
        nobody = {i: -len(leaf.running) for i, leaf in enumerate(leaves)}
        without = satisfied_after(wide.state, nobody)
        for t, node in enumerate(wide.state.nodes):
            empty = leaving.emptied.get((account.wide, t), gone_whole)
            mine = node.leaf in firsts or account.leaf in node.leaves
            if mine and node.live and not without[t]:
                model.add(single <= number * ~empty)
        model.add(single <= number * ~gone_whole)
        model.add(single <= gone.expression)
    moved.most = number
    return moved
