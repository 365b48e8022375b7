"""
Which gangs can start with their volumes, by Kubernetes' rules alone and by trying all.

What is known here is what kube-scheduler's filters and the controller of volumes say of
objects; nothing of how Phalanx reads or plans them is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from tests.helpers.kube.claimed_world import (
    ALONE,
    AT_ONCE,
    DONE,
    DRIVER,
    MADE,
    STATIC,
    TOLD,
    ClaimedWorld,
)
from tests.helpers.kube.manifests import GPU

Places = Mapping[str, str]
"""
Nodes by pod.
"""


class ByHand:
    """
    One world, and what may be in it.
    """

    def __init__(self, world: ClaimedWorld) -> None:
        self.world = world
        self.claims = _by_name(world.claims)
        self.volumes = _by_name(world.volumes)
        self.nodes = _by_name(world.nodes)
        self.pods = {**_by_name(world.running), **world.waiting}
        self.classes = _by_name(world.classes)
        self.there = {
            name: raw["spec"]["nodeName"]
            for name, raw in self.pods.items()
            if "nodeName" in raw["spec"]
        }

    def startable(self) -> Iterator[frozenset[str]]:
        """
        Walk the sets of gangs that can start together.
        """
        names = sorted(self.world.gangs)
        for number in range(1, len(names) + 1):
            for some in combinations(names, number):
                if self.can_start(some):
                    yield frozenset(some)

    def can_start(self, gangs: Sequence[str]) -> bool:
        """
        Tell whether all pods of some gangs can have places at once.
        """
        pods = [raw["metadata"]["name"] for g in gangs for raw in self.world.gangs[g]]
        if not all(self.is_ready(pod) for pod in pods):
            return False
        open_ones = [n for n, raw in self.nodes.items() if not _is_closed(raw)]
        tried = product(open_ones, repeat=len(pods))
        return any(self.is_legal(dict(zip(pods, at, strict=True))) for at in tried)

    def is_ready(self, pod: str) -> bool:
        """
        Tell whether the claims of a pod let it be scheduled at all.
        """
        for name in mounted(self.pods[pod]):
            raw = self.claims[name]
            if "deletionTimestamp" in raw["metadata"]:
                return False
            if not _is_bound(raw):
                of = raw["spec"]["storageClassName"]
                if "volumeName" in raw["spec"] or of in {"", AT_ONCE}:
                    return False
            if ALONE in raw["spec"]["accessModes"] and self._first(name) != pod:
                return False
        return True

    def _first(self, claim: str) -> str:
        """
        Give the only pod that may use a claim: who runs with it, else the oldest.
        """
        users = [pod for pod, raw in self.pods.items() if claim in mounted(raw)]
        return min(
            users,
            key=lambda pod: (
                pod not in self.there,
                self.pods[pod]["metadata"]["creationTimestamp"],
            ),
        )

    def is_legal(self, places: Places) -> bool:
        """
        Tell whether pods can be on these nodes at once.
        """
        return (
            self._have_room(places)
            and self._within_limits(places)
            and any(True for _ in self.given(places))
        )

    def given(self, places: Places) -> Iterator[Mapping[str, str]]:
        """
        Walk the ways in which claims of pods can get the volumes that are there.
        """
        hosts: dict[str, set[str]] = {}
        for pod, at in places.items():
            for name in mounted(self.pods[pod]):
                hosts.setdefault(name, set()).add(at)
        choices = {name: self.choices(name, at) for name, at in hosts.items()}
        for each in product(*choices.values()):
            there = [volume for volume in each if volume != MADE]
            if len(set(there)) == len(there):
                yield dict(zip(choices, each, strict=True))

    def choices(self, claim: str, hosts: set[str]) -> list[str]:
        """
        List the volumes that a claim may have on some nodes; one may be a made one.
        """
        raw = self.claims[claim]
        if _is_bound(raw):
            there = [raw["spec"]["volumeName"]]
            return [each for each in there if self._are_within(each, hosts)]
        kept = [each for each in self.volumes if self._is_kept(each, raw)]
        if kept:
            return [each for each in kept if self._are_within(each, hosts)]
        is_made = raw["spec"]["storageClassName"] == MADE
        made = [MADE] if is_made and self._is_made_for(hosts) else []
        if is_made and TOLD in raw["metadata"]["annotations"]:
            told = raw["metadata"]["annotations"][TOLD]
            return made if hosts == {told} else []
        some = [
            each
            for each in self.volumes
            if self._suits(each, raw) and self._are_within(each, hosts)
        ]
        return some + made

    def is_open(self, claim: str) -> bool:
        """
        Tell whether a claim may get one of the volumes that are there, or one made.
        """
        raw = self.claims[claim]
        return (
            not _is_bound(raw)
            and raw["spec"]["storageClassName"] in {STATIC, MADE}
            and not any(self._is_kept(each, raw) for each in self.volumes)
        )

    def _is_kept(self, volume: str, claim: dict) -> bool:
        """
        Tell whether a volume names a claim and is large enough for it.
        """
        said = self.volumes[volume]["spec"].get("claimRef")
        meta = claim["metadata"]
        return (
            said is not None
            and said["name"] == meta["name"]
            and said.get("uid", "") in {"", meta["uid"]}
            and _size(claim) <= _capacity(self.volumes[volume])
        )

    def _suits(self, volume: str, claim: dict) -> bool:
        raw = self.volumes[volume]
        spec, wants = raw["spec"], claim["spec"]
        return (
            "claimRef" not in spec
            and raw["status"]["phase"] == "Available"
            and not any(
                other["spec"].get("volumeName") == volume
                for other in self.claims.values()
            )
            and spec["storageClassName"] == wants["storageClassName"]
            and _size(claim) <= _capacity(raw)
            and set(wants["accessModes"]) <= set(spec["accessModes"])
        )

    def _are_within(self, volume: str, hosts: set[str]) -> bool:
        affinity = self.volumes[volume]["spec"].get("nodeAffinity")
        if affinity is None:
            return True
        (term,) = affinity["required"]["nodeSelectorTerms"]
        (rule,) = term["matchExpressions"]
        return all(self._label(host, rule["key"]) in rule["values"] for host in hosts)

    def _is_made_for(self, hosts: set[str]) -> bool:
        """
        Tell whether a volume can be made that some nodes reach: they are in one zone.
        """
        places = self.classes[MADE].get("allowedTopologies")
        if not places:
            return True
        ((rule,),) = (each["matchLabelExpressions"] for each in places)
        zones = {self._label(host, rule["key"]) for host in hosts}
        return len(zones) == 1 and zones <= set(rule["values"])

    def _label(self, host: str, key: str) -> str | None:
        return self.nodes[host]["metadata"]["labels"].get(key)

    def _have_room(self, places: Places) -> bool:
        used: dict[str, int] = {}
        for at in places.values():
            used[at] = used.get(at, 0) + 1
        room = {
            name: int(raw["status"]["allocatable"][GPU])
            for name, raw in self.nodes.items()
        }
        return all(used[at] <= room[at] for at in used)

    def _within_limits(self, places: Places) -> bool:
        """
        Tell whether no node with new volumes gets more of the driver than it takes.
        """
        for raw in self.world.limits:
            host = raw["metadata"]["name"]
            (driver,) = raw["spec"]["drivers"]
            before = self._on_driver(host, self.there)
            after = before | self._on_driver(host, places)
            if after > before and len(after) > driver["allocatable"]["count"]:
                return False
        return True

    def _on_driver(self, host: str, places: Places) -> set[str]:
        return {
            name
            for pod, at in places.items()
            if at == host
            for name in mounted(self.pods[pod])
            if self._is_on_driver(self.claims[name])
        }

    def _is_on_driver(self, claim: dict) -> bool:
        if _is_bound(claim):
            volume = self.volumes[claim["spec"]["volumeName"]]
            return "csi" in volume["spec"]
        of = self.classes.get(claim["spec"]["storageClassName"])
        return of is not None and of["provisioner"] == DRIVER


def mounted(pod: dict) -> list[str]:
    return [
        each["persistentVolumeClaim"]["claimName"]
        for each in pod["spec"].get("volumes", ())
    ]


def _by_name(raws: Sequence[dict]) -> dict[str, dict]:
    return {raw["metadata"]["name"]: raw for raw in raws}


def _is_bound(claim: dict) -> bool:
    return (
        "volumeName" in claim["spec"]
        and DONE.items() <= claim["metadata"]["annotations"].items()
    )


def _is_closed(node: dict) -> bool:
    return bool(node["spec"].get("unschedulable"))


def _size(claim: dict) -> int:
    return int(claim["spec"]["resources"]["requests"]["storage"].removesuffix("Gi"))


def _capacity(volume: dict) -> int:
    return int(volume["spec"]["capacity"]["storage"].removesuffix("Gi"))
