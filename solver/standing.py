"""
Where a gang stands: which of its pods count, what it still needs, and the least cost.

A gang's tree is flattened into nodes in pre-order, so that every later step walks a
list instead of recursing.  Nothing here knows of nodes, queues or capacity.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from models.gangs import Gang, Group, MatchPolicy, Pod, PodPhase, PodSet, Tree
from models.topology import TopologyDemand

IMPOSSIBLE: Final = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """
    One node of a gang's tree: its minimums, and what counts below it today.

    ``leaf`` is the index into ``Standing.leaves`` or -1; ``satisfied`` is today's
    state; ``live`` says whether it counts towards its parent's minimum today.
    """

    path: str
    parent: int
    children: tuple[int, ...]
    leaf: int
    leaves: tuple[int, ...]
    min_groups: int
    min_pods: int
    counted: int
    satisfied: bool
    topology: TopologyDemand | None

    @property
    def live(self) -> bool:
        """
        Satisfied, and holding a counted pod.
        """
        return self.satisfied and self.counted > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """
    A leaf with the pods that may be bound now and the pods that run.
    """

    path: str
    pod_set: PodSet
    minimum: int
    counted: int
    pending: tuple[Pod, ...]
    running: tuple[Pod, ...]
    after: tuple[int, ...]

    @property
    def need(self) -> int:
        """
        How many more counted pods reach the minimum.
        """
        return max(0, self.minimum - self.counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    A gang as scheduling sees it today.
    """

    gang: Gang
    nodes: tuple[TreeNode, ...]
    leaves: tuple[Leaf, ...]

    @property
    def key(self) -> str:
        """
        The gang's name.
        """
        return self.gang.key

    @property
    def satisfied(self) -> bool:
        """
        Whether the root is satisfied today, so that pending pods are surplus.
        """
        return self.nodes[0].satisfied

    @property
    def num_pending(self) -> int:
        """
        How many pods may be bound now.
        """
        return sum(len(leaf.pending) for leaf in self.leaves)

    @property
    def rigid(self) -> bool:
        """
        Whether every leaf is needed, so that nothing is left to choose in the tree.
        """
        if self.satisfied:
            return all(leaf.need == 0 for leaf in self.leaves) and self._settled
        return (
            all(
                node.leaf >= 0
                or (
                    node.min_groups == len(node.children)
                    and node.min_pods
                    <= node.counted + sum(self.leaves[i].need for i in node.leaves)
                )
                for node in self.nodes
            )
            and all(leaf.minimum > 0 for leaf in self.leaves)
            and any(leaf.need for leaf in self.leaves)
        )

    @property
    def _settled(self) -> bool:
        return all(node.satisfied for node in self.nodes)


def is_complete(gang: Gang) -> bool:
    """
    Tell cheaply that a gang of one leaf runs whole, so that nothing is to be decided.
    """
    tree = gang.tree
    return (
        isinstance(tree, PodSet)
        and not gang.mates
        and 0 < tree.minimum <= len(tree.pods) == tree.replicas
        and gang.match_policy != "only-waiting"
        and all(pod.phase is PodPhase.RUNNING for pod in tree.pods)
    )


def standing(gang: Gang) -> Standing:
    """
    Flatten a gang and count what counts under its match policy.
    """
    flat: list[tuple[Tree, str, int]] = []
    _flatten(gang.tree, "", -1, flat)
    ordinary = _is_ordinary(gang)
    leaves, index = _leaves(gang, flat, ordinary=ordinary)
    nodes = _nodes(flat, leaves, index, ordinary=ordinary)
    return Standing(gang=gang, nodes=nodes, leaves=leaves)


def _flatten(
    tree: Tree, path: str, parent: int, flat: list[tuple[Tree, str, int]]
) -> None:
    here = len(flat)
    flat.append((tree, path, parent))
    if isinstance(tree, Group):
        for child in tree.children:
            below = f"{path}/{child.name}" if path else child.name
            _flatten(child, below, here, flat)


