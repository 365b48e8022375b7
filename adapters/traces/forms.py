"""
Forms: how the rows of known traces become jobs.

Each form is a generator of drafts: jobs with moments as they stand in the file, which
`adapters.traces.read` sorts and counts from the first submission.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from adapters.traces.cells import (
    Names,
    RowLeftOutError,
    duration,
    moment,
    seconds,
    whole,
)
from adapters.traces.row_faults import Tally
from adapters.traces.rows import Row, TraceFile, lines_of, rows_of
from models.devices.gpu_parts import WHOLE, GpuPart
from models.nodes import ANYWHERE, LabelRule, NodeDemand
from models.resources import CPU, GPU, MEMORY, PODS
from models.trace import Role

MODEL_LABEL = "gpu.model"
LARGEST_POD = 8
MOST_KINDS = 20_000
"""
The most kinds of jobs of which equal ones become one object.
"""
MEBIBYTE = 2**20
Roles = tuple[Role, ...]


@dataclass(slots=True)
class JobDraft:
    """
    A job as its row says it, with its moment of submission in the file's own count.
    """

    name: str
    submit: float
    duration: int
    roles: Roles
    queue: str = "default"
    priority: int = 0
    preemptible: bool = True
    failures: tuple[int, ...] = ()
    estimate: int | None = None
    dated: bool = False
    line: int = 0


@dataclass
class SharedRecords:
    """
    Roles that were made before: equal ones are one object.
    """

    known: dict[object, Roles] = field(default_factory=dict)

    def take(self, roles: Roles) -> Roles:
        """
        Give the first of all equal roles.
        """
        key = tuple(
            (
                r.name,
                r.pods,
                r.minimum,
                tuple(sorted(r.requests.items())),
                r.demand,
                r.exclusive,
            )
            for r in roles
        )
        if len(self.known) >= MOST_KINDS:
            return self.known.get(key, roles)
        return self.known.setdefault(key, roles)

    def whole_gpus(self, gpus: int, most: int = LARGEST_POD) -> Roles:
        """
        Split GPUs into as few equal pods as nodes of so many GPUs allow.
        """
        each = next((d for d in range(min(gpus, most), 0, -1) if gpus % d == 0), 0)
        pods = gpus // each if each else 1
        requests = {PODS: 1, GPU: each} if each else {PODS: 1}
        return self.take((Role(pods=pods, minimum=pods, requests=requests),))


def philly(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read jobs of the Philly cluster as derived for the Sia simulator.
    """
    shelf = SharedRecords()
    for line, row in rows_of(file, tally):
        try:
            submit, dated = moment(row["timestamp"])
            gpus = _some_gpus(row["num_gpus"])
            yield JobDraft(
                name=f"job-{line - 1:06d}",
                submit=submit,
                duration=_duration(row["duration"], tally, line),
                roles=shelf.whole_gpus(gpus),
                queue=row["cluster"],
                dated=dated,
                line=line,
            )
        except RowLeftOutError as error:
            tally.leave_out(error.rule, line, error.what)


def _some_gpus(text: str) -> int:
    gpus = whole(text)
    if not gpus:
        raise RowLeftOutError("no-pods", text)
    return gpus


