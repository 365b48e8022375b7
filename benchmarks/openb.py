"""
openb: the published workloads of FGD, one pod after the other, against its results.

Every pod is a round of its own: it is placed on arrival if any node can take it, never
moved, and dropped otherwise.  Of one pod the best in the tiers is found by asking every
node and device, so no model is built: ``test_openb`` holds it against rounds.
"""

import csv
import gzip
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adapters.machine.clock import monotonic
from benchmarks.contract import FOLDER
from benchmarks.contract_devices import OpenbOnline
from benchmarks.openb_nodes import NodesTaken, OpenbPod
from benchmarks.rows import Range, Row

Ints = NDArray[np.int64]
_END = "130"
_FGD = "06-FGD"


def measure_openb_online(contract: OpenbOnline) -> Iterator[Row]:
    """
    Play the workloads and count those in which more is used than FGD published.
    """
    root = (FOLDER.parents[1] / contract.folder).resolve()
    missing = [
        part for part in ("openb", "fgd-published") if not (root / part).is_dir()
    ]
    if missing:
        yield Row(name=contract.name, skipped=f"no {' and '.join(missing)} in {root}")
        return
    began = monotonic()
    published = published_results(root)
    facts: dict[str, float] = {}
    above = 0
    for name in contract.workloads:
        ours, theirs = [], []
        for seed in contract.seeds:
            ours.append(played(root, name, seed))
            theirs.append(published[name, seed])
        facts[name] = round(statistics.fmean(ours), 2)
        facts[f"{name}, FGD"] = round(statistics.fmean(theirs), 2)
        above += statistics.fmean(ours) > statistics.fmean(theirs)
    yield Row(
        name=contract.name,
        seconds={"total": monotonic() - began},
        facts=facts,
        ranges=(
            Range(
                what="workloads above the published FGD",
                value=above,
                limit=contract.above,
                side="at least",
            ),
        ),
    )


def played(root: Path, workload: str, seed: int) -> float:
    """
    Place one workload; give the GPUs used in per cent when 130 % have arrived.

    As published it is the mean over the pods whose arrived share rounds to that.
    """
    pods = pods_of(root, workload)
    with np.load(root / "fgd-published" / "arrival_orders.npz") as orders:
        order = orders[f"{workload}/{seed}"].tolist()
        ranks = orders[f"nodeperm/{seed}/{workload}"].astype(np.int64)
    nodes = NodesTaken(sorted_rows(root / "openb" / NODES, "sn"), pods, ranks)
    capacity = nodes.capacity
    arrived = used = 0
    last: list[float] = []
    for at in order:
        pod = pods[at]
        arrived += pod.amount
        used += pod.amount * nodes.place(pod)
        if round(100 * arrived / capacity) == int(_END):
            last.append(round(100 * used / capacity, 2))
    return statistics.fmean(last)


NODES = "openb_node_list_gpu_node.csv"


def pods_of(root: Path, workload: str) -> list[OpenbPod]:
    """
    Read the pods of a workload, sorted by name.
    """
    path = root / "openb" / f"openb_pod_list_{workload}.csv"
    rows = sorted_rows(path if path.is_file() else Path(f"{path}.gz"), "name")
    return [OpenbPod.of(row) for row in rows]


def sorted_rows(path: Path, key: str) -> Sequence[dict[str, Any]]:
    """
    Read a table, sorted by the names in a column.
    """
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    table = csv.DictReader(data.decode().splitlines())
    return sorted(table, key=lambda row: str(row[key]))


def published_results(root: Path) -> dict[tuple[str, int], float]:
    """
    Give the GPUs that FGD used in per cent, by workload and seed.
    """
    path = root / "fgd-published" / "analysis_allo_discrete.csv.gz"
    with gzip.open(path, "rt") as file:
        return {
            (
                row["workload"].removeprefix("openb_pod_list_"),
                int(row["seed"]),
            ): float(row[_END])
            for row in csv.DictReader(file)
            if row["sc_policy"] == _FGD
        }
