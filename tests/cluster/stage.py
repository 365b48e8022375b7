"""
A stage for the scheduler: nodes and pods, a kubelet, and the scheduler as a process.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Self

from adapters.kube.api.client import Transport
from adapters.kube.api.connect import connect
from adapters.kube.api.errors import ClusterError, ConflictError, NotFoundError
from tests.cluster.beside import Beside
from tests.cluster.control_plane import ControlPlane
from tests.cluster.manifests import custom, node, pod
from tests.cluster.role import grant
from tests.helpers.rounds.mortal import start

SCHEDULING = "scheduling.x-k8s.io"
SPACE = "phalanx-system"
GROUP = f"{SCHEDULING}/pod-group"
_NUMBERS = count()


class Stage:
    """
    One control plane as its admin; a play has namespaces and a shard of its own.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.admin: Transport = connect(plane.kubeconfig("admin"))
        self.crew = ThreadPoolExecutor(8)
        self.ensure(SPACE)
        grant(self.admin, "phalanx", SPACE)
        grant(self.admin, "second", SPACE)

    def ensure(self, space: str) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
        with suppress(ConflictError):
            self.admin.call("POST", "/api/v1/namespaces", body)

    def create(self, raws: Iterable[dict]) -> list[dict]:
        """
        Create objects, eight at a time.
        """
        return list(self.crew.map(self._created, raws))

    def _created(self, raw: dict) -> dict:
        from tests.cluster.conftest import plural_of, root_of

        space = raw["metadata"].get("namespace")
        inside = f"/namespaces/{space}" if space else ""
        path = f"{root_of(raw)}{inside}/{plural_of(raw['kind'])}"
        return self.admin.call("POST", path, raw)

    def nodes(self, number: int, *, first: int = 0, **labels: str) -> list[str]:
        """
        Create nodes of eight GPUs, with labels.
        """
        raws = [node(index) for index in range(first, first + number)]
        for raw in raws:
            raw["spec"] = {}
            raw["metadata"]["labels"] |= {
                key.replace("__", "/"): value for key, value in labels.items()
            }
        return [raw["metadata"]["name"] for raw in self.create(raws)]

    def gang(self, space: str, name: str, pods: int, gpus: int, **more: object) -> None:
        """
        Create a PodGroup of scheduler-plugins and all its pods.
        """
        self.create([self.group(space, name, pods)])
        self.create(self.members(space, name, pods, gpus, **more))

    @staticmethod
    def group(space: str, name: str, least: int) -> dict:
        version = f"{SCHEDULING}/v1alpha1"
        return custom(version, "PodGroup", name, space, minMember=least)

    @staticmethod
    def members(
        space: str, name: str, pods: int, gpus: int, **more: object
    ) -> list[dict]:
        return [
            pod(space, f"{name}-{i}", gpus=gpus, labels={GROUP: name}, **more)
            for i in range(pods)
        ]

    def pods(self, space: str) -> dict[str, dict]:
        path = f"/api/v1/namespaces/{space}/pods"
        listed = self.admin.call("GET", path)["items"]
        return {raw["metadata"]["name"]: raw for raw in listed}

    def bound(self, space: str) -> dict[str, str]:
        """
        Give the nodes of all pods of a namespace that are bound.
        """
        return {
            name: raw["spec"]["nodeName"]
            for name, raw in self.pods(space).items()
            if raw["spec"].get("nodeName")
        }

    def gangs_bound(self, space: str) -> dict[str, int]:
        """
        Count the bound pods of each gang.
        """
        counts: dict[str, int] = {}
        for raw in self.pods(space).values():
            gang = raw["metadata"].get("labels", {}).get(GROUP, "")
            here = bool(raw["spec"].get("nodeName"))
            counts[gang] = counts.get(gang, 0) + here
        return counts

    def whole(self, space: str, **gangs: int) -> bool:
        """
        Tell whether gangs have so many bound pods.
        """
        counts = self.gangs_bound(space)
        return all(counts.get(name) == number for name, number in gangs.items())

    def empty(self, space: str) -> None:
        """
        Delete the pods and groups of a namespace, eight at a time.

        One request for ten thousand takes longer than anybody waits for an answer.
        """
        groups = f"/apis/{SCHEDULING}/v1alpha1/namespaces/{space}/podgroups"
        for path in (f"/api/v1/namespaces/{space}/pods", groups):
            items = self.admin.call("GET", path)["items"]
            paths = [f"{path}/{raw['metadata']['name']}" for raw in items]
            list(self.crew.map(self.delete, paths))

    def delete(self, path: str) -> None:
        """
        Delete an object at once, if it is there.
        """
        with suppress(NotFoundError):
            self.admin.call("DELETE", path, {"gracePeriodSeconds": 0})

    def close(self) -> None:
        self.crew.shutdown()
        self.admin.close()

    def clear(self) -> None:
        """
        Delete all pods, groups, queues and nodes.
        """
        for path in _patiently(self._everything):
            if "/scheduling.k8s.io/" in path:  # nobody else takes their finalizer away
                self.admin.call("PATCH", path, {"metadata": {"finalizers": []}})
            with suppress(NotFoundError, ConflictError):
                self.admin.call("DELETE", path, {"gracePeriodSeconds": 0})

    def _everything(self) -> list[str]:
        lists = (
            "/api/v1/pods",
            "/api/v1/nodes",
            "/apis/policy/v1/poddisruptionbudgets",
            "/apis/scheduling.koordinator.sh/v1alpha1/devices",
            "/apis/scheduling.k8s.io/v1beta1/podgroups",
            "/apis/scheduling.x-k8s.io/v1alpha1/podgroups",
            "/apis/scheduling.run.ai/v2alpha2/podgroups",
            "/apis/scheduling.run.ai/v2/queues",
            "/apis/scheduling.run.ai/v1alpha2/bindrequests",
            "/apis/scheduling.sigs.k8s.io/v1alpha1/podgroups",
            "/apis/scheduling.volcano.sh/v1beta1/podgroups",
            "/apis/scheduling.volcano.sh/v1beta1/queues",
            "/apis/scheduling.incubator.k8s.io/v1alpha1/podgroups",
            "/apis/scheduling.incubator.k8s.io/v1alpha1/queues",
            "/apis/scheduling.roc/v1beta1/podgroups",
            "/apis/scheduling.roc/v1beta1/queues",
            f"/api/v1/namespaces/{SPACE}/configmaps",
            f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases",
        )
        paths = []
        for path in lists:
            try:
                items = self.admin.call("GET", path)["items"]
            except NotFoundError:
                continue
            base, _, plural = path.rpartition("/")
            base = base.partition("/namespaces")[0]
            for raw in items:
                meta = raw["metadata"]
                space = meta.get("namespace")
                inside = f"/namespaces/{space}" if space else ""
                paths.append(f"{base}{inside}/{plural}/{meta['name']}")
        return paths


