"""
KAI's binder as far as others see it: GPUs kept for groups, labels, binds, failures.
"""

import hashlib
from contextlib import suppress

from adapters.kube.api.connect import connect
from adapters.kube.api.errors import ConflictError
from adapters.kube.objects.parts.kai_parts import GROUP, RESERVATIONS
from tests.cluster.beside import Beside
from tests.cluster.manifests import pod

REQUESTS = "/apis/scheduling.run.ai/v1alpha2/bindrequests"
INDEX = "run.ai/reserve_for_gpu_index"


class KaiBinder(Beside):
    """
    Carries BindRequests out in a thread, for a ``with`` block.

    It does nothing for pods that are ``held``, and fails once for those that ``fail``.
    As KAI's does it fails where a second pod comes to a group whose GPU is not known
    yet.  ``together`` are the pods that were being bound to one group at once.
    """

    def __init__(self, stage) -> None:
        super().__init__(connect(stage.plane.kubeconfig("admin")))
        stage.ensure(RESERVATIONS)
        self.held: set[str] = set()
        self.fail: set[str] = set()
        self.failed: list[str] = []
        self.together: list[int] = []

    def requests(self) -> list[dict]:
        return self._admin.call("GET", REQUESTS)["items"]

    def look(self) -> None:
        waiting = [
            raw for raw in self.requests() if "phase" not in raw.get("status", {})
        ]
        groups = [g for raw in waiting for g in raw["spec"]["selectedGPUGroups"]]
        self.together += map(groups.count, set(groups))
        for raw in waiting:
            self._carry_out(raw)

    def _carry_out(self, raw: dict) -> None:
        space, name = raw["metadata"]["namespace"], raw["spec"]["podName"]
        path = f"/api/v1/namespaces/{space}/pods/{name}"
        if name in self.held:
            return
        if name in self.fail:
            self.fail.discard(name)
            self._say(raw, "Failed", "failed waiting for GPU reservation pod")
            return
        for group in raw["spec"]["selectedGPUGroups"]:
            if not self._is_kept(raw, group):
                return
        labels = dict(_labels(raw["spec"]["selectedGPUGroups"]))
        self._admin.call("PATCH", path, {"metadata": {"labels": labels}})
        target = {
            "apiVersion": "v1",
            "kind": "Node",
            "name": raw["spec"]["selectedNode"],
        }
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": space},
            "target": target,
        }
        self._admin.call("POST", f"{path}/binding", body)
        self._say(raw, "Succeeded")

    def _is_kept(self, raw: dict, group: str) -> bool:
        """
        Keep a GPU for a group, and tell whether it is known which.
        """
        node = raw["spec"]["selectedNode"]
        name = hashlib.sha256(f"{node}/{group}".encode()).hexdigest()[:8]
        made = pod(
            RESERVATIONS,
            f"gpu-reservation-{name}",
            scheduler="kai-scheduler",
            node=node,
            labels={GROUP: group},
        )
        path = f"/api/v1/namespaces/{RESERVATIONS}/pods"
        with suppress(ConflictError):
            self._admin.call("POST", path, made)
        own = f"{path}/{made['metadata']['name']}"
        found = self._admin.call("GET", own)
        notes = found["metadata"].get("annotations", {})
        if found["status"]["phase"] == "Running" and INDEX not in notes:
            self._admin.call("PATCH", own, {"metadata": {"annotations": {INDEX: "0"}}})
        return INDEX in notes

    def _say(self, raw: dict, phase: str, reason: str = "") -> None:
        meta = raw["metadata"]
        self.failed += [meta["name"]] * (phase == "Failed")
        root = REQUESTS.removesuffix("bindrequests")
        path = f"{root}namespaces/{meta['namespace']}/bindrequests/{meta['name']}"
        status = {"phase": phase, "reason": reason}
        self._admin.call("PATCH", f"{path}/status", {"status": status})


def _labels(groups: list[str]):
    """
    Label a pod with its group, or with each of several.
    """
    if len(groups) == 1:
        yield GROUP, groups[0]
    else:
        yield from ((f"{GROUP}/{group}", group) for group in groups)
