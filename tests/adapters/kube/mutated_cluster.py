"""
A server whose objects are mutated while a cluster follows it.
"""

import gc
import json
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from adapters.kube.api.client import Timeouts, Transport
from adapters.kube.api.paths import called, path_of
from adapters.kube.watch.pace import Pace
from adapters.kube.watch.source import ClusterSource
from tests.adapters.kube.bystanders import (
    BYSTANDERS,
    DIALECTS,
    RESOURCES,
    assert_bystanders_are_well,
    assert_planned_and_told,
    assert_told,
    noting,
)
from tests.helpers.kube.manifests import NOW
from tests.helpers.kube.mutations import mutated, mutated_bytes, worlds


class Flow:
    """
    An answer: a list at once, or the lines of a watch as they come.
    """

    status = 200

    def __init__(self, kind: "Kind", after: int | None) -> None:
        self.headers: dict[str, str] = {}
        self._kind = kind
        self._after = after
        self._ended = False

    def read(self) -> bytes:
        return self._kind.page()

    def pieces(self) -> Iterator[bytes]:
        after = self._after or 0
        with self._kind.changed:
            term = self._kind.term
        while not self._ended:
            with self._kind.changed:
                lines = [line for at, line in self._kind.log if at > after]
                if not lines:
                    if self._kind.term != term:
                        return
                    self._kind.changed.wait(0.05)
                    continue
                after = self._kind.log[-1][0]
            yield b"".join(lines)

    def shutdown(self) -> None:
        self._ended = True

    def close(self) -> None:
        self._ended = True


