"""
An admission webhook on loopback that refuses to let one pod be bound.
"""

import base64
import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from adapters.kube.api.errors import NotFoundError

WORDS = "not today"
_PATH = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class Webhook:
    """
    Refuses the binding of one pod, for a ``with`` block.
    """

    def __init__(self, folder: Path) -> None:
        self.refused: tuple[str, str] | None = None
        certificate, key = folder / "hook.crt", folder / "hook.key"
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes"),
                *("-keyout", str(key), "-out", str(certificate), "-days", "2"),
                *("-subj", "/CN=hook", "-addext", "subjectAltName=IP:127.0.0.1"),
            ],
            check=True,
            capture_output=True,
        )
        self._bundle = base64.b64encode(certificate.read_bytes()).decode()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.hook = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def configuration(self) -> dict:
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["pods/binding"],
        }
        client = {
            "url": f"https://127.0.0.1:{self._http.server_port}/",
            "caBundle": self._bundle,
        }
        hook = {
            "name": "bind.example.com",
            "clientConfig": client,
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail",
        }
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "bind.example.com"},
            "webhooks": [hook],
        }

    def install(self, admin) -> None:
        admin.call("POST", _PATH, self.configuration())

    def remove(self, admin) -> None:
        try:
            admin.call("DELETE", f"{_PATH}/bind.example.com")
        except NotFoundError:
            return

    def allows(self, space: str, name: str) -> bool:
        return (space, name) != self.refused


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        return

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(length))["request"]
        allowed = self.server.hook.allows(asked["namespace"], asked["name"])
        response = {"uid": asked["uid"], "allowed": allowed}
        if not allowed:
            response["status"] = {"message": WORDS}
        version = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        body = json.dumps(version | {"response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
