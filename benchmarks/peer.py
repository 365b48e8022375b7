"""
Phalanx beside the native kube-scheduler: same gangs, same API server, one by one.

``python -m benchmarks.peer KUBE_SCHEDULER [--seeds N]``, where the binary is built from
the modules of ``tests/cluster/control-plane`` (`go build
k8s.io/kubernetes/cmd/kube-scheduler` there).  All pods exist before a scheduler starts.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Self

from benchmarks.acting import binds, staged, wait
from tests.cluster.control_plane import GATES
from tests.cluster.manifests import custom, pod
from tests.cluster.stage import Scheduler, Stage
from tests.helpers.rounds.mortal import start

NODES, GPUS, GANGS, ASKED = 200, 8, 400, 1.3
QUIET = 6.0
"""
The seconds without a bind after which a scheduler has ended.
"""


@dataclass(frozen=True)
class Outcome:
    """
    What one scheduler made of the gangs; times in seconds since it was started.

    ``decides`` is when its first round began; one that takes gang by gang has none.
    """

    name: str
    gpus: int
    whole: int
    half: int
    decides: float | None
    first: float
    last: float

    def row(self) -> str:
        """
        Give it as a line of the table.
        """
        decides = self.first if self.decides is None else self.decides
        span = f"{self.last - decides:8.1f} s"
        return (
            f"{self.name:18} {self.gpus:6,} {self.whole:6} {self.half:6} "
            f"{self.first:8.1f} s {self.last:8.1f} s {span}"
        )


def gangs(seed: int) -> list[tuple[int, int]]:
    """
    Draw gangs of 1-16 pods with 1-8 GPUs each that ask for 1.3 times the room.
    """
    chance = Random(seed)
    drawn = [
        (chance.randint(1, 16), chance.choice((1, 1, 1, 2, 2, 4, 8)))
        for _ in range(GANGS)
    ]
    wanted = int(NODES * GPUS * ASKED)
    while (asked := sum(pods * gpus for pods, gpus in drawn)) != wanted:
        at = chance.randrange(GANGS)
        pods, gpus = drawn[at]
        step = 1 if asked < wanted else -1
        if 1 <= pods + step <= 16 and abs(wanted - asked) >= gpus:
            drawn[at] = pods + step, gpus
    return drawn


def submit(stage: Stage, space: str, drawn: list[tuple[int, int]], name: str) -> None:
    """
    Create native PodGroups and their pods, for one scheduler.
    """
    stage.ensure(space)
    stage.create(
        custom(
            "scheduling.k8s.io/v1beta1",
            "PodGroup",
            f"g{i}",
            space,
            schedulingPolicy={"gang": {"minCount": pods}},
        )
        for i, (pods, _) in enumerate(drawn)
    )
    stage.create(
        pod(
            space,
            f"g{i}-{index}",
            gpus=gpus,
            scheduler=name,
            labels={"gang": f"g{i}"},
            schedulingGroup={"podGroupName": f"g{i}"},
        )
        for i, (pods, gpus) in enumerate(drawn)
        for index in range(pods)
    )


def watched(
    stage: Stage,
    space: str,
    drawn: list[tuple[int, int]],
    name: str,
    start: Callable[[], AbstractContextManager[object]],
) -> Outcome:
    """
    Start a scheduler, wait until it binds nothing more, and count.
    """
    began = time.time()
    with start() as running:
        wait(lambda: binds(stage, space), 120)
        wait(lambda: time.time() - binds(stage, space)[-1] > QUIET, 300)
        decides = first_round(running) if isinstance(running, Scheduler) else None
    times = binds(stage, space)
    bound: dict[int, int] = {}
    for pod_name in stage.bound(space):
        gang = int(pod_name.partition("-")[0][1:])
        bound[gang] = bound.get(gang, 0) + 1
    whole = sum(drawn[g][0] == number for g, number in bound.items())
    return Outcome(
        name=name,
        gpus=sum(drawn[g][1] * number for g, number in bound.items()),
        whole=whole,
        half=len(bound) - whole,
        decides=None if decides is None else decides - began,
        first=times[0] - began,
        last=times[-1] - began,
    )


def first_round(scheduler: Scheduler) -> float:
    """
    Give when the first round began that planned something.
    """
    event = next(e for e in scheduler.events("round_planned") if e["operations"])
    print("  first round:", event["seconds"], file=sys.stderr)
    planned = datetime.fromisoformat(event["time"]).timestamp()
    return planned - float(sum(event["seconds"].values()))


class Native:
    """
    The native scheduler as a process, for a ``with`` block.
    """

    def __init__(self, binary: str, stage: Stage, folder: Path) -> None:
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {
                "kubeconfig": stage.plane.kubeconfig("admin"),
                "qps": 5000,
                "burst": 10000,
            },
        }
        path = folder / "scheduler.json"
        path.write_text(json.dumps(config))
        self._log = (folder / "kube-scheduler.log").open("wb")
        self._command = [
            binary,
            f"--config={path}",
            "--secure-port=0",
            f"--feature-gates={','.join(f'{gate}=true' for gate in GATES)}",
        ]

    def __enter__(self) -> Self:
        self.process = start(
            self._command, stdout=self._log, stderr=self._log, env=os.environ
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._log.close()


def policy(folder: Path) -> str:
    """
    Write the settings of Phalanx: as many GPUs, then as many gangs, as can be.
    """
    path = folder / "config.json"
    head = {"apiVersion": "phalanx/v1", "kind": "Config"}
    path.write_text(json.dumps(head | {"policy": {"tiers": ["gpus", "gangs"]}}))
    return str(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    chosen = parser.parse_args()
    print(
        f"{NODES} nodes of {GPUS} GPUs, {GANGS} gangs that ask for {ASKED} times that"
    )
    print("SCHEDULER            GPUS  WHOLE   HALF  FIRST BIND  LAST BIND  DECIDE+BIND")
    for stage in staged():
        stage.nodes(NODES)
        for seed in range(chosen.seeds):
            for outcome in _pair(stage, seed, chosen):
                print(outcome.row(), f" seed {seed}", flush=True)


def _pair(stage: Stage, seed: int, chosen: argparse.Namespace) -> list[Outcome]:
    drawn = gangs(seed)
    found = []
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        words = (f"--config={policy(folder)}", f"--seconds={chosen.seconds}")
        for space, name, scheduler, start in (
            (
                f"native-{seed}",
                "kube-scheduler",
                "default-scheduler",
                lambda: Native(chosen.binary, stage, folder),
            ),
            (
                f"phalanx-{seed}",
                "phalanx",
                "phalanx",
                lambda: Scheduler(stage, *words, folder=folder),
            ),
        ):
            submit(stage, space, drawn, scheduler)
            found.append(watched(stage, space, drawn, name, start))
            stage.admin.call(
                "DELETE",
                f"/api/v1/namespaces/{space}/pods",
                {"gracePeriodSeconds": 0},
            )
    return found


if __name__ == "__main__":
    main()