class Kind:
    """
    The objects of one resource as bytes, and what happened to them of late.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.objects: dict[str, bytes] = {}
        self.log: deque[tuple[int, bytes]] = deque(maxlen=300)
        self.version = 1
        self.term = 0

    def page(self) -> bytes:
        with self.changed:
            head = b'{"metadata":{"resourceVersion":"%d"},"items":[' % self.version
            return head + b",".join(self.objects.values()) + b"]}"

    def put(self, key: str, version: int, body: bytes) -> None:
        with self.changed:
            event = b"MODIFIED" if key in self.objects else b"ADDED"
            self.objects[key] = body
            self.version = version
            line = b'{"type":"%s","object":' % event + body + b"}\n"
            self.log.append((version, line))
            self.changed.notify_all()

    def expire(self, version: int) -> None:
        """
        Let whoever follows list all anew: an object under another name is gone then.
        """
        line = b'{"type":"ERROR","object":{"kind":"Status","code":410}}\n'
        with self.changed:
            self.version = version
            self.log.append((version, line))
            self.changed.notify_all()

    def forget(self) -> None:
        """
        Forget what everybody has heard, so that the memory is that of who reads.
        """
        with self.changed:
            self.log.clear()

    def mark(self, version: int) -> None:
        """
        Say that nothing else happened; who hears it has read all before.
        """
        line = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"%d"}}}\n'
        with self.changed:
            self.version = version
            self.log.append((version, line % version))
            self.changed.notify_all()


class Server:
    """
    A way to a server that is in this process: a ``Line`` of the transport.
    """

    def __init__(self) -> None:
        self.version = 100
        self.kinds = {path_of(resource): Kind() for resource in RESOURCES}

    def follow(self, asked, connect: float, silence: float) -> Flow:
        _, target, _, _ = asked
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        after = int(query["resourceVersion"]) if "watch" in query else None
        return Flow(self.kinds[parts.path], after)

    def close(self) -> None:
        pass

    def put(self, resource, raw: dict, key: str, chance: Random | None = None) -> None:
        """
        Send an object with the next version, as far as it has a place for it.
        """
        self.version += 1
        meta = raw.get("metadata")
        if isinstance(meta, dict) and "resourceVersion" in meta:
            meta["resourceVersion"] = str(self.version)
        if chance is None:
            body = json.dumps(raw).encode()
        else:
            body = mutated_bytes(raw, chance)
        self.kinds[path_of(resource)].put(key, self.version, body)


def resource_of(raw: dict):
    for resource in RESOURCES:
        version = f"{resource.group}/{resource.version}".lstrip("/")
        if (raw["apiVersion"], raw["kind"]) == (version, resource.kind):
            return resource
    return None


class Cluster:
    """
    Every object of every scenario in one cluster, followed as ``run`` follows one.
    """

    def __init__(self) -> None:
        self.server = Server()
        self.raws: dict[tuple[str, str], tuple[object, dict]] = {}
        everything = [raw for raws in worlds().values() for raw in raws]
        for raw in (*everything, *BYSTANDERS):
            if (resource := resource_of(raw)) is None:
                continue
            meta = raw["metadata"] | {"resourceVersion": "1"}
            if resource.namespaced:
                meta = {"namespace": "default", **meta}
            key = f"{meta.get('namespace', '')}/{meta['name']}"
            self.raws[called(resource), key] = resource, raw | {"metadata": meta}
        for (_, key), (resource, raw) in self.raws.items():
            self.server.put(resource, deepcopy(raw), key)
        transport = Transport("here", self.server, dict, Timeouts())
        self.source = ClusterSource(
            transport,
            DIALECTS,
            pace=Pace(first=0.001, longest=0.01, short=0.0, missing=1000),
            now=lambda: NOW,
        )
        own = {("pods", "bystander/runs"), ("pods", "bystander/waits")}
        own.add(("nodes", "/bystander"))
        self.victims = sorted(set(self.raws) - own)

    def __enter__(self) -> Self:
        self.source.start()
        assert self.source.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self.source.stop()
        for reflector in self.source.reflectors:
            reflector.join(2.0)

    def play(self, batches: int, size: int, seed: int) -> None:
        """
        Make some objects odd at once, look, and send them as they were.
        """
        for batch in range(batches):
            chance = Random(f"{seed}-{batch}")
            chosen = chance.sample(self.victims, size)
            for place in chosen:
                resource, raw = self.raws[place]
                self.server.put(resource, mutated(raw, chance), place[1], chance)
            resources = {self.raws[place][0] for place in chosen}
            if batch % 5 == 0:
                self.expire(resources)
            self.look(f"seed {seed}-{batch}", resources)
            for place in chosen:
                resource, raw = self.raws[place]
                self.server.put(resource, deepcopy(raw), place[1])
            if batch % 5 == 1:
                self.expire(RESOURCES)
        self.expire(RESOURCES)
        self.settle(RESOURCES)

    def expire(self, resources) -> None:
        self.server.version += 1
        for resource in resources:
            self.server.kinds[path_of(resource)].expire(self.server.version)

    def look(self, why: str, resources) -> None:
        self.settle(resources)
        with noting(why):
            snapshot = self.source.snapshot()
        assert_bystanders_are_well(snapshot, why)
        assert_told(snapshot, why)
        if self.server.version % 10 == 0:
            assert_planned_and_told(self.source.made, why)
        for reflector in self.source.reflectors:
            assert reflector.thread.is_alive, (reflector.thread.name, why)
            assert 0 == reflector.thread.restarts, (reflector.thread.name, why)
            for key, said in reflector.passed_by.items():
                assert key, why
                assert said, why

    def settle(self, resources) -> None:
        """
        Wait until all that was sent is read.
        """
        followed = [r for r in self.source.reflectors if r.resource in resources]
        self.server.version += 1
        marks = {}
        for reflector in followed:
            self.server.kinds[path_of(reflector.resource)].mark(self.server.version)
            marks[reflector] = str(self.server.version)
        until = time.monotonic() + 20
        while any(r._read.version != mark for r, mark in marks.items()):
            if time.monotonic() > until:
                late = [r for r, mark in marks.items() if r._read.version != mark]
                raise AssertionError([(r.resource.plural, r.error) for r in late])
            time.sleep(0.001)
        for reflector in followed:
            self.server.kinds[path_of(reflector.resource)].forget()


def blocks() -> int:
    """
    Count the pieces of memory that are in use.

    What the process has of the system says less: forty threads that each parsed ten
    megabytes once keep room for that.
    """
    gc.collect()
    return sys.getallocatedblocks()
