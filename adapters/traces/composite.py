"""
Composite workloads: jobs of one trace with CPU, memory and priorities that it lacks.

What is lent is drawn by a hash of the seed and the names of job and role, so a draw
depends on nothing else: not on the order of the jobs, nor on which others there are.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from adapters.traces.forms import NO_REQUESTS, SharedRecords
from adapters.traces.row_faults import rejected
from models.resources import CPU, MEMORY
from models.trace import Job, Role, Trace
from models.why.reasons import counted

LENT = (CPU, MEMORY)
Shape = tuple[int, ...]
"""
CPU and memory of one pod.
"""
_SPREAD = 2**64


@dataclass(frozen=True)
class Urn:
    """
    What is drawn from, each with its weight.
    """

    values: Sequence[Shape]
    sums: Sequence[int]

    def draw(self, *words: object) -> Shape:
        """
        Draw the value that the hash of some words falls on.
        """
        text = "\n".join(map(str, words)).encode()
        number = int.from_bytes(hashlib.sha256(text).digest()[:8])
        return self.values[bisect_right(self.sums, number * self.sums[-1] // _SPREAD)]


def urn_of(weights: Mapping[Shape, int]) -> Urn:
    """
    Make an urn that holds values so often.
    """
    values = sorted(weights)
    return Urn(values, list(accumulate(weights[value] for value in values)))


def with_requests(trace: Trace, lender: Trace, seed: int) -> Trace:
    """
    Give the pods of a trace CPU and memory, drawn from those with as many GPUs.

    A pod that asks for CPU or memory already keeps what it has.  Where no pod has as
    many GPUs, one of the next larger kind, or else of the largest, lends the same for
    each GPU.

    Parameters
    ----------
    trace
        Jobs, their queues and their times.
    lender
        Pods with CPU and memory.
    seed
        Another seed is another draw.
    """
    urns = _urns(lender)
    shared = SharedRecords()
    scaled: Counter[float] = Counter()

    def drawn(job: Job, role: Role) -> Role:
        size = _lending(urns, role)
        if size is None:
            return role
        if size != role.gpus:
            scaled[role.gpus] += role.pods
        shape = urns[size].draw("requests", seed, job.name, role.name)
        return _asking(role, shape, size)

    jobs = [
        replace(job, roles=shared.take(tuple(drawn(job, x) for x in job.roles)))
        for job in trace.jobs
    ]
    return replace(
        trace,
        jobs=tuple(jobs),
        parts=(*_parts(trace), _drawn_from(lender, seed)),
        notes=(*(x for x in trace.notes if x != NO_REQUESTS), *_scaled_by(scaled)),
    )


def _scaled_by(pods: Counter[float]) -> Iterator[str]:
    by_gpus = ", ".join(f"{n:,} of {gpus} GPUs" for gpus, n in sorted(pods.items()))
    if by_gpus:
        yield f"lent by pods of other numbers of GPUs, GPU by GPU: {by_gpus}"


def _drawn_from(lender: Trace, seed: int) -> str:
    return (
        f"CPU and memory of a pod: drawn from {lender.name} {_short(lender)} by its "
        f"number of GPUs, seed {seed}"
    )


def _urns(lender: Trace) -> dict[float, Urn]:
    weights: dict[float, Counter[Shape]] = {}
    for job in lender.jobs:
        for role in job.roles:
            shape = tuple(role.requests.get(name, 0) for name in LENT)
            if any(shape):
                weights.setdefault(role.gpus, Counter())[shape] += role.pods
    if not weights:
        what = "lends nothing: no pod in it asks for CPU or memory"
        raise rejected(lender.name, what, "a list of openb pods does, for example")
    return {gpus: urn_of(counts) for gpus, counts in weights.items()}


def _lending(urns: Mapping[float, Urn], role: Role) -> float | None:
    """
    Say of which number of GPUs the pods are that lend to a role, if any do.
    """
    if any(name in role.requests for name in LENT):
        return None
    if role.gpus in urns:
        return role.gpus
    sizes = sorted(size for size in urns if size)
    if not role.gpus or not sizes:
        return None
    return sizes[min(bisect_left(sizes, role.gpus), len(sizes) - 1)]


def _asking(role: Role, shape: Shape, size: float) -> Role:
    """
    Let a role ask for what a pod of so many GPUs does, GPU by GPU.
    """
    part = (role.gpus, size) if size else (1, 1)
    asked = {
        name: int(amount * part[0] // part[1])
        for name, amount in zip(LENT, shape, strict=True)
    }
    lent = {name: amount for name, amount in asked.items() if amount}
    return replace(role, requests={**role.requests, **lent})


def with_priorities(trace: Trace, weights: Mapping[int, int], seed: int) -> Trace:
    """
    Give every job a priority, drawn by weight.
    """
    urn = urn_of({(priority,): weight for priority, weight in weights.items()})
    jobs = (
        replace(job, priority=urn.draw("priority", seed, job.name)[0])
        for job in trace.jobs
    )
    total = sum(weights.values())
    mix = ", ".join(
        f"{priority} for {100 * weight / total:.4g} %"
        for priority, weight in sorted(weights.items(), reverse=True)
    )
    part = f"priorities: drawn, {mix} of the jobs, seed {seed}"
    return replace(trace, jobs=tuple(jobs), parts=(*_parts(trace), part))


def _short(trace: Trace) -> str:
    return f"({trace.digest.removeprefix('sha256:')[:12]})"


def _parts(trace: Trace) -> tuple[str, ...]:
    if trace.parts:
        return trace.parts
    jobs = counted(len(trace.jobs), "job")
    return (f"{jobs}, with queues and times: {trace.name} {_short(trace)}",)
