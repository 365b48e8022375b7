"""
Where a gang stands: which of its pods count, what it still needs, and the least cost.

A gang's tree is flattened into nodes in pre-order, so that every later step walks a
list instead of recursing.  Nothing here knows of nodes, queues or capacity.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from models.gangs import FINISHED, Gang, Group, MatchPolicy, Pod, PodPhase, PodSet, Tree
from models.topology import TopologyDemand
from solver.problem.tree_cost import Need

_MOST_CHOICES = 1024
_MOST_STEPS = 100_000
_ANY_NUMBER = 2**30
_Leaf = tuple[str, int, int, tuple[str, ...]]
_Form = _Leaf | tuple[int, int, tuple["_Form", ...]]


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

    ``need`` is how many more counted pods reach the minimum.
    """

    path: str
    pod_set: PodSet
    minimum: int
    counted: int
    pending: tuple[Pod, ...]
    running: tuple[Pod, ...]
    after: tuple[int, ...]
    need: int = field(init=False)

    def __post_init__(self) -> None:
        """
        Count the need once; it is asked for all the time.
        """
        object.__setattr__(self, "need", max(0, self.minimum - self.counted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    A gang as scheduling sees it today.

    It is ``satisfied`` when its root is, so that pending pods are surplus; ``rigid``
    when every leaf is needed, so that nothing is left to choose in the tree.
    """

    gang: Gang
    nodes: tuple[TreeNode, ...]
    leaves: tuple[Leaf, ...]
    key: str = field(init=False)
    satisfied: bool = field(init=False)
    rigid: bool = field(init=False)

    def __post_init__(self) -> None:
        """
        Write down what is asked for all the time.
        """
        object.__setattr__(self, "key", self.gang.key)
        object.__setattr__(self, "satisfied", self.nodes[0].satisfied)
        object.__setattr__(self, "rigid", self._is_rigid())

    @property
    def num_pending(self) -> int:
        """
        How many pods may be bound now.
        """
        return sum(len(leaf.pending) for leaf in self.leaves)

    def _is_rigid(self) -> bool:
        if self.satisfied:
            settled = all(node.satisfied for node in self.nodes)
            return settled and all(leaf.need == 0 for leaf in self.leaves)
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


def standing(gang: Gang) -> Standing:
    """
    Flatten a gang and count what counts under its match policy.
    """
    flat: list[tuple[Tree, str, int]] = []
    _flatten(gang.tree, "", -1, flat)
    ordinary = _is_ordinary(gang, flat)
    leaves, index = _leaves(gang, flat, ordinary=ordinary)
    nodes = _nodes(flat, leaves, index, ordinary=ordinary)
    return Standing(gang=gang, nodes=nodes, leaves=leaves)


def has_ended(state: Standing) -> bool:
    """
    Tell whether nothing of a gang will come: its pods ended, and it had all, or enough.
    """
    pods = [pod.phase for leaf in state.leaves for pod in leaf.pod_set.pods]
    if any(phase not in FINISHED for phase in pods):
        return False
    if len(pods) >= sum([leaf.pod_set.replicas for leaf in state.leaves]):
        return True
    return PodPhase.SUCCEEDED in pods and state.satisfied


def _flatten(
    tree: Tree, path: str, parent: int, flat: list[tuple[Tree, str, int]]
) -> None:
    here = len(flat)
    flat.append((tree, path, parent))
    if isinstance(tree, Group):
        for child in tree.children:
            below = f"{path}/{child.name}" if path else child.name
            _flatten(child, below, here, flat)


def _is_ordinary(gang: Gang, flat: list[tuple[Tree, str, int]]) -> bool:
    if gang.match_policy is not MatchPolicy.ONCE_SATISFIED:
        return False
    if gang.once_satisfied:
        return True
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
        pods = tree.pods
        leaves.append(
            Leaf(
                path=path,
                pod_set=tree,
                minimum=0 if ordinary else tree.minimum,
                counted=len([p for p in pods if p.phase in counts]),
                pending=tuple([p for p in pods if p.phase is PodPhase.PENDING]),
                running=tuple([p for p in pods if p.phase is PodPhase.RUNNING]),
                after=() if ordinary else tuple([names[n] for n in tree.after]),
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
        groups = pods = 0
        if isinstance(tree, PodSet):
            below: tuple[int, ...] = (index[at],)
            counted = leaves[index[at]].counted
            satisfied = leaves[index[at]].need == 0
        else:
            kids = [node for c in children[at] if (node := nodes[c]) is not None]
            below = tuple(sorted(i for kid in kids for i in kid.leaves))
            counted = sum(leaves[i].counted for i in below)
            if not ordinary:
                groups, pods = tree.min_groups, tree.min_pods
            satisfied = sum(kid.live for kid in kids) >= groups and counted >= pods
        nodes[at] = TreeNode(
            path=path,
            parent=parent,
            children=tuple(children[at]),
            leaf=index.get(at, -1),
            leaves=below,
            min_groups=groups,
            min_pods=pods,
            counted=counted,
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

    By leaf index ``cost`` gives that of one pod, ``available`` how many pods may be
    used: all pending ones if unsaid.
    """
    if state.satisfied:
        return 0
    if len(state.nodes) == 1:
        need = max(1, state.leaves[0].need)
        have = len(state.leaves[0].pending) if available is None else available(0)
        return need * cost(0) if need <= have else None
    prices = [cost(i) for i in range(len(state.leaves))]
    places = [
        len(leaf.pending) if available is None else available(i)
        for i, leaf in enumerate(state.leaves)
    ]
    best: int | None = None
    for reached in _role_choices(state):
        value = Need(state, prices, places, reached).least()
        if value is not None and (best is None or value < best):
            best = value
    return best


def least_pods(gang: Gang) -> int:
    """
    Give the least number of pods that satisfies a gang's tree, whatever runs.
    """
    tree = gang.tree
    return tree.minimum if isinstance(tree, PodSet) else _least_pods(_form(tree))


def _form(tree: Tree) -> "_Form":
    """
    Keep of a tree what decides how many pods it needs: many gangs have the same.
    """
    if isinstance(tree, PodSet):
        return (tree.name, tree.minimum, tree.replicas, tuple(tree.after))
    return (tree.min_groups, tree.min_pods, tuple(map(_form, tree.children)))


def _tree_of(form: "_Form") -> Tree:
    if len(form) == 4:
        name, least, most, after = form
        return PodSet(
            name=name, minimum=least, replicas=most, requests={}, pods=(), after=after
        )
    groups, pods, children = form
    below = tuple(map(_tree_of, children))
    return Group(name="", min_groups=groups, min_pods=pods, children=below)


@lru_cache(maxsize=4096)
def _least_pods(form: "_Form") -> int:
    policy = MatchPolicy.ONLY_WAITING
    state = standing(Gang(name="", tree=_tree_of(form), match_policy=policy))
    places = [leaf.pod_set.replicas for leaf in state.leaves]
    found = least_need(state, lambda _: 1, places.__getitem__)
    if found is None:  # it asks for more pods than it has
        found = least_need(state, lambda _: 1, lambda _: _ANY_NUMBER)
    return found or 0


def _role_choices(state: Standing) -> Iterator[dict[int, bool]]:
    """
    Walk the choices of leaves that others wait for: which reach their minimum.

    None is reached without those that it waits for itself.  Where there are too many
    choices only the first roles are chosen about, and the others are taken as reached.
    """
    waited = {t for leaf in state.leaves for t in leaf.after}
    roles = _in_order(state, {t for t in waited if state.leaves[t].need > 0})
    most = max(16, min(_MOST_CHOICES, _MOST_STEPS // len(state.leaves)))
    choices = list(islice(_closed_sets(state, roles), most + 1))
    if len(choices) > most:
        choices = list(_closed_sets(state, roles[: most.bit_length() - 1]))
    yield from choices


def _in_order(state: Standing, roles: set[int]) -> list[int]:
    """
    Sort roles so that each comes after those that it waits for.
    """
    done: dict[int, None] = {}
    todo = sorted(roles, reverse=True)
    while todo:
        role = todo[-1]
        first = [t for t in state.leaves[role].after if t in roles and t not in done]
        if first and role not in done:
            todo += first
        else:
            done.setdefault(todo.pop())
    return list(done)


def _closed_sets(state: Standing, roles: Sequence[int]) -> Iterator[dict[int, bool]]:
    """
    Walk all ways to reach some roles and not others, earlier ones before later ones.
    """
    reached: dict[int, bool] = {}
    taken: list[bool] = []
    while True:
        for role in roles[len(taken) :]:
            first = state.leaves[role].after
            taken.append(all(reached.get(t, True) for t in first))
            reached[role] = taken[-1]
        yield dict(reached)
        while taken and not taken[-1]:
            taken.pop()
        if not taken:
            return
        taken[-1] = False
        reached[roles[len(taken) - 1]] = False
