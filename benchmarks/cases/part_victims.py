"""
Random small cases for evictions with parts of GPUs: sharers, instances, whole GPUs.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from benchmarks.cases.victims import GPU, victim_case
from models.devices.mig_profiles import MIG_MODELS, Sliced

Part = dict[str, Any]
_MODEL = "H100-80GB"
_MEMORY = "80Gi"
_SIZES = (250, 300, 400, 500, 500, 600, 700)
_PROFILES = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb")


def part_victim_case(seed: int) -> Part:
    """
    Make one case: of what runs and waits much asks for parts, and devices are shared.
    """
    made = victim_case(seed)
    if any(GPU not in node["allocatable"] for node in made["given"]["nodes"]):
        made = victim_case(seed + 1)
    made["rule"] = f"Random small case {seed} of evictions with parts of GPUs."
    _PartCase(Random(f"part-victims-{seed}"), made["given"]).run()
    return made


class _PartCase:
    """
    A case while its gangs get parts in place of GPUs, and sharers beside them.
    """

    def __init__(self, rnd: Random, given: Part) -> None:
        self.rnd = rnd
        self.given = given
        self.nodes = {node["name"]: node for node in given["nodes"]}
        self.next = dict.fromkeys(self.nodes, 0)
        self.left: dict[tuple[str, int], int] = {}
        self.cut: dict[tuple[str, int], Sliced] = {}
        self.contract = rnd.choice(("phalanx", "phalanx", "kai"))
        self.sizes = rnd.sample(_SIZES, 3)
        self.profiles = rnd.sample(_PROFILES, 2)

    def run(self) -> None:
        """
        Change nodes, gangs that run and gangs that wait.
        """
        for node in self.given["nodes"]:
            node["gpuMemory"] = _MEMORY
            if self.rnd.random() < 0.4:
                devices = [*range(node["allocatable"][GPU])]
                node["mig"] = {"model": _MODEL, "devices": devices}
        for gang in self.given["gangs"]:
            for leaf in _leaves(gang):
                if self.rnd.random() < 0.6:
                    self._change(leaf)
        self._add_sharers()
        self._add_instances()

    def _change(self, leaf: Part) -> None:
        gpus = leaf.get("requests", {}).get(GPU, 0)
        runs = [*leaf.get("running", ()), *leaf.get("terminating", ())]
        if not 1 <= gpus <= 2:
            return
        if not runs and self.rnd.random() < 0.35:
            del leaf["requests"][GPU]
            leaf["gpu"] = {"mig": self.rnd.choice(self.profiles), "count": gpus}
            return
        size = self.rnd.choice(self.sizes)
        leaf["gpu"] = {"fraction": size / 1000, "contract": self.contract}
        if gpus > 1:
            leaf["gpu"]["devices"] = gpus
        del leaf["requests"][GPU]
        for pod in runs:
            first = self.next[pod["node"]]
            self.next[pod["node"]] += gpus
            pod["devices"] = [*range(first, first + gpus)]
            for device in pod["devices"]:
                self.left[pod["node"], device] = 1000 - size

    def _queue(self) -> str:
        queues: list[str] = [
            gang["queue"] for gang in self.given["gangs"] if gang["name"][0] == "v"
        ] or [self.given["gangs"][0]["queue"]]
        return self.rnd.choice(queues)

    def _add(self, name: str, gpu: Part, node: str, device: Any) -> None:
        seconds = self.rnd.randint(1, 20_000)
        self.given["gangs"].append(
            {
                "name": name,
                "queue": self._queue(),
                "priority": self.rnd.choice((0, 0, 10, 20)),
                "min": 1,
                "gpu": gpu,
                "running": [{"node": node, "devices": [device], "for": f"{seconds}s"}],
            }
        )

    def _add_sharers(self) -> None:
        for at, (node, device) in enumerate(sorted(self.left)):
            for more in range(2):
                fitting = [x for x in self.sizes if x <= self.left[node, device]]
                if not fitting or self.rnd.random() > 0.6:
                    break
                size = self.rnd.choice(fitting)
                self.left[node, device] -= size
                gpu = {"fraction": size / 1000, "contract": self.contract}
                self._add(f"s{at}-{more}", gpu, node, device)

    def _add_instances(self) -> None:
        """
        Put instances on GPUs of which nobody else has any part, one or two on each.
        """
        whole = dict.fromkeys(self.nodes, 0)
        for gang in self.given["gangs"]:
            for leaf in _leaves(gang):
                for pod in (*leaf.get("running", ()), *leaf.get("terminating", ())):
                    gpus = leaf.get("requests", {}).get(GPU, 0)
                    whole[pod["node"]] += gpus
        for name, node in sorted(self.nodes.items()):
            free = node["allocatable"][GPU] - whole[name] - self.next[name]
            if "mig" not in node or free < 1 or self.rnd.random() > 0.7:
                continue
            device, taken = self.next[name], Sliced()
            for more in range(self.rnd.randint(1, 2)):
                profile = self.rnd.choice(self.profiles)
                record = MIG_MODELS[_MODEL][profile]
                starts = [x for x in record.starts if taken.fits(record, x)]
                if starts:
                    start = self.rnd.choice(starts)
                    taken = taken.with_one(record, start)
                    place = {"device": device, "start": start}
                    self._add(f"i{name}-{more}", {"mig": profile}, name, place)


def _leaves(gang: Part) -> Iterator[Part]:
    for leaf in gang.get("groups", [gang]):
        if "requests" in leaf:
            yield leaf
