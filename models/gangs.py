"""
Gangs: trees of pods that start together or not at all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from models.devices.gpu_parts import GpuDevice, part_of
from models.neighbours import ALONE, Neighbours
from models.nodes import ANYWHERE, NodeDemand
from models.resources import Resources
from models.topology import TopologyDemand
from models.why.reasons import Waiting

MOST_PODS = 1_000_000
"""
The most pods that are read at once: of a gang, of a round, on a node.
"""

MOST_LEAVES = 2_000
"""
The most leaves of one gang.
"""


class PodPhase(StrEnum):
    """
    Where a pod is in its life, as far as scheduling cares.
    """

    RUNNING = "Running"
    TERMINATING = "Terminating"
    RESERVED = "Reserved"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    GATED = "Gated"
    PENDING = "Pending"


ON_A_NODE = PodPhase.RUNNING, PodPhase.TERMINATING
"""
Pods that hold room on a node.
"""

FINISHED = PodPhase.SUCCEEDED, PodPhase.FAILED
"""
Pods that have ended: they hold no room any more.
"""


class MatchPolicy(StrEnum):
    """
    Which pods count towards a gang's minimums.
    """

    ONLY_WAITING = "only-waiting"
    WAITING_AND_RUNNING = "waiting-and-running"
    WAITING_RUNNING_SUCCEED = "waiting-running-succeed"
    ONCE_SATISFIED = "once-satisfied"


@dataclass(frozen=True, slots=True)
class Pod:
    """
    A pod that exists; ``node`` is where it runs, terminates or is reserved.

    ``devices`` are the GPUs of that node of which it has a part, or those it has whole
    as far as that is known; ``tied`` numbers the pieces of the node that stay in use
    while it is there.
    """

    name: str
    phase: PodPhase = PodPhase.PENDING
    node: str | None = None
    seconds: int = 0
    uid: str | None = None
    devices: tuple[GpuDevice, ...] = ()
    tied: tuple[int, ...] = ()

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """
        What it has of its node that is told apart, as pairs of numbers.
        """
        if not (self.devices or self.tied):
            return ()
        places = tuple([(place.device, place.start) for place in self.devices])
        return (*places, *((-1, number) for number in self.tied))


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """
    A leaf: ``replicas`` pods of one shape, of which ``minimum`` are needed.

    ``gates`` name what its gated pods wait for; they decide nothing.
    """

    name: str
    minimum: int
    replicas: int
    requests: Resources
    pods: tuple[Pod, ...]
    demand: NodeDemand = ANYWHERE
    exclusive: bool = False
    after: tuple[str, ...] = ()
    topology: TopologyDemand | None = None
    neighbours: Neighbours = ALONE
    gates: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """
    An inner node: at least ``min_groups`` children and ``min_pods`` pods below it.
    """

    name: str
    min_groups: int
    min_pods: int
    children: tuple["Tree", ...]
    topology: TopologyDemand | None = None


Tree = PodSet | Group


class RunKind(NamedTuple):
    """
    Whose run times are taken to be alike: by queue, owner and GPUs, 0 for none.
    """

    queue: str
    owner: str
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """
    A tree of pods with one queue and one priority, shown as ``namespace/name``.

    What its source cannot say clearly or we cannot obey is ``refused``, with a reason.
    Nodes were held for it for ``held_for`` seconds so far; when that began it was to
    start within ``held_first``.  It leaves for those it is ``lent_by``, on whose nodes
    it runs.  ``runs_like`` says whose run times its own are like, if not those of its
    own kind.
    """

    name: str
    namespace: str = "default"
    tree: Tree
    queue: str = "default"
    priority: int = 0
    preemptible: bool = True
    age: int = 0
    mates: tuple[str, ...] = ()
    match_policy: MatchPolicy = MatchPolicy.WAITING_AND_RUNNING
    mode: str = "Strict"
    once_satisfied: bool = False
    timed_out: bool = False
    backoff: int = 0
    min_resources: Resources = field(default_factory=dict)
    waiting_time: int | None = None
    max_runtime: int | None = None
    stale_after: int | None = None
    stale_since: int | None = None
    evicted_ago: int | None = None
    passed_over: int = 0
    held_for: int = 0
    held_first: int | None = None
    lent_by: tuple[str, ...] = ()
    runs_like: RunKind | None = None
    refused: Waiting | None = None

    @property
    def key(self) -> str:
        """
        The name people see and plans use.
        """
        return f"{self.namespace}/{self.name}"


def is_remembered(gang: Gang, forgotten_after: int) -> bool:
    """
    Tell whether nobody leaves for a gang, since it had to leave itself.

    That ends when it has been passed over for long enough.
    """
    return gang.evicted_ago is not None and gang.passed_over < forgotten_after


def waits_for_places(gang: Gang) -> bool:
    """
    Tell whether some pod of a gang has no place, or only one that was promised.
    """
    return any(
        pod.phase in {PodPhase.PENDING, PodPhase.RESERVED}
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )


def comes_back(gang: Gang, seconds: int) -> bool:
    """
    Tell whether a gang is tried again within some seconds, with something to place.

    That changes what is wanted; where nothing waits, its pause ends unseen.
    """
    return 0 < gang.backoff <= seconds and waits_for_places(gang)


def is_complete(gang: Gang) -> bool:
    """
    Tell cheaply that a gang of one leaf runs whole, so that nothing is to be decided.
    """
    tree = gang.tree
    if not isinstance(tree, PodSet) or gang.mates:
        return False
    pods = tree.pods
    if not 0 < tree.minimum <= len(pods) == tree.replicas:
        return False
    if gang.match_policy is MatchPolicy.ONLY_WAITING:
        return False
    if len(pods) == 1:
        return pods[0].phase is PodPhase.RUNNING
    return all(pod.phase is PodPhase.RUNNING for pod in pods)


def pod_sets(tree: Tree) -> Iterator[PodSet]:
    """
    Walk the leaves in file order.
    """
    if isinstance(tree, PodSet):
        yield tree
        return
    for child in tree.children:
        yield from pod_sets(child)


def running_pods(gang: Gang) -> Iterator[tuple[int, PodSet, Pod]]:
    """
    Walk the pods of a gang that run, each with the number of its leaf, and that.
    """
    for number, leaf in enumerate(pod_sets(gang.tree)):
        for pod in leaf.pods:
            if pod.phase is PodPhase.RUNNING:
                yield number, leaf, pod


def leaf_of(gang: Gang, number: int) -> PodSet:
    """
    Give one of a gang's leaves, counted in file order.
    """
    if isinstance(gang.tree, PodSet):
        return gang.tree
    return next(islice(pod_sets(gang.tree), number, None))


def where_moved(pods: PodSet) -> PodSet:
    """
    Give pods of a leaf as they are in the place to which they are moved.
    """
    said = pods.neighbours
    if not said.selected:
        return pods
    return replace(pods, neighbours=replace(said, moved=True))


def asking_otherwise(
    tree: Tree,
    change: Callable[[Resources], Resources],
    known: dict[int, Resources] | None = None,
) -> Tree:
    """
    Change what pods of a tree ask for; what was one object stays one.
    """
    known = {} if known is None else known
    if isinstance(tree, Group):
        children = tuple(asking_otherwise(x, change, known) for x in tree.children)
        return replace(tree, children=children)
    asked = tree.requests
    if id(asked) not in known:
        known[id(asked)] = change(asked)
    return replace(tree, requests=known[id(asked)])


def has_parts(gang: Gang) -> bool:
    """
    Tell whether any pods of a gang ask for parts of GPUs.
    """
    return any(part_of(leaf.requests) is not None for leaf in pod_sets(gang.tree))


def plain_roles(gang: Gang) -> tuple[PodSet, ...] | None:
    """
    Give the leaves of a gang that is no more than roles, all of which it needs.

    One with deeper groups, a topology, an order or mates is more than that.
    """
    leaves = tuple(pod_sets(gang.tree))
    plain = all(
        leaf.minimum and not leaf.topology and not leaf.after for leaf in leaves
    )
    return leaves if plain and not gang.mates and _is_flat(gang.tree) else None


def _is_flat(tree: Tree) -> bool:
    if isinstance(tree, PodSet):
        return True
    leaves = [child for child in tree.children if isinstance(child, PodSet)]
    needs_all = len(leaves) == len(tree.children) == tree.min_groups
    return needs_all and not tree.min_pods and tree.topology is None


def released(gang: Gang) -> Gang:
    """
    Let a gang's reserved pods be pending, the first of those that are.
    """
    return replace(gang, tree=_released(gang.tree))


def _released(tree: Tree) -> Tree:
    if isinstance(tree, Group):
        return replace(tree, children=tuple(map(_released, tree.children)))
    return _leaf_released(tree)


def _leaf_released(leaf: PodSet) -> PodSet:
    reserved = [pod for pod in leaf.pods if pod.phase is PodPhase.RESERVED]
    if not reserved:
        return leaf
    others = [pod for pod in leaf.pods if pod.phase is not PodPhase.RESERVED]
    first = [replace(pod, phase=PodPhase.PENDING, node=None) for pod in reserved]
    return replace(leaf, pods=(*first, *others))


def as_large_as_it_is(gang: Gang) -> Gang:
    """
    See a gang as if it wanted no more pods than those that were given a node.
    """
    return replace(gang, tree=_without_pending(gang.tree))


def _without_pending(tree: Tree) -> Tree:
    if isinstance(tree, Group):
        return replace(tree, children=tuple(map(_without_pending, tree.children)))
    kept = tuple(pod for pod in tree.pods if pod.phase is not PodPhase.PENDING)
    return tree if len(kept) == len(tree.pods) else replace(tree, pods=kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptionBudget:
    """
    How many pods of some gangs may still be disturbed.
    """

    name: str
    gangs: tuple[str, ...]
    allowed: int
