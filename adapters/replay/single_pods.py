"""
Pieces: pods that know no gang, each bound by itself, as a scheduler without gangs does.

A job works once all its pods are bound; until then they hold what they have.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappush

from adapters.replay.world.job_state import NEVER, Fate
from adapters.replay.world.world import World
from models.trace import Job, Role


@dataclass(slots=True)
class Bundle:
    """
    The pods of one job: those that are bound, and the job's own fate.
    """

    fate: Fate
    size: int
    bound: list[Fate] = field(default_factory=list)
    left: int = 0


def pieces_of(jobs: Sequence[Job]) -> tuple[list[Job], list[int]]:
    """
    Make a job of every pod; give them with the numbers of the jobs they are of.
    """
    pieces: list[Job] = []
    owners: list[int] = []
    kinds: dict[int, list[tuple[Role, ...]]] = {}
    for idx, job in enumerate(jobs):
        known = kinds.setdefault(
            id(job.roles),
            [(replace(role, pods=1, minimum=1, name=""),) for role in job.roles],
        )
        number = 0
        for role, single in zip(job.roles, known, strict=True):
            for _ in range(role.pods):
                name = f"{job.name}-{number}"
                pieces.append(replace(job, name=name, roles=single, failures=()))
                owners.append(idx)
                number += 1
    return pieces, owners


@dataclass(slots=True)
class PieceWorld(World):
    """
    A world in which every pod is its own gang.
    """

    whole: Sequence[Job] = ()
    owners: Sequence[int] = ()
    bundles: dict[int, Bundle] = field(default_factory=dict)

    def count_gangs(self) -> tuple[Mapping[str, int], int]:
        """
        Count the jobs of which a pod is not bound, by queue, and those that work.
        """
        waiting = Counter(
            bundle.fate.job.queue
            for bundle in self.bundles.values()
            if len(bundle.bound) < bundle.size
        )
        return waiting, len(self.bundles) - waiting.total()

    def arrive(self, idx: int) -> None:
        """
        Let a pod wait from now on.
        """
        World.arrive(self, idx)
        owner = self.owners[idx]
        if owner not in self.bundles:
            job = self.whole[owner]
            self.bundles[owner] = Bundle(Fate(owner, job, queued=self.now), job.pods)

    def begin(self, fate: Fate, gpus: int) -> None:
        """
        Let a job work once its last pod has come.
        """
        del gpus
        fate.start = self.now
        fate.attempts = 1
        bundle = self.bundles[self.owners[fate.idx]]
        bundle.bound.append(fate)
        if len(bundle.bound) == bundle.size:
            self._begin_all(bundle)

    def _begin_all(self, bundle: Bundle) -> None:
        """
        Let a job work whose last pod has come.
        """
        job = bundle.fate.job
        gpus = sum(self.ground.held_in(piece.requests()) for piece in bundle.bound)
        self.incomplete -= gpus
        self.used += gpus
        self.counts.started += 1
        bundle.left = bundle.size
        bundle.fate.start = bundle.fate.first = self.now
        bundle.fate.attempts = 1
        for fate in bundle.bound:
            heappush(self.ends, (self.now + job.duration, fate.idx, 1))

    def piece_ended(self, fate: Fate) -> Fate | None:
        """
        Take note of the end of a pod; give the job when it was the last.
        """
        owner = self.owners[fate.idx]
        bundle = self.bundles[owner]
        whole = bundle.fate
        whole.reason = whole.reason or fate.reason
        _take_places(whole, fate)
        bundle.left -= 1
        if bundle.left:
            return None
        del self.bundles[owner]
        return whole

    def left(self) -> Iterator[Fate]:
        """
        Walk the jobs that have not ended, as far as their pods have come.
        """
        for fate in self.fates.values():
            whole = self.bundles[self.owners[fate.idx]].fate
            whole.reason = whole.reason or fate.reason
            _take_places(whole, fate)
        for bundle in self.bundles.values():
            if len(bundle.bound) < bundle.size:
                bundle.fate.start = NEVER
            yield bundle.fate


def _take_places(whole: Fate, piece: Fate) -> None:
    """
    Let the pods of a job be where its pieces are, which are numbered as they are.
    """
    pod = whole.pod_at(int(piece.job.name.rpartition("-")[2]))
    for node in piece.places.values():
        whole.places[pod] = node
    for devices in piece.devices.values():
        whole.devices[pod] = devices
