"""
Who may leave in the small model: protected pods, units, and moves with their places.
"""

from collections.abc import Iterator, Mapping

from exact.evictions.step import (
    CONSOLIDATE,
    LEND,
    PREEMPT,
    RECLAIM,
    RULES,
    Runner,
    Stage,
    Step,
    total,
)
from exact.facts import COUNTED, GangFacts, bounding
from exact.model import Where, domain_of
from exact.trees import satisfied, tree_nodes
from models.gangs import Gang, PodPhase, PodSet, Tree, pod_sets
from solver.effort.cp_sat import cp_model

Left = Mapping[str, cp_model.LinearExpr]


def add_leaving(step: Step) -> None:
    """
    Ensure that only what may leave does, in units that leave nothing half alive.
    """
    for runner in step.runners:
        for rule in RULES:
            step.gone[runner.key, rule] = step.cp.new_bool_var("")
            _add_permission(step, runner, rule)
        step.cp.add(step.leaves(runner) <= 1)
    for key, fact in step.before.gangs.items():
        mine = [runner for runner in step.runners if runner.gang.key == key]
        if mine:
            moved = step.cp.new_bool_var("")
            _add_units(step, fact, mine)
            _add_whole(step, fact, mine, moved)
            _add_new_places(step, fact, mine)
            for start in [step.small.starts[key]] if key in step.small.starts else []:
                for runner in mine:
                    step.cp.add(step.leaves(runner) + start <= 1)
            if not fact.needy and not fact.ordinary:
                _add_mates(step, fact, mine)


# --- who is protected -----------------------------------------------------------


def _add_permission(step: Step, runner: Runner, rule: str) -> None:
    """
    Ensure that what was frozen leaves, and nothing else that is protected.

    A gang from which somebody left in an earlier step loses nothing more.
    """
    var = step.gone[runner.key, rule]
    if any(runner_key in step.frozen.departures for runner_key in _keys(runner.gang)):
        frozen = step.frozen.departures.get(runner.key) == rule
        step.cp.add(var == int(frozen))
    elif not step.evicts or not _may_leave(step, runner, rule):
        step.cp.add(var == 0)


def _keys(gang: Gang) -> Iterator[str]:
    for leaf in pod_sets(gang.tree):
        for pod in leaf.pods:
            yield f"{gang.namespace}/{pod.name}"


def _may_leave(step: Step, runner: Runner, rule: str) -> bool:
    evict = step.policy.evict
    switched_on = {
        RECLAIM: evict.reclaim and step.stage is Stage.ENTITLED,
        PREEMPT: evict.preempt,
        CONSOLIDATE: evict.consolidate,
        LEND: False,  # the model knows no heads: a plan says who leaves for one
    }
    ago = runner.gang.evicted_ago
    return (
        switched_on[rule]
        and runner.gang.preemptible
        and not (ago is not None and ago < evict.again)
        and (rule != CONSOLIDATE or _may_move(step, runner))
        and (rule != RECLAIM or _has_share(step, runner.gang))
        and runner.pod.seconds >= _least_runtime(step, runner.gang, rule)
    )


def _has_share(step: Step, gang: Gang) -> bool:
    """
    Tell whether a gang's queue is there: of one that is missing nothing is reclaimed.
    """
    return any(queue.name == gang.queue for queue in step.before.snapshot.queues)


def _may_move(step: Step, runner: Runner) -> bool:
    """
    Tell whether a gang may get new places: also none where its queue has too much.
    """
    fact = step.before.gangs[runner.gang.key]
    asked = {r for leaf in pod_sets(fact.gang.tree) for r in leaf.requests}
    return fact.plannable and not any(
        (limit := queue.rule(resource).limit) is not None
        and step.before.held.get((queue.name, resource), 0) > limit
        for queue in bounding(step.before.snapshot)
        if queue.name in fact.bounding
        for resource in asked & set(step.before.named)
    )


def _least_runtime(step: Step, gang: Gang, rule: str) -> int:
    """
    Give the longest min runtime of a queue's path; of both for moves.
    """
    path = step.before.gangs[gang.key].path
    queues = [queue for queue in step.before.snapshot.queues if queue.name in path]
    by_rule = {
        RECLAIM: [queue.reclaim_min_runtime for queue in queues],
        PREEMPT: [queue.preempt_min_runtime for queue in queues],
    }
    either = by_rule[RECLAIM] + by_rule[PREEMPT]
    return max(by_rule.get(rule, either), default=0)


