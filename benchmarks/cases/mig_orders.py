"""
Instances that fill one GPU, in every order in which they could come.
"""

from dataclasses import replace
from itertools import permutations

from models.devices.gpu_parts import GpuPart, MigDevices, with_shares
from models.gangs import Gang, Pod, PodSet
from models.nodes import Node
from models.resources import GPU, PODS
from models.snapshot import Snapshot

_MODEL = "H100-80GB"
_MEMORY = 80 * 1024
PROFILES = ("1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
CONTENTS = (
    (7, 0, 0, 0, 0),
    (5, 1, 0, 0, 0),
    (3, 2, 0, 0, 0),
    (1, 3, 0, 0, 0),
    (4, 0, 1, 0, 0),
    (2, 1, 1, 0, 0),
    (0, 2, 1, 0, 0),
    (0, 0, 2, 0, 0),
    (3, 0, 0, 1, 0),
    (1, 1, 0, 1, 0),
    (0, 0, 1, 1, 0),
    (0, 0, 0, 0, 1),
)
"""
How many instances of each profile fill a GPU, so that no other fits beside them.
"""
Order = tuple[str, ...]


def orders() -> list[Order]:
    """
    List all orders of all contents that fill a GPU.
    """
    found: list[Order] = []
    for content in CONTENTS:
        names = [
            profile
            for profile, number in zip(PROFILES, content, strict=True)
            for _ in range(number)
        ]
        found += sorted(set(permutations(names)))
    return found


def empty_gpu() -> Snapshot:
    """
    Give a node with one GPU that may be cut.
    """
    node = Node(
        name="n",
        allocatable=with_shares({GPU: 1, PODS: 100}, ()),
        gpu_memory=_MEMORY,
        mig=MigDevices(_MODEL, (0,)),
    )
    return Snapshot(nodes=(node,))


def with_instance(snapshot: Snapshot, profile: str, *, age: int = 0) -> Snapshot:
    """
    Let a gang of one instance wait, too.
    """
    name = f"g{len(snapshot.gangs)}"
    requests = {PODS: 1, GpuPart(profile=profile).resource: 1}
    tree = PodSet(
        name="",
        minimum=1,
        replicas=1,
        requests=with_shares(requests, {_MEMORY}),
        pods=(Pod(f"{name}-0"),),
    )
    gang = Gang(name=name, age=age, tree=tree)
    return replace(snapshot, gangs=(*snapshot.gangs, gang))