def _is_ordinary(gang: Gang) -> bool:
    if gang.match_policy is not MatchPolicy.ONCE_SATISFIED:
        return False
    if gang.once_satisfied:
        return True
    flat: list[tuple[Tree, str, int]] = []
    _flatten(gang.tree, "", -1, flat)
    leaves, index = _leaves(gang, flat, ordinary=False)
    return _nodes(flat, leaves, index, ordinary=False)[0].live


_COUNTED: dict[MatchPolicy, frozenset[PodPhase]] = {
    MatchPolicy.ONLY_WAITING: frozenset(),
    MatchPolicy.WAITING_AND_RUNNING: frozenset({PodPhase.RUNNING}),
    MatchPolicy.WAITING_RUNNING_SUCCEED: frozenset(
        {PodPhase.RUNNING, PodPhase.SUCCEEDED}
    ),
    MatchPolicy.ONCE_SATISFIED: frozenset({PodPhase.RUNNING, PodPhase.SUCCEEDED}),
}


def _leaves(
    gang: Gang, flat: list[tuple[Tree, str, int]], *, ordinary: bool
) -> tuple[tuple[Leaf, ...], dict[int, int]]:
    names = {}
    index: dict[int, int] = {}
    for at, (tree, _, _) in enumerate(flat):
        if isinstance(tree, PodSet):
            names[tree.name] = index[at] = len(index)
    counts = _COUNTED[gang.match_policy]
    leaves = []
    for at in index:
        tree, path, _ = flat[at]
        assert isinstance(tree, PodSet)
        leaves.append(
            Leaf(
                path=path,
                pod_set=tree,
                minimum=0 if ordinary else tree.minimum,
                counted=sum(pod.phase in counts for pod in tree.pods),
                pending=tuple(p for p in tree.pods if p.phase is PodPhase.PENDING),
                running=tuple(p for p in tree.pods if p.phase is PodPhase.RUNNING),
                after=() if ordinary else tuple(names[n] for n in tree.after),
            )
        )
    return tuple(leaves), index


def _nodes(
    flat: list[tuple[Tree, str, int]],
    leaves: tuple[Leaf, ...],
    index: dict[int, int],
    *,
    ordinary: bool,
) -> tuple[TreeNode, ...]:
    children: list[list[int]] = [[] for _ in flat]
    for at, (_, _, parent) in enumerate(flat):
        if parent >= 0:
            children[parent].append(at)
    nodes: list[TreeNode | None] = [None] * len(flat)
    for at in reversed(range(len(flat))):
        tree, path, parent = flat[at]
        if isinstance(tree, PodSet):
            leaf = leaves[index[at]]
            below: tuple[int, ...] = (index[at],)
            satisfied = leaf.need == 0
            groups = pods = 0
        else:
            kids = [node for c in children[at] if (node := nodes[c]) is not None]
            below = tuple(sorted(i for kid in kids for i in kid.leaves))
            groups = 0 if ordinary else tree.min_groups
            pods = 0 if ordinary else tree.min_pods
            satisfied = (
                sum(kid.live for kid in kids) >= groups
                and sum(leaves[i].counted for i in below) >= pods
            )
        nodes[at] = TreeNode(
            path=path,
            parent=parent,
            children=tuple(children[at]),
            leaf=index.get(at, -1),
            leaves=below,
            min_groups=groups,
            min_pods=pods,
            counted=sum(leaves[i].counted for i in below),
            satisfied=satisfied,
            topology=tree.topology,
        )
    return tuple(node for node in nodes if node is not None)


def satisfied_after(state: Standing, added: dict[int, int]) -> list[bool]:
    """
    Say for each tree node whether it is satisfied once pods are added to leaves.
    """
    result = [False] * len(state.nodes)
    live = [False] * len(state.nodes)
    for at in reversed(range(len(state.nodes))):
        node = state.nodes[at]
        counted = node.counted + sum(added.get(i, 0) for i in node.leaves)
        if node.leaf >= 0:
            result[at] = counted >= state.leaves[node.leaf].minimum
        else:
            enough = sum(live[c] for c in node.children) >= node.min_groups
            result[at] = enough and counted >= node.min_pods
        live[at] = result[at] and counted > 0
    return result