# --- units ----------------------------------------------------------------------


def _add_units(step: Step, fact: GangFacts, mine: list[Runner]) -> None:
    """
    Ensure that live tree nodes stay satisfied, or lose all their running pods at once.

    ``step.emptied`` says that all running pods below a tree node leave by one rule.
    """
    left = _counted_after(step, fact, mine, moved=False)
    for node in tree_nodes(fact.gang.tree):
        below = _below(node, mine)
        for rule in (RECLAIM, PREEMPT) if below else ():
            all_gone = step.cp.new_bool_var("")
            step.emptied[fact.gang.key, id(node), rule] = all_gone
            for runner in below:
                step.cp.add_implication(all_gone, step.gone[runner.key, rule])
    if fact.needy or fact.ordinary:
        return
    for leaf in pod_sets(fact.gang.tree):
        for first in pod_sets(fact.gang.tree):
            if first.name in leaf.after and satisfied(first, fact.counted):
                _add_role(step, first, _below(leaf, mine), left)


def _counted_after(
    step: Step, fact: GangFacts, mine: list[Runner], *, moved: bool = True
) -> Left:
    """
    Count what is left of each leaf, of pods that count; ``moved`` ones leave, too.
    """
    counts = PodPhase.RUNNING in COUNTED[fact.gang.match_policy]
    return {
        leaf.name: total(
            [
                fact.counted[leaf.name],
                *(
                    -(step.leaves(x) if moved else step.evicted(x))
                    for x in mine
                    if counts and x.leaf.name == leaf.name
                ),
            ]
        )
        for leaf in pod_sets(fact.gang.tree)
    }


def _below(node: Tree, runners: list[Runner]) -> list[Runner]:
    names = {leaf.name for leaf in pod_sets(node)}
    return [runner for runner in runners if runner.leaf.name in names]


def _add_role(step: Step, first: PodSet, later: list[Runner], left: Left) -> None:
    """
    Ensure that a role keeps its minimum while pods run that come after it.
    """
    stays = step.cp.new_bool_var("")
    step.cp.add(left[first.name] >= first.minimum).only_enforce_if(stays)
    for runner in later:
        step.cp.add(step.evicted(runner) == 1).only_enforce_if(~stays)


def _add_mates(step: Step, fact: GangFacts, mine: list[Runner]) -> None:
    """
    Ensure that no other of its group starts where a satisfied gang is evicted.

    The list of who starts holds; that of who leaves may name gangs that know nothing.
    """
    left = _counted_after(step, fact, mine, moved=False)
    for key, start in step.small.starts.items():
        if fact.gang.key in step.before.gangs[key].gang.mates:
            okay = _holds(step, fact.gang.tree, left)
            step.cp.add_implication(start, okay)


def _add_whole(
    step: Step, fact: GangFacts, mine: list[Runner], moved: cp_model.IntVar
) -> None:
    """
    Ensure that what can only go together goes by one rule, or is moved with its gang.
    """
    left = _counted_after(step, fact, mine)
    for runner in mine:
        step.cp.add_implication(moved, step.gone[runner.key, CONSOLIDATE])
        if fact.needy or not _is_loose(fact.gang):
            step.cp.add_implication(step.gone[runner.key, CONSOLIDATE], moved)
    if fact.needy:
        step.cp.add(moved == 0)
    for node in tree_nodes(fact.gang.tree) if not fact.ordinary else ():
        below = _below(node, mine)
        live = satisfied(node, fact.counted) and any(
            fact.counted[leaf.name] for leaf in pod_sets(node)
        )
        root = node is fact.gang.tree
        if below and (live or (root and fact.needy)):
            keys = [(fact.gang.key, id(node), rule) for rule in (RECLAIM, PREEMPT)]
            stays = (
                _whole_or_not(step, below) if fact.needy else _holds(step, node, left)
            )
            step.cp.add_bool_or([stays, moved, *(step.emptied[key] for key in keys)])


