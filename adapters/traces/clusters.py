"""
Floors: the clusters on which traces are played, from a word or from a file.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from adapters.traces.cells import RowLeftOutError, safe, whole
from adapters.traces.forms import MEBIBYTE, MODEL_LABEL
from adapters.traces.row_faults import Tally, rejected
from adapters.traces.rows import MACHINES, Row, TraceFile, head_of, rows_of
from models.errors import printable
from models.nodes import HOSTNAME, Node
from models.queues import Queue, QueueResource
from models.resources import CPU, DEFAULT_PODS, GPU, MEMORY, MOST_GPUS, PODS
from models.trace import Floor, Trace
from models.why.reasons import counted

_SOME = re.compile(r"(.+\.csv(?:\.gz)?)@(\d{1,6})")
_WORD = re.compile(r"(\d{1,6})x(\d{1,4})")
MOST_NODES = 100_000
_MADE_UP_MEMORY = 80 * 1024
"""
MiB of a GPU of which no file says how much memory it has.
"""


def floor_of(text: str) -> Floor:
    """
    Make a cluster of ``60x8``, ``10x8+20x4``, a list of machines, or a snapshot.

    ``machines.csv@96`` are so many of a list, of each kind its share.

    Raises
    ------
    InputRejectedError
        When it is none of these.
    """
    words = [_WORD.fullmatch(word) for word in text.split("+")]
    if all(words):
        return _made_up(text, [(int(w[1]), int(w[2])) for w in words if w])
    some = _SOME.fullmatch(text)
    if some and not Path(text).exists():
        return _fewer(_table(some[1]), int(some[2]))
    if text.removesuffix(".gz").endswith(".csv"):
        return _table(text)
    if not Path(text).exists():
        hint = "say 60x8, 10x8+20x4, a list of machines as CSV, or a snapshot"
        raise rejected(
            printable(text), "is not a cluster: neither a size nor a file", hint
        )
    return _snapshot(text)


def _fewer(whole: Floor, count: int) -> Floor:
    """
    Take so many machines of a list, of each kind its share of them.

    The shares are rounded down, the largest remainders up; of a kind the first by name.
    """
    total = len(whole.nodes)
    if not 1 <= count <= total:
        what = f"has {total:,} machines, {count:,} cannot be taken"
        raise rejected(whole.name, what, f"say {whole.name}@N, N from 1 to {total}")
    kinds: dict[tuple[object, ...], list[Node]] = {}
    for node in whole.nodes:
        model = node.labels.get(MODEL_LABEL, "")
        kinds.setdefault((model, *sorted(node.allocatable.items())), []).append(node)
    taken = {kind: count * len(nodes) // total for kind, nodes in kinds.items()}
    rest = sorted(kinds, key=lambda kind: (-(count * len(kinds[kind]) % total), kind))
    for kind in rest[: count - sum(taken.values())]:
        taken[kind] += 1
    nodes = [node for kind in kinds for node in kinds[kind][: taken[kind]]]
    note = f"{count:,} of {total:,} machines, of each kind its share of them"
    return replace(
        whole,
        name=f"{whole.name}@{count}",
        nodes=tuple(sorted(nodes, key=lambda node: node.name)),
        notes=(note, *whole.notes),
    )


def _made_up(text: str, kinds: Sequence[tuple[int, int]]) -> Floor:
    """
    Make nodes that differ in their number of GPUs only.
    """
    total = sum(count for count, _ in kinds)
    if not 1 <= total <= MOST_NODES or any(gpus > MOST_GPUS for _, gpus in kinds):
        raise rejected(text, f"has {total:,} nodes, from 1 to {MOST_NODES:,} can be")
    width = len(str(total - 1))
    sizes = [gpus for count, gpus in kinds for _ in range(count)]
    nodes = tuple(
        replace(_node(f"n{at:0{width}d}", {GPU: gpus}), gpu_memory=_MADE_UP_MEMORY)
        for at, gpus in enumerate(sizes)
    )
    note = "nodes made up: GPUs of 80 GiB, as much CPU and memory as anybody asks for"
    return Floor(name=text, nodes=nodes, notes=(note,))


PLENTY = {CPU: 10**9, MEMORY: 2**50}


def _node(name: str, offered: dict[str, int], model: str = "") -> Node:
    labels = {HOSTNAME: name} | ({MODEL_LABEL: model} if model else {})
    allocatable = {PODS: DEFAULT_PODS} | PLENTY | offered
    return Node(name=name, allocatable=allocatable, labels=labels)


def _table(path: str) -> Floor:
    """
    Read a list of machines.
    """
    file = TraceFile(path)
    head = head_of(file)
    kind = next((k for k, need in MACHINES.items() if set(need) <= set(head)), None)
    if kind is None:
        known = "; ".join(", ".join(columns) for columns in MACHINES.values())
        raise rejected(
            file.name, "is not a list of machines known here", f"has: {known}"
        )
    tally = Tally(file.name)
    nodes = []
    for line, row in rows_of(file, tally):
        try:
            nodes.append(_machine(kind, row))
        except RowLeftOutError as error:
            tally.leave_out(error.rule, line, error.what)
    tally.judge(every=True)
    names = [node.name for node in nodes]
    if len(set(names)) < len(names):
        raise rejected(file.name, "names a machine twice")
    nodes.sort(key=lambda node: node.name)
    notes = () if kind == "openb" else ("memory of machines made up: plenty",)
    return Floor(name=file.path.name, nodes=tuple(nodes), notes=notes)


def _machine(kind: str, row: Row) -> Node:
    match kind:
        case "openb":
            offered = {
                CPU: whole(row["cpu_milli"]),
                MEMORY: whole(row["memory_mib"]) * MEBIBYTE,
                GPU: whole(row["gpu"]),
            }
            return _node(safe(row["sn"]), offered, row["model"])
        case "spot":
            offered = {
                CPU: whole(row["cpu_num"]) * 1000,
                GPU: whole(row["gpu_capacity_num"]),
            }
            name = f"node-{int(whole(row['node_name'])):06d}"
            return _node(name, offered, row["gpu_model"])
        case _:
            offered = {GPU: whole(row["number of GPUs"])}
            return _node(safe(row["machineId"]), offered)


def _snapshot(path: str) -> Floor:
    """
    Take nodes, queues and topologies of a scenario or snapshot.
    """
    from adapters.files import read_scenario  # noqa: PLC0415 - pulls in the schemas

    snapshot = read_scenario(path).snapshot
    if not snapshot.nodes:
        raise rejected(path, "has no nodes")
    dropped = len(snapshot.gangs)
    notes = (f"{counted(dropped, 'gang')} of the snapshot left out",) if dropped else ()
    return Floor(
        name=PurePath(path).name,
        nodes=snapshot.nodes,
        queues=snapshot.queues,
        topologies=snapshot.topologies,
        notes=notes,
    )


def with_queues(trace: Trace, floor: Floor, quotas: str | None) -> Floor:
    """
    Give a cluster the queues of a trace, unless it has its own or none are wanted.
    """
    several = len({job.queue for job in trace.jobs}) > 1
    if quotas == "none":
        return replace(floor, queues=())
    if quotas is None and (floor.queues or not several):
        return floor
    what = "quotas: the cluster's GPUs, divided by the GPU hours of each queue's jobs"
    queues = queues_by_work(trace, floor.gpus)
    return replace(floor, queues=queues, notes=(*floor.notes, what))


def queues_by_work(trace: Trace, gpus: int) -> tuple[Queue, ...]:
    """
    Divide the GPUs of a cluster among a trace's queues, by the GPU time of their jobs.

    Whole GPUs, the largest remainders first; what is asked for beyond that is borrowed.
    """
    work: dict[str, int] = {}
    for job in trace.jobs:
        work[job.queue] = work.get(job.queue, 0) + job.shares * job.duration
    total = sum(work.values())
    if not total:
        return tuple(Queue(name=name) for name in sorted(work))
    quotas = {name: gpus * part // total for name, part in work.items()}
    rest = sorted(work, key=lambda name: (-(gpus * work[name] % total), name))
    for name in rest[: gpus - sum(quotas.values())]:
        quotas[name] += 1
    return tuple(
        Queue(name=name, resources={GPU: QueueResource(quota=quotas[name])})
        for name in sorted(work)
    )
