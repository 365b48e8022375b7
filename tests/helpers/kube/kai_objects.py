"""
Groups, pods and classes of KAI, as a server holds them.
"""

import json

from tests.helpers.kube.dialects import priority_classes

RACKS = """
---
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: block}, {nodeLabel: rack, alias: shelf}]}
"""

CLASSES = priority_classes(low=10, high=100)

MARK = {
    "type": "UnschedulableOnNodePool",
    "nodePool": "default",
    "status": "True",
    "transitionID": "1",
}


def group(spec="{minMember: 2}", meta="", status=None):
    text = f"""
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {{name: g{meta}}}
spec: {spec}
"""
    text += "" if status is None else f"status: {json.dumps(status)}\n"
    return text + RACKS + CLASSES


def pod(name="p", labels="", annotations=""):
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{{labels}}}, annotations: {{{annotations}}}}}
"""
