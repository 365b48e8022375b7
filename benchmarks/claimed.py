"""
How fast pods with claims are bound beside a real API server, as ratios to that server.

``python -m benchmarks.claimed`` lets gangs of four pods, each with a claim or all with
one, take turns with plain binding, and with the bare writes that a claim takes.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from adapters.kube.acting.devices.resource_claims import FINALIZER
from benchmarks.acting import plain_binding, staged, wait
from tests.cluster.manifests import pod
from tests.cluster.stage import GROUP, Scheduler, Stage
from tests.helpers.rounds.devices import (
    API,
    DRIVER,
    GPU_CLASS,
    asks,
    claim,
    claiming,
    classes,
    gpu,
    node_slice,
)

TEAM = 4
THREADS = 8
Raw = dict[str, Any]


def bound_a_second(stage: Stage, space: str, pods: int, *, shared: bool) -> float:
    """
    Let a scheduler bind gangs with claims; give the pods a second of its binding.
    """
    stage.ensure(space)
    gangs = [f"g{at}" for at in range(pods // TEAM)]
    number = TEAM if shared else 1
    raws: list[Raw] = []
    names = gangs if shared else [f"p{at}" for at in range(pods)]
    stage.create(claim(x, asks("gpu", GPU_CLASS, number), space=space) for x in names)
    stage.create(stage.group(space, name, TEAM) for name in gangs)
    for at in range(pods):
        raw = pod(space, f"p{at}", gpus=0, labels={GROUP: gangs[at // TEAM]})
        raw["spec"] |= claiming(names[at // TEAM if shared else at])
        raws.append(raw)
    stage.create(raws)
    with (
        tempfile.TemporaryDirectory() as folder,
        Scheduler(stage, folder=Path(folder)) as scheduler,
    ):
        wait(lambda: scheduler.receipts().get("done", 0) >= pods, 600, pause=0.25)
        rounds = scheduler.events("round_finished")
        scheduler.process.terminate()
        scheduler.process.wait(30)
    clear(stage, space)
    seconds = sum(float(each["seconds"]["execute"]) for each in rounds)
    return pods / seconds


def bare_writes(stage: Stage, space: str, pods: int) -> float:
    """
    Write so many claims and nothing else, as a scheduler does; give them a second.
    """
    stage.ensure(space)
    made = stage.create(
        claim(f"p{at}", asks("gpu", GPU_CLASS), space=space) for at in range(pods)
    )
    seconds = timed(lambda entry: give(stage, *entry), list(enumerate(made)))
    clear(stage, space)
    return pods / seconds


def give(stage: Stage, at: int, raw: Raw) -> None:
    """
    Write the finalizer of a claim, then its devices and its user.
    """
    node, path = f"gpu-{at // 8}", path_of(raw)
    held = stage.admin.call("PATCH", path, {"metadata": {"finalizers": [FINALIZER]}})
    rule = {"key": "metadata.name", "operator": "In", "values": [node]}
    result = {"request": "gpu", "driver": DRIVER, "pool": node}
    status = {
        "allocation": {
            "devices": {"results": [{**result, "device": f"gpu-{at % 8}"}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [rule]}]},
        },
        "reservedFor": [{"resource": "pods", "name": f"p{at}", "uid": f"u{at}"}],
    }
    version = {"resourceVersion": held["metadata"]["resourceVersion"]}
    body = {"metadata": version, "status": status}
    stage.admin.call("PATCH", f"{path}/status", body)


def clear(stage: Stage, space: str) -> None:
    """
    Take pods and claims away.
    """
    stage.empty(space)
    listed = stage.admin.call("GET", f"/apis/{API}/namespaces/{space}/resourceclaims")

    def remove(raw: Raw) -> None:
        path, none = path_of(raw), {"allocation": None, "reservedFor": None}
        stage.admin.call("PATCH", f"{path}/status", {"status": none})
        stage.admin.call("PATCH", path, {"metadata": {"finalizers": None}})
        stage.delete(path)

    list(stage.crew.map(remove, listed["items"]))


def path_of(raw: Raw) -> str:
    meta = raw["metadata"]
    space, name = meta["namespace"], meta["name"]
    return f"/apis/{API}/namespaces/{space}/resourceclaims/{name}"


def timed(act: Callable[[Any], None], entries: Iterable[Any]) -> float:
    """
    Do something with some threads; give the seconds.
    """
    began = time.monotonic()
    with ThreadPoolExecutor(THREADS) as crew:
        list(crew.map(act, entries))
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=400)
    parser.add_argument("--times", type=int, default=3)
    chosen = parser.parse_args()
    pods = chosen.pods
    for stage in staged():
        nodes = stage.nodes(pods // 8)
        stage.create(classes())
        stage.create(node_slice(x, [gpu(at) for at in range(8)]) for x in nodes)
        for turn in range(chosen.times):
            plain = plain_binding(stage, f"plain-{turn}", pods, len(nodes))
            bare = bare_writes(stage, f"bare-{turn}", pods)
            own = bound_a_second(stage, f"own-{turn}", pods, shared=False)
            one = bound_a_second(stage, f"one-{turn}", pods, shared=True)
            alone = 1 / (1 / plain + 1 / bare)
            print(
                f"pods a second: plain binding {plain:.0f}; the three writes of a pod "
                f"with a claim, bare, {alone:.0f}; a claim each {own:.0f}, which is "
                f"{own / alone:.0%} of the bare writes, {own / plain:.0%} of plain "
                f"binding and {3 * own / plain:.0%} of its writes; one claim for each "
                f"gang {one:.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
