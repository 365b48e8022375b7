"""
Fitting: jobs that can never start on a cluster are counted and left out.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from adapters.replay.world.free_nodes import Ground, headroom
from adapters.replay.world.queue_usage import Books
from adapters.replay.world.waiting_jobs import WaitingJobs
from models.trace import Floor, Job, Trace

RULES: Mapping[str, str] = {
    "pod-too-large": "one of its pods fits no node, even an empty one",
    "larger-than-cluster": "the whole empty cluster does not hold it",
    "more-than-its-limit": "its queue may never hold as much",
    "no-such-queue": "the cluster has queues, and its own is none of them",
}


def fitted(trace: Trace, floor: Floor) -> Trace:
    """
    Leave out what can never start, for every strategy alike.
    """
    ground = Ground(floor.nodes, trace.jobs)
    books = Books(floor.queues, {})
    line = WaitingJobs(trace.jobs)
    kept: list[Job] = []
    counts: Counter[str] = Counter()
    for job in trace.jobs:
        rule = _refusal(job, ground, books, line)
        if rule is None:
            kept.append(job)
        else:
            counts[rule] += 1
    if not counts:
        return trace
    first = kept[0].submit if kept else 0
    jobs = kept if not first else [replace(j, submit=j.submit - first) for j in kept]
    left_out = dict(sorted((Counter(trace.left_out) + counts).items()))
    return replace(trace, jobs=tuple(jobs), left_out=left_out)


def _refusal(job: Job, ground: Ground, books: Books, line: WaitingJobs) -> str | None:
    if books.queues and job.queue not in books.queues:
        return "no-such-queue"
    kind = line.kind_of(job)
    if any(ground.at_most(shape) == 0 for shape, _ in kind.shapes):
        return "pod-too-large"
    if not ground.starts(kind, empty=True) or not ground.holds(kind):
        return "larger-than-cluster"
    bounds = (books.limits,) if job.preemptible else (books.limits, books.quotas)
    if not all(headroom(bound, job.queue, kind.need) for bound in bounds):
        return "more-than-its-limit"
    return None
