"""
Groups of pods as Kubernetes itself has them, as a server holds them.
"""

import json

from tests.helpers.kube.dialects import priority_classes

CLASSES = priority_classes(high=100)

WORKLOAD = """
---
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: w}
spec:
  compositePodGroupTemplates:
    - name: top
      podGroupTemplates: [{name: t}]
"""

GANG = "schedulingPolicy: {gang: {minCount: 2}}"

OF = "workloadRef: {workloadName: w, templateName: t}"


def group(spec=f"{{{GANG}}}", name="g", meta="", status=None):
    text = f"""
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {{name: {name}{meta}}}
spec: {spec}
"""
    text += "" if status is None else f"status: {json.dumps(status)}\n"
    return text + WORKLOAD + CLASSES


def composite(name="top", least=1, more="", meta=""):
    return f"""
---
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {{name: {name}{meta}}}
spec:
  schedulingPolicy: {{gang: {{minGroupCount: {least}}}}}
  {OF}
  {more}
"""


def child(name, parent="top", more=""):
    spec = f"{{{GANG}, {OF}, parentCompositePodGroupName: {parent}{more}}}"
    return group(spec, name).partition(WORKLOAD)[0]
