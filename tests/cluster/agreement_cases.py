"""
Random small clusters with one waiting pod, for two schedulers to judge.

Each case has nodes, a namespace and objects of its own: its number stands in the label
``case`` of its nodes and in the node selector of its pod.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random

from tests.cluster.agreement_asks import ask_more, classes
from tests.cluster.agreement_neighbours import app, keeps_apart, neighbours
from tests.cluster.provisioner import ZONE, claim, storage_class

CASE = "case"
POD = "waits"
GROUP = "scheduling.x-k8s.io/pod-group"
MEMBERS = 4
_GROUP = "storage.k8s.io/v1"
_CAPACITY_DRIVER = "capacity.example.com"
_HERE_FIRST = "installed.example.com"
_DONE = {"pv.kubernetes.io/bind-completed": "yes"}


@dataclass(slots=True)
class Case:
    """
    What is created, in this order; the pod that waits is the last.
    """

    number: int
    chance: Random
    nodes: list[dict] = field(default_factory=list)
    objects: list[dict] = field(default_factory=list)

    @property
    def space(self) -> str:
        return f"case-{self.number}"

    def often(self, part: float) -> bool:
        return self.chance.random() < part


def shared() -> list[dict]:
    """
    Write the drivers and classes that all cases have.
    """
    return [
        *classes(),
        _object("CSIDriver", _CAPACITY_DRIVER, spec={"storageCapacity": True}),
        _object("CSIDriver", _HERE_FIRST, spec={"preventPodSchedulingIfMissing": True}),
    ]


def draw(number: int, seed: str = "") -> Case:
    """
    Draw a case; its number decides it.
    """
    case = Case(number, Random(f"agreement-{seed}-{number}"))
    names = [f"n{number}-{at}" for at in range(case.chance.randint(1, 3))]
    case.nodes = [_node(case, name) for name in names]
    for name in names:
        if case.often(0.5):
            case.objects.append(_csi_node(case, name))
    for at, name in enumerate(names):
        if case.often(0.5):
            spec = {"nodeName": name, "tolerations": [{"operator": "Exists"}]}
            spec |= keeps_apart(case.chance, case.number)
            case.objects.append(_pod(case, f"runs-{at}", **spec))
    mounts = [_claim(case, at, names) for at in range(case.chance.choice((0, 1, 1, 2)))]
    _let_others_mount(case, names)
    volumes = _mounted(*mounts)
    wishes = _wishes(case)
    if case.often(0.5):
        wishes = neighbours(case.chance, case.number, wishes)
    case.objects.append(_pod(case, POD, volumes=volumes, **wishes))
    return case


def draw_more(number: int, seed: str = "") -> Case:
    """
    Draw a case; in every second the pod asks for more, and for fewer volumes.
    """
    case = draw(number, seed)
    if number % 2:
        chance, waits = Random(f"more-{seed}-{number}"), case.objects.pop()
        case.objects += ask_more(chance, case.space, case.nodes, waits)
        case.objects.append(waits)
    return case


def draw_gang(number: int, seed: str = "") -> Case:
    """
    Draw a case in which four pods of one gang wait, and none of them has volumes.
    """
    case = draw(number, f"gang{seed}")
    waits = case.objects.pop()
    waits["spec"]["volumes"] = []
    (container,) = waits["spec"]["containers"]
    container["resources"] = {"requests": {"cpu": "1"}, "limits": {}}
    container["ports"] = container["ports"] if case.often(0.1) else []
    for at in range(MEMBERS):
        pod = deepcopy(waits)
        pod["metadata"]["name"] = f"{POD}-{at}"
        pod["metadata"]["labels"] |= {GROUP: "g", "member": str(at % 2)}
        case.objects.append(pod)
    return case


def at_home(case: Case, homes: dict[str, str]) -> None:
    """
    Let each pod of a gang be on one node only, by a resource that others lack.

    So nothing changes of what affinity and spread see.
    """
    for pod in case.objects[-MEMBERS:]:
        name = pod["metadata"]["name"]
        only = f"example.com/only-{name}"
        (container,) = pod["spec"]["containers"]
        for word in ("requests", "limits"):
            container["resources"][word] = {**container["resources"][word], only: "1"}
        for node in case.nodes:
            if node["metadata"]["name"] == homes[name]:
                for word in ("allocatable", "capacity"):
                    node["status"][word] = {**node["status"][word], only: "1"}


def _mounted(*claims: str) -> list[dict]:
    return [
        {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims
    ]


def _let_others_mount(case: Case, names: list[str]) -> None:
    """
    Let pods that run have volumes, some of them those of the pod that waits.
    """
    bound = [
        raw["metadata"]["name"]
        for raw in case.objects
        if raw["kind"] == "PersistentVolumeClaim" and raw["spec"].get("volumeName")
    ]
    running = [raw for raw in case.objects if raw["kind"] == "Pod"]
    for at, raw in enumerate(running):
        mine = raw["spec"].get("volumes", [])
        some = [claim for claim in bound if not mine and case.often(0.3)]
        if case.often(0.4):
            own, volume = f"own-{at}", f"own-{case.number}-{at}"
            made = claim(case.space, own, "", size="10Gi")
            _bind(made, volume)
            case.objects += [_volume(case, volume, "", names), made]
            some.append(own)
        raw["spec"]["volumes"] = [*mine, *_mounted(*some)]


def _node(case: Case, name: str) -> dict:
    chance = case.chance
    room = {
        "cpu": str(chance.choice((2, 4, 8))),
        "memory": "32Gi",
        "nvidia.com/gpu": str(chance.choice((0, 1, 2))),
        "pods": str(chance.choice((2, 110, 110))),
    }
    labels = {
        CASE: str(case.number),
        "kubernetes.io/hostname": name,
        ZONE: chance.choice("ab"),
        "speed": str(chance.randint(1, 3)),
    }
    spec: dict = {}
    if case.often(0.25):
        effect = chance.choice(("NoSchedule", "PreferNoSchedule", "NoExecute"))
        spec["taints"] = [
            {"key": "kind", "value": chance.choice("xy"), "effect": effect}
        ]
    if case.often(0.05):
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": room, "capacity": room},
    }


def _wishes(case: Case) -> dict:
    chance, wishes = case.chance, {}
    selector = {CASE: str(case.number)}
    if case.often(0.1):
        selector[ZONE] = chance.choice("ab")
    wishes["nodeSelector"] = selector
    if case.often(0.4):
        value = {"value": chance.choice("xy")} if case.often(0.6) else {}
        operator = "Equal" if value else "Exists"
        wishes["tolerations"] = [{"key": "kind", "operator": operator, **value}]
    if case.often(0.25):
        wishes["affinity"] = {"nodeAffinity": {_REQUIRED: _terms(case)}}
    return wishes


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _terms(case: Case) -> dict:
    rules = (
        {"key": ZONE, "operator": "In", "values": [case.chance.choice("ab")]},
        {"key": ZONE, "operator": "NotIn", "values": [case.chance.choice("ab")]},
        {"key": "speed", "operator": "Gt", "values": [str(case.chance.randint(0, 3))]},
        {"key": "speed", "operator": "Lt", "values": [str(case.chance.randint(1, 4))]},
        {"key": "absent", "operator": case.chance.choice(("Exists", "DoesNotExist"))},
    )
    some = [
        {"matchExpressions": case.chance.sample(rules, case.chance.randint(1, 2))}
        for _ in range(case.chance.randint(1, 2))
    ]
    return {"nodeSelectorTerms": some}


def _pod(case: Case, name: str, **spec: object) -> dict:
    chance = case.chance
    asked = {"cpu": str(chance.choice((1, 1, 2, 4)))}
    limits = {}
    if case.often(0.4):
        limits = {"nvidia.com/gpu": "1"}
    ports = []
    if case.often(0.4):
        port = {"containerPort": 80, "hostPort": chance.choice((80, 81))}
        port["protocol"] = chance.choice(("TCP", "TCP", "UDP"))
        address = chance.choice(("", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"))  # noqa: S104
        ports = [port | ({"hostIP": address} if address else {})]
    container = {
        "name": "main",
        "image": "job",
        "resources": {"requests": asked, "limits": limits},
        "ports": ports,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": case.space,
            "labels": app(chance, case.number),
        },
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [container],
            **spec,
        },
    }


def _csi_node(case: Case, name: str) -> dict:
    there = ["csi.example.com", _HERE_FIRST, _CAPACITY_DRIVER]
    drivers = [{"name": each, "nodeID": name} for each in there if case.often(0.5)]
    for each in drivers:
        if case.often(0.5):
            each["allocatable"] = {"count": case.chance.choice((1, 1, 2))}
    return _object("CSINode", name, spec={"drivers": drivers})


def _claim(case: Case, at: int, names: list[str]) -> str:
    """
    Draw a claim of the pod, with the class or the volume that it needs.
    """
    name, of = f"c{at}", f"class-{case.number}-{at}"
    made = claim(case.space, name, of, size="10Gi")
    kinds = (*["bound"] * 6, *["waits"] * 8, *["local"] * 3, "immediate", "missing")
    kind = case.chance.choice((*kinds, "no-class", "selected", "taken"))
    if kind == "missing":
        return name
    if kind == "local":
        made["spec"]["storageClassName"] = f"local-{case.number}"
        case.objects += [*_free_volumes(case, at, names), made]
        return name
    if kind == "bound":
        case.objects += [_volume(case, f"v-{case.number}-{at}", of, names), made]
        _bind(made, f"v-{case.number}-{at}")
        return name
    if kind == "taken":
        made["spec"]["accessModes"] = ["ReadWriteOncePod"]
        case.objects += [
            _volume(case, f"v-{case.number}-{at}", of, names, "ReadWriteOncePod"),
            made,
        ]
        _bind(made, f"v-{case.number}-{at}")
        mounted = [{"name": name, "persistentVolumeClaim": {"claimName": name}}]
        if case.often(0.5):
            spec = {"nodeName": names[0], "tolerations": [{"operator": "Exists"}]}
            case.objects.append(_pod(case, f"has-{at}", volumes=mounted, **spec))
        return name
    if kind != "no-class":
        case.objects += _class(case, of, immediate=kind == "immediate")
    if kind == "selected":
        chosen = case.chance.choice(names)
        said = {"volume.kubernetes.io/selected-node": chosen}
        made["metadata"]["annotations"] = said
    case.objects.append(made)
    return name


def _free_volumes(case: Case, at: int, names: list[str]) -> Iterator[dict]:
    """
    Draw free volumes of hosts and zones, of one class for all claims of the pod.
    """
    of, chance = f"local-{case.number}", case.chance
    if all(raw["metadata"]["name"] != of for raw in case.objects):
        yield storage_class(of, provisioner="kubernetes.io/no-provisioner")
    for number in range(chance.choice((0, 1, 2, 2, 3, 3))):
        name, mode = f"l-{case.number}-{at}-{number}", "ReadWriteOnce"
        if case.often(0.1):
            mode = "ReadOnlyMany"
        where = *["host"] * 3, "zone", "anywhere"
        raw = _volume(case, name, of, names, mode, where)
        raw["spec"]["capacity"] = {
            "storage": chance.choice(("5Gi", "10Gi", "20Gi", "20Gi"))
        }
        yield raw | {"status": {"phase": "Available"}}


def _bind(made: dict, volume: str) -> None:
    made["metadata"]["annotations"] = dict(_DONE)
    made["spec"]["volumeName"] = volume
    made["status"] = {"phase": "Bound"}


def _class(case: Case, of: str, *, immediate: bool) -> list[dict]:
    said: dict = {"volumeBindingMode": "Immediate"} if immediate else {}
    more: list[dict] = []
    if case.often(0.3):
        rules = [{"key": ZONE, "values": [case.chance.choice("ab")]}]
        said["allowedTopologies"] = [{"matchLabelExpressions": rules}]
    if case.often(0.3):
        said["provisioner"] = _HERE_FIRST
    elif case.often(0.5):
        said["provisioner"] = _CAPACITY_DRIVER
        more += [_capacity(case, of, zone) for zone in "ab" if case.often(0.6)]
    return [storage_class(of, **said), *more]


def _capacity(case: Case, of: str, zone: str) -> dict:
    size = case.chance.choice(("5Gi", "10Gi", "50Gi"))
    most = {"maximumVolumeSize": "8Gi"} if case.often(0.2) else {}
    raw = _object("CSIStorageCapacity", f"{of}-{zone}", storageClassName=of)
    raw["metadata"]["namespace"] = case.space
    topology = {"matchLabels": {ZONE: zone}}
    return raw | {"capacity": size, "nodeTopology": topology, **most}


def _volume(
    case: Case,
    name: str,
    of: str,
    names: list[str],
    mode: str = "ReadWriteOnce",
    places: tuple[str, ...] = ("zone", "host", "label", "anywhere"),
) -> dict:
    chance = case.chance
    meta: dict = {"name": name}
    driver = chance.choice(("csi.example.com", _HERE_FIRST))
    spec: dict = {
        "capacity": {"storage": "10Gi"},
        "accessModes": [mode],
        "storageClassName": of,
        "csi": {"driver": driver, "volumeHandle": name},
    }
    where = chance.choice(places)
    if where == "label":
        zones = chance.choice(("a", "b", "a__b"))
        meta["labels"] = {ZONE: zones}
    if where in {"zone", "host"}:
        key = ZONE if where == "zone" else "kubernetes.io/hostname"
        value = chance.choice("ab") if where == "zone" else chance.choice(names)
        rule = {"key": key, "operator": "In", "values": [value]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
        spec["nodeAffinity"] = {"required": terms}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": meta,
        "spec": spec,
    }


def _object(kind: str, name: str, **said: object) -> dict:
    return {"apiVersion": _GROUP, "kind": kind, "metadata": {"name": name}, **said}
