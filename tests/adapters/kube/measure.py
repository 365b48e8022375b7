"""
Measures one cluster source against the canned server: prints one JSON object.

Run as a module in a process of its own: the server's port, pods, events.
"""

import json
import sys
import tempfile
import threading
import time
from pathlib import Path

from adapters.kube.api.connect import connect
from adapters.kube.dialects.registry import dialects
from adapters.kube.watch.source import ClusterSource
from tests.adapters.kube.following import kubeconfig

NOW = 1_793_520_000.0


def main(port: int, events: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = kubeconfig(Path(folder), f"http://127.0.0.1:{port}")
        transport = connect(path)
    source = ClusterSource(transport, dialects(), now=lambda: NOW)
    found: dict[str, float] = {}
    began = clocks()
    source.start()
    if not source.wait(120):
        raise TimeoutError([(r.resource, r.state, r.error) for r in source.reflectors])
    found |= since("list", began)
    snapshot = source.snapshot()
    found |= since("list_and_snapshot", began)
    found["pods"] = len(source.view.pods)
    found["nodes"] = len(snapshot.nodes)
    found["gangs"] = len(snapshot.gangs)
    for name in ("again", "warm"):
        began = clocks()
        source.snapshot()
        found |= since(f"snapshot_{name}", began)
    pods = next(r for r in source.reflectors if r.resource.plural == "pods")
    shelf = pods._read.shelf
    last = str(10_000_000 + events - 1)
    began = clocks()
    threading.Thread(target=transport.call, args=("GET", "/go"), daemon=True).start()
    while shelf.version != last:
        time.sleep(0.002)
    found |= since("events", began)
    began = clocks()
    source.snapshot()
    found |= since("snapshot_after_events", began)
    found["peak_mib"] = peak()
    source.stop()
    return {name: round(value, 3) for name, value in found.items()}


def peak() -> float:
    """
    Give the most memory this process has had; what its parent had is not counted.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def since(name: str, began: tuple[float, float]) -> dict[str, float]:
    wall, cpu = clocks()
    return {f"{name}_s": wall - began[0], f"{name}_cpu_s": cpu - began[1]}


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
