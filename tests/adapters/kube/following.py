"""
Cases that follow the loopback server: a cache and its reflectors.
"""

import json
from pathlib import Path
from typing import Self

from adapters.kube.api.api_resources import Resource
from adapters.kube.api.client import Timeouts, Transport
from adapters.kube.api.connect import connect
from adapters.kube.watch.cache import Cache
from adapters.kube.watch.pace import Pace
from adapters.kube.watch.reflector import Reflector
from adapters.kube.watch.source import reducer_of
from tests.adapters.kube.api_server import ApiServer

QUICK = Pace(limit=3, watch=1, missing=0.05, first=0.01, longest=0.05, short=0.0)
TIMEOUTS = Timeouts(connect=1.0, read=0.4)


def kubeconfig(folder: Path, url: str, *, named: bool = False, **user: str) -> str:
    """
    Write a kubeconfig for a server; one that is ``named`` has another name for TLS.
    """
    path = folder / "kubeconfig"
    cluster = {"server": url} | ({"tls-server-name": "other"} if named else {})
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": user or {"token": "t"}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            }
        )
    )
    return str(path)


def transport_to(folder: Path, server: ApiServer, *, named: bool = False) -> Transport:
    return connect(kubeconfig(folder, server.url, named=named), timeouts=TIMEOUTS)


class Following:
    """
    A cache that follows some resources of a server, for a ``with`` block.
    """

    def __init__(
        self, transport: Transport, *resources: Resource, pace: Pace = QUICK
    ) -> None:
        self.cache = Cache(resources)
        self.reflectors = [
            Reflector(r, transport, self.cache.shelf(r), reducer_of(r), pace=pace)
            for r in resources
        ]

    def __enter__(self) -> Self:
        for reflector in self.reflectors:
            reflector.start()
        return self

    def __exit__(self, *_: object) -> None:
        for reflector in self.reflectors:
            reflector.stop()
        for reflector in self.reflectors:
            reflector.join(2.0)

    def held(self, resource: Resource) -> dict:
        return dict(self.cache.shelf(resource).records)

    def names(self, resource: Resource) -> list[str]:
        return sorted(self.held(resource))
