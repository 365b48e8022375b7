"""
One waiting pod in small clusters: kube-scheduler and Phalanx say the same of it.

`PHALANX_AGREEMENT=500` judges so many clusters, and `PHALANX_AGREEMENT_SEED=…` draws
other ones.  What differs for a cause that is known stands in `docs/running.md`, and is
drawn by none of them.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.kube.api.paths import path_of
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of
from adapters.kube.gangs.kinds import DEVICES, NEEDED
from models.policy import Policy
from solver.fallback import NOBODY_LEAVES
from solver.round import decide
from tests.cluster.agreement_cases import (
    CASE,
    POD,
    Case,
    draw_more,
    shared,
)
from tests.cluster.binaries import found
from tests.cluster.provisioner import Provisioner
from tests.helpers.eventually import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.slow]
NUMBER = int(os.environ.get("PHALANX_AGREEMENT", "60"))
SEED = os.environ.get("PHALANX_AGREEMENT_SEED", "")
SCHEDULER = "default-scheduler"


@contextmanager
def kube_scheduler(fresh, folder) -> Iterator[None]:
    """
    Run kube-scheduler; where it is not built, skip with the sentence that says how.
    """
    binary = found() / "kube-scheduler"
    if not binary.is_file():
        pytest.skip(
            "no kube-scheduler is here: build k8s.io/kubernetes/cmd/kube-scheduler of "
            f"tests/cluster/control-plane into {binary.parent}"
        )
    command = [
        str(binary),
        f"--kubeconfig={fresh.plane.kubeconfig('admin')}",
        "--leader-elect=false",
        "--secure-port=0",
    ]
    with (folder / "kube-scheduler.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)


def listed(admin) -> dict[tuple[str, str], list[dict]]:
    found = {}
    served = (each for each in DEVICES if each.kind != "DeviceTaintRule")
    for resource in (*NEEDED, *served):
        items = admin.call("GET", path_of(resource))["items"]
        version = f"{resource.group}/v1" if resource.group else "v1"
        found[resource.group, resource.kind] = [
            {"apiVersion": version, "kind": resource.kind, **raw} for raw in items
        ]
    return found


def is_of(case: Case, raw: dict) -> bool:
    """
    Tell whether an object is in the cluster of a case; drivers are in all of them.
    """
    meta = raw["metadata"]
    if raw["kind"] == "Node":
        return meta["labels"].get(CASE) == str(case.number)
    if raw["kind"] == "ResourceSlice":
        return raw["spec"]["nodeName"].startswith(f"n{case.number}-")
    return meta.get("namespace") in {None, case.space}


def phalanx_says(case: Case, objects: dict[tuple[str, str], list[dict]]) -> str:
    """
    Give the node that Phalanx binds the pod to, or why it does not.
    """
    mine = {
        kind: tuple(raw for raw in raws if is_of(case, raw))
        for kind, raws in objects.items()
    }
    known = dialects()
    made = snapshot_of(Objects(by_kind=mine), known, time.time(), [SCHEDULER])
    plan = decide(made.snapshot, Policy(evict=NOBODY_LEAVES))
    for step in plan.operations:
        if step.op == "Bind" and step.pod == f"{case.space}/{POD}":
            return f"binds to {step.node}"
    (line,) = [line for line in plan.gangs if line.name == f"{case.space}/{POD}"]
    return f"waits: {line.waiting.message if line.waiting else line.state}"


def answers(admin, cases: list[Case]) -> dict[int, str]:
    """
    Give what kube-scheduler has said of each pod so far.
    """
    spaces = {case.space: case.number for case in cases}
    found = {}
    for raw in admin.call("GET", "/api/v1/pods")["items"]:
        number = spaces.get(raw["metadata"]["namespace"])
        if number is None or raw["metadata"]["name"] != POD:
            continue
        if node := raw["spec"].get("nodeName"):
            found[number] = f"binds to {node}"
            continue
        for each in raw["status"].get("conditions", ()):
            if each["type"] == "PodScheduled" and each["status"] == "False":
                found[number] = f"waits: {each.get('message')}"
    return found


def kube_scheduler_says(admin, cases: list[Case]) -> dict[int, str]:
    """
    Wait until kube-scheduler has said something of each pod.

    Who it has said no of may be bound later, since volumes are made for claims that
    were told a node from the start: so these are made only once it says no more.
    """
    first: dict[int, str] = {}
    still = -1
    while not first or still != len(first):
        still = len(first)
        time.sleep(4.0)
        first = answers(admin, cases)
    with Provisioner(admin):
        eventually(lambda: len(answers(admin, cases)) == len(cases), 120.0)
        return answers(admin, cases) | first


def test_kube_scheduler_and_phalanx_say_the_same_of_a_waiting_pod(fresh, tmp_path):
    cases = [draw_more(number, SEED) for number in range(NUMBER)]
    for raw in shared():
        fresh.apply(raw)
    for case in cases:
        for raw in (*case.nodes, *case.objects):
            fresh.apply(raw)
    objects = listed(fresh.admin)
    ours = {case.number: phalanx_says(case, objects) for case in cases}
    with kube_scheduler(fresh, tmp_path):
        theirs = kube_scheduler_says(fresh.admin, cases)
    differ = {
        number: (ours[number], theirs[number])
        for number in ours
        if ours[number].startswith("binds") != theirs[number].startswith("binds")
    }
    bound = sum(text.startswith("binds") for text in theirs.values())
    print(f"{len(cases)} clusters, {bound} pods bound, {len(differ)} differences")

    assert {} == differ
    assert NUMBER / 5 < bound < NUMBER * 4 / 5
