"""
A server on loopback at which a whole `phalanx run` leads, binds and evicts.
"""

import threading
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from adapters.kube.api.api_resources import Resource
from adapters.kube.gangs.kinds import NEEDED
from adapters.service.run_settings import running
from adapters.service.scheduler import Scheduler
from tests.adapters.kube.following import kubeconfig
from tests.adapters.kube.writing_server import WritingServer, _WritingHandler

EVENTS = Resource(group="events.k8s.io", version="v1", plural="events", kind="Event")
MAPS = Resource(group="", version="v1", plural="configmaps", kind="ConfigMap")
LEASES = Resource(
    group="coordination.k8s.io", version="v1", plural="leases", kind="Lease"
)


class RunServer(WritingServer):
    """
    A server that a scheduler may lead, bind and evict at.
    """

    def __init__(self) -> None:
        super().__init__(*NEEDED, EVENTS, MAPS, LEASES)
        self._http.RequestHandlerClass = _RunHandler


class _RunHandler(_WritingHandler):
    def do_PUT(self) -> None:  # noqa: N802 - the base class calls it so
        api: RunServer = self.server.api
        body = self._noted("PUT")
        kind, key, _ = api.find(urlsplit(self.path).path)
        with api.changed:
            raw = kind.objects.get(key)
            if raw is None:
                self._say(404, f"{key} not found")
                return
            wanted = body["metadata"].get("resourceVersion")
            if wanted not in {None, raw["metadata"]["resourceVersion"]}:
                self._say(409, "it has been modified")
                return
            self._answer(200, api.put(kind.resource, body))

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        api: RunServer = self.server.api
        path = urlsplit(self.path).path
        if path.endswith("selfsubjectaccessreviews"):
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(201, {"status": {"allowed": True}})
            return
        kind, key, sub = api.find(path)
        if sub not in {"binding", "eviction"}:
            super().do_POST()
            return
        body = self._noted("POST")
        if body is None:
            return
        if sub == "eviction":
            with suppress(KeyError):
                api.delete(kind.resource, key)
        else:
            raw = kind.objects[key]
            spec = raw["spec"] | {"nodeName": body["target"]["name"]}
            api.put(kind.resource, raw | {"spec": spec})
        self._answer(201, {"kind": "Status"})


@contextmanager
def scheduling(server, folder, **more):
    settings = running(
        None,
        {
            "kubeconfig": kubeconfig(folder, server.url),
            "listen": "127.0.0.1:0",
            "folder": str(folder),
            "interval": 0.5,
            "leaseRetry": 0.2,
            **more,
        },
        {"seconds": 0.5, "workers": 1},
    )
    with Scheduler(settings) as scheduler:
        thread = threading.Thread(target=scheduler.loop.run)
        thread.start()
        try:
            yield scheduler
        finally:
            scheduler.loop.stop()
            thread.join(20)
    assert not thread.is_alive()
