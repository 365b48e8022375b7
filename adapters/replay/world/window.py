"""
The window: which of the waiting jobs a round is shown.

Of jobs that differ in name and age only, any plan may be changed to start the older
ones, so a kind is shown with as many of its oldest as could start together.  Heads of
queues are shown, and so much more that the fair shares are those of the whole line.
"""

from collections.abc import Callable, Iterable, Mapping
from heapq import merge
from itertools import islice

from adapters.replay.world.free_nodes import MOST, Ground, headroom
from adapters.replay.world.queue_usage import Books, Shares
from adapters.replay.world.waiting_jobs import JobKind, WaitingJobs
from models.policy import Policy, WaitingPolicy
from models.resources import Resources, add, num_gpus

DEPTH = 100
"""
How far down the line strategies with one line look.
"""
Rank = tuple[int, int, str]
Since = Callable[[int], int]
"""
Tells since which round a job is passed over.
"""
Prefix = dict[int, tuple[JobKind, int]]


def oldest(line: WaitingJobs) -> list[int]:
    """
    Show the oldest of all queues, for strategies that know one line only.
    """
    places = merge(*(kind.line for kind in line.waiting()))
    return [idx for _, _, idx in islice(places, DEPTH)]


def may_start(kind: JobKind, ground: Ground, books: Books) -> int:
    """
    Count the jobs of a kind that could start in the room there is, at most.
    """
    count = ground.starts(kind)
    if not count:
        return 0
    return min(count, headroom(books.limits, kind.job.queue, kind.need))


def starts_in(room: Resources, need: Resources) -> int:
    """
    Count how often what is needed is there in all, of what is known.
    """
    counts = (room[r] // n for r, n in need.items() if n > 0 and r in room)
    return max(0, min(counts, default=MOST))


class Window:
    """
    Chooses what one round is shown: of each kind, so many of the oldest.
    """

    def __init__(
        self, line: WaitingJobs, ground: Ground, books: Books, since: Since
    ) -> None:
        self._line = line
        self._since = since
        self._ground = ground
        self._books = books
        self._shown: Prefix = {}

    def startable(self) -> bool:
        """
        Show of each kind what could start; say whether anybody could.
        """
        for kind in self._line.waiting():
            self._show(kind, may_start(kind, self._ground, self._books))
        return bool(self._shown)

    def startable_if_left(self, room: Resources | None) -> None:
        """
        Show of each kind what could start if others left.

        Parameters
        ----------
        room
            The most room there may be then, where that is known.
        """
        for kind in self._line.waiting():
            count = self._ground.starts(kind, empty=True)
            if room is not None:
                count = min(count, starts_in(room, self._ground.least(kind)))
            self._show(kind, count)

    def complete(self, policy: Policy, shares: Shares, late: int) -> list[int]:
        """
        Add those that may be heads and what the fair shares need; list all shown.

        Parameters
        ----------
        policy
            Says how many heads a queue has, and how large they are.
        shares
            The fair shares of the whole line.
        late
            The moment up to which jobs must have been passed over to be heads.
        """
        self._show_heads(policy.waiting, late)
        self._show_each_priority()
        self._show_demand(shares)
        return sorted(
            idx
            for kind, count in self._shown.values()
            for _, _, idx in islice(kind.line, count)
        )

    def _show(self, kind: JobKind, count: int) -> None:
        count = min(count, len(kind.line))
        _, have = self._shown.get(id(kind), (kind, 0))
        if count > have:
            self._shown[id(kind)] = (kind, count)

    def _show_heads(self, waiting: WaitingPolicy, late: int) -> None:
        """
        Show those that may be heads of their queue, as many for each priority.
        """
        most = waiting.heads
        if not most or late < 0:
            return
        lines: dict[tuple[str, int], list[tuple[Rank, JobKind, int]]] = {}
        for kind in self._line.waiting():
            if num_gpus(kind.need) < waiting.gpus:
                continue
            job = kind.job
            key = (job.queue if self._books.queues else "", job.priority)
            for at, (submit, name, idx) in enumerate(kind.line[:most]):
                since = self._since(idx)
                if since <= late:
                    rank = (since, submit, name)
                    lines.setdefault(key, []).append((rank, kind, at + 1))
        for line in lines.values():
            for _, kind, count in sorted(line, key=lambda entry: entry[0])[:most]:
                self._show(kind, count)

    def _show_each_priority(self) -> None:
        """
        Show somebody of each priority: bands are cut between those there are.
        """
        if sum(count > 0 for count in self._line.tally.values()) <= 1:
            return
        oldest: dict[int, JobKind] = {}
        for kind in self._line.waiting():
            known = oldest.setdefault(kind.job.priority, kind)
            if kind.line[0] < known.line[0]:
                oldest[kind.job.priority] = kind
        for kind in oldest.values():
            self._show(kind, 1)

    def _show_demand(self, shares: Shares) -> None:
        """
        Show more of a queue until it asks for more than its share, or all of it.
        """
        if not shares:
            return
        lines: dict[str, list[JobKind]] = {}
        for kind in self._line.waiting():
            lines.setdefault(kind.job.queue, []).append(kind)
        for queue, kinds in lines.items():
            if queue in shares:
                self._fill(queue, shares[queue], kinds)

    def _fill(
        self, queue: str, share: Mapping[str, int], kinds: Iterable[JobKind]
    ) -> None:
        asked = dict(self._books.used[queue])
        largest = sorted(kinds, key=lambda kind: (-kind.gpus, kind.line[0]))
        for kind in largest:
            _, count = self._shown.get(id(kind), (kind, 0))
            add(asked, kind.total, count)
        for kind in largest:
            _, count = self._shown.get(id(kind), (kind, 0))
            short = max(
                (
                    (share[r] - asked.get(r, 0)) // amount + 1
                    for r, amount in kind.total.items()
                    if amount > 0 and r in share
                ),
                default=0,
            )
            more = min(max(0, short), len(kind.line) - count)
            self._show(kind, count + more)
            add(asked, kind.total, more)
