"""
Builders with defaults: a test names only what it is about.

Pods are named as the loader names them: ``<gang>-<i>`` and, in a tree,
``<gang>-<leaf>-<i>``; running pods take the lowest indices.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import repeat

from models.gangs import Gang, Group, Pod, PodPhase, PodSet, Tree
from models.neighbours import ALONE, Neighbours
from models.nodes import ANYWHERE, Node, NodeDemand
from models.plan import GangLine, ModelSize, Operation, Plan, PodCounts, TierResult
from models.queues import Queue, QueueResource
from models.resources import CPU, GPU, MEMORY, PODS, Resources
from models.snapshot import Snapshot
from models.topology import Topology, TopologyDemand

ZONE, RACK = "zone", "rack"
TOPOLOGY = "default"
GIB = 2**30


def key(name: str) -> str:
    """
    Complete a gang's or pod's name with the default namespace.
    """
    return name if "/" in name else f"default/{name}"


def node(
    name: str = "n0",
    gpus: int = 8,
    *,
    zone: str | None = None,
    rack: str | None = None,
    labels: Mapping[str, str] | None = None,
    allocatable: Resources | None = None,
    **fields,
) -> Node:
    """
    Build a node with 8 GPUs, 96 cores, 768 GiB and 110 pods.
    """
    places = {ZONE: zone, RACK: rack}
    offered = {CPU: 96_000, MEMORY: 768 * GIB, PODS: 110, GPU: gpus}
    return Node(
        name=name,
        allocatable=offered | dict(allocatable or {}),
        labels={
            "kubernetes.io/hostname": name,
            **{level: value for level, value in places.items() if value},
            **(labels or {}),
        },
        **fields,
    )


def nodes(number: int, gpus: int = 8, **fields) -> tuple[Node, ...]:
    """
    Build equal nodes ``n0``, ``n1``, …
    """
    return tuple(node(f"n{i}", gpus, **fields) for i in range(number))


def requests(gpus: int = 1, **others: int) -> dict[str, int]:
    """
    Build a pod's request: one pod, and GPUs if any.
    """
    return {PODS: 1} | ({GPU: gpus} if gpus else {}) | others


def required(level: str = RACK, topology: str = TOPOLOGY) -> TopologyDemand:
    """
    Demand one domain of a level.
    """
    return TopologyDemand(topology=topology, required=level)


def preferred(level: str = RACK, topology: str = TOPOLOGY) -> TopologyDemand:
    """
    Prefer few domains of a level.
    """
    return TopologyDemand(topology=topology, preferred=level)


def selector(**labels: str) -> NodeDemand:
    """
    Demand nodes with labels.
    """
    return NodeDemand(selector=tuple(sorted(labels.items())))


def leaf(
    name: str = "",
    minimum: int | None = None,
    replicas: int | None = None,
    *,
    gpus: int = 1,
    requests: Resources | None = None,
    created: int | None = None,
    running: Iterable[str] = (),
    terminating: Iterable[str] = (),
    reserved: Iterable[str] = (),
    succeeded: int = 0,
    failed: int = 0,
    gated: int = 0,
    demand: NodeDemand = ANYWHERE,
    exclusive: bool = False,
    after: tuple[str, ...] = (),
    topology: TopologyDemand | None = None,
    neighbours: Neighbours = ALONE,
) -> PodSet:
    """
    Build a leaf; ``running`` and the like name the node of each such pod.
    """
    if minimum is None:
        minimum = 1 if replicas is None else replicas
    if replicas is None:
        replicas = minimum
    phases: list[tuple[PodPhase, str | None]] = [
        *((PodPhase.RUNNING, at) for at in running),
        *((PodPhase.TERMINATING, at) for at in terminating),
        *((PodPhase.RESERVED, at) for at in reserved),
        *repeat((PodPhase.SUCCEEDED, None), succeeded),
        *repeat((PodPhase.FAILED, None), failed),
        *repeat((PodPhase.GATED, None), gated),
    ]
    number = replicas if created is None else created
    phases += repeat((PodPhase.PENDING, None), number - len(phases))
    return PodSet(
        name=name,
        minimum=minimum,
        replicas=replicas,
        requests=_requests(gpus) if requests is None else requests,
        pods=tuple(
            Pod(str(i), phase=phase, node=at) for i, (phase, at) in enumerate(phases)
        ),
        demand=demand,
        exclusive=exclusive,
        after=after,
        topology=topology,
        neighbours=neighbours,
    )


_requests = requests


def group(
    name: str,
    *children: Tree,
    min_groups: int | None = None,
    min_pods: int = 0,
    topology: TopologyDemand | None = None,
) -> Group:
    """
    Build an inner node that needs all its children unless told otherwise.
    """
    if min_groups is None:
        min_groups = 0 if min_pods else len(children)
    return Group(
        name=name,
        min_groups=min_groups,
        min_pods=min_pods,
        children=children,
        topology=topology,
    )


_GANG_FIELDS = frozenset(Gang.__dataclass_fields__) - {"name", "tree"}
_GROUP_FIELDS = frozenset({"min_groups", "min_pods", "topology"})


def gang(name: str, *children: Tree, mates: Iterable[str] = (), **fields) -> Gang:
    """
    Build a gang: a tree of the given children, or one leaf made of the other fields.
    """
    own = {field: fields.pop(field) for field in _GANG_FIELDS & fields.keys()}
    if children:
        inner = {field: fields.pop(field) for field in _GROUP_FIELDS & fields.keys()}
        tree: Tree = group("", *children, **inner)
    else:
        tree = leaf("", **{f: fields.pop(f) for f in list(fields)})
    if fields:
        raise TypeError(f"unknown fields {sorted(fields)}")
    return Gang(
        name=name,
        tree=_named(tree, name),
        mates=tuple(sorted(key(mate) for mate in mates)),
        **own,
    )


def _named(tree: Tree, prefix: str) -> Tree:
    if isinstance(tree, PodSet):
        stem = f"{prefix}-{tree.name}" if tree.name else prefix
        pods = tuple(replace(pod, name=f"{stem}-{pod.name}") for pod in tree.pods)
        return replace(tree, pods=pods)
    children = tuple(_named(child, prefix) for child in tree.children)
    return replace(tree, children=children)


def queue(
    name: str = "default",
    parent: str | None = None,
    *,
    quota: int | None = 0,
    limit: int | None = None,
    weight: int = 1,
    resources: Mapping[str, QueueResource] | None = None,
    **fields,
) -> Queue:
    """
    Build a queue with a rule for GPUs unless other resources are given.
    """
    rule = QueueResource(quota=quota, limit=limit, weight=weight)
    named = {GPU: rule} if resources is None else resources
    return Queue(name=name, parent=parent, resources=named, **fields)


def topology(name: str = TOPOLOGY, levels: Iterable[str] = (ZONE, RACK)) -> Topology:
    """
    Build a topology of zones and racks.
    """
    return Topology(name=name, levels=tuple(levels))


def snapshot(
    nodes: Iterable[Node] = (),
    gangs: Iterable[Gang] = (),
    queues: Iterable[Queue] = (),
    topologies: Iterable[Topology] | None = None,
) -> Snapshot:
    """
    Build a snapshot, sorted as the loader sorts it, with zones and racks.
    """
    return Snapshot(
        nodes=tuple(sorted(nodes, key=lambda node: node.name)),
        gangs=tuple(sorted(gangs, key=lambda gang: gang.key)),
        queues=tuple(sorted(queues, key=lambda queue: queue.name)),
        topologies=(topology(),) if topologies is None else tuple(topologies),
    )


def bind(pod: str, node: str = "n0", gang: str | None = None, **fields) -> Operation:
    """
    Build a Bind; the gang is the pod's name without its last part unless given.
    """
    owner = pod.rsplit("-", 1)[0] if gang is None else gang
    return Operation(
        op=fields.pop("op", "Bind"), pod=key(pod), gang=key(owner), node=node, **fields
    )


def binds(gang: str, *places: str, leaf: str = "", start: int = 0) -> list[Operation]:
    """
    Bind the pods of one leaf in index order, one per named node.
    """
    stem = f"{gang}-{leaf}" if leaf else gang
    return [bind(f"{stem}-{i}", at, gang=gang) for i, at in enumerate(places, start)]


def line(name: str, state: str = "Waiting", binding: int = 0, **fields) -> GangLine:
    """
    Build what a plan says about one gang.
    """
    counts = {"total": binding, "minimum": 1, "running": 0, "evicting": 0}
    counts |= {"succeeded": 0, "failed": 0}
    return GangLine(
        name=key(name),
        queue=fields.pop("queue", "default"),
        state=state,
        entitled=fields.pop("entitled", False),
        guaranteed=fields.pop("guaranteed", False),
        waiting=fields.pop("waiting", None),
        pods=PodCounts(binding=binding, **(counts | fields)),
    )


def tier(
    name: str = "gpus",
    value: int = 1,
    bound: int | None = None,
    *,
    band: int | None = None,
    direction: str = "max",
    proof: str | None = None,
) -> TierResult:
    """
    Build a tier's result, proven when the bound is the value.
    """
    bound = value if bound is None else bound
    return TierResult(
        name=name,
        band=band,
        direction=direction,
        value=value,
        bound=bound,
        proof=proof or ("proven" if bound == value else "gap"),
    )


def plan(
    *operations: Operation,
    lines: Iterable[GangLine] | None = None,
    entitled: Iterable[str] = (),
    tiers: Iterable[TierResult] = (),
    status: str | None = None,
) -> Plan:
    """
    Build a plan; gangs that bind pods get a line that says so unless lines are given.
    """
    called = {key(name) for name in entitled}
    owners = sorted({step.gang for step in operations if step.op == "Bind"})
    if lines is None:
        lines = [
            line(
                owner,
                "Starting",
                sum(step.gang == owner and step.op == "Bind" for step in operations),
                entitled=owner in called,
            )
            for owner in owners
        ]
    return Plan(
        strategy="test",
        status=status or ("feasible" if operations else "idle"),
        deterministic=True,
        snapshot="sha256:test",
        seed=0,
        versions={},
        tiers=tuple(tiers),
        gangs=tuple(lines),
        operations=operations,
        model=ModelSize(),
    )