def openb(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read pods of the openb trace; each is a gang of one.
    """
    names, shelf = Names(tally), SharedRecords()
    for line, row in rows_of(file, tally):
        try:
            yield _openb_pod(row, line, names, shelf)
        except RowLeftOutError as error:
            tally.leave_out(error.rule, line, error.what)


def _openb_pod(row: Row, line: int, names: Names, shelf: SharedRecords) -> JobDraft:
    submit = whole(row["creation_time"])
    begun = whole(row["scheduled_time"], empty=submit)
    if not row["deletion_time"]:
        raise RowLeftOutError("no-duration", row["name"])
    ran = duration(str(whole(row["deletion_time"]) - begun))
    requests = {
        PODS: 1,
        CPU: whole(row["cpu_milli"]),
        MEMORY: whole(row["memory_mib"]) * MEBIBYTE,
        **_openb_gpus(row),
    }
    asked = {name: amount for name, amount in requests.items() if amount}
    role = Role(pods=1, minimum=1, requests=asked, demand=_models(row["gpu_spec"]))
    return JobDraft(
        name=names.take(row["name"], line),
        submit=submit,
        duration=ran,
        roles=shelf.take((role,)),
        line=line,
    )


def _openb_gpus(row: Row) -> dict[str, int]:
    """
    Read GPUs: all of so many, or some thousandths of each.
    """
    gpus = whole(row["num_gpu"])
    milli = whole(row["gpu_milli"], empty=WHOLE)
    if not gpus or milli >= WHOLE:
        return {GPU: gpus}
    if not milli:
        raise RowLeftOutError("bad-part", row["gpu_milli"])
    return {GpuPart(cores=milli, share=milli, count=gpus).resource: 1}


def _models(text: str) -> NodeDemand:
    """
    Read the GPU models that a pod accepts.
    """
    models = tuple(sorted(filter(None, text.split("|"))))
    if not models:
        return ANYWHERE
    rule = LabelRule(key=MODEL_LABEL, operator="In", values=models)
    return NodeDemand(terms=((rule,),))


@dataclass(slots=True)
class _App:
    """
    An application of the DLRM trace while its instances are read.
    """

    line: int
    begins: float | None = None
    ends: float | None = None
    endless: bool = False
    roles: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    alone: dict[str, bool] = field(default_factory=dict)


def dlrm(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read applications of disaggregated inference: gangs of two roles.
    """
    apps: dict[str, _App] = {}
    last = 0.0
    for line, row in rows_of(file, tally):
        try:
            last = max(last, _instance(apps, line, row))
        except RowLeftOutError as error:
            tally.leave_out(error.rule, line, error.what)
    names, shelf = Names(tally), SharedRecords()
    for name, app in apps.items():
        begins = app.begins or 0.0
        ends = last if app.endless or app.ends is None else app.ends
        if not app.roles:
            continue
        roles = tuple(
            _role_of(role.lower(), pods, alone=app.alone[role])
            for role, pods in sorted(app.roles.items())
        )
        yield JobDraft(
            name=names.take(name.replace("_", "-"), app.line),
            submit=begins,
            duration=max(0, round(ends - begins)),
            roles=shelf.take(roles),
            line=app.line,
        )


def _instance(apps: dict[str, _App], line: int, row: Row) -> float:
    """
    Add an instance to its application; give the latest moment it names.
    """
    requests = {
        PODS: 1,
        CPU: whole(row["cpu_request"]) * 1000,
        GPU: whole(row["gpu_request"], empty=0),
        MEMORY: int(float(row["memory_request"] or 0) * 2**30),
    }
    begun = moment(row["creation_time"])[0] if row["creation_time"] else 0.0
    ended = moment(row["deletion_time"])[0] if row["deletion_time"] else None
    app = apps.setdefault(row["app_name"], _App(line))
    app.begins = begun if app.begins is None else min(app.begins, begun)
    if ended is None:
        app.endless = True
    else:
        app.ends = max(app.ends or 0.0, ended)
    role = row["role"]
    app.roles.setdefault(role, []).append({k: v for k, v in requests.items() if v})
    most = whole(row["max_instance_per_node"], empty=0, least=-1)
    app.alone[role] = app.alone.get(role, True) and most == 1
    return max(begun, ended or 0.0)


def _role_of(name: str, pods: list[dict[str, int]], *, alone: bool) -> Role:
    """
    Make one role of instances; the largest request of each resource is that of all.
    """
    largest: dict[str, int] = {}
    for requests in pods:
        for resource, amount in requests.items():
            largest[resource] = max(largest.get(resource, 0), amount)
    count = len(pods)
    return Role(name=name, pods=count, minimum=count, requests=largest, exclusive=alone)


def swf(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read the Standard Workload Format; a processor counts as one GPU.
    """
    names, shelf = Names(tally), SharedRecords()
    for line, text in lines_of(file, tally):
        if not text.strip() or text.lstrip().startswith(";"):
            continue
        tally.rows += 1
        cells = text.split()
        if len(cells) < 18:
            tally.leave_out("too-few-cells", line, text)
            continue
        try:
            yield _swf_job(cells, line, names, shelf)
        except RowLeftOutError as error:
            tally.leave_out(error.rule, line, error.what)


def _swf_job(
    cells: list[str], line: int, names: Names, shelf: SharedRecords
) -> JobDraft:
    number = [float(seconds(cell)) for cell in cells]
    ran, used, asked, limit = number[3], number[4], number[7], number[8]
    if cells[10] == "5" and ran <= 0:
        raise RowLeftOutError("cancelled", cells[0])
    if ran == -1:
        raise RowLeftOutError("no-duration", cells[3])
    gpus = used if used > 0 else asked
    if gpus <= 0:
        raise RowLeftOutError("no-pods", cells[4])
    submit, _ = moment(cells[1])
    if submit < 0:
        raise RowLeftOutError("bad-time", cells[1])
    return JobDraft(
        name=names.take(f"job-{cells[0]}", line),
        submit=submit,
        duration=duration(cells[3]),
        roles=shelf.whole_gpus(int(gpus)),
        queue=f"queue-{cells[14]}" if number[14] >= 0 else "default",
        estimate=int(limit) if limit > 0 else None,
        line=line,
    )


def _duration(text: str, tally: Tally, line: int) -> int:
    """
    Read a duration and count those that are rounded.
    """
    found = duration(text)
    if "." in text and seconds(text) != found:
        tally.repair("fraction", line, text)
    return found


NO_REQUESTS = "no CPU and no memory is asked for"
_PHILLY = (
    "pods of up to 8 GPUs are made up: the trace names GPUs per job only",
    NO_REQUESTS,
    "derived by others from a longer log: no users, attempts, failures, placement",
)
_OPENB = (
    "every pod is a gang of one; the trace has no gangs, queues or priorities",
    "run times are those from the recorded start to the recorded end",
)
_DLRM = (
    "an application is one gang of two roles with all its instances",
    "it runs from its first creation to its last deletion, or the window's end",
    "all instances of a role ask for the largest request among them",
    "left out: RDMA, disk, and bounds of several instances per node",
)
_SWF = ("a processor of the log counts as one GPU, in as few equal pods of up to 8",)
_ROUND = (
    "all gangs of one round, also those that run in it, are submitted anew, by age",
    "a gang runs for its maxRuntime",
)
_RECORD = (
    "gangs that a loop saw start; what ran before the record, or never started, is not",
    "run times are from the round that started a gang to the one that saw it gone",
    "of a gang that had to start again, the last run from its first submission on",
    "node selectors, affinities and tolerations of pods are in no record",
)
NOTES: Mapping[str, tuple[str, ...]] = {
    "philly": _PHILLY,
    "openb": _OPENB,
    "dlrm": _DLRM,
    "swf": _SWF,
    "round": _ROUND,
    "record": _RECORD,
    "own": (),
}
