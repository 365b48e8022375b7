"""
A Kubernetes API server with its store, on loopback, for the tests: no containers.

Nothing else runs: no controllers, no kubelet, no scheduler.  The tests do their work.
"""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from tests.helpers.rounds.mortal import start

GATES = (
    "GenericWorkload",
    "TopologyAwareWorkloadScheduling",
    "CompositePodGroup",
    "PodGroupPreemptionPolicy",
    "DRAWorkloadResourceClaims",
)
SERVED = (
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1alpha3",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1beta2",
)
# Nobody makes default accounts or marks nodes here; the tolerations that the server
# would add are in no manifest.
WITHOUT = ("ServiceAccount", "TaintNodesByCondition", "DefaultTolerationSeconds")
AUDITED = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "Metadata",
            "verbs": ["create"],
            "resources": [
                {"group": "", "resources": ["pods/binding", "pods/eviction"]}
            ],
        },
        {"level": "None"},
    ],
}
READY_WITHIN = 120.0
USERS = ("admin", "nobody", "phalanx", "second", "meagre")


class ControlPlane:
    """
    A running control plane, for a ``with`` block: an admin, and users without rules.
    """

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._started: list[tuple[str, subprocess.Popen]] = []

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="phalanx-cluster-"))
        self.tokens = {user: os.urandom(16).hex() for user in USERS}
        try:
            self._start_store()
            self._prepare_server()
            self.start_server()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for _name, process in reversed(self._started):
            process.send_signal(signal.SIGCONT)
            _end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def kubeconfig(self, user: str) -> str:
        """
        Write the kubeconfig of a user.
        """
        path = self.folder / f"{user}.kubeconfig"
        cluster = {"server": self.url, "certificate-authority": str(self.certificate)}
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "c",
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "users": [{"name": "u", "user": {"token": self.tokens[user]}}],
                    "contexts": [
                        {"name": "c", "context": {"cluster": "c", "user": "u"}}
                    ],
                }
            )
        )
        return str(path)

    def _start_store(self) -> None:
        own, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.store = own
        self._start(
            "etcd",
            "--name=store",
            f"--data-dir={self.folder}/store",
            f"--listen-client-urls={own}",
            f"--advertise-client-urls={own}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=store={peers}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def deeds(self, space: str) -> list[tuple[str, str, str, int]]:
        """
        List who did what to which pod of a namespace, and what the server answered.
        """
        found = []
        for event in self.audited():
            ref = event["objectRef"]
            if ref.get("namespace") == space:
                user, verb = event["user"]["username"], ref["subresource"]
                code = event.get("responseStatus", {}).get("code", 0)
                found.append((user, verb, ref["name"], code))
        return found

    def audited(self) -> Iterator[dict]:
        """
        Walk what the server wrote down; the last line may not be whole yet.
        """
        path = self.folder / "audit.log"
        text = path.read_text() if path.exists() else ""
        for line in text.rpartition("\n")[0].splitlines():
            yield json.loads(line)

    def start_server(self) -> None:
        """
        Start the server, where it was before, and wait until it is ready.
        """
        self._start("kube-apiserver", *self._arguments)
        self._wait()

    def start_scheduler(self) -> None:
        """
        Start kube-scheduler with its gangs, as the admin.
        """
        self._start(
            "kube-scheduler",
            f"--kubeconfig={self.kubeconfig('admin')}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--feature-gates={','.join(f'{gate}=true' for gate in GATES)}",
        )

    def stop_server(self) -> None:
        """
        End the server; what it stored stays.
        """
        self._stop("kube-apiserver")

    def stop_scheduler(self) -> None:
        """
        End kube-scheduler, so that nobody binds for the tests that follow.
        """
        self._stop("kube-scheduler")

    def start_other(self, binary: Path, *arguments: str) -> None:
        """
        Start another system's scheduler, by the path of its binary.
        """
        self._start("other", *arguments, binary=binary.resolve())

    def stop_other(self) -> None:
        """
        End it.
        """
        self._stop("other")

    def _stop(self, name: str) -> None:
        entry = next(each for each in self._started if each[0] == name)
        self._started.remove(entry)
        _end(entry[1])

    def signal_store(self, number: int) -> None:
        """
        Send the store a signal: it can be stopped, and continued.
        """
        self._started[0][1].send_signal(number)

    def _prepare_server(self) -> None:
        port = free_port()
        self.url = f"https://127.0.0.1:{port}"
        certificates = self.folder / "certificates"
        certificates.mkdir(mode=0o700)
        self.certificate = certificates / "apiserver.crt"
        key, tokens = self.folder / "accounts.key", self.folder / "tokens.csv"
        subprocess.run(
            ["openssl", "genrsa", "-out", str(key), "2048"],
            check=True,
            capture_output=True,
        )
        tokens.touch(mode=0o600)
        groups = {"admin": ',"system:masters"'}
        tokens.write_text(
            "".join(
                f"{token},{user},{user}{groups.get(user, '')}\n"
                for user, token in self.tokens.items()
            )
        )
        policy = self.folder / "audit.json"
        policy.write_text(json.dumps(AUDITED))
        self._arguments = (
            f"--audit-policy-file={policy}",
            f"--audit-log-path={self.folder}/audit.log",
            f"--etcd-servers={self.store}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={certificates}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--anonymous-auth=false",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--disable-admission-plugins={','.join(WITHOUT)}",
            f"--runtime-config={','.join(f'{api}=true' for api in SERVED)}",
            f"--feature-gates={','.join(f'{gate}=true' for gate in GATES)}",
        )

    def _start(self, name: str, *arguments: str, binary: Path | None = None) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = start(
                [str(binary or self._binaries / name), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
            )
        self._started.append((name, process))

    def _wait(self) -> None:
        """
        Wait until the server says that it is ready.
        """
        until = time.monotonic() + READY_WITHIN
        while not self._is_ready():
            for name, process in self._started:
                if process.poll() is not None:
                    said = (self.folder / f"{name}.log").read_text()[-2000:]
                    raise RuntimeError(f"{name} ended ({process.returncode}): {said}")
            if time.monotonic() > until:
                raise TimeoutError(f"the server was not ready in {READY_WITHIN} s")
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        headers = {"Authorization": f"Bearer {self.tokens['admin']}"}
        try:
            request = urllib.request.Request(f"{self.url}/readyz", headers=headers)  # noqa: S310
            trusted = ssl.create_default_context(cafile=str(self.certificate))
            with urllib.request.urlopen(request, context=trusted, timeout=2) as answer:  # noqa: S310
                return answer.status == 200
        except OSError:
            return False


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
