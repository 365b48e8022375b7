"""
A provisioner and binder of volumes for the tests: what a CSI driver and the controller
manager do to claims that were told their node.
"""

from adapters.kube.api.client import Transport
from tests.cluster.beside import Beside

ZONE = "topology.kubernetes.io/zone"
SELECTED = "volume.kubernetes.io/selected-node"
_DONE = "pv.kubernetes.io/bind-completed"


class Provisioner(Beside):
    """
    Binds claims to volumes while a ``with`` block runs; some of them it ``refuses``.

    A volume is of the zone of the node that its claim was told.
    """

    def __init__(self, admin: Transport, *, refuses: frozenset[str] = frozenset()):
        super().__init__(admin, closes=False)
        self._refuses = refuses
        self.refused = 0

    def look(self) -> None:
        """
        Serve every claim that has no volume and was told a node, or a volume it.
        """
        taken = {
            (ref["namespace"], ref["name"]): raw["metadata"]["name"]
            for raw in self._admin.call("GET", "/api/v1/persistentvolumes")["items"]
            if (ref := raw["spec"].get("claimRef"))
        }
        listed = self._admin.call("GET", "/api/v1/persistentvolumeclaims")
        for claim in listed["items"]:
            meta = claim["metadata"]
            if claim["spec"].get("volumeName"):
                continue
            node = meta.get("annotations", {}).get(SELECTED)
            volume = taken.get((meta["namespace"], meta["name"]))
            if volume is not None:
                self._bind(claim, volume)
            elif node is not None and meta["name"] in self._refuses:
                self.refused += 1
                self._patch(claim, {"metadata": {"annotations": {SELECTED: None}}})
            elif node is not None:
                self._bind(claim, self._made(claim, node))

    def _made(self, claim: dict, node: str) -> str:
        labels = self._admin.call("GET", f"/api/v1/nodes/{node}")["metadata"]["labels"]
        meta, spec = claim["metadata"], claim["spec"]
        rule = {"key": ZONE, "operator": "In", "values": [labels[ZONE]]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{meta['uid']}"},
            "spec": {
                "capacity": spec["resources"]["requests"],
                "accessModes": spec["accessModes"],
                "storageClassName": spec["storageClassName"],
                "csi": {"driver": "csi.example.com", "volumeHandle": meta["uid"]},
                "nodeAffinity": {"required": terms},
                "claimRef": {
                    "kind": "PersistentVolumeClaim",
                    "apiVersion": "v1",
                    "namespace": meta["namespace"],
                    "name": meta["name"],
                    "uid": meta["uid"],
                },
            },
        }
        made = self._admin.call("POST", "/api/v1/persistentvolumes", volume)
        return made["metadata"]["name"]

    def _bind(self, claim: dict, volume: str) -> None:
        said = {"metadata": {"annotations": {_DONE: "yes"}}}
        self._patch(claim, {**said, "spec": {"volumeName": volume}})
        self._patch(claim, {"status": {"phase": "Bound"}}, "/status")

    def _patch(self, claim: dict, body: dict, below: str = "") -> None:
        meta = claim["metadata"]
        space = f"/api/v1/namespaces/{meta['namespace']}"
        path = f"{space}/persistentvolumeclaims/{meta['name']}{below}"
        self._admin.call("PATCH", path, body)


def storage_class(name: str, **said: object) -> dict:
    """
    Write a class that waits for the first pod, and whose volumes are made.
    """
    fields = {"provisioner": "csi.example.com", **said}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "volumeBindingMode": "WaitForFirstConsumer",
        **fields,
    }


def claim(space: str, name: str, of: str, size: str = "10Gi", **spec: object) -> dict:
    """
    Write a claim of a class.
    """
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "storageClassName": of,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **spec,
        },
    }


def local_volume(name: str, host: str, size: str = "10Gi") -> dict:
    """
    Write a free volume of a host, of the class ``local``.
    """
    rule = {"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "local": {"path": f"/disks/{name}"},
            "nodeAffinity": {"required": terms},
        },
        "status": {"phase": "Available"},
    }


def mounting(name: str) -> list[dict]:
    """
    Write the volumes of a pod that mounts one claim.
    """
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
