"""
Parts of GPUs in odd rounds: what some leaves ask for instead of whole ones, and where.

They are drawn after all else, by a chance of their own: rounds without stay the same.
"""

from dataclasses import dataclass, field
from random import Random

from models.devices.mig_profiles import MIG_MODELS
from tests.odd.gangs import leaves_below
from tests.odd.world import GPU, Part

MODEL = "H100-80GB"
_MEMORY = 80
_SIZES = (0.1, 0.25, 0.3, 0.334, 0.5, 0.5, 0.6, 0.7, 0.999)
_PLACES = ("running", "terminating", "reserved")


@dataclass
class Device:
    """
    What one device still has, and under which contract: ``mig`` where it is cut.
    """

    memory: int
    contract: str = ""
    cores: int = 1000
    mask: int = 0
    cuttable: bool = False


@dataclass
class Devices:
    """
    The devices of all nodes, by the names of these.
    """

    of: dict[str, list[Device]] = field(default_factory=dict)


def add_parts(chance: Random, given: Part) -> None:
    """
    Let some leaves ask for parts, and nodes have what that takes.
    """
    devices = Devices()
    for node in given["nodes"]:
        devices.of[node["name"]] = _devices(chance, node)
    kinds = [_kind(chance) for _ in range(chance.randint(1, 3))]
    for gang in given["gangs"]:
        for leaf in leaves_below(gang):
            if GPU in leaf.get("requests", {}) and chance.random() < 0.6:
                _ask(chance, leaf, chance.choice(kinds), devices)
    for node in given["nodes"]:
        if _is_over(node, given["gangs"], devices.of[node["name"]]):
            _clear(node["name"], given["gangs"])


def _is_over(node: Part, gangs: list[Part], devices: list[Device]) -> bool:
    """
    Tell whether more of a node's devices are whole, or shared, than it has.
    """
    taken = {one["device"] for one in node.get("taken", [])}
    opened = sum(bool(x.contract) for at, x in enumerate(devices) if at not in taken)
    whole = sum(
        leaf["requests"][GPU] * place.get("pods", 1)
        for gang in gangs
        for leaf in leaves_below(gang)
        if GPU in leaf.get("requests", {})
        for word in ("running", "terminating")
        for place in leaf.get(word, [])
        if place["node"] == node["name"]
    )
    used = node.get("used", {}).get(GPU, 0)
    return opened + whole + used > len(devices)


def _clear(name: str, gangs: list[Part]) -> None:
    """
    Let nobody with parts be on a node.
    """
    for gang in gangs:
        for leaf in leaves_below(gang):
            if "gpu" in leaf:
                for word in _PLACES:
                    kept = [x for x in leaf.pop(word, []) if x["node"] != name]
                    if kept:
                        leaf[word] = kept


def _devices(chance: Random, node: Part) -> list[Device]:
    """
    Say what a node's devices are like; others have some of them, or parts.
    """
    number = node["allocatable"].get(GPU, 0)
    memory = chance.choice((_MEMORY, _MEMORY, _MEMORY // 2))
    if number and chance.random() < 0.9:
        node["gpuMemory"] = f"{memory}Gi"
    else:
        memory = 0
    found = [Device(memory * 1024) for _ in range(number)]
    if number and chance.random() < 0.4:
        cut = sorted(chance.sample(range(number), chance.randint(1, number)))
        node["mig"] = {"model": MODEL, "devices": cut}
        for at in cut:
            found[at].cuttable = True
    used = node.get("used", {}).get(GPU, 0)
    if used and memory and chance.random() < 0.5:
        node["taken"] = [_taken(chance, found, at) for at in range(min(used, number))]
    return found


def _taken(chance: Random, devices: list[Device], at: int) -> Part:
    device = devices[at]
    device.contract = chance.choice(("whole", "phalanx", "kai"))
    if device.contract == "whole":
        device.cores = 0
        return {"device": at}
    cores = chance.choice((0.2, 0.5, 0.9))
    device.cores -= round(1000 * cores)
    device.memory -= 4 * 1024
    return {
        "device": at,
        "contract": device.contract,
        "cores": cores,
        "memory": "4Gi",
    }


def _kind(chance: Random) -> Part:
    """
    Draw a part: a share, memory, both, or instances.
    """
    kind: Part
    match chance.randrange(5):
        case 0 | 1:
            kind = {"fraction": chance.choice(_SIZES)}
        case 2:
            kind = {"memory": f"{chance.choice((4, 10, 20, 39, 60))}Gi"}
        case 3:
            kind = {"cores": chance.choice(_SIZES), "memory": "10Gi"}
        case _:
            kind = {"mig": chance.choice([*MIG_MODELS[MODEL]])}
    if chance.random() < 0.3:
        kind["count" if "mig" in kind else "devices"] = chance.choice((2, 2, 3))
    if "mig" not in kind and chance.random() < 0.3:
        kind["contract"] = chance.choice(("kai", "hami"))
    return kind


def _ask(chance: Random, leaf: Part, kind: Part, devices: Devices) -> None:
    """
    Let a leaf ask for a part; its pods stay on nodes that have devices for them.
    """
    del leaf["requests"][GPU]
    if not leaf["requests"]:
        del leaf["requests"]
    leaf["gpu"] = kind
    for word in _PLACES:
        places = []
        for place in leaf.pop(word, []):
            found = _on(chance, devices.of.get(place["node"], []), kind)
            if found:
                places.append({**place, "devices": found})
        if places:
            leaf[word] = places


def _on(chance: Random, devices: list[Device], kind: Part) -> list[Part | int]:
    """
    Put a pod on devices; none where they have no room for it.
    """
    order = list(range(len(devices)))
    chance.shuffle(order)
    if "mig" in kind:
        return _cut(devices, order, kind)
    contract = kind.get("contract", "phalanx")
    need = kind.get("devices", 1)
    cores = round(1000 * kind.get("fraction", kind.get("cores", 0)))
    gibs = int(kind["memory"].removesuffix("Gi")) if "memory" in kind else 0
    found: list[int] = []
    for at in order:
        device = devices[at]
        asked = gibs * 1024 or cores * device.memory // 1000
        fits = device.contract in {"", contract} and device.cores >= cores
        if fits and device.memory >= asked and (device.memory or not gibs):
            found.append(at)
    if len(found) < need:
        return []
    for at in found[:need]:
        device = devices[at]
        whole = device.memory
        device.contract = contract
        device.cores -= cores
        device.memory -= gibs * 1024 or cores * whole // 1000
    return sorted(found[:need])


def _cut(devices: list[Device], order: list[int], kind: Part) -> list[Part | int]:
    profile = MIG_MODELS[MODEL][kind["mig"]]
    found: list[Part | int] = []
    for at in order:
        device = devices[at]
        for start in profile.starts:
            mask = profile.mask(start)
            if len(found) == kind.get("count", 1):
                break
            if device.cuttable and device.contract in {"", "mig"}:
                if device.mask & mask or (profile.is_single and device.mask):
                    continue
                device.contract, device.mask = "mig", device.mask | mask
                found.append({"device": at, "start": start})
    return found if len(found) == kind.get("count", 1) else []
