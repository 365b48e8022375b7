"""
The rights to evict in the small model: reclaim, preempt, and for whom.
"""

from collections.abc import Callable

from exact.evictions.cores import core
from exact.evictions.memory import add_memory
from exact.evictions.step import (
    CONSOLIDATE,
    LEND,
    PREEMPT,
    RECLAIM,
    RULES,
    Runner,
    Stage,
    Step,
    Term,
    total,
    weighted,
)
from exact.evictions.unused_quotas import add_guarantee
from exact.trees import tree_nodes
from models.gangs import Tree, pod_sets
from solver.effort.cp_sat import cp_model


def add_rights(step: Step) -> None:
    """
    Ensure that every unit leaves by a right that the starts of the plan give.
    """
    add_guarantee(step)
    _add_beneficiaries(step)
    for queue in step.before.snapshot.queues:
        _add_reclaim(step, queue.name)
    for name in sorted({step.queue(runner.gang.key) for runner in step.runners}):
        _add_preempt(step, name)
    if step.stage is Stage.ENTITLED:
        add_memory(step)


# --- for whom -------------------------------------------------------------------


def _add_beneficiaries(step: Step) -> None:
    """
    Ensure that whoever leaves does so for a gang that is reserved in this step.
    """
    for runner in step.runners:
        if runner.key in step.frozen.departures:
            continue
        for rule in RULES:
            names = [
                step.reserved[key]
                for key in step.beneficiaries()
                if may_be_for(step, runner, rule, key)
            ]
            step.cp.add(step.gone[runner.key, rule] <= total(names))


def may_be_for(step: Step, runner: Runner, rule: str, key: str) -> bool:
    """
    Tell whether a pod may leave by a rule for a gang that starts.
    """
    same = step.queue(key) == step.queue(runner.gang.key)
    above = step.start_level(key) > step.level(runner.gang)
    lent = key in runner.gang.lent_by
    may = {RECLAIM: not same, PREEMPT: same and above, CONSOLIDATE: True, LEND: lent}
    return may[rule]


# --- units ----------------------------------------------------------------------


def _largest(
    step: Step, runners: list[Runner], rule: str, resource: str
) -> cp_model.IntVar:
    """
    Give the largest unit among some pods that leave by a rule, or nothing.

    A pod is no larger than the core that it is part of, so every pod may stand too.
    """
    sizes: list[Term] = [
        runner.leaf.requests.get(resource, 0) * step.gone[runner.key, rule]
        for runner in runners
    ]
    for key in sorted({runner.gang.key for runner in runners}):
        for node in tree_nodes(step.before.gangs[key].gang.tree):
            if (key, id(node), rule) in step.emptied:
                size = _size(step, key, node, resource)
                sizes.append(size * step.emptied[key, id(node), rule])
    largest = step.cp.new_int_var(0, step.most, "")
    step.cp.add_max_equality(largest, [0, *sizes])
    return largest


def _size(step: Step, key: str, node: Tree, resource: str) -> int:
    """
    Give what the core of a tree node asks for.
    """
    pods = core(step.before.gangs[key], node)
    return sum(
        leaf.requests.get(resource, 0) * pods.get(leaf.name, 0)
        for leaf in pod_sets(node)
    )


def _add_holding(
    step: Step,
    runners: list[Runner],
    rule: str,
    resource: str,
    chosen: cp_model.IntVar,
) -> None:
    """
    Ensure that every unit that leaves holds a chosen resource, or goes with a core.
    """
    for runner in runners:
        if runner.leaf.requests.get(resource, 0):
            continue
        key = runner.gang.key
        units = [
            step.emptied[key, id(node), rule]
            for node in tree_nodes(runner.gang.tree)
            if runner.leaf in pod_sets(node) and _size(step, key, node, resource)
        ]
        step.cp.add_bool_or([~step.gone[runner.key, rule], ~chosen, *units])


# --- reclaim --------------------------------------------------------------------


def _add_reclaim(step: Step, queue: str) -> None:
    """
    Ensure running - T + min(L, T) > F of one resource where T leaves a queue.

    Or more than the quota, for guaranteed starts.
    T is all that is reclaimed from a leaf queue, and what leaves an inner one: what is
    reclaimed less what entitled starts ask for within, at most what they do without.
    """
    below = [x for x in step.runners if queue in step.before.gangs[x.gang.key].path]
    gone = [step.gone[runner.key, RECLAIM] for runner in below]
    if not gone:
        return
    inner = any(x.parent == queue for x in step.before.snapshot.queues)
    takes = {
        name: _taken(step, queue, below, name, inner=inner)
        for name in step.before.named
    }
    touched = step.cp.new_bool_var("")
    for var in [] if inner else gone:
        step.cp.add_implication(var, touched)
    chosen = []
    for name, taken in takes.items():
        if inner:
            step.cp.add(taken == 0).only_enforce_if(~touched)
        choice = step.cp.new_bool_var("")
        chosen.append(choice)
        largest = _largest(step, below, RECLAIM, name)
        last = step.cp.new_int_var(0, step.most, "")
        step.cp.add_min_equality(last, [largest, taken])
        _add_excess(step, queue, name, (taken, last), choice)
        asked = _asked(step, name, lambda key: queue not in _path(step, key))
        step.cp.add(asked >= 1).only_enforce_if(choice)
        _add_holding(step, below, RECLAIM, name, choice)
    step.cp.add_bool_or([~touched, *chosen])


