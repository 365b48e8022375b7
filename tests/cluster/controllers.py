"""
What a cluster does beside its API server, as far as the tutorial needs it: Jobs get
pods, a Deployment of Phalanx runs as a process, what has no owner goes.
"""

import os
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Self

from adapters.kube.api.connect import connect
from adapters.kube.api.errors import ClusterError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.stage import SPACE, Kubelet, Scheduler

DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"
JOBS = "/apis/batch/v1/jobs"
AT_ONCE = {"gracePeriodSeconds": 0}
REPLICAS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")


class Controllers:
    """
    A kubelet and the few controllers, in a thread, for a ``with`` block.
    """

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._folder = folder
        self._admin = connect(plane.kubeconfig("admin"))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._kubelet = Kubelet(SimpleNamespace(plane=plane))
        self._running = ExitStack()
        self.scheduler: Scheduler | None = None
        self.failed: list[Exception] = []

    def __enter__(self) -> Self:
        self._kubelet.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        self._kubelet.__exit__()
        self._running.close()
        self._admin.close()

    def _run(self) -> None:
        while not self._stopped.wait(0.2):
            try:
                self._deployments()
                self._jobs()
                self._namespaces()
            except ClusterError:
                continue  # something has gone meanwhile: look again
            except Exception as error:  # noqa: BLE001 - shown by the test
                self.failed.append(error)

    def _listed(self, path: str) -> list[dict]:
        return self._admin.call("GET", path)["items"]

    def _deployments(self) -> None:
        deployments = self._listed(DEPLOYMENTS)
        if deployments and self.scheduler is None:
            self.scheduler = self._running.enter_context(self._begun(deployments[0]))
        if not deployments and self.scheduler is not None:
            self._running.close()
            self.scheduler = None
        for raw in deployments:
            if any(
                lease["spec"].get("holderIdentity") for lease in self._listed(LEASES)
            ):
                number = raw["spec"]["replicas"]
                counts = dict.fromkeys(
                    ("replicas", "updatedReplicas", "readyReplicas"), number
                )
                counts["availableReplicas"] = number
                counts["observedGeneration"] = raw["metadata"]["generation"]
                own = f"{DEPLOYMENTS}/{raw['metadata']['name']}/status"
                self._admin.call("PATCH", own, {"status": counts})

    def _begun(self, deployment: dict) -> Scheduler:
        """
        Begin what the Deployment says: its arguments, its settings, its account.
        """
        pod = deployment["spec"]["template"]["spec"]
        command, *words = pod["containers"][0]["args"]
        assert "run" == command
        (named,) = (v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v)
        settings = self._admin.call(
            "GET", f"/api/v1/namespaces/{SPACE}/configmaps/{named}"
        )
        config = self._folder / "settings.yaml"
        config.write_text(settings["data"]["settings.yaml"])
        account = (
            f"/api/v1/namespaces/{SPACE}/serviceaccounts/{pod['serviceAccountName']}"
        )
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        token = self._admin.call("POST", f"{account}/token", asked | {"spec": {}})
        self._plane.tokens["account"] = token["status"]["token"]
        stage = SimpleNamespace(plane=self._plane)
        return Scheduler(
            stage, *words, folder=self._folder, user="account", config=str(config)
        )

    def _jobs(self) -> None:
        """
        Give every Job its pods, and take those away whose Job has gone.
        """
        jobs = {raw["metadata"]["uid"]: raw for raw in self._listed(JOBS)}
        owned = {}
        for raw in self._listed("/api/v1/pods"):
            for owner in raw["metadata"].get("ownerReferences", ()):
                owned.setdefault(owner["uid"], []).append(raw["metadata"])
        for uid, pods in owned.items():
            for meta in () if uid in jobs else pods:
                path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
                self._admin.call("DELETE", path, AT_ONCE)
        for uid, job in jobs.items():
            if uid not in owned:
                self._populate(job)

    def _populate(self, job: dict) -> None:
        meta, spec = job["metadata"], job["spec"]
        name = meta["name"]
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": name,
            "uid": meta["uid"],
            "controller": True,
        }
        labels = {
            "job-name": meta["name"],
            "batch.kubernetes.io/job-name": meta["name"],
        }
        for index in range(spec["parallelism"]):
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": f"{name}-{index}-{os.urandom(2).hex()}",
                    "labels": labels,
                    "ownerReferences": [owner],
                },
                "spec": spec["template"]["spec"],
            }
            self._admin.call(
                "POST", f"/api/v1/namespaces/{meta['namespace']}/pods", pod
            )

    def _namespaces(self) -> None:
        for raw in self._listed("/api/v1/namespaces"):
            if raw["metadata"].get("deletionTimestamp"):
                raw["spec"]["finalizers"] = []
                own = f"/api/v1/namespaces/{raw['metadata']['name']}/finalize"
                with suppress(ClusterError):
                    self._admin.call("PUT", own, raw)
                time.sleep(0.1)
