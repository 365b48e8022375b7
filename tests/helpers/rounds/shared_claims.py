"""
Rounds of gangs whose pods share claims, each carried out.
"""

from random import Random

from models.policy import Policy
from solver.round import decide
from solver.verify import verify
from tests.helpers.kube.manifests import assembled, in_group, node, pod, pod_group
from tests.helpers.rounds.devices import (
    DRIVER,
    GPU_CLASS,
    asks,
    claim,
    claiming,
    classes,
    gpu,
    node_slice,
)

PRIORITIES = (0, 0, 50, 100)


class SharedClaims:
    """
    Nodes with GPUs, and gangs: some share one claim, some two, some one with others.

    Their priorities may ``differ``, so that some are evicted for others.
    """

    def __init__(self, seed, *, differ=False):
        self.chance = Random(f"shared-claims-{seed}")
        self.differ = differ
        number = self.chance.randint(1, 3)
        self.nodes = {f"n{at}": self.chance.choice((2, 4, 8)) for at in range(number)}
        self.slices = [
            node_slice(name, [gpu(at) for at in range(gpus)])
            for name, gpus in self.nodes.items()
        ]
        self.pods, self.claims, self.groups = {}, {}, {}
        self.uses, self.sizes = {}, {}
        self.made = 0
        for _ in range(self.chance.randint(2, 5)):
            self.arrive()

    def arrive(self):
        """
        Let a gang come: whole or not yet, of pods that all start or of more.
        """
        self.made += 1
        name = f"g{self.made}"
        pods = self.chance.randint(1, 3)
        least = self.chance.choice((pods, pods, pods + 1, 1))
        self.groups[name] = least
        priority = self.chance.choice(PRIORITIES) if self.differ else 0
        common = [self._claim(f"{name}-c")]
        if self.chance.random() < 0.3:
            common.append(self._claim(f"{name}-d"))
        if self.chance.random() < 0.2:
            common = self.chance.choice([[x] for x in self.claims])
        for at in range(pods):
            mine = list(common)
            if self.chance.random() < 0.2:
                mine.append(self._claim(f"{name}-{at}-own"))
            self._pod(f"{name}-{at}", name, mine, priority)

    def _claim(self, name):
        number = self.chance.choice((1, 1, 2, 4))
        self.claims[name] = claim(name, asks("r", GPU_CLASS, number))
        self.sizes[name] = number
        return name

    def _pod(self, name, group, claims, priority):
        meta = {"uid": name, "labels": in_group(group)}
        age = {"creationTimestamp": f"2026-01-01T00:00:{len(self.pods) % 60:02}Z"}
        spec = claiming(*claims) | {"priority": priority}
        self.pods[name] = pod(name, gpus=0, meta=meta | age, **spec)
        self.uses[name] = claims

    @property
    def snapshot(self):
        return assembled(
            *(node(name, gpus=0) for name in self.nodes),
            *classes(),
            *self.slices,
            *(pod_group(name, least) for name, least in self.groups.items()),
            *self.claims.values(),
            *self.pods.values(),
        ).snapshot

    def round(self):
        """
        Plan, hold the plan against the judge, and carry it out.
        """
        snapshot = self.snapshot
        plan = decide(snapshot, Policy())
        assert () == verify(snapshot, Policy(), plan)
        steps = [
            (step.op, step.pod.partition("/")[2], step) for step in plan.operations
        ]
        for name in (name for op, name, _ in steps if op in {"Evict", "Move"}):
            self._leave(name)
        at = {name: step.node for op, name, step in steps if op == "Bind"}
        self._bind(at)
        self._keep({name: step.node for op, name, step in steps if op == "Reserve"})
        return at

    def _leave(self, name):
        del self.pods[name]["spec"]["nodeName"]
        self.pods[name]["status"] = {}
        for each in self.uses[name]:
            held = self.claims[each]["status"]
            held["reservedFor"] = [x for x in held["reservedFor"] if x["name"] != name]
            if not held["reservedFor"]:
                del self.claims[each]["status"]

    def _keep(self, at):
        """
        See that what has its places reserved will find its devices there.
        """
        places = {}
        for name, where in at.items():
            for each in self.uses[name]:
                assert where == places.setdefault(each, self.place(each) or where)
        for where in self.nodes:
            new = [x for x, at in places.items() if at == where and not self.place(x)]
            assert sum(self.sizes[each] for each in new) <= len(self.free(where))

    def _bind(self, at):
        places = {}
        for name, where in at.items():
            for each in self.uses[name]:
                assert places.setdefault(each, self.place(each) or where) == where
        for each, where in places.items():
            if self.place(each) is None:
                self._allocate(each, where)
        for name, where in at.items():
            for each in self.uses[name]:
                user = {"resource": "pods", "name": name, "uid": name}
                self.claims[each]["status"]["reservedFor"].append(user)
            self.pods[name]["spec"]["nodeName"] = where
            self.pods[name]["status"] = {"phase": "Running"}

    def _allocate(self, name, where):
        free = self.free(where)[: self.sizes[name]]
        assert len(free) == self.sizes[name]
        given = {"request": "r", "driver": DRIVER, "pool": where}
        rule = {"key": "metadata.name", "operator": "In", "values": [where]}
        self.claims[name]["status"] = {
            "allocation": {
                "devices": {"results": [{**given, "device": each} for each in free]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [rule]}]},
            },
            "reservedFor": [],
        }

    def place(self, name):
        """
        Give the node where a claim has its devices.
        """
        results = self._results(name)
        return results[0]["pool"] if results else None

    def _results(self, name):
        given = self.claims[name].get("status", {}).get("allocation", {})
        return given.get("devices", {}).get("results", ())

    def free(self, where):
        """
        Name the devices of a node that nobody has.
        """
        had = {
            each["device"]
            for name in self.claims
            for each in self._results(name)
            if each["pool"] == where
        }
        every = (f"gpu-{at}" for at in range(self.nodes[where]))
        return [name for name in every if name not in had]

    def idle(self):
        """
        Name the gangs that wait though all of their pods have room on one node.
        """
        found = []
        for group, least in self.groups.items():
            pods = [x for x in self.pods if x.partition("-")[0] == group]
            if any("nodeName" in self.pods[x]["spec"] for x in pods):
                continue
            wanted = {each for x in pods for each in self.uses[x]}
            if len(pods) < least or any(map(self.place, wanted)):
                continue
            number = sum(self.sizes[each] for each in wanted)
            if any(number <= len(self.free(at)) for at in self.nodes):
                found.append(group)
        return found
