"""
What typical pods could not use, device by device: for rounds in which nobody leaves.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from exact.devices import World, holders
from exact.small_model import SmallModel
from models.devices.gpu_parts import WHOLE, GpuPart, is_reckoned, part_of
from models.devices.mig_profiles import MIG_MODELS
from models.devices.typical_pods import TypicalPod, typical_pods
from models.gangs import PodSet, pod_sets
from models.nodes import Node
from models.policy import Policy
from models.resources import GPU
from solver.effort.cp_sat import cp_model

_TWENTIETH = 50_000
_SLICES = 8
_MOST = 2**20
Expr = cp_model.LinearExprT


@dataclass(frozen=True, slots=True)
class _NodeDevice:
    """
    What one device has left: compute, memory, and slices as one or zero each.

    ``open`` says for each contract that somebody has a part of it.
    """

    cores: Expr
    memory: Expr
    left: cp_model.IntVar
    free: tuple[Expr, ...]
    media: Expr
    kinds: dict[str, cp_model.IntVar]
    is_new: bool


def left_over(small: SmallModel, policy: Policy) -> cp_model.LinearExpr:
    """
    Add up over nodes what is of no use to typical pods, in twentieths of a GPU.
    """
    assert small.world is not None, "it is not known what lies on devices in a step"
    typical = typical_pods(small.facts.snapshot, policy)
    terms = [
        _on_node(small, small.world, node, typical)
        for node in small.facts.snapshot.nodes
    ]
    return cp_model.LinearExpr.sum([0, *terms])


def _on_node(
    small: SmallModel, world: World, node: Node, typical: tuple[TypicalPod, ...]
) -> Expr:
    cp, free = small.cp, small.facts.free[node.name]
    load: dict[str, list[Expr]] = {}
    for leaf, number in _coming(small, node):
        for name, amount in leaf.requests.items():
            if amount and not is_reckoned(name):
                load.setdefault(name, []).append(amount * number)
    devices = list(_devices(small, world, node))
    opened = [kind for one in devices if one.is_new for kind in one.kinds.values()]
    idle = cp.new_int_var(0, max(0, free.get(GPU, 0)), "")
    taken = cp_model.LinearExpr.sum([0, *load.get(GPU, []), *opened])
    cp.add(idle == max(0, free.get(GPU, 0)) - taken)
    every = cp_model.LinearExpr.sum([WHOLE * idle, *(one.left for one in devices)])
    lost = [2 * pod.weight * every for pod in typical]
    for pod in typical:
        if not pod.allows(node):
            continue
        can = cp.new_bool_var("")
        used = _used(cp, node, pod, idle, devices, can)
        pods = cp.new_int_var(0, _MOST, "")
        cp.add(pods >= 1).only_enforce_if(can)
        for name, amount in pod.requests:
            more = cp_model.LinearExpr.sum([amount * pods, *load.get(name, [])])
            cp.add(more <= free.get(name, 0)).only_enforce_if(can)
        filled = cp.new_int_var(0, WHOLE * _MOST, "")
        cp.add(filled <= used)
        cp.add(filled <= pod.size * pods)
        lost += [-pod.weight * used, -pod.weight * filled]
    most = max(0, free.get(GPU, 0)) + len(devices)
    found = cp.new_int_var(0, WHOLE * most, "")
    halves = cp_model.LinearExpr.sum([_TWENTIETH, *lost])
    cp.add_division_equality(found, halves, 2 * _TWENTIETH)
    return found


def _coming(small: SmallModel, node: Node) -> Iterator[tuple[PodSet, cp_model.IntVar]]:
    for key, fact in small.planned():
        for leaf in pod_sets(fact.gang.tree):
            for number in small.pods_on(key, leaf.name, node.name):
                yield leaf, number


def _devices(small: SmallModel, world: World, node: Node) -> Iterator[_NodeDevice]:
    """
    Say of each device that is not whole what it has left, nothing while it is idle.
    """
    here: dict[int, list[tuple[GpuPart, int, Expr]]] = {}
    whole = set()
    for holder in holders(small.facts.snapshot):
        for place in holder.pod.devices if holder.pod.node == node.name else ():
            if holder.part is None:
                whole.add(place.device)
            else:
                one = holder.part, place.start, 1
                here.setdefault(place.device, []).append(one)
    leaves = {
        (key, leaf.name): leaf
        for key, fact in small.planned()
        for leaf in pod_sets(fact.gang.tree)
    }
    for (name, key, device, start), number in world.numbers.items():
        part = part_of(leaves[key[0], key[1]].requests)
        if name == node.name and part is not None:
            here.setdefault(device, []).append((part, start, number))
    for at in sorted(here):
        if at not in whole:
            yield _device(small.cp, node, here[at])


def _device(
    cp: cp_model.CpModel, node: Node, there: list[tuple[GpuPart, int, Expr]]
) -> _NodeDevice:
    kinds: dict[str, cp_model.IntVar] = {}
    for kind in sorted({"MIG" if p.profile else p.contract for p, _, _ in there}):
        mine = [n for p, _, n in there if ("MIG" if p.profile else p.contract) == kind]
        literal = cp.new_bool_var("")
        every = cp_model.LinearExpr.sum([0, *mine])
        cp.add(every >= 1).only_enforce_if(literal)
        cp.add(every == 0).only_enforce_if(~literal)
        kinds[kind] = literal
    is_open = cp_model.LinearExpr.sum([0, *kinds.values()])
    cut = cp_model.LinearExpr.sum([0, *(kinds[k] for k in kinds if k == "MIG")])
    cores = cp.new_int_var(-_MOST, WHOLE, "")
    cp.add(cores == WHOLE * is_open - _of(there, lambda part: part.cores))
    memory = cp.new_int_var(-_MOST, max(1, node.gpu_memory), "")
    taken = _of(there, lambda part: part.memory_on(node.gpu_memory))
    cp.add(memory == node.gpu_memory * is_open - taken)
    slices: list[list[Expr]] = [[] for _ in range(_SLICES)]
    media: list[Expr] = []
    for part, start, number in there:
        profile = MIG_MODELS[node.mig.model].get(part.profile) if node.mig else None
        if profile is not None:
            for at in range(start, start + profile.size):
                slices[at].append(number)
            media += [number] * profile.is_single
    free = tuple(cut - cp_model.LinearExpr.sum([0, *row]) for row in slices)
    left = cp.new_int_var(0, WHOLE, "")
    eighths = cp.new_int_var(0, WHOLE, "")
    cp.add(eighths == WHOLE // _SLICES * cp_model.LinearExpr.sum([*free]))
    shared = cp.new_int_var(0, WHOLE, "")
    share = cp.new_int_var(0, WHOLE, "")
    if node.gpu_memory:
        cp.add_division_equality(share, WHOLE * memory, node.gpu_memory)
    else:
        cp.add(share == WHOLE * is_open)
    cp.add_min_equality(shared, [cores, share])
    if "MIG" in kinds:
        cp.add(left == eighths).only_enforce_if(kinds["MIG"])
        cp.add(left == shared).only_enforce_if(~kinds["MIG"])
    else:
        cp.add(left == shared)
    has_media = cut - cp_model.LinearExpr.sum([0, *media])
    is_new = all(not isinstance(number, int) for _, _, number in there)
    return _NodeDevice(cores, memory, left, free, has_media, kinds, is_new)


def _of(
    there: list[tuple[GpuPart, int, Expr]], amount: Callable[[GpuPart], int]
) -> cp_model.LinearExpr:
    """
    Add up an amount over the parts on a device.
    """
    return cp_model.LinearExpr.sum([0, *(amount(p) * n for p, _, n in there)])


def _used(
    cp: cp_model.CpModel,
    node: Node,
    pod: TypicalPod,
    idle: cp_model.IntVar,
    devices: list[_NodeDevice],
    can: cp_model.IntVar,
) -> cp_model.IntVar:
    """
    Give what a typical pod could use; as it is wanted high, nothing bounds it below.
    """
    used = cp.new_int_var(0, WHOLE * _MOST, "")
    cp.add(used == 0).only_enforce_if(~can)
    if pod.part is None:
        cp.add(idle >= pod.gpus).only_enforce_if(can)
        cp.add(used <= WHOLE * idle)
        return used
    part = pod.part
    fresh = cp.new_int_var(0, 64, "")
    cp.add(fresh <= idle)
    models = MIG_MODELS[node.mig.model] if node.mig else {}
    if part.profile:
        cuttable = len(node.mig.devices) if node.mig and part.profile in models else 0
        cp.add(fresh <= cuttable)
    elif part.memory_on(node.gpu_memory) > node.gpu_memory:
        cp.add(fresh == 0)
    able, room = [], []
    for device in devices:
        holds, use = cp.new_bool_var(""), cp.new_int_var(0, WHOLE, "")
        _ensure_it_holds(cp, node, part, device, holds)
        cp.add(use <= device.left)
        cp.add(use == 0).only_enforce_if(~holds)
        able.append(holds)
        room.append(use)
    count = 1 if part.profile else part.count
    cp.add(cp_model.LinearExpr.sum([fresh, *able]) >= count).only_enforce_if(can)
    cp.add(used <= cp_model.LinearExpr.sum([WHOLE * fresh, *room]))
    return used


def _ensure_it_holds(
    cp: cp_model.CpModel,
    node: Node,
    part: GpuPart,
    device: _NodeDevice,
    holds: cp_model.IntVar,
) -> None:
    """
    Ensure that a device holds one more of a part, where that is said.
    """
    kind = device.kinds.get("MIG" if part.profile else part.contract, 0)
    cp.add(holds <= kind)
    if not part.profile:
        memory = part.memory_on(node.gpu_memory)
        cp.add(device.cores >= part.cores).only_enforce_if(holds)
        cp.add(device.memory >= memory).only_enforce_if(holds)
        return
    profile = (MIG_MODELS[node.mig.model] if node.mig else {}).get(part.profile)
    starts = []
    for start in profile.starts if profile else ():
        here = cp.new_bool_var("")
        for at in range(start, start + (profile.size if profile else 0)):
            cp.add(here <= device.free[at])
        starts.append(here)
    if profile is not None and profile.is_single:
        cp.add(holds <= device.media)
    cp.add(holds <= cp_model.LinearExpr.sum([0, *starts]))
