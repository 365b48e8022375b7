"""
Pods that terminate: what they still hold, which nobody can have before they have ended.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from models.devices.gpu_counts import shares_held
from models.devices.gpu_parts import is_part
from models.gangs import PodPhase, pod_sets
from models.resources import GPU_SHARE, Resources
from models.why.reasons import Facts, listed
from solver.problem.node_room import Bools
from solver.problem.problem import Problem

Ending = tuple[str, int, Resources]
"""
The gang of a pod that terminates, its node by its place, and what it asked for.
"""


def ending_pods(problem: Problem) -> Iterator[Ending]:
    """
    Walk the pods that terminate on nodes.
    """
    index = problem.room.index
    for gang in problem.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                if pod.phase is PodPhase.TERMINATING and pod.node in index:
                    yield gang.key, index[pod.node], leaf.requests


def ending_on(
    problem: Problem, pods: Iterable[Ending], nodes: Bools, resource: str
) -> Facts:
    """
    Say how much of a resource is still held on some nodes, and whose; of parts in GPUs.
    """
    held = Counter[str]()
    for gang, node, requests in pods:
        amount = requests.get(resource, 0)
        if is_part(resource) or resource == GPU_SHARE:
            amount = shares_held(requests, problem.room.nodes[node].gpu_memory)
        held[gang] += amount * bool(nodes[node])
    whose = sorted(name for name, amount in held.items() if amount)
    return {"ends": held.total(), "ending": listed(whose, "gang")} if whose else {}
