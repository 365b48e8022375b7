"""
Models of GPUs, as resources of which nodes of that model offer as many as they have.

Where some queue has a rule for a model, every pod asks beside its GPUs for GPUs of one
model: so limits, quotas and fair shares of models are those of resources.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import is_

from models.devices.gpu_counts import written_name
from models.gangs import Gang, Group, PodSet, Tree
from models.nodes import Node, NodeDemand
from models.queues import Queue, QueueResource, queues_above
from models.resources import (
    GPU_SHARE,
    MODEL_MARK,
    OTHER_MODELS,
    SHARES_PER_GPU,
    Resources,
)
from models.snapshot import Snapshot

PRODUCT = "nvidia.com/gpu.product"
OTHERS = OTHER_MODELS.removeprefix(MODEL_MARK)
Ruled = Mapping[str, frozenset[str]]


def of_model(resource: str, model: str) -> str:
    """
    Name the GPUs of one model.
    """
    return f"{resource}{MODEL_MARK}{model}"


def split(resource: str) -> tuple[str, str]:
    """
    Give the resource and the model of a name; no model of any other name.
    """
    plain, _, model = resource.partition(MODEL_MARK)
    return plain, model


def with_sums(rules: Mapping[str, QueueResource]) -> dict[str, QueueResource]:
    """
    Let quotas that are those of models together be their sum.
    """
    found = dict(rules)
    for name, rule in rules.items():
        if rule.is_sum:
            mark = of_model(written_name(name), "")
            models = [one.quota for of, one in rules.items() if of.startswith(mark)]
            known = [quota for quota in models if quota is not None]
            scale = SHARES_PER_GPU if name == GPU_SHARE else 1
            quota = scale * sum(known) if len(known) == len(models) else None
            found[name] = replace(rule, quota=quota)
    return found


def with_models(snapshot: Snapshot) -> Snapshot:
    """
    Let nodes offer, and pods ask for, GPUs by model where some queue has rules.

    What they offered or asked for by model before is chosen anew.
    """
    names = {split(name) for queue in snapshot.queues for name in queue.resources}
    ruled: dict[str, frozenset[str]] = {}
    for resource, model in sorted(names):
        if model:
            ruled[resource] = ruled.get(resource, frozenset()) | {model}
    if not ruled:
        return snapshot
    choice = _ModelChoice(snapshot, ruled)
    return replace(
        snapshot,
        nodes=tuple(_offering(node, ruled) for node in snapshot.nodes),
        gangs=tuple(choice.of_gang(gang) for gang in snapshot.gangs),
    )


def _model(node: Node, known: Iterable[str]) -> str:
    """
    Give a node's model as queues call it; all that none names are one.
    """
    model = node.gpu_model or node.labels.get(PRODUCT, "")
    return model if model in known else OTHERS


def _offering(node: Node, ruled: Ruled) -> Node:
    more = {r: of_model(r, _model(node, known)) for r, known in ruled.items()}
    model = node.gpu_model or node.labels.get(PRODUCT, "")
    offer, used = _beside(node.allocatable, more), _beside(node.used, more)
    if model == node.gpu_model and offer is node.allocatable and used is node.used:
        return node
    return replace(node, gpu_model=model, allocatable=offer, used=used)


def _beside(amounts: Resources, more: Mapping[str, str]) -> Resources:
    found = {name: amounts[r] for r, name in more.items() if amounts.get(r)}
    if found.items() == {x for x in amounts.items() if split(x[0])[1]}:
        return amounts
    plain = {name: x for name, x in amounts.items() if not split(name)[1]}
    return {**plain, **found}


@dataclass
class _ModelChoice:
    """
    Chooses the model of GPUs that pods ask for.
    """

    snapshot: Snapshot
    ruled: Ruled
    nodes: dict[str, Node] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    allowed: dict[tuple[NodeDemand, str], frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = {node.name: node for node in self.snapshot.nodes}
        self.queues = {queue.name: queue for queue in self.snapshot.queues}

    def of_gang(self, gang: Gang) -> Gang:
        """
        Let the pods of a gang ask for their models.
        """
        tree = self._tree(gang.tree, gang.queue)
        return gang if tree is gang.tree else replace(gang, tree=tree)

    def _tree(self, tree: Tree, queue: str) -> Tree:
        if isinstance(tree, Group):
            children = tuple(self._tree(child, queue) for child in tree.children)
            if all(map(is_, children, tree.children)):
                return tree
            return replace(tree, children=children)
        more = {
            resource: of_model(resource, self._model(tree, resource, queue))
            for resource in self.ruled
            if tree.requests.get(resource)
        }
        asked = _beside(tree.requests, more)
        return tree if asked is tree.requests else replace(tree, requests=asked)

    def _model(self, leaf: PodSet, resource: str, queue: str) -> str:
        """
        Give the model of pods: where they run, the only one they may use, or the first.
        """
        known = self.ruled[resource]
        here = (self.nodes.get(pod.node) for pod in leaf.pods if pod.node)
        held = next((_model(node, known) for node in here if node is not None), None)
        if held is not None:
            return held
        allowed = self._allowed(leaf.demand, resource)
        if len(allowed) == 1:
            return next(iter(allowed))
        listed = self._listed(resource, queue)
        return next((model for model in listed if model in allowed), OTHERS)

    def _allowed(self, demand: NodeDemand, resource: str) -> frozenset[str]:
        key = demand, resource
        if key not in self.allowed:
            self.allowed[key] = frozenset(
                _model(node, self.ruled[resource])
                for node in self.snapshot.nodes
                if node.allocatable.get(resource)
                and demand.matches(node.labels)
                and demand.tolerates(node.taints)
            )
        return self.allowed[key]

    def _listed(self, resource: str, queue: str) -> list[str]:
        """
        List the models of a queue in its order, or those of the next above it.
        """
        for name in queues_above(self.queues, queue):
            names = map(split, self.queues[name].resources)
            found = [model for plain, model in names if model and plain == resource]
            if found:
                return found
        return []
