"""
Pending gangs of a synthetic cluster: plain, elastic, with domains, or as trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from benchmarks.contract import Giant, Pending, Required, Trees
from benchmarks.contract_parts import Ratio
from models.gangs import Gang, Group, Pod, PodSet, Tree
from models.resources import CPU, GPU, MEMORY, PODS
from models.topology import TopologyDemand

GIB = 2**30
_TOLERANCE = 0.005


@dataclass(slots=True)
class Draft:
    """
    A leaf before it is built: pods, GPUs of each, and CPU and memory per GPU.
    """

    pods: int
    gpus: int
    ratio: Ratio
    minimum: int = 0


def requests_of(gpus: int, ratio: Ratio) -> dict[str, int]:
    """
    Give a pod's requests from its GPUs and the CPUs and GiB that go with each.
    """
    cpu, memory = ratio
    return {CPU: cpu * gpus * 1000, MEMORY: memory * gpus * GIB, GPU: gpus, PODS: 1}


def pending_gangs(
    rnd: Random, spec: Pending, queues: Sequence[str], free: int
) -> list[Gang]:
    """
    Draw the gangs, then change single leaves until pods and demand are as asked.
    """
    plain = spec.gangs - (1 if spec.giant else 0)
    shapes = [_leaf_numbers(rnd, spec) for _ in range(plain)]
    gangs = [[_draft(rnd, spec) for _ in range(_total(shape))] for shape in shapes]
    drafts = [draft for leaves in gangs for draft in leaves]
    own = spec.giant.pods if spec.giant else 0
    own_gpus = own * spec.giant.gpus if spec.giant else 0
    _fit_pods(rnd, drafts, spec.pods - own)
    _fit_demand(rnd, drafts, spec, spec.demand * free - own_gpus)
    _set_minimums(rnd, gangs, spec)
    width = len(str(spec.gangs))
    found = []
    for idx, (shape, leaves) in enumerate(zip(shapes, gangs, strict=True)):
        name = f"g{idx:0{width}d}"
        tree = _tree(rnd, spec, name, shape, leaves)
        found.append(_gang(rnd, spec, queues, name, tree))
    if spec.giant:
        found.append(_giant(rnd, spec, queues, spec.giant))
    return found


def _leaf_numbers(rnd: Random, spec: Pending) -> list[int]:
    """
    Say how many leaves each child of a gang has; a plain gang is one leaf.
    """
    if spec.trees is None:
        return [1]
    low, high = spec.trees.children
    children = [1] * rnd.randint(low, high)
    if rnd.random() < spec.trees.deep:
        children[-1] = rnd.randint(2, 3)
    return children


def _total(shape: Sequence[int]) -> int:
    return sum(shape)


def _draft(rnd: Random, spec: Pending) -> Draft:
    pods = rnd.choices(list(spec.members), list(spec.members.values()))[0]
    gpus = rnd.choices(list(spec.sizes), list(spec.sizes.values()))[0]
    return Draft(pods=pods, gpus=gpus, ratio=rnd.choice(spec.ratios))


def _fit_pods(rnd: Random, drafts: Sequence[Draft], pods: int) -> None:
    have = sum(draft.pods for draft in drafts)
    while have != pods:
        draft = rnd.choice(drafts)
        step = 1 if have < pods else -1
        if draft.pods + step >= 1 and draft.pods > 1:
            draft.pods += step
            have += step


def _fit_demand(
    rnd: Random, drafts: Sequence[Draft], spec: Pending, gpus: float
) -> None:
    steps = sorted(spec.sizes)
    have = sum(draft.pods * draft.gpus for draft in drafts)
    for _ in range(50 * len(drafts)):
        if abs(have - gpus) <= _TOLERANCE * gpus:
            return
        draft = rnd.choice(drafts)
        at = steps.index(draft.gpus) + (1 if have < gpus else -1)
        if 0 <= at < len(steps):
            change = draft.pods * (steps[at] - draft.gpus)
            if abs(have + change - gpus) < abs(have - gpus):
                draft.gpus = steps[at]
                have += change


def _set_minimums(rnd: Random, gangs: Sequence[Sequence[Draft]], spec: Pending) -> None:
    """
    Make a share of all gangs elastic, taken from those with more than one pod.
    """
    for leaves in gangs:
        for draft in leaves:
            draft.minimum = draft.pods
    able = [i for i, leaves in enumerate(gangs) if any(x.pods > 1 for x in leaves)]
    count = min(len(able), round(spec.elastic * len(gangs)))
    for idx in rnd.sample(able, count):
        for draft in gangs[idx]:
            draft.minimum = max(1, draft.pods // 2)


def _gang(
    rnd: Random, spec: Pending, queues: Sequence[str], name: str, tree: Tree
) -> Gang:
    priorities = list(spec.priorities)
    return Gang(
        name=name,
        tree=tree,
        queue=rnd.choice(queues) if queues else "default",
        priority=rnd.choices(priorities, list(spec.priorities.values()))[0],
        age=60 * rnd.randint(1, spec.minutes),
    )


def _tree(
    rnd: Random,
    spec: Pending,
    name: str,
    shape: Sequence[int],
    drafts: Sequence[Draft],
) -> Tree:
    if spec.trees is not None:
        return _nested(rnd, spec.trees, name, shape, drafts)
    leaf = _leaf(name, name, drafts[0])
    if spec.required is None or rnd.random() >= spec.required.share:
        return leaf
    return replace(leaf, topology=_demand(rnd, spec.required, leaf.replicas))


def _demand(rnd: Random, spec: Required, pods: int) -> TopologyDemand:
    level = rnd.choice(spec.levels) if pods <= spec.most else spec.levels[0]
    return TopologyDemand(topology="default", required=level)


def _leaf(name: str, prefix: str, draft: Draft) -> PodSet:
    return PodSet(
        name=name,
        minimum=draft.minimum,
        replicas=draft.pods,
        requests=requests_of(draft.gpus, draft.ratio),
        pods=tuple(Pod(f"{prefix}-{idx}") for idx in range(draft.pods)),
    )


def _nested(
    rnd: Random,
    spec: Trees,
    name: str,
    shape: Sequence[int],
    drafts: Sequence[Draft],
) -> Tree:
    """
    Nest leaves two or three deep, with K of N at every inner node.
    """
    leaves = [_leaf(f"s{i}", f"{name}-s{i}", draft) for i, draft in enumerate(drafts)]
    children: list[Tree] = []
    for idx, count in enumerate(shape):
        mine, leaves = leaves[:count], leaves[count:]
        children.append(mine[0] if count == 1 else _any(rnd, f"t{idx}", mine))
    if rnd.random() < spec.required.share:
        at = rnd.randrange(len(children))
        pods = max(draft.pods for draft in drafts)
        demand = _demand(rnd, spec.required, pods)
        children[at] = replace(children[at], topology=demand)
    return _any(rnd, name, children)


def _any(rnd: Random, name: str, children: Sequence[Tree]) -> Group:
    least = rnd.randint(1, len(children))
    return Group(name=name, min_groups=least, min_pods=0, children=tuple(children))


def _giant(rnd: Random, spec: Pending, queues: Sequence[str], giant: Giant) -> Gang:
    draft = Draft(giant.pods, giant.gpus, spec.ratios[0], giant.pods)
    demand = TopologyDemand(topology="default", preferred=giant.preferred)
    tree = replace(_leaf("giant", "giant", draft), topology=demand)
    return _gang(rnd, spec, queues, "giant", tree)