def _is_loose(gang: Gang) -> bool:
    """
    Tell whether single pods of a gang may be moved.
    """
    return all(
        node.topology is None and not (isinstance(node, PodSet) and node.exclusive)
        for node in tree_nodes(gang.tree)
    )


def _whole_or_not(step: Step, below: list[Runner]) -> cp_model.IntVar:
    """
    Give a literal that implies that none of the pods leaves.
    """
    stay = step.cp.new_bool_var("")
    for runner in below:
        step.cp.add(step.leaves(runner) == 0).only_enforce_if(stay)
    return stay


def _holds(step: Step, tree: Tree, left: Left) -> cp_model.IntVar:
    """
    Give a literal that implies that what is left satisfies a tree node.
    """
    okay = step.cp.new_bool_var("")
    if isinstance(tree, PodSet):
        step.cp.add(left[tree.name] >= tree.minimum).only_enforce_if(okay)
        return okay
    counting = []
    for child in tree.children:
        counts = step.cp.new_bool_var("")
        step.cp.add_implication(counts, _holds(step, child, left))
        there = total(left[leaf.name] for leaf in pod_sets(child))
        step.cp.add(there >= 1).only_enforce_if(counts)
        counting.append(counts)
    pods = total(left[leaf.name] for leaf in pod_sets(tree))
    step.cp.add(total(counting) >= tree.min_groups).only_enforce_if(okay)
    step.cp.add(pods >= tree.min_pods).only_enforce_if(okay)
    return okay


# --- moves ----------------------------------------------------------------------


def _add_new_places(step: Step, fact: GangFacts, mine: list[Runner]) -> None:
    """
    Ensure that every moved pod has a new place where its gang's pods may be together.
    """
    for leaf in pod_sets(fact.gang.tree):
        moved = [x for x in mine if x.leaf.name == leaf.name]
        here = []
        for node in step.before.snapshot.nodes:
            place = fact.gang.key, leaf.name, node.name
            if moved and leaf.demand.allows(node):
                step.targets[place] = step.cp.new_int_var(0, len(moved), "")
                here.append(step.targets[place])
        gone = [step.gone[runner.key, CONSOLIDATE] for runner in moved]
        step.cp.add(total(here) == total(gone))
    for place, number in step.frozen.targets.items():
        if place[0] == fact.gang.key:
            step.cp.add(step.targets[place] == number)
    for tree in tree_nodes(fact.gang.tree):
        if tree.topology is not None and tree.topology.required is not None:
            _add_one_domain(step, fact.gang, tree, tree.topology.required)
    _add_alone(step, fact.gang)


def _targets_on(step: Step, gang: Gang, tree: Tree, node: str) -> list[cp_model.IntVar]:
    places = [(gang.key, leaf.name, node) for leaf in pod_sets(tree)]
    return [step.targets[place] for place in places if place in step.targets]


def _add_one_domain(step: Step, gang: Gang, tree: Tree, level: str) -> None:
    """
    Ensure that moved pods below a tree node are in one domain.
    """
    small = step.small
    by_domain: dict[Where, list[cp_model.IntVar]] = {}
    for node in step.before.snapshot.nodes:
        where = domain_of(small, tree, level, node)
        by_domain.setdefault(where, []).extend(_targets_on(step, gang, tree, node.name))
    chosen = []
    for where, pods in by_domain.items():
        here = step.cp.new_bool_var("")
        step.cp.add(total(pods) == 0).only_enforce_if(~here)
        if where is None:
            step.cp.add(here == 0)
        chosen.append(here)
    step.cp.add_at_most_one(chosen)


def _add_alone(step: Step, gang: Gang) -> None:
    """
    Ensure that a moved exclusive pod has no other of its gang on its host.
    """
    alone = [leaf for leaf in pod_sets(gang.tree) if leaf.exclusive]
    for node in step.before.snapshot.nodes if alone else ():
        guarded = step.cp.new_bool_var("")
        everybody = _targets_on(step, gang, gang.tree, node.name)
        for leaf in alone:
            guards = _targets_on(step, gang, leaf, node.name)
            step.cp.add(total(guards) == 0).only_enforce_if(~guarded)
        step.cp.add(total(everybody) <= 1).only_enforce_if(guarded)
