"""
The line: waiting jobs by kind, the oldest of each first.

Jobs of one kind differ in name and age only.
"""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from models.nodes import NodeDemand
from models.resources import GPU, Resources, add, num_gpus
from models.trace import Job, Role

Place = tuple[int, str, int]
"""
Where a job stands in line: its submission, its name, its number.
"""
Shape = tuple[tuple[tuple[str, int], ...], NodeDemand, bool]
"""
What is equal for pods that fit the same nodes: requests, demand, exclusive.
"""


@dataclass(slots=True)
class JobKind:
    """
    Jobs that differ in name and age only, and those of them that wait.

    ``need`` is what starts one of them, ``total`` what all its pods ask for.
    """

    job: Job
    need: Resources
    total: Resources
    gpus: int
    shapes: tuple[tuple[Shape, int], ...]
    line: list[Place] = field(default_factory=list)


class WaitingJobs:
    """
    All waiting jobs, with what they ask for by queue; GPUs as ``counted``.
    """

    def __init__(self, jobs: Sequence[Job], counted: str = GPU) -> None:
        self._jobs = jobs
        self._counted = counted
        self._numbers: dict[Hashable, int] = {}
        self._of_roles: dict[int, tuple[Hashable, tuple[Role, ...]]] = {}
        self._mine: dict[int, tuple[JobKind, int]] = {}
        self.kinds: dict[int, JobKind] = {}
        self.count = 0
        self.gpus: dict[str, int] = defaultdict(int)
        self.counts: dict[str, int] = defaultdict(int)
        self.demand: dict[str, dict[str, int]] = defaultdict(dict)
        self.tally: dict[int, int] = defaultdict(int)

    def join(self, idx: int, *, alone: bool = False) -> None:
        """
        Let a job wait; one with a history of its own is of no kind but its own.
        """
        job = self._jobs[idx]
        if alone:
            kind, number = self._new(job), -1 - idx
            self.kinds[number] = kind
        else:
            kind = self.kind_of(job)
            number = self._number(job)
        self._mine[idx] = kind, number
        insort(kind.line, (job.submit, job.name, idx))
        self._count(kind, 1)

    def leave(self, idx: int) -> None:
        """
        Let a job wait no longer.
        """
        job = self._jobs[idx]
        kind, number = self._mine.pop(idx)
        del kind.line[bisect_left(kind.line, (job.submit, job.name, idx))]
        if number < 0:
            del self.kinds[number]
        self._count(kind, -1)

    def is_alone(self, idx: int) -> bool:
        """
        Tell whether a waiting job is of no kind but its own.
        """
        return self._mine[idx][1] < 0

    def waiting(self) -> Iterator[JobKind]:
        """
        Walk the kinds of which somebody waits.
        """
        return (kind for kind in self.kinds.values() if kind.line)

    def by_size(self, without: Iterable[int]) -> tuple[tuple[int, int], ...]:
        """
        Count the jobs that wait by the GPUs that start one, without some of them.
        """
        counts: Counter[int] = Counter()
        for kind in self.waiting():
            counts[num_gpus(kind.need)] += len(kind.line)
        for idx in without:
            if idx in self._mine:
                counts[num_gpus(self._mine[idx][0].need)] -= 1
        return tuple(sorted((gpus, n) for gpus, n in counts.items() if n))

    def __contains__(self, idx: int) -> bool:
        return idx in self._mine

    def _count(self, kind: JobKind, sign: int) -> None:
        queue = kind.job.queue
        self.count += sign
        self.counts[queue] += sign
        self.gpus[queue] += sign * kind.gpus
        self.tally[kind.job.priority] += sign
        add(self.demand[queue], kind.total, sign)

    def kind_of(self, job: Job) -> JobKind:
        """
        Find the kind of a job, whether it waits or not.
        """
        return self.kinds[self._number(job)]

    def _number(self, job: Job) -> int:
        key = (job.queue, job.priority, job.preemptible, self._roles(job))
        number = self._numbers.setdefault(key, len(self._numbers))
        if number not in self.kinds:
            self.kinds[number] = self._new(job)
        return number

    def _roles(self, job: Job) -> Hashable:
        """
        Give what is equal for equal roles.

        The roles are kept, so that no others get their place in memory.
        """
        known = self._of_roles.get(id(job.roles))
        if known is None:
            key = tuple((r.name, r.pods, r.minimum, shape_of(r)) for r in job.roles)
            known = self._of_roles[id(job.roles)] = (key, job.roles)
        return known[0]

    def _new(self, job: Job) -> JobKind:
        need: dict[str, int] = {}
        total: dict[str, int] = {}
        for role in job.roles:
            add(need, role.requests, role.minimum)
            add(total, role.requests, role.pods)
        shapes = tuple((shape_of(r), r.minimum) for r in job.roles if r.minimum)
        return JobKind(job, need, total, total.get(self._counted, 0), shapes)


def shape_of(role: Role) -> Shape:
    """
    Give what is equal for pods that fit the same nodes.
    """
    return (tuple(sorted(role.requests.items())), role.demand, role.exclusive)
