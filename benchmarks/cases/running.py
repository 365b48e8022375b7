"""
What runs already in small cases: satisfied, elastic, or below the minimum.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.cases.parts import Case
from models.gangs import Gang, Pod, PodPhase, PodSet, Tree, pod_sets

# --- what runs already ----------------------------------------------------------


def run_some(case: Case, gang: Gang) -> Gang:
    """
    Let some pods run, where they fit: satisfied, elastic, or below the minimum.
    """
    leaves = {}
    for leaf in pod_sets(gang.tree):
        wanted = case.rnd.randint(0, leaf.replicas)
        pods = list(leaf.pods)
        for idx in range(min(wanted, len(pods))):
            where = _place(case, leaf, pods[idx])
            if where is None:
                break
            pods[idx] = replace(pods[idx], phase=PodPhase.RUNNING, node=where)
        leaves[leaf.name] = replace(leaf, pods=in_file_order(pods))
    return replace(gang, tree=with_leaves(gang.tree, leaves))


def _place(case: Case, leaf: PodSet, pod: Pod) -> str | None:
    if pod.phase is not PodPhase.PENDING:
        return None
    used = [n for n in case.nodes if leaf.demand.allows(n)]
    if leaf.exclusive or not case.chance(0.5):
        case.rnd.shuffle(used)
    for node in used:
        room = case.free[node.name]
        if all(room.get(name, 0) >= n for name, n in leaf.requests.items()):
            if leaf.exclusive and room.get(f"taken-{pod.name[:2]}", 0):
                continue
            room[f"taken-{pod.name[:2]}"] = 1
            for name, amount in leaf.requests.items():
                room[name] -= amount
            return node.name
    return None


def in_file_order(pods: Sequence[Pod]) -> tuple[Pod, ...]:
    """
    Keep the file's order: running, then done, then gated, then pending.
    """
    order = (
        PodPhase.RUNNING,
        PodPhase.SUCCEEDED,
        PodPhase.FAILED,
        PodPhase.GATED,
        PodPhase.PENDING,
    )
    names = [pod.name for pod in pods]
    found = sorted(pods, key=lambda pod: order.index(pod.phase))
    return tuple(
        replace(pod, name=name) for name, pod in zip(names, found, strict=True)
    )


def with_leaves(tree: Tree, leaves: Mapping[str, PodSet]) -> Tree:
    """
    Replace the leaves of a tree.
    """
    if isinstance(tree, PodSet):
        return leaves[tree.name]
    children = tuple(with_leaves(child, leaves) for child in tree.children)
    return replace(tree, children=children)
