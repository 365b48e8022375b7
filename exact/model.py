"""
The small model's variables and legality: one integer per (leaf, node), plain rows.
"""

from collections import defaultdict
from dataclasses import replace

from exact.devices import add_devices, new_parts
from exact.facts import (
    Facts,
    GangFacts,
    bounding,
    gather,
    leaves_below,
)
from exact.neighbours import add_neighbours
from exact.small_model import Shares, SmallModel
from exact.solved import solved
from exact.trees import TreeRules, tree_nodes
from models.devices.gpu_parts import is_reckoned
from models.gangs import PodPhase, PodSet, Tree, pod_sets
from models.nodes import Node
from models.resources import GPU
from models.topology import Domain
from solver.effort.cp_sat import cp_model

Where = Domain | None


def build(facts: Facts, shares: Shares) -> SmallModel:
    """
    Build the legal plans of a snapshot.
    """
    small = SmallModel(cp=cp_model.CpModel(), facts=facts, shares=shares)
    add_gangs(small)
    add_neighbours(small)
    _add_room(small)
    _add_queue_rules(small)
    _add_entitlement(small)
    return small


def could_start(facts: Facts, key: str) -> bool:
    """
    Tell whether a gang could start if none of our other gangs were there.
    """
    alone = (replace(facts.gangs[key].gang, mates=()),)
    small = build(gather(replace(facts.snapshot, gangs=alone)), {})
    for start in small.starts.values():
        small.cp.add(start == 1)
    return bool(small.starts) and solved(small.cp) is not None


def add_gangs(small: SmallModel) -> None:
    """
    Ensure what every gang and every group of gangs asks of its own pods.
    """
    for key, fact in small.facts.gangs.items():
        if fact.plannable and any(fact.pending.values()):
            _add_gang(small, key, fact)
    _add_groups(small)


def _add_gang(small: SmallModel, key: str, fact: GangFacts) -> None:
    small.placed[key] = {}
    for leaf in pod_sets(fact.gang.tree):
        _add_leaf(small, key, leaf, fact.pending[leaf.name])
    _add_tree(small, key, fact)
    for tree in tree_nodes(fact.gang.tree):
        if tree.topology is not None and tree.topology.required is not None:
            _add_required_domain(small, key, tree, tree.topology.required)
    if any(leaf.exclusive for leaf in pod_sets(fact.gang.tree)):
        _add_exclusive(small, key, fact)


def _add_leaf(small: SmallModel, key: str, leaf: PodSet, most: int) -> None:
    """
    Ensure that a leaf's new pods are pending ones, on nodes that it may use.
    """
    here = []
    for node in small.facts.snapshot.nodes:
        if leaf.demand.allows(node):
            var = small.cp.new_int_var(0, most, "")
            small.binds[key, leaf.name, node.name] = var
            here.append(var)
    placed = small.cp.new_int_var(0, most, "")
    small.cp.add(placed == sum(here))
    small.placed[key][leaf.name] = placed


def _add_tree(small: SmallModel, key: str, fact: GangFacts) -> None:
    """
    Ensure that a gang in need gets pods only when they satisfy its root.
    """
    if fact.ordinary:
        return
    placed = small.placed[key]
    root = TreeRules(model=small.cp, counted=fact.counted, placed=placed).add(
        fact.gang.tree
    )
    if not fact.needy:
        return
    start = small.cp.new_bool_var("")
    small.starts[key] = start
    small.cp.add_implication(start, root)
    small.cp.add(sum(placed.values()) == 0).only_enforce_if(~start)


def domain_of(small: SmallModel, tree: Tree, level: str, node: Node) -> Where:
    """
    Name the domain of a level that a node is in, for a tree node's topology.
    """
    name = "" if tree.topology is None else tree.topology.topology
    for topology in small.facts.snapshot.topologies:
        if topology.name == name:
            return topology.domain(node.labels, level)
    return None


