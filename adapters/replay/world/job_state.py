"""
Fates: what became of one job so far, and the gang it is in a snapshot.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from models.devices.gpu_parts import GpuDevice
from models.gangs import Gang, Group, Pod, PodPhase, PodSet, RunKind, Tree
from models.memory.run_times import kind_of
from models.resources import GPU, Resources
from models.trace import Job, Role

NEVER = -1


@dataclass(slots=True)
class Fate:
    """
    One job that has arrived and has not ended.

    ``start`` is that of the attempt that runs, ``queued`` since when it waits.
    ``places`` are the nodes of its pods that are bound, ``devices`` those of which pods
    get parts; it leaves for those it is ``lent_by``.  So many seconds of its work are
    ``saved``, and the next attempt goes on from there.
    """

    idx: int
    job: Job
    queued: int
    first: int = NEVER
    start: int = NEVER
    attempts: int = 0
    failures: int = 0
    evictions: int = 0
    evicted: int = NEVER
    lost: int = 0
    reason: str = ""
    saved: int = 0
    places: dict[str, str] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    reserved: dict[str, str] = field(default_factory=dict)
    lent_by: tuple[str, ...] = ()
    devices: dict[str, tuple[GpuDevice, ...]] = field(default_factory=dict)
    tree: Tree | None = None
    roles: dict[str, Role] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """
        Tell whether all pods that are needed are bound.
        """
        return self.start != NEVER

    @property
    def run_kind(self) -> RunKind:
        """
        Say as whose its run time is counted.
        """
        return kind_of(self.job.queue, "default", self.job.asked(GPU))

    def stop(self, now: int, saves: int | None) -> int:
        """
        Let the attempt be evicted; give for how many seconds it ran in vain.
        """
        ran = now - self.start
        lost = ran % saves if saves else ran
        self.saved += ran - lost
        self.evictions += 1
        self.start = NEVER
        return lost

    def role_of(self, pod: str) -> Role:
        """
        Find the role of a pod by its name.
        """
        return self._names()[pod]

    def _names(self) -> dict[str, Role]:
        """
        Name all pods, with their roles, once.
        """
        if not self.roles:
            self.roles = {
                self.pod_name(role, i): role
                for role in self.job.roles
                for i in range(role.pods)
            }
        return self.roles

    def pod_at(self, number: int) -> str:
        """
        Name a pod by its number among those of all roles.
        """
        return [*self._names()][number]

    def pod_name(self, role: Role, i: int) -> str:
        """
        Name a pod as files do, but for the point: no name of a job has one.

        So the pods of another job, whose name ends as this role's, are others.
        """
        if len(self.job.roles) == 1:
            return f"{self.job.name}-{i}"
        return f"{self.job.name}.{role.name}-{i}"

    def is_complete(self) -> bool:
        """
        Tell whether every role has the pods it needs.
        """
        if not self.places:
            return False
        names = self._names()
        bound = Counter(names[pod].name for pod in self.places)
        return all(bound[role.name] >= role.minimum for role in self.job.roles)

    def missing(self) -> dict[str, int]:
        """
        Add up what pods that are not bound ask for.
        """
        total: dict[str, int] = {}
        for name, role in self._names().items():
            if name not in self.places:
                for r, amount in role.requests.items():
                    total[r] = total.get(r, 0) + amount
        return total

    def requests(self) -> Iterator[tuple[Resources, str]]:
        """
        Walk what is bound where.
        """
        for name, role in self._names().items():
            if name in self.places:
                yield role.requests, self.places[name]

    def as_gang(self, now: int, passed_over: int) -> Gang:
        """
        Give the gang as it is now.
        """
        job = self.job
        if self.tree is None or self.places:
            self.tree = self._tree(now)
        return Gang(
            name=job.name,
            tree=self.tree,
            queue=job.queue,
            priority=job.priority,
            preemptible=job.preemptible,
            max_runtime=job.estimate,
            age=max(0, now - job.submit),
            passed_over=0 if self.runs else passed_over,
            lent_by=self.lent_by,
            evicted_ago=None if self.evicted == NEVER else now - self.evicted,
        )

    def _tree(self, now: int) -> Tree:
        leaves = tuple(self._leaf(role, now) for role in self.job.roles)
        if len(leaves) == 1:
            return leaves[0]
        return Group(name="", min_groups=len(leaves), min_pods=0, children=leaves)

    def _leaf(self, role: Role, now: int) -> PodSet:
        names = [self.pod_name(role, i) for i in range(role.pods)]
        return PodSet(
            name=role.name,
            minimum=role.minimum,
            replicas=role.pods,
            requests=role.requests,
            pods=tuple(self._pod(name, now) for name in names),
            demand=role.demand,
            exclusive=role.exclusive,
        )

    def _pod(self, name: str, now: int) -> Pod:
        devices = self.devices.get(name, ())
        if name in self.places:
            node, ran = self.places[name], now - self.since[name]
            return Pod(name, PodPhase.RUNNING, node, ran, devices=devices)
        if name in self.reserved:
            node = self.reserved[name]
            return Pod(name, PodPhase.RESERVED, node, devices=devices)
        return Pod(name)
