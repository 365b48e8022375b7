"""
What `phalanx run` reaches beside a real API server, as ratios to that server.

``python -m benchmarks.acting burst|large|churn|telling`` prints a table; it needs what
``make test-cluster`` builds.  Client, server and store share this machine's cores, so
only numbers of one run may be compared.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import harmonic_mean, median
from typing import Any
from urllib.request import urlopen

from adapters.kube.api.connect import connect
from adapters.kube.api.errors import ClusterError
from adapters.kube.api.paths import called
from adapters.kube.dialects.registry import dialects
from adapters.kube.watch.source import ClusterSource
from tests.cluster.binaries import found
from tests.cluster.control_plane import ControlPlane
from tests.cluster.crds import definitions
from tests.cluster.stage import Scheduler, Stage

Rows = list[tuple[str, str]]
USUAL = {"lease_duration": "15", "lease_renew": "10", "lease_retry": "2"}
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1"
TIMES = 5
PERIOD = 600.0
"""
The seconds in which the churn of a day comes.
"""


def burst(stage: Stage, folder: Path, size: int) -> Rows:
    """
    1,000 nodes, 10,000 pods in 1,500 gangs, all there before the scheduler is.

    Plain binding comes before and after each of several bursts, since the machine is
    not as fast in one minute as in the next.
    """
    nodes, pods, gangs = (size * number // 100 for number in (1000, 10000, 1500))
    stage.nodes(nodes)
    bursts = []
    plain = [plain_binding(stage, "plain-0", pods // 2, nodes)]
    for number in range(TIMES):
        bursts.append(one_burst(stage, folder, f"burst-{number}", spread(pods, gangs)))
        plain.append(plain_binding(stage, f"plain-{number + 1}", pods // 2, nodes))
    seconds = [each.seconds for each in bursts]
    beside = [harmonic_mean(pair) for pair in pairwise(plain)]
    ratios = [pods / s / b for s, b in zip(seconds, beside, strict=True)]
    rate, base = TIMES * pods / sum(seconds), harmonic_mean(plain)
    whole = sum(each.whole for each in bursts)
    return [
        ("nodes, pods, gangs", f"{nodes:,}, {pods:,}, {gangs:,}; {TIMES} times"),
        ("gangs bound whole", f"{whole:,} of {TIMES * gangs:,}"),
        ("rounds that bound something", ", ".join(str(each.rounds) for each in bursts)),
        ("snapshot and plan of the first", bursts[0].planned),
        (
            "start of the process to the last receipt",
            ", ".join(f"{each.all_of_it:.1f}" for each in bursts) + " s",
        ),
        ("binds", ", ".join(f"{pods / s:.0f}" for s in seconds) + " a second"),
        (
            "plain binding, 8 threads, before, between, after",
            ", ".join(f"{each:.0f}" for each in plain) + " a second",
        ),
        ("binds, of plain binding beside them", ", ".join(f"{r:.0%}" for r in ratios)),
        ("in the median; of all together", f"{median(ratios):.0%}; {rate / base:.0%}"),
        ("peak memory", f"{max(each.memory for each in bursts)} MiB"),
    ]


@dataclass(frozen=True)
class Burst:
    """
    What came of one burst; ``seconds`` are those in which was bound.
    """

    seconds: float
    all_of_it: float
    whole: int
    rounds: int
    planned: str
    memory: int


def one_burst(stage: Stage, folder: Path, space: str, sizes: list[int]) -> Burst:
    """
    Let a scheduler bind gangs of these sizes, and clear them away.
    """
    crowd(stage, space, sizes, lambda i: int(i % 10 < 7))
    began = time.monotonic()
    with Scheduler(stage, folder=folder) as scheduler:
        wait(lambda: scheduler.receipts().get("done", 0) >= sum(sizes), 600, pause=0.25)
        all_of_it = time.monotonic() - began
        rounds = scheduler.events("round_finished")
        planned = scheduler.events("round_planned")
        memory = peak(scheduler.process.pid)
        scheduler.process.terminate()  # so that the next need not wait for its Lease
        scheduler.process.wait(30)
    bound = stage.gangs_bound(space)
    stage.empty(space)
    return Burst(
        seconds=sum(r["seconds"]["execute"] for r in rounds),
        all_of_it=all_of_it,
        whole=sum(n == sizes[int(gang[1:])] for gang, n in bound.items()),
        rounds=len(rounds),
        planned=timing(planned[0]),
        memory=memory,
    )


def telling(stage: Stage, folder: Path, size: int) -> Rows:
    """
    1,500 gangs without room, all there at once: how soon all say so, and who first.
    """
    pods, gangs = (size * number // 100 for number in (10000, 1500))
    stage.nodes(10)
    crowd(stage, "telling", spread(pods, gangs), lambda _: 16)
    marks: dict[int, float] = {}
    with Scheduler(stage, folder=folder) as scheduler:
        wait(lambda: scheduler.events("round_planned"), 120)
        began = time.monotonic()
        for part in (10, 50, 100):
            wanted = pods * part // 100
            wait(partial(enough_told, scheduler, wanted), 900, pause=0.5)
            marks[part] = time.monotonic() - began
    return [
        ("gangs that wait, pods", f"{gangs:,}, {pods:,}"),
        ("end of the first round to 10 % of pods told", f"{marks[10]:.0f} s"),
        ("to half of them; to all", f"{marks[50]:.0f} s; {marks[100]:.0f} s"),
        ("pods told a second", f"{pods / marks[100]:.0f}"),
    ]


def enough_told(scheduler: Scheduler, wanted: float) -> bool:
    """
    Tell whether so many pods were told.
    """
    return pods_told(scheduler) >= wanted


def pods_told(scheduler: Scheduler) -> float:
    """
    Count the conditions of pods that were written, as the scheduler's metrics do.
    """
    port = scheduler.events("listening")[0]["port"]
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    line = 'phalanx_status_writes_total{about="pod",outcome="done"} '
    found = [each for each in text.splitlines() if each.startswith(line)]
    return float(found[0].rpartition(" ")[2]) if found else 0.0


def large(stage: Stage, folder: Path, size: int) -> Rows:
    """
    5,000 nodes and 50,000 running pods; then one new gang at a time.
    """
    nodes, pods = size * 50, size * 500
    names = stage.nodes(nodes)
    stage.ensure("large")
    gangs = pods // 8
    stage.create(stage.group("large", f"g{i}", 8) for i in range(gangs))
    raws = (
        raw
        for i in range(gangs)
        for raw in stage.members("large", f"g{i}", 8, 0, node=names[i % nodes])
    )
    stage.create(raws)
    began = time.monotonic()
    with Scheduler(stage, folder=folder, **USUAL) as scheduler:
        wait(lambda: scheduler.events("round_planned"), 120)
        start = time.monotonic() - began
        first = scheduler.events("round_planned")[0]
        settle(scheduler)
        idle = idle_seconds(scheduler, 20.0) / 2
        waits = []
        for number in range(20):
            stage.create([stage.group("large", f"new{number}", 4)])
            stage.create(stage.members("large", f"new{number}", 4, 2))
            came = time.time()
            done = (number + 1) * 4
            wait(partial(enough_bound, stage, done), 60)
            waits.append(binds(stage, "large")[-1] - came)
            settle(scheduler)
        memory = peak(scheduler.process.pid)
    often = ("--no-leader-elect", "--interval=0.1")
    with Scheduler(stage, *often, folder=folder, watch="3600") as scheduler:
        wait(lambda: scheduler.events("round_planned"), 120)
        settle(scheduler)
        tick = idle_seconds(scheduler, 20.0) / 200
    waits.sort()
    return [
        ("nodes, running pods, gangs", f"{nodes:,}, {pods:,}, {gangs:,}"),
        ("start of the process to the end of the first round", f"{start:.1f} s"),
        ("snapshot and plan of the first", timing(first)),
        ("CPU of a look at which nothing had changed", f"{1000 * tick:.1f} ms"),
        ("CPU of 10 s of these, Lease and watches", f"{1000 * idle:.0f} ms"),
        ("new gang of 4, last pod to last bind, median of 20", f"{waits[10]:.2f} s"),
        ("the same, longest of 20", f"{waits[-1]:.2f} s"),
        ("peak memory", f"{memory} MiB"),
    ]


def churn(stage: Stage, folder: Path, size: int) -> Rows:
    """
    5,000 gangs come and go in ten minutes; memory must not grow, no event be missed.
    """
    gangs, places = size * 50, 100
    stage.nodes(places)
    stage.ensure("churn")
    chance = Random(1)
    sizes, alive, marks = {}, [], []
    with followed(stage) as source, Scheduler(stage, folder=folder) as scheduler:
        wait(lambda: scheduler.events("round_planned"), 60)
        began = time.monotonic()
        for number in range(gangs):
            time.sleep(max(0.0, began + number * PERIOD / 5000 - time.monotonic()))
            name, pods = f"g{number}", chance.randrange(1, 6)
            stage.create([stage.group("churn", name, pods)])
            stage.create(stage.members("churn", name, pods, 1))
            sizes[name] = pods
            alive.append(name)
            while sum(sizes[g] for g in alive) > 7 * places:
                remove(stage, alive.pop(chance.randrange(len(alive) // 2 + 1)), sizes)
            if number % (gangs // 10) == gangs // 10 - 1:
                marks.append(memory_of(scheduler.process.pid))
        seconds = time.monotonic() - began
        wait(lambda: stage.whole("churn", **{g: sizes[g] for g in alive}), 60)
        failed = len(scheduler.events("round_failed"))
        receipts = scheduler.receipts()
        with followed(stage) as fresh:
            wait(lambda: held(source) == held(fresh), 30)
            known = sum(map(len, held(fresh).values()))
    return [
        ("gangs that came and went", f"{gangs:,} in {seconds:.0f} s"),
        ("pods bound; operations that failed", f"{receipts}; {failed} rounds"),
        ("gangs alive at the end, all whole", f"{len(alive)}"),
        ("objects in the cache, equal to a fresh list", f"{known:,}"),
        ("memory after each tenth", " ".join(str(m) for m in marks) + " MiB"),
    ]


@contextmanager
def followed(stage: Stage) -> Iterator[ClusterSource]:
    """
    Follow the cluster as the scheduler does, in this process.
    """
    source = ClusterSource(connect(stage.plane.kubeconfig("phalanx")), dialects())
    source.start()
    wait(lambda: source.wait(60), 60)
    yield source
    source.stop()


def held(source: ClusterSource) -> dict[str, dict[str, Any]]:
    """
    Give all records of a cache, by kind.
    """
    kinds = [reflector.resource for reflector in source.reflectors]
    return {called(kind): dict(source.cache.shelf(kind).records) for kind in kinds}


def remove(stage: Stage, gang: str, sizes: dict[str, int]) -> None:
    base = "/api/v1/namespaces/churn/pods"
    paths = [f"{base}/{gang}-{i}" for i in range(sizes[gang])]
    groups = f"{GROUPS}/namespaces/churn/podgroups"
    for path in [*paths, f"{groups}/{gang}"]:
        stage.delete(path)


def plain_binding(stage: Stage, space: str, pods: int, nodes: int) -> float:
    """
    Bind pods with eight threads and nothing else; give the binds a second.
    """
    stage.ensure(space)
    raws = stage.create(stage.members(space, "p", pods, 0, scheduler="nobody"))

    def bind(entry: tuple[int, dict[str, Any]]) -> None:
        index, raw = entry
        name = raw["metadata"]["name"]
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "uid": raw["metadata"]["uid"]},
            "target": {
                "apiVersion": "v1",
                "kind": "Node",
                "name": f"gpu-{index % nodes}",
            },
        }
        path = f"/api/v1/namespaces/{space}/pods/{name}/binding"
        stage.admin.call("POST", path, body)

    with ThreadPoolExecutor(8) as crew:
        began = time.monotonic()
        list(crew.map(bind, enumerate(raws)))
        rate = pods / (time.monotonic() - began)
    stage.empty(space)
    return rate


def crowd(
    stage: Stage, space: str, sizes: list[int], gpus: Callable[[int], int]
) -> None:
    """
    Create gangs of these sizes, and all their pods; ``gpus`` are those of a pod.
    """
    stage.ensure(space)
    stage.create(stage.group(space, f"g{i}", n) for i, n in enumerate(sizes))
    stage.create(
        pod
        for i, number in enumerate(sizes)
        for pod in stage.members(space, f"g{i}", number, gpus(i))
    )


def spread(pods: int, gangs: int) -> list[int]:
    """
    Part pods into gangs of many sizes.
    """
    chance = Random(0)
    sizes = [1] * gangs
    for _ in range(pods - gangs):
        sizes[min(chance.randrange(gangs), chance.randrange(gangs))] += 1
    return sizes


def settle(scheduler: Scheduler) -> None:
    """
    Wait until no further round comes.
    """
    seen = -1
    while seen != (now := len(scheduler.events("round_planned"))):
        seen = now
        time.sleep(2)


def idle_seconds(scheduler: Scheduler, seconds: float) -> float:
    """
    Give the CPU seconds of some time in which nothing changes.
    """
    pid = scheduler.process.pid
    before, rounds = cpu_of(pid), len(scheduler.events("round_planned"))
    time.sleep(seconds)
    if len(scheduler.events("round_planned")) != rounds:
        return float("nan")
    return cpu_of(pid) - before


def enough_bound(stage: Stage, done: int) -> bool:
    """
    Tell whether so many pods of the large case are bound.
    """
    return len(binds(stage, "large")) >= done


def binds(stage: Stage, space: str) -> list[float]:
    """
    List when binds of a namespace were answered, from the server's own audit.
    """
    found = []
    for event in stage.plane.audited():
        ref = event["objectRef"]
        if (ref.get("namespace"), ref.get("subresource")) == (space, "binding"):
            found.append(datetime.fromisoformat(event["stageTimestamp"]).timestamp())
    return sorted(found)


def wait(holds: Callable[[], object], seconds: float, pause: float = 0.02) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except ClusterError as error:
            print(f"still: {error}", file=sys.stderr)
        if time.monotonic() > until:
            raise TimeoutError(f"not within {seconds:.0f} s")
        time.sleep(pause)


def timing(event: dict[str, Any]) -> str:
    spent = event["seconds"]
    return f"{spent['snapshot']:.2f} s and {spent['plan']:.2f} s"


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(pid: int) -> int:
    return _status(pid, "VmRSS")


def peak(pid: int) -> int:
    return _status(pid, "VmHWM")


def _status(pid: int, word: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{word}:"):
            return int(line.split()[1]) // 1024
    raise LookupError(word)


CASES = {"burst": burst, "large": large, "churn": churn, "telling": telling}


def staged() -> Iterator[Stage]:
    with ControlPlane(found()) as plane:
        stage = Stage(plane)
        stage.create(definitions())
        time.sleep(2)
        wait(lambda: stage.admin.call("GET", f"{GROUPS}/podgroups"), 60, pause=0.5)
        yield stage
        stage.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--size", type=int, default=100, help="in percent")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    chosen = parser.parse_args()
    rows: Rows = []
    for stage in staged():
        with tempfile.TemporaryDirectory() as folder:
            rows = CASES[chosen.case](stage, Path(folder), chosen.size)
    if chosen.output == "json":
        print(json.dumps(dict(rows)))
        return
    width = max(len(name) for name, _ in rows)
    print("\n".join(f"{name:{width}}  {value}" for name, value in rows))


if __name__ == "__main__":
    main()
