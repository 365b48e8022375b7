"""
Made-up volumes, budgets and tainted devices: of their kinds no scenario has objects.
"""

from tests.helpers.kube.manifests import node, obj, pod

_STORAGE = "storage.k8s.io/v1"
_DRIVER = "ebs.csi.aws.com"
_ZONE = {"key": "zone", "operator": "In", "values": ["a"]}
_CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "storageClassName": "late",
    "resources": {"requests": {"storage": "10Gi"}},
}
_VOLUME = {
    "capacity": {"storage": "10Gi"},
    "csi": {"driver": _DRIVER, "volumeHandle": "x"},
    "claimRef": {"name": "old", "namespace": "default"},
    "nodeAffinity": {
        "required": {"nodeSelectorTerms": [{"matchExpressions": [_ZONE]}]}
    },
}


def storage_world() -> list[dict]:
    """
    Give a node, pods with claims that wait and that have a volume, and their kinds.
    """
    return [
        node("n1", 8, labels={"zone": "a"}),
        *_classes(),
        *_volumes(),
        obj(
            "resource.k8s.io/v1beta2",
            "DeviceTaintRule",
            "rule",
            spec={
                "deviceSelector": {"driver": "gpu.example.com", "pool": "n1"},
                "taint": {"key": "broken", "value": "yes", "effect": "NoSchedule"},
            },
        ),
        _user("first", "data"),
        _user("second", "old"),
        _user("third", "old", nodeName="n1"),
        obj(
            "policy/v1",
            "PodDisruptionBudget",
            "budget",
            "default",
            spec={
                "minAvailable": 1,
                "selector": {
                    "matchLabels": {"app": "a"},
                    "matchExpressions": [{"key": "x", "operator": "DoesNotExist"}],
                },
            },
            status={"disruptionsAllowed": 1},
        ),
    ]


def _classes() -> list[dict]:
    topologies = [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]
    drivers = [{"name": _DRIVER, "nodeID": "n1", "topologyKeys": ["zone"]}]
    return [
        obj(
            _STORAGE,
            "StorageClass",
            "late",
            provisioner=_DRIVER,
            volumeBindingMode="WaitForFirstConsumer",
            allowedTopologies=topologies,
        ),
        obj(_STORAGE, "CSIDriver", _DRIVER, spec={"storageCapacity": True}),
        obj(
            _STORAGE,
            "CSINode",
            "n1",
            spec={"drivers": [{**drivers[0], "allocatable": {"count": 3}}]},
        ),
        obj(
            _STORAGE,
            "CSIStorageCapacity",
            "here",
            "kube-system",
            storageClassName="late",
            nodeTopology={"matchLabels": {"zone": "a"}},
            capacity="100Gi",
            maximumVolumeSize="50Gi",
        ),
    ]


def _volumes() -> list[dict]:
    claim, volume = "PersistentVolumeClaim", "PersistentVolume"
    bound = {**_CLAIM, "accessModes": ["ReadWriteOncePod"], "volumeName": "pv"}
    return [
        obj("v1", claim, "data", "default", spec=_CLAIM, status={"phase": "Pending"}),
        obj("v1", claim, "old", "default", spec=bound, status={"phase": "Bound"}),
        obj("v1", volume, "pv", spec=_VOLUME, status={"phase": "Bound"}),
    ]


def _user(name: str, claim: str, **fields) -> dict:
    volume = {"name": "d", "persistentVolumeClaim": {"claimName": claim}}
    return pod(name, volumes=[volume], **fields)