def least_need(
    state: Standing,
    cost: Callable[[int], int],
    available: Callable[[int], int] | None = None,
) -> int | None:
    """
    Give the least cost of the pods that satisfy the root; none when impossible.

    Parameters
    ----------
    state
        The gang.
    cost
        Cost of one pod of a leaf, by leaf index.
    available
        How many pods of a leaf may be used; all pending ones if unsaid.
    """
    if state.satisfied:
        return 0
    have = available or (lambda i: len(state.leaves[i].pending))
    targets = sorted({t for leaf in state.leaves for t in leaf.after})
    open_targets = [t for t in targets if state.leaves[t].need > 0]
    best: int | None = None
    for choice in product((True, False), repeat=min(len(open_targets), 10)):
        reached = dict(zip(open_targets, choice, strict=False))
        value = _Least(state, cost, have, reached).root()
        if value is not None and (best is None or value < best):
            best = value
    return best


_Options = dict[int, int]


class _Least:
    """
    Dynamic programme over (pods added below a node) for one choice of reached roles.
    """

    def __init__(
        self,
        state: Standing,
        cost: Callable[[int], int],
        have: Callable[[int], int],
        reached: dict[int, bool],
    ) -> None:
        self.state = state
        self.cost = cost
        self.have = have
        self.reached = reached

    def root(self) -> int | None:
        """
        Give the least cost of a satisfied root under this choice.
        """
        options = self._active(0, self._cap(0, 0))
        return min(options.values(), default=None)

    def _cap(self, at: int, above: int) -> int:
        return max(above, self._least(self.state.nodes[at]))

    @staticmethod
    def _least(node: TreeNode) -> int:
        """
        Pods below a node that must be added: its minimum, and one to count at all.
        """
        return max(node.min_pods - node.counted, 0 if node.counted else 1)

    def _active(self, at: int, cap: int) -> _Options:
        """
        Options in which the node is satisfied and counts; pods beyond ``cap`` merge.
        """
        node = self.state.nodes[at]
        if node.leaf >= 0:
            return self._leaf(node.leaf, cap)
        table: dict[tuple[int, int], int] = {(0, 0): 0}
        for child in node.children:
            table = self._with_child(table, child, self._cap(child, cap), node, cap)
        return _merge(
            (pods, cost)
            for (groups, pods), cost in table.items()
            if groups >= node.min_groups and pods >= self._least(node)
        )

    def _with_child(
        self,
        table: dict[tuple[int, int], int],
        child: int,
        child_cap: int,
        node: TreeNode,
        cap: int,
    ) -> dict[tuple[int, int], int]:
        active = self._active(child, child_cap)
        steps = [(1, pods, cost) for pods, cost in active.items()]
        if not self._is_forced(child):
            idle = 1 if self.state.nodes[child].live else 0
            steps.append((idle, 0, 0))
        result: dict[tuple[int, int], int] = {}
        for (groups, pods), cost in table.items():
            for more, extra, price in steps:
                key = (min(groups + more, node.min_groups), min(pods + extra, cap))
                total = cost + price
                if total < result.get(key, total + 1):
                    result[key] = total
        return result

    def _is_forced(self, at: int) -> bool:
        return any(self.reached.get(i, False) for i in self.state.nodes[at].leaves)

    def _leaf(self, i: int, cap: int) -> _Options:
        leaf = self.state.leaves[i]
        least = max(leaf.need, 1 if leaf.counted == 0 else 0)
        if i in self.reached and not self.reached[i]:
            return {}
        if any(not self.reached.get(t, True) for t in leaf.after) and least > 0:
            return {}
        most = min(self.have(i), max(least, cap))
        if any(not self.reached.get(t, True) for t in leaf.after):
            most = 0
        return _merge((min(n, cap), n * self.cost(i)) for n in range(least, most + 1))


def _merge(options: Iterator[tuple[int, int]]) -> _Options:
    result: _Options = {}
    for pods, cost in options:
        if cost < result.get(pods, cost + 1):
            result[pods] = cost
    return result
