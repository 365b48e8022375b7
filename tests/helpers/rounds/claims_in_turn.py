"""
Rounds of pods with claims in one queue, each carried out as devices are dealt.
"""

from random import Random

from adapters.kube.claims.allocation import allocation
from adapters.kube.claims.dealing import dealt
from adapters.kube.claims.device_choices import options_of
from adapters.kube.claims.device_items import items_of
from adapters.kube.claims.device_reading import DeviceReading, device_claim
from adapters.kube.claims.device_requests import claim_spec
from models.policy import Policy
from solver.round import decide
from solver.verify import verify
from tests.helpers.kube.manifests import assembled, node, obj, pod
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    MIG_CLASS,
    asks,
    claim,
    claiming,
    classes,
    cut_gpus,
    profile,
)

CHOICES = (
    ((GPU_CLASS, 3, ()), (GPU_CLASS, 1, ())),
    ((GPU_CLASS, 2, ()), (MIG_CLASS, 2, (profile("3g.40gb"),))),
    ((GPU_CLASS, 1, ()), (MIG_CLASS, 1, (profile("2g.20gb"),))),
    ((MIG_CLASS, 1, (profile("1g.10gb"),)), (GPU_CLASS, 1, ())),
)
SEVENTHS = 7


def either(*alternatives):
    """
    A request for the first of some numbers of devices that can be had.
    """
    some = [
        {**asks("r", of, number, *said)["exactly"], "name": f"a{at}"}
        for at, (of, number, said) in enumerate(alternatives)
    ]
    return {"name": "r", "firstAvailable": some}


def sevenths_of(raw):
    """
    Count what a claim has in sevenths of a GPU, by the names of its devices.
    """
    given = raw.get("status", {}).get("allocation", {}).get("devices", {})
    names = [each["device"] for each in given.get("results", ())]
    return sum(int(n.split("-mig-")[1][0]) if "-mig-" in n else SEVENTHS for n in names)


class ClaimsInTurn:
    """
    A queue with a limit of GPUs, nodes whose GPUs may be cut, and pods with claims.
    """

    def __init__(self, seed):
        chance = self.chance = Random(f"claims-in-turn-{seed}")
        self.limit = chance.choice((1, 2, 3, 4, 6, 12))
        self.nodes = {f"n{at}": chance.randint(1, 4) for at in range(2)}
        self.slices = [
            x for name, gpus in self.nodes.items() for x in cut_gpus(name, gpus)
        ]
        self.pods, self.claims = {}, {}
        self.made = 0
        self.arrive(chance.randint(2, 5))

    def arrive(self, number):
        """
        Let so many more pods wait.
        """
        for _ in range(number):
            self.made += 1
            name = f"p{self.made}"
            wants = either(*self.chance.choice(CHOICES))
            if self.chance.random() < 0.3:
                wants = asks("r", GPU_CLASS, self.chance.randint(1, 2))
            labels = {"kai.scheduler/queue": "q"}
            self.pods[name] = pod(
                name,
                gpus=0,
                labels=labels,
                meta={"uid": name},
                priority=self.chance.choice((0, 0, 50)),
                **claiming(name),
            )
            self.claims[name] = claim(name, wants)

    def leave(self):
        """
        Let some that run end, with their claims.
        """
        for name in [
            name for name, raw in self.pods.items() if "nodeName" in raw["spec"]
        ]:
            if self.chance.random() < 0.3:
                del self.pods[name], self.claims[name]

    @property
    def snapshot(self):
        gpus = {"quota": self.limit, "limit": self.limit, "overQuotaWeight": 1}
        spec = {"resources": {"gpu": gpus}}
        return assembled(
            *(node(name, gpus=0) for name in self.nodes),
            obj("scheduling.run.ai/v2", "Queue", "q", spec=spec),
            *classes(),
            *self.slices,
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
        for step in plan.operations:
            name = step.pod.partition("/")[2]
            if step.op in {"Evict", "Move"}:
                self._restart(name)
        for at in self.nodes:
            bound, later = (
                [
                    step.pod.partition("/")[2]
                    for step in plan.operations
                    if step.op == op and step.node == at
                ]
                for op in ("Bind", "Reserve")
            )
            self._dealt(at, [*bound, *later])
            self._deal(at, bound)
        return plan

    def _restart(self, name):
        del self.pods[name]["spec"]["nodeName"]
        self.pods[name]["status"] = {}
        self.claims[name].pop("status")

    def _dealt(self, at, names):
        """
        Deal the devices of a node, which must be enough for some pods.
        """
        reading = DeviceReading()
        reading.read(classes(), self.slices)
        known = [device_claim(raw, reading.classes) for raw in self.claims.values()]
        held = [each for one in known for each in one.held or ()]
        specs = {
            name: claim_spec(self.claims[name]["spec"], reading.classes)
            for name in names
        }
        asked = {name: items_of(spec) for name, spec in specs.items()}
        reading.free.see(each.item for some in asked.values() for each in some)
        wanted = [
            (
                name,
                [
                    options_of(each.item, reading.free.singles)
                    for each in some
                    for _ in range(each.times)
                ],
            )
            for name, some in asked.items()
        ]
        mine = [each for each in held if each.device[1] == at]
        ways = dealt(reading.free.of_node(at, mine), wanted)
        assert set(names) == ways.keys()
        return {name: allocation(specs[name], ways[name], at, str) for name in names}

    def _deal(self, at, names):
        for name, given in self._dealt(at, names).items():
            uses = [{"resource": "pods", "name": name, "uid": name}]
            self.claims[name]["status"] = {"allocation": given, "reservedFor": uses}
            self.pods[name]["spec"]["nodeName"] = at
            self.pods[name]["status"] = {"phase": "Running"}

    def sevenths(self):
        """
        Count what all claims have in sevenths of a GPU.
        """
        return sum(map(sevenths_of, self.claims.values()))
