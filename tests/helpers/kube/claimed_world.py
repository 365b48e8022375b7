"""
Random small clusters whose pods claim volumes, as Kubernetes' objects.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from tests.helpers.kube.manifests import in_group, node, obj, pod, pod_group

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DRIVER = "csi.example.com"
STATIC, MADE, AT_ONCE = "net", "made", "now"
TOLD = "volume.kubernetes.io/selected-node"
DONE = {"pv.kubernetes.io/bind-completed": "yes"}
ONCE, MANY, ALONE = "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"
SPACE = "default"


@dataclass
class ClaimedWorld:
    """
    All objects of one case, by what they are.
    """

    nodes: list[dict] = field(default_factory=list)
    classes: list[dict] = field(default_factory=list)
    limits: list[dict] = field(default_factory=list)
    volumes: list[dict] = field(default_factory=list)
    claims: list[dict] = field(default_factory=list)
    running: list[dict] = field(default_factory=list)
    gangs: dict[str, list[dict]] = field(default_factory=dict)

    def objects(self) -> Iterator[dict]:
        """
        Walk all objects, those that pods need before them.
        """
        for some in (self.nodes, self.classes, self.limits, self.volumes, self.claims):
            yield from some
        yield from self.running
        for name, pods in self.gangs.items():
            yield pod_group(name, len(pods))
            yield from pods

    @property
    def waiting(self) -> dict[str, dict]:
        return {
            raw["metadata"]["name"]: raw for pods in self.gangs.values() for raw in pods
        }


def drawn(seed: int) -> ClaimedWorld:
    """
    Draw one case; the seed decides it.
    """
    chance = Random(f"claimed-{seed}")
    world = ClaimedWorld()
    for at in range(chance.randint(1, 3)):
        labels = {HOST: f"n{at}"}
        if chance.random() < 0.9:
            labels[ZONE] = chance.choice("ab")
        cordoned = {"unschedulable": True} if chance.random() < 0.08 else {}
        world.nodes.append(
            node(f"n{at}", chance.randint(1, 4), labels=labels, **cordoned)
        )
    world.classes = list(_classes(chance))
    _add_claims(world, chance)
    _add_pods(world, chance)
    return world


def _classes(chance: Random) -> Iterator[dict]:
    late = {"volumeBindingMode": "WaitForFirstConsumer"}
    kind = "storage.k8s.io/v1", "StorageClass"
    yield obj(*kind, STATIC, provisioner="kubernetes.io/no-provisioner", **late)
    rules = [{"key": ZONE, "values": chance.choice((["a"], ["a", "b"]))}]
    places = [{"matchLabelExpressions": rules}] if chance.random() < 0.5 else []
    more = {"allowedTopologies": places} if places else {}
    yield obj(*kind, MADE, provisioner=DRIVER, **late, **more)
    yield obj(*kind, AT_ONCE, provisioner=DRIVER, volumeBindingMode="Immediate")


def _add_claims(world: ClaimedWorld, chance: Random) -> None:
    beside = chance.random() < 0.5
    for at in range(chance.randint(1, 4)):
        of = MADE if beside and chance.random() < 0.5 else STATIC
        world.volumes.append(_free_volume(f"free-{at}", of, world, chance))
    for at in range(chance.randint(1, 5)):
        name = f"c{at}"
        many = "made" if beside else "free"
        how = chance.choice(("free", many, many, "bound", "made", "odd"))
        if how == "bound":
            volume = _bound_volume(f"of-{name}", name, world, chance)
            world.volumes.append(volume)
            said = {"spec": {"volumeName": volume["metadata"]["name"]}}
            world.claims.append(_claim(name, STATIC, chance, meta=DONE, **said))
        else:
            of = {"free": STATIC, "made": MADE}.get(how) or chance.choice(
                (AT_ONCE, MADE, STATIC, "")
            )
            world.claims.append(_claim(name, of, chance))
        if how == "odd":
            _spoil(world, world.claims[-1], chance)


def _spoil(world: ClaimedWorld, raw: dict, chance: Random) -> None:
    """
    Let a claim be on its way, on its way out, or the one that a volume is kept for.
    """
    match chance.choice(("leaves", "names", "told", "kept", "nothing")):
        case "leaves":
            raw["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
        case "names":
            raw["spec"]["volumeName"] = "free-0"
        case "told":
            hosts = [node["metadata"]["name"] for node in world.nodes]
            raw["metadata"]["annotations"][TOLD] = chance.choice(hosts)
        case "kept":
            volume = chance.choice(world.volumes)
            if "claimRef" not in volume["spec"]:
                uid = chance.choice(("", raw["metadata"]["uid"], "another"))
                volume["spec"]["claimRef"] = _reference(raw["metadata"]["name"], uid)


def _reference(name: str, uid: str) -> dict:
    kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return {**kind, "namespace": SPACE, "name": name} | ({"uid": uid} if uid else {})


def _claim(name: str, of: str, chance: Random, *, meta=None, spec=None) -> dict:
    size = chance.choice(("5Gi", "5Gi", "15Gi"))
    return obj(
        "v1",
        "PersistentVolumeClaim",
        name,
        SPACE,
        meta={"uid": f"uid-{name}", "annotations": dict(meta or {})},
        spec={
            "accessModes": [chance.choice((ONCE, ONCE, MANY, ALONE))],
            "resources": {"requests": {"storage": size}},
            "storageClassName": of,
            **(spec or {}),
        },
        status={"phase": "Bound" if spec else "Pending"},
    )


def _volume(name: str, world: ClaimedWorld, chance: Random, **spec: object) -> dict:
    hosts = [raw["metadata"]["name"] for raw in world.nodes]
    where = chance.choice(
        (
            {"key": HOST, "values": [chance.choice(hosts)]},
            {"key": HOST, "values": sorted(chance.sample(hosts, min(2, len(hosts))))},
            {"key": ZONE, "values": [chance.choice("ab")]},
            None,
        )
    )
    if where is not None:
        rules = [{"operator": "In", **where}]
        terms = {"nodeSelectorTerms": [{"matchExpressions": rules}]}
        spec = {"nodeAffinity": {"required": terms}, **spec}
    modes = chance.choice(([ONCE], [ONCE, MANY], [ONCE, MANY, ALONE]))
    size = chance.choice(("10Gi", "10Gi", "20Gi"))
    return obj(
        "v1",
        "PersistentVolume",
        name,
        spec={
            "capacity": {"storage": size},
            "accessModes": modes,
            "storageClassName": STATIC,
            **spec,
        },
        status={"phase": "Available"},
    )


def _free_volume(name: str, of: str, world: ClaimedWorld, chance: Random) -> dict:
    raw = _volume(name, world, chance, storageClassName=of)
    if chance.random() < 0.1:
        raw["status"]["phase"] = "Released"
        raw["spec"]["claimRef"] = _reference("gone", "uid-gone")
    return raw


def _bound_volume(name: str, of: str, world: ClaimedWorld, chance: Random) -> dict:
    spec: dict = {"claimRef": _reference(of, f"uid-{of}")}
    if chance.random() < 0.5:
        spec["csi"] = {"driver": DRIVER, "volumeHandle": name}
    raw = _volume(name, world, chance, **spec)
    raw["status"]["phase"] = "Bound"
    return raw


def _add_pods(world: ClaimedWorld, chance: Random) -> None:
    names = [raw["metadata"]["name"] for raw in world.claims]
    hosts = [raw["metadata"]["name"] for raw in world.nodes]
    ages = iter(chance.sample(range(60), 20))
    if chance.random() < 0.5:
        drivers = [{"name": DRIVER, "allocatable": {"count": chance.randint(0, 2)}}]
        host = chance.choice(hosts)
        spec = {"drivers": drivers}
        world.limits.append(obj("storage.k8s.io/v1", "CSINode", host, spec=spec))
    bound = [
        raw["metadata"]["name"] for raw in world.claims if "volumeName" in raw["spec"]
    ]
    for at in range(chance.choice((0, 0, 1, 2))):
        meta = _born(f"runs-{at}", ages)
        if chance.random() < 0.3:
            meta["deletionTimestamp"] = "2027-01-15T08:00:00Z"
        mounted = chance.sample(bound, min(1, len(bound)))
        here = {"nodeName": chance.choice(hosts), "status": {"phase": "Running"}}
        of = {"schedulerName": chance.choice(("phalanx", "other"))}
        more = {"volumes": _mounts(mounted), **here, **of}
        world.running.append(pod(f"runs-{at}", gpus=0, meta=meta, **more))
    for at in range(chance.randint(1, 3)):
        gang = f"g{at}"
        world.gangs[gang] = [
            pod(
                f"{gang}-{i}",
                labels=in_group(gang),
                meta=_born(f"{gang}-{i}", ages),
                volumes=_mounts(_chosen(names, chance)),
            )
            for i in range(chance.randint(1, 3))
        ]


def _chosen(names: list[str], chance: Random) -> list[str]:
    return chance.sample(names, min(len(names), chance.choice((0, 1, 1, 1, 2))))


def _born(name: str, ages: Iterator[int]) -> dict:
    when = f"2027-01-15T07:59:{next(ages):02}Z"
    return {"uid": f"uid-{name}", "creationTimestamp": when}


def _mounts(claims: list[str]) -> list[dict]:
    return [
        {"name": f"v{at}", "persistentVolumeClaim": {"claimName": name}}
        for at, name in enumerate(claims)
    ]
