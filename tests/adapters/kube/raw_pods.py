"""
Raw pods as an API server writes them, with all that a real one carries along.
"""

import json

FIELDS = {
    "f:metadata": {
        "f:labels": {".": {}, "f:app": {}, "f:job-name": {}, "f:role": {}},
        "f:ownerReferences": {".": {}, 'k:{"uid":"0"}': {}},
    },
    "f:spec": {
        "f:containers": {
            'k:{"name":"main"}': {
                ".": {},
                "f:image": {},
                "f:imagePullPolicy": {},
                "f:name": {},
                "f:resources": {".": {}, "f:limits": {}, "f:requests": {}},
                "f:terminationMessagePath": {},
                "f:terminationMessagePolicy": {},
            }
        },
        "f:dnsPolicy": {},
        "f:enableServiceLinks": {},
        "f:restartPolicy": {},
        "f:schedulerName": {},
        "f:securityContext": {},
        "f:terminationGracePeriodSeconds": {},
    },
}


def raw_pod(index: int, version: int, node: str | None = None) -> dict:
    """
    Write a pod of about 3.5 kB: one of eight of its gang, bound where a node is named.
    """
    gang, member = divmod(index, 8)
    spec: dict = {
        "containers": [
            {
                "name": "main",
                "image": f"registry.example/train/worker:{gang % 7}",
                "command": ["python", "-m", "train", "--world-size", "8"],
                "env": [
                    {"name": f"SETTING_{n}", "value": f"value-{n}-{gang}"}
                    for n in range(28)
                ],
                "resources": {
                    "limits": {"nvidia.com/gpu": "1"},
                    "requests": {
                        "cpu": "8",
                        "memory": "64Gi",
                        "nvidia.com/gpu": "1",
                    },
                },
                "volumeMounts": [
                    {
                        "name": "kube-api-access",
                        "readOnly": True,
                        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                    }
                ],
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "schedulerName": "phalanx",
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "tolerations": [
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
            {
                "key": "node.kubernetes.io/unreachable",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
        ],
    }
    status: dict = {"phase": "Pending", "qosClass": "Burstable"}
    if node is not None:
        spec["nodeName"] = node
        status |= {
            "phase": "Running",
            "startTime": "2026-11-01T10:00:30Z",
            "hostIP": "10.0.0.1",
            "podIP": "10.1.0.1",
            "conditions": [
                {"type": kind, "status": "True", "lastProbeTime": None}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
        }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"job-{gang}-worker-{member}",
            "namespace": f"team-{gang % 20}",
            "uid": f"00000000-0000-4000-8000-{index:012d}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-01T10:00:00Z",
            "labels": {
                "app": "train",
                "job-name": f"job-{gang}",
                "role": "worker",
                "batch.kubernetes.io/job-completion-index": str(member),
            },
            "annotations": {
                "gang.scheduling.koordinator.sh/name": f"job-{gang}",
                "gang.scheduling.koordinator.sh/min-available": "8",
            },
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": f"job-{gang}",
                    "uid": f"10000000-0000-4000-8000-{gang:012d}",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "managedFields": [
                {
                    "manager": "controller",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "2026-11-01T10:00:00Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": FIELDS,
                }
            ],
        },
        "spec": spec,
        "status": status,
    }


def raw_node(index: int, version: int) -> dict:
    """
    Write a node of eight GPUs.
    """
    name = f"node-{index}"
    room = {"cpu": "192", "memory": "2Ti", "nvidia.com/gpu": "8", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"20000000-0000-4000-8000-{index:012d}",
            "resourceVersion": str(version),
            "labels": {
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/rack": f"rack-{index // 16}",
                "topology.kubernetes.io/zone": f"zone-{index // 1024}",
            },
        },
        "spec": {},
        "status": {
            "allocatable": room,
            "capacity": room,
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [
                {
                    "names": [f"registry.example/image-{n}@sha256:{n:064d}"],
                    "sizeBytes": n,
                }
                for n in range(20)
            ],
        },
    }


def compact(value: object) -> bytes:
    """
    Write JSON as an API server does.
    """
    return json.dumps(value, separators=(",", ":")).encode()
