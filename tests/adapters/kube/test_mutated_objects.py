"""
Whatever an object holds, it is its own fault: nobody else waits for it.

Every kind that is read is made odd in every field, thousands of times: read as files
are, and through the threads that follow a server.
"""

import ctypes
import gc
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from random import Random
from typing import Self
from urllib.parse import parse_qsl, urlsplit

import pytest

from adapters.files import read_scenario
from adapters.kube.api.client import Timeouts, Transport
from adapters.kube.api.paths import called, path_of
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of
from adapters.kube.gangs.kinds import resources_of
from adapters.kube.gangs.manifests import manifests_of, objects_of
from adapters.kube.status.sayings import Told, sayings
from adapters.kube.watch.pace import Pace
from adapters.kube.watch.source import ClusterSource
from models.errors import PhalanxError
from models.policy import Policy
from solver.round import decide
from tests.helpers.manifests import NOW, node, pod
from tests.helpers.mutations import mutated, mutated_bytes, worlds
from tests.helpers.storage_world import storage_world

DIALECTS = dialects()
RESOURCES = resources_of(DIALECTS)
BYSTANDERS = [
    node("bystander", 8),
    pod("runs", namespace="bystander", gpus=2, nodeName="bystander"),
    pod("waits", namespace="bystander", gpus=4),
]
COUNTS = ("spec.containers", "spec.initContainers", "spec.overhead", "spec.resources")


def closed_by(snapshot) -> Iterator[str]:
    """
    Give why each node is closed that a pod closed.
    """
    for said in snapshot.warnings:
        if "nothing new goes there, since pod" in said:
            yield said


def assert_bystanders_are_well(snapshot, why) -> None:
    (waits,) = [gang for gang in snapshot.gangs if gang.key == "bystander/waits"]
    (here,) = [node for node in snapshot.nodes if node.name == "bystander"]

    assert waits.refused is None, why
    assert not here.unschedulable, why
    for said in closed_by(snapshot):
        reason = said.partition("cannot be counted: ")[2]
        assert reason.startswith(COUNTS), (said, why)


def assert_planned_and_told(made, why) -> None:
    """
    A round is planned of it, the judge lets it pass, and every gang gets its answer.
    """
    heard = {dialect.name: dialect for dialect in DIALECTS}
    with noting(why):
        plan = decide(made.snapshot, Policy(), strategy="greedy")
        for said in sayings(Told(round="r", now=NOW, assembled=made, plan=plan)):
            if said.claim.source is not None and said.claim.dialect in heard:
                list(heard[said.claim.dialect].answer(said.claim, said.standing))


def assert_told(snapshot, why) -> None:
    """
    What is told is a short line, of an object or a kind.
    """
    for said in snapshot.warnings:
        assert said, why
        assert len(said) < 2_000, (said[:200], why)


@contextmanager
def noting(why) -> Iterator[None]:
    """
    Let what nobody expects name the seed that shows it.
    """
    try:
        yield
    except Exception as error:
        error.add_note(why)
        raise


# --- as files are read --------------------------------------------------------


def read_as_files(number: int, seed: int, folder) -> None:
    """
    Read so many mutated worlds; a fault names the seed that shows it.
    """
    all_worlds = worlds()
    names = sorted(all_worlds)
    for at in range(number):
        chance = Random(f"{seed}-{at}")
        name = chance.choice(names)
        raws = deepcopy(all_worlds[name])
        which = chance.randrange(len(raws))
        raws[which] = mutated(raws[which], chance)
        why = f"{name}, seed {seed}-{at}: {str(raws[which])[:300]}"
        assert_its_own_fault(raws, why, planned=at % 10 == 0)
        if at % 20 == 0:
            read_from_disk(raws, folder / "mutated.json", chance, why)


def assert_its_own_fault(raws, why, *, planned) -> None:
    """
    What is wrong with one object is refused, or leaves those beside it well.
    """
    made = assembled_of_manifests([*raws, *BYSTANDERS], why)
    if made is None:
        return
    assert_bystanders_are_well(made.snapshot, why)
    assert_told(made.snapshot, why)
    if planned:
        assert_planned_and_told(made, why)


def assembled_of_manifests(raws, why):
    """
    Give what is made of manifests; nothing where they are refused.
    """
    with noting(why), suppress(PhalanxError):
        objects = objects_of(manifests_of("test", raws), "test")
        return snapshot_of(objects, DIALECTS, NOW)
    return None


def read_from_disk(raws, path, chance, why) -> None:
    """
    Read the same as a file, bytes that are no text among it.
    """
    items = b",".join(mutated_bytes(raw, chance) for raw in raws)
    path.write_bytes(b'{"apiVersion":"v1","kind":"List","items":[' + items + b"]}")
    with noting(why), suppress(PhalanxError):
        read_scenario(str(path))


def test_a_mutated_object_in_a_file_is_its_own_fault(tmp_path):
    read_as_files(1_000, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_50_000_mutated_objects_in_files_are_their_own_fault(tmp_path):
    read_as_files(50_000, 2, tmp_path)


def read_each_kind(number: int, seed: int) -> None:
    """
    Read so many mutated objects of each kind: of some there is one among thousands.
    """
    all_worlds = {**worlds(), "storage": storage_world()}
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for name, raws in all_worlds.items():
        for which, raw in enumerate(raws):
            kind = raw["apiVersion"], raw["kind"]
            found.setdefault(kind, []).append((name, which))
    for kind, places in sorted(found.items()):
        for at in range(number):
            chance = Random(f"{seed}-{kind}-{at}")
            name, which = chance.choice(places)
            raws = deepcopy(all_worlds[name])
            raws[which] = mutated(raws[which], chance)
            why = f"{name}, seed {seed}-{kind}-{at}: {str(raws[which])[:300]}"
            assert_its_own_fault(raws, why, planned=at % 10 == 0)


def test_every_kind_that_is_read_has_an_object_that_is_mutated():
    raws = [raw for world in worlds().values() for raw in world]
    kinds = {raw["kind"] for raw in (*raws, *storage_world())}

    assert {resource.kind for resource in RESOURCES} <= kinds


def test_a_mutated_object_of_each_kind_is_its_own_fault():
    read_each_kind(20, 7)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_2_000_mutated_objects_of_each_kind_are_their_own_fault():
    read_each_kind(2_000, 8)


# --- as a server sends them ---------------------------------------------------


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


def resident() -> int:
    """
    Give the bytes of memory that this process uses, without what it could give back.

    Forty threads that each parsed ten megabytes once keep room for that.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    with open("/proc/self/statm") as statm:  # noqa: PTH123 - no file on a disk
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def quiet(caplog):
    """
    Let no log be kept: there would be thousands of lines.
    """
    logger = logging.getLogger("adapters")
    before, logger.disabled = logger.level, False
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(before)


@pytest.mark.usefixtures("quiet")
def test_a_mutated_object_of_a_server_is_its_own_fault():
    with Cluster() as cluster:
        before = cluster.source.snapshot()
        cluster.play(30, 50, 3)

        assert not any(cluster.source.num_passed_by().values())
        assert before == cluster.source.snapshot()


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("quiet")
def test_50_000_mutated_objects_of_a_server_are_their_own_fault():
    with Cluster() as cluster:
        before = cluster.source.snapshot()
        cluster.play(200, 50, 4)
        warm = resident()
        cluster.play(800, 50, 5)

        assert before == cluster.source.snapshot()
        assert resident() < warm + 32 * 2**20
