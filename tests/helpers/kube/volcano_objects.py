"""
Groups, pods and tasks of Volcano, as a server holds them.
"""

import json

from adapters.kube.dialects.volcano.gangs import DIALECTS
from tests.helpers.kube.dialects import priority_classes

VOLCANO, BATCH, ROC = DIALECTS

VERSIONS = {
    "volcano": "scheduling.volcano.sh/v1beta1",
    "kube-batch": "scheduling.incubator.k8s.io/v1alpha1",
    "roc": "scheduling.roc/v1beta1",
}

CLASSES = priority_classes(high=100, low=10)


def group(spec="{minMember: 2}", meta="", status=None, version=VERSIONS["volcano"]):
    text = f"""
apiVersion: {version}
kind: PodGroup
metadata: {{name: g{meta}}}
spec: {spec}
"""
    text += "" if status is None else f"status: {json.dumps(status)}\n"
    return text + CLASSES


def pod(name="p", labels="", annotations="", spec="{}", group_name="g"):
    member = f"scheduling.volcano.sh/group-name: {group_name}"
    annotations = ", ".join(filter(None, [member if group_name else "", annotations]))
    return f"""
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{{labels}}}
  annotations: {{{annotations}}}
  ownerReferences:
    - {{apiVersion: batch/v1, kind: Job, name: job, uid: u1, controller: true}}
spec: {spec}
"""


def task(name, task_name, spec="{}", **more):
    return pod(
        name, annotations=f"volcano.sh/task-spec: {task_name}", spec=spec, **more
    )