def _add_excess(
    step: Step,
    queue: str,
    resource: str,
    loss: tuple[cp_model.IntVar, cp_model.IntVar],
    chosen: cp_model.IntVar,
) -> None:
    """
    Ensure running - T + last > F; or > quota, where T - last is for guaranteed starts.

    T - last < max(0, running - F) + what guaranteed starts elsewhere ask for.
    """
    taken, last = loss
    share = step.small.shares.get(queue, {}).get(resource, 0)
    running = step.before.held.get((queue, resource), 0)
    (record,) = (x for x in step.before.snapshot.queues if x.name == queue)
    quota = record.rule(resource).quota
    sure = step.cp.new_bool_var("")
    step.cp.add(running - taken + last >= share + 1).only_enforce_if(chosen, ~sure)
    if quota is None:
        step.cp.add(sure == 0)
        return
    asked = total(
        term
        for key, counts in step.sure.items()
        if queue not in _path(step, key)
        for term in weighted(counts, step.before.gangs[key].gang, resource)
    )
    excess = max(0, running - share)
    step.cp.add(asked >= 1).only_enforce_if(chosen, sure)
    step.cp.add(running - taken + last >= quota + 1).only_enforce_if(chosen, sure)
    step.cp.add(taken - last + 1 <= excess + asked).only_enforce_if(chosen, sure)
    low = step.cp.new_bool_var("")
    step.low.append(low)
    step.cp.add_implication(low, chosen)
    step.cp.add(taken >= 1).only_enforce_if(low)
    step.cp.add(taken - last >= excess).only_enforce_if(low)


def _path(step: Step, key: str) -> tuple[str, ...]:
    return step.before.gangs[key].path


def _taken(
    step: Step, queue: str, below: list[Runner], resource: str, *, inner: bool
) -> cp_model.IntVar:
    """
    Give T.
    """
    evicted = total(
        runner.leaf.requests.get(resource, 0) * step.gone[runner.key, RECLAIM]
        for runner in below
    )
    taken = step.cp.new_int_var(0, step.most, "")
    if not inner:
        step.cp.add(taken == evicted)
        return taken
    within = _asked(step, resource, lambda key: queue in _path(step, key))
    without = _asked(
        step,
        resource,
        lambda key: queue not in _path(step, key) and _is_weighed(step, key),
    )
    beyond = step.cp.new_int_var(0, step.most, "")
    step.cp.add_max_equality(beyond, [0, evicted - within])
    step.cp.add_min_equality(taken, [beyond, without])
    return taken


def _is_weighed(step: Step, key: str) -> bool:
    """
    Tell whether a start was there when others left for those who are entitled.
    """
    return step.stage is Stage.ENTITLED or key in step.frozen.reserved


def _asked(
    step: Step, resource: str, where: Callable[[str], bool]
) -> cp_model.LinearExpr:
    """
    Give what entitled starts ask for.
    """
    return total(
        term
        for key, counts in step.charged.items()
        if where(key)
        for term in weighted(counts, step.before.gangs[key].gang, resource)
    )


# --- preempt --------------------------------------------------------------------


def _add_preempt(step: Step, queue: str) -> None:
    """
    Ensure that higher bands of a queue start more than leaves below, less one unit.

    What earlier steps decided was weighed there.
    """
    here = [x for x in step.runners if step.queue(x.gang.key) == queue]
    mine = [x for x in here if x.key not in step.frozen.departures]
    chosen = []
    for name in sorted({name for runner in mine for name in runner.leaf.requests}):
        choice = step.cp.new_bool_var("")
        chosen.append(choice)
        _add_holding(step, mine, PREEMPT, name, choice)
        for level in sorted({step.level(runner.gang) for runner in mine}):
            _add_band(step, queue, mine, name, level, choice)
    for runner in mine:
        step.cp.add_bool_or([~step.gone[runner.key, PREEMPT], *chosen])


def _add_band(
    step: Step,
    queue: str,
    mine: list[Runner],
    resource: str,
    level: int,
    chosen: cp_model.IntVar,
) -> None:
    """
    Ensure that of one band and higher less leaves than starts above, less one unit.

    Only where some pod of the very band leaves: else the next higher one says it.
    """
    high = [runner for runner in mine if step.level(runner.gang) >= level]
    leaves = total(
        runner.leaf.requests.get(resource, 0) * step.gone[runner.key, PREEMPT]
        for runner in high
    )
    starts = total(
        term
        for key in step.beneficiaries()
        if step.queue(key) == queue and step.start_level(key) > level
        for term in _asked_here(step, key, resource)
    )
    _add_no_profit(step, queue, high, level)
    largest = _largest(step, high, PREEMPT, resource)
    for runner in high:
        if step.level(runner.gang) == level:
            step.cp.add(leaves - largest + 1 <= starts).only_enforce_if(
                step.gone[runner.key, PREEMPT], chosen
            )


def _asked_here(step: Step, key: str, resource: str) -> list[Term]:
    """
    List what a start asks for; in the second step nothing where it is entitled.
    """
    gang = step.before.gangs[key].gang
    terms = weighted(step.needs[key], gang, resource)
    if step.stage is Stage.BORROWING:
        terms += [-1 * term for term in weighted(step.charged[key], gang, resource)]
    return terms


def _add_no_profit(step: Step, queue: str, high: list[Runner], level: int) -> None:
    """
    Ensure that where a band loses something, it and lower ones start nothing new.
    """
    low = [
        key
        for key in step.beneficiaries()
        if step.queue(key) == queue and step.start_level(key) <= level
    ]
    lost = [
        step.gone[runner.key, PREEMPT]
        for runner in high
        if step.level(runner.gang) == level
    ]
    for key in low if step.stage is not Stage.IDLE else ():
        parts = [~step.small.starts[key]]
        if step.stage is Stage.BORROWING:
            parts.append(step.small.entitled[key])
        for gone in lost:
            step.cp.add_bool_or([~gone, *parts])