def running_domains(small: SmallModel, tree: Tree, level: str) -> set[Where]:
    """
    Name the domains that running pods below a tree node are in.
    """
    nodes = {node.name: node for node in small.facts.snapshot.nodes}
    return {
        domain_of(small, tree, level, nodes[pod.node])
        for leaf in pod_sets(tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.RUNNING and pod.node in nodes
    }


def new_pods_by_domain(
    small: SmallModel, key: str, tree: Tree, level: str
) -> dict[Where, list[cp_model.IntVar]]:
    """
    Collect the variables of new pods below a tree node, by domain.
    """
    found: dict[Where, list[cp_model.IntVar]] = defaultdict(list)
    for node in small.facts.snapshot.nodes:
        where = domain_of(small, tree, level, node)
        for leaf in leaves_below(tree):
            found[where] += small.pods_on(key, leaf, node.name)
    return found


def _add_required_domain(small: SmallModel, key: str, tree: Tree, level: str) -> None:
    """
    Ensure that pods below a tree node are in one domain, that of running ones first.
    """
    running = running_domains(small, tree, level)
    chosen = []
    for where, pods in new_pods_by_domain(small, key, tree, level).items():
        here = small.cp.new_bool_var("")
        small.cp.add(sum(pods) == 0).only_enforce_if(~here)
        if where is None or running - {where}:
            small.cp.add(here == 0)
        chosen.append(here)
    small.cp.add_at_most_one(chosen)


def _add_exclusive(small: SmallModel, key: str, fact: GangFacts) -> None:
    """
    Ensure that a host with an exclusive pod has no other pod of its gang.
    """
    leaves = list(pod_sets(fact.gang.tree))
    for node in small.facts.snapshot.nodes:
        new = [x for f in leaves for x in small.pods_on(key, f.name, node.name)]
        alone = [f for f in leaves if f.exclusive]
        new_alone = [x for f in alone for x in small.pods_on(key, f.name, node.name)]
        running = sum(_running_on(leaf, node.name) for leaf in leaves)
        if sum(_running_on(leaf, node.name) for leaf in alone):
            small.cp.add(sum(new) == 0)
            continue
        guarded = small.cp.new_bool_var("")
        small.cp.add(sum(new_alone) == 0).only_enforce_if(~guarded)
        small.cp.add(sum(new) + running <= 1).only_enforce_if(guarded)


def _running_on(leaf: PodSet, node: str) -> int:
    return sum(p.phase is PodPhase.RUNNING and p.node == node for p in leaf.pods)


def _add_groups(small: SmallModel) -> None:
    """
    Ensure that the unsatisfied members of a group start together.
    """
    for key, fact in small.planned():
        for mate in fact.mates:
            small.cp.add(small.starts[key] == small.starts[mate])


def _add_room(small: SmallModel) -> None:
    """
    Ensure that new pods fit into what is free on their node, per resource.
    """
    opened = devices_opened(small)
    for node in small.facts.snapshot.nodes:
        load: dict[str, list[cp_model.LinearExprT]] = defaultdict(list)
        load[GPU] += opened.get(node.name, [])
        for key, fact in small.planned():
            for leaf in pod_sets(fact.gang.tree):
                for var in small.pods_on(key, leaf.name, node.name):
                    for name, amount in leaf.requests.items():
                        if amount > 0 and not is_reckoned(name):
                            load[name].append(amount * var)
        for name, terms in load.items():
            small.cp.add(sum(terms) <= max(0, small.facts.free[node.name].get(name, 0)))
    add_receivers(small)


def devices_opened(small: SmallModel) -> dict[str, list[cp_model.LinearExprT]]:
    """
    Ensure that devices hold the parts of new pods; give those opened, by node.
    """
    pods = new_parts(small.binds, leaves_of(small))
    small.world = add_devices(small.cp, small.facts.snapshot, pods)
    return small.world.opened


def leaves_of(small: SmallModel) -> dict[tuple[str, str], PodSet]:
    """
    Give the leaves of all gangs by their names.
    """
    return {
        (key, leaf.name): leaf
        for key, fact in small.facts.gangs.items()
        for leaf in pod_sets(fact.gang.tree)
    }


def add_receivers(small: SmallModel) -> None:
    """
    Ensure that a node on which nothing is bound is not counted as one that gets a pod.
    """
    for node in small.facts.snapshot.nodes:
        here = [
            var
            for key, fact in small.planned()
            if key not in small.reserved
            for leaf in pod_sets(fact.gang.tree)
            for var in small.pods_on(key, leaf.name, node.name)
        ]
        small.receives[node.name] = small.cp.new_bool_var("")
        small.cp.add(sum(here) == 0).only_enforce_if(~small.receives[node.name])


def _add_queue_rules(small: SmallModel) -> None:
    """
    Ensure limits for all new pods, and quota for non-preemptible ones, on all queues.
    """
    for queue in bounding(small.facts.snapshot):
        for name in small.facts.named:
            rule = queue.rule(name)
            key = queue.name, name
            if rule.limit is not None:
                room = rule.limit - small.facts.held.get(key, 0)
                terms = _demand(small, *key, hard=False)
                small.cp.add(sum(terms) <= max(0, room))
            if rule.quota is not None:
                room = rule.quota - small.facts.held_hard.get(key, 0)
                terms = _demand(small, *key, hard=True)
                small.cp.add(sum(terms) <= max(0, room))


def _demand(
    small: SmallModel, queue: str, resource: str, *, hard: bool
) -> list[cp_model.LinearExprT]:
    return [
        leaf.requests.get(resource, 0) * small.placed[key][leaf.name]
        for key, fact in small.planned()
        if queue in fact.bounding and not (hard and fact.gang.preemptible)
        for leaf in pod_sets(fact.gang.tree)
    ]


def _add_entitlement(small: SmallModel) -> None:
    """
    Ensure that the cores of entitled starts fit into fair share less what runs.

    A core is any part of the pods bound that would satisfy the gang by itself.
    """
    bounded = bool(small.facts.named)
    charges: dict[tuple[str, str], list[cp_model.LinearExprT]] = defaultdict(list)
    for key in small.starts:
        if not bounded:
            small.entitled[key] = small.starts[key]
            continue
        fact = small.facts.gangs[key]
        small.entitled[key] = small.cp.new_bool_var("")
        small.cp.add_implication(small.entitled[key], small.starts[key])
        core = _add_core(small, key, fact)
        for leaf in pod_sets(fact.gang.tree):
            for queue in fact.path:
                for name in small.facts.named:
                    amount = leaf.requests.get(name, 0)
                    charges[queue, name].append(amount * core[leaf.name])
    for (queue, name), terms in charges.items():
        share = small.shares.get(queue, {}).get(name, 0)
        room = max(0, share - small.facts.held.get((queue, name), 0))
        small.cp.add(sum(terms) <= room)
    for key in small.starts:
        for mate in small.facts.gangs[key].mates:
            small.cp.add(small.entitled[key] == small.entitled[mate])


def _add_core(
    small: SmallModel, key: str, fact: GangFacts
) -> dict[str, cp_model.IntVar]:
    """
    Ensure that an entitled gang has a core within the pods bound.
    """
    core = {
        name: small.cp.new_int_var(0, most, "") for name, most in fact.pending.items()
    }
    rules = TreeRules(model=small.cp, counted=fact.counted, placed=core)
    small.cp.add_implication(small.entitled[key], rules.add(fact.gang.tree))
    for name, var in core.items():
        small.cp.add(var <= small.placed[key][name])
    return core
