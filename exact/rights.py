"""
The rights to evict in the small model: reclaim, preempt, for whom, and the memory.
"""

from collections.abc import Callable, Iterable

from ortools.sat.python import cp_model

from exact.cores import core
from exact.model import could_start
from exact.step import (
    CONSOLIDATE,
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
from exact.trees import tree_nodes
from models.gangs import PodSet, Tree, pod_sets


def add_rights(step: Step) -> None:
    """
    Ensure that every unit leaves by a right that the starts of the plan give.
    """
    _add_beneficiaries(step)
    for queue in step.before.snapshot.queues:
        _add_reclaim(step, queue.name)
    for name in sorted({step.queue(runner.gang.key) for runner in step.runners}):
        _add_preempt(step, name)
    if step.stage is Stage.ENTITLED:
        _add_memory(step)


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
    return {RECLAIM: not same, PREEMPT: same and above, CONSOLIDATE: True}[rule]


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
        share = step.small.shares.get(queue, {}).get(name, 0)
        running = step.before.held.get((queue, name), 0)
        step.cp.add(running - taken + last >= share + 1).only_enforce_if(choice)
        asked = _asked(step, name, lambda key: queue not in _path(step, key))
        step.cp.add(asked >= 1).only_enforce_if(choice)
        _add_holding(step, below, RECLAIM, name, choice)
    step.cp.add_bool_or([~touched, *chosen])


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


# --- memory ---------------------------------------------------------------------


def _add_memory(step: Step) -> None:
    """
    Ensure that starts fit their share beside gangs that were evicted before.
    """
    for queue in step.before.snapshot.queues:
        waits = [
            key
            for key in step.small.starts
            if queue.name in _path(step, key)
            and step.remembers(step.before.gangs[key].gang)
            and could_start(step.before, key)
        ]
        for name in step.before.named if waits else ():
            _add_remembered(step, queue.name, name, waits)


def _add_remembered(
    step: Step, queue: str, resource: str, waits: Iterable[str]
) -> None:
    small = step.small
    asked = _asked(step, resource, lambda key: queue in _path(step, key))
    remembered = sum(_least(step, key, resource) for key in waits)
    share = small.shares.get(queue, {}).get(resource, 0)
    room = share - step.before.held.get((queue, resource), 0)
    parents = {x.parent for x in step.before.snapshot.queues}
    gone = total(
        runner.leaf.requests.get(resource, 0) * step.evicted(runner)
        for runner in step.runners
        if queue in parents and queue in _path(step, runner.gang.key)
    )
    for key, start in small.starts.items():
        gang = step.before.gangs[key].gang
        mine = total(weighted(step.charged[key], gang, resource))
        if queue in _path(step, key):
            asks = step.cp.new_bool_var("")
            step.cp.add(mine == 0).only_enforce_if(start, ~asks)
            row = asked + remembered <= room + gone
            step.cp.add(row).only_enforce_if(start, asks)


def _least(step: Step, key: str, resource: str) -> int:
    """
    Give the least of a resource that a gang needs, of pods that empty nodes can hold.
    """
    gang = step.before.gangs[key].gang
    each = [leaf.requests.get(resource, 0) for leaf in pod_sets(gang.tree)]
    most = [_most(step, leaf) for leaf in pod_sets(gang.tree)]
    return min(
        sum(number * amount for number, amount in zip(counts, each, strict=True))
        for counts in step.sets[key]
        if all(number <= room for number, room in zip(counts, most, strict=True))
    )


def _most(step: Step, leaf: PodSet) -> int:
    """
    Count the pods of a leaf that all nodes together hold when empty.
    """
    found = 0
    for node in step.before.snapshot.nodes:
        if leaf.demand.allows(node):
            empty = [
                max(0, node.allocatable.get(name, 0) - node.used.get(name, 0)) // amount
                for name, amount in leaf.requests.items()
                if amount
            ]
            found += min([len(leaf.pods), *empty])
    return found