def clear_devices(stage: Stage) -> None:
    """
    Take slices, classes and claims of devices away.
    """
    base = "/apis/resource.k8s.io/v1"
    for plural in ("resourceslices", "deviceclasses"):
        for raw in stage.admin.call("GET", f"{base}/{plural}")["items"]:
            stage.delete(f"{base}/{plural}/{raw['metadata']['name']}")
    for raw in stage.admin.call("GET", f"{base}/resourceclaims")["items"]:
        meta = raw["metadata"]
        at = f"{base}/namespaces/{meta['namespace']}/resourceclaims/{meta['name']}"
        none = {"status": {"allocation": None, "reservedFor": None}}
        stage.admin.call("PATCH", f"{at}/status", none)
        stage.admin.call("PATCH", at, {"metadata": {"finalizers": None}})
        stage.delete(at)


def _patiently(read: Callable[[], list[str]]) -> list[str]:
    """
    Read from a server that may have just been started.
    """
    for _ in range(50):
        with suppress(ClusterError):
            return read()
        time.sleep(0.2)
    return read()


class Kubelet(Beside):
    """
    Makes bound pods Running and ends deletions, in a thread, for a ``with`` block.
    """

    def __init__(self, stage: Stage) -> None:
        super().__init__(connect(stage.plane.kubeconfig("admin")), every=0.2)

    def look(self) -> None:
        """
        See to every pod.
        """
        for raw in self._admin.call("GET", "/api/v1/pods")["items"]:
            self._care(raw)

    def _care(self, raw: dict) -> None:
        meta, status = raw["metadata"], raw.get("status", {})
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if meta.get("deletionTimestamp"):
            with suppress(NotFoundError, ConflictError):
                self._admin.call("DELETE", path, {"gracePeriodSeconds": 0})
        elif raw["spec"].get("nodeName") and status.get("phase") == "Pending":
            ready = [{"type": "Ready", "status": "True"}]
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            said = {"phase": "Running", "startTime": now, "conditions": ready}
            with suppress(NotFoundError, ConflictError):
                self._admin.call("PATCH", f"{path}/status", {"status": said})


class Scheduler:
    """
    `phalanx run` as its own process, for a ``with`` block.
    """

    def __init__(
        self,
        stage: Stage,
        *words: str,
        folder: Path,
        user: str = "phalanx",
        **env: str,
    ) -> None:
        self.user = user
        self._env = {f"PHALANX_{word.upper()}": value for word, value in env.items()}
        self.log = folder / f"scheduler-{next(_NUMBERS)}.log"
        self._command = [
            sys.executable,
            "-m",
            "adapters.cli.main",
            "run",
            f"--kubeconfig={stage.plane.kubeconfig(user)}",
            f"--namespace={SPACE}",
            f"--folder={folder}",
            "--listen=127.0.0.1:0",
            "--seconds=1",
            *words,
        ]

    def __enter__(self) -> Self:
        with self.log.open("wb") as stream:
            self.process = start(
                self._command,
                stdout=stream,
                stderr=stream,
                stdin=subprocess.DEVNULL,
                env=os.environ | QUICK | self._env,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    def leads(self) -> bool:
        """
        Tell whether the last that it said of leadership is that it leads.
        """
        told = [e for e in self.events() if e["event"].startswith("leadership_")]
        return bool(told) and told[-1]["event"] == "leadership_gained"

    def receipts(self) -> dict[str, int]:
        """
        Count what became of its operations.
        """
        counts: dict[str, int] = {}
        for event in self.events("round_finished"):
            for result, number in event["results"].items():
                counts[result] = counts.get(result, 0) + number
        return counts

    def events(self, name: str = "") -> list[dict]:
        """
        List what the log says, of one event.
        """
        lines = []
        for line in self.log.read_text().splitlines():
            with suppress(ValueError):
                lines.append(json.loads(line))
        return [line for line in lines if name in {"", line.get("event")}]

    def said(self) -> str:
        return self.log.read_text()


QUICK = {
    "PHALANX_EVICT_AFTER": "0",
    "PHALANX_LEASE_DURATION": "3",
    "PHALANX_LEASE_RENEW": "2",
    "PHALANX_LEASE_RETRY": "0.3",
}
