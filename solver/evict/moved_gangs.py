"""
Movers: running gangs, and spare pods, seen as gangs that need a new place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.gangs import Gang, Pod, PodSet, leaf_of, where_moved
from solver.evict.victims import Account, Victims
from solver.problem.gang_state import Leaf, Standing, TreeNode, standing
from solver.problem.problem import Unit
from solver.problem.running_gangs import Runner

NO_BAND = -1
_MARK = "*"


@dataclass(frozen=True, slots=True)
class Mover:
    """
    Gangs of one kind that may be moved, of an account or a single wide gang.

    ``single`` are spare pods that move alone.
    """

    unit: Unit
    number: int
    account: int
    wide: int = -1
    single: bool = False

    @property
    def state(self) -> Standing:
        """
        What needs a place, with all its pods pending.
        """
        return self.unit.states[0]


def movers_of(victims: Victims) -> list[Mover]:
    """
    List what may be moved.
    """
    numbers = victims.numbers()
    found = []
    for at, account in enumerate(victims.accounts):
        if not account.rights.move or at not in numbers:
            continue
        if account.wide < 0:
            unit = _unit(account.sample.gang, account.sample.pods, f"{at}")
            found.append(Mover(unit, numbers[at], at))
            continue
        state = victims.wide[account.wide].state
        if state is not None and may_move_singly(state):
            unit = _single(account, f"{at}")
            found.append(Mover(unit, numbers[at], at, single=True))
    for at, wide in enumerate(victims.wide):
        if wide.rights.move:
            unit = _unit(wide.gang, wide.pods, f"w{at}")
            found.append(Mover(unit, 1, wide.accounts[0], at))
    return found


def may_move_singly(state: Standing) -> bool:
    """
    Tell whether a spare pod of a gang may move alone: no topology, no exclusive hosts.
    """
    return all(node.topology is None for node in state.nodes) and not any(
        leaf.pod_set.exclusive for leaf in state.leaves
    )


def _unit(gang: Gang, pods: Sequence[Runner], name: str) -> Unit:
    """
    See all running pods of a gang as pods that must be placed together.
    """
    other = replace(gang, name=f"{gang.name}{_MARK}{name}", mates=())
    state = standing(other)
    below: dict[int, list[Pod]] = {}
    for leaf, pod in pods:
        below.setdefault(leaf, []).append(pod)
    leaves = tuple(
        Leaf(
            path=leaf.path,
            pod_set=where_moved(leaf.pod_set),
            minimum=len(below.get(i, ())),
            counted=0,
            pending=tuple(below.get(i, ())),
            running=(),
            after=(),
        )
        for i, leaf in enumerate(state.leaves)
    )
    if len(state.nodes) > 1:
        return _unit_of_tree(state, leaves)
    nodes = (replace(state.nodes[0], counted=0, satisfied=False),)
    return Unit(
        states=(Standing(gang=other, nodes=nodes, leaves=leaves),),
        starts=True,
        band=NO_BAND,
    )


def _unit_of_tree(state: Standing, leaves: tuple[Leaf, ...]) -> Unit:
    """
    Keep the parts of a tree that have pods, all of them needed.
    """
    kept = [i for i, leaf in enumerate(leaves) if leaf.pending]
    new_leaf = {i: at for at, i in enumerate(kept)}
    alive = [
        t
        for t, node in enumerate(state.nodes)
        if any(i in new_leaf for i in node.leaves)
    ]
    new_node = {t: at for at, t in enumerate(alive)}
    nodes = []
    for t in alive:
        node = state.nodes[t]
        children = tuple(new_node[c] for c in node.children if c in new_node)
        nodes.append(
            TreeNode(
                path=node.path,
                parent=new_node.get(node.parent, -1),
                children=children,
                leaf=new_leaf.get(node.leaf, -1),
                leaves=tuple(new_leaf[i] for i in node.leaves if i in new_leaf),
                min_groups=len(children),
                min_pods=0,
                counted=0,
                satisfied=False,
                topology=node.topology,
            )
        )
    some = tuple(leaves[i] for i in kept)
    return Unit(
        states=(Standing(gang=state.gang, nodes=tuple(nodes), leaves=some),),
        starts=True,
        band=NO_BAND,
    )


def _single(account: Account, name: str) -> Unit:
    """
    See one spare pod as a gang of one.
    """
    gang = account.sample.gang
    pod_set = leaf_of(gang, account.leaf)
    alone: PodSet = replace(
        pod_set, minimum=1, replicas=1, pods=account.sample.pods[0][1:], after=()
    )
    other = replace(gang, name=f"{gang.name}{_MARK}{name}", mates=(), tree=alone)
    return _unit(other, ((0, account.sample.pods[0][1]),), "")


def with_pods(mover: Mover, pods: Sequence[Runner], name: str) -> Unit:
    """
    Give the unit of one victim that a mover stands for.
    """
    order = sorted({leaf for leaf, _ in pods})
    parts = [[pod for leaf, pod in pods if leaf == at] for at in order]
    return replace(mover.unit, states=(_named(mover.state, name, parts),))


def _named(state: Standing, name: str, parts: Sequence[Sequence[Pod]]) -> Standing:
    leaves = tuple(
        replace(leaf, pending=tuple(pods))
        for leaf, pods in zip(state.leaves, parts, strict=True)
    )
    return Standing(
        gang=replace(state.gang, name=f"{state.gang.name}{_MARK}{name}"),
        nodes=state.nodes,
        leaves=leaves,
    )
