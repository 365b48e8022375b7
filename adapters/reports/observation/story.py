"""
The record of an observation, folded into what became of each gang.

A moment is that of the round that saw it, in seconds since the epoch.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import Any

SAME = 2.0
"""
The seconds within which two moments are the same: a round takes as long to see both.
"""
_SAME_BIRTH = 5.0
_HOUR = 3600.0
_WOULD = "Starting"
_WOULD_AFTER = "Reserved"


@dataclass(slots=True)
class GangStory:
    """
    One gang: when it came, when a plan first would have started it, when it was whole.

    ``after`` is when a plan first would have made room for it by evictions.  ``half``
    are the seconds for which only a part of it ran before it was whole.  ``reason`` is
    why the last plan before it was whole left it out, ``why`` the same as the sentence
    of ``phalanx why``, ``to`` who got its room there, ``said`` what its pods said while
    a plan would have started it.
    """

    name: str
    queue: str = ""
    priority: int = 0
    gpus: float = 0
    minimum: int = 0
    came: float = 0.0
    was_whole: bool = False
    would: float | None = None
    would_proven: bool = False
    after: float | None = None
    whole: float | None = None
    gone: float | None = None
    half: float = 0.0
    half_since: float | None = None
    reason: str | None = None
    why: str = ""
    to: str = ""
    said: str = ""
    state: dict[str, Any] = field(default_factory=dict)

    def hear(self, change: Mapping[str, Any], now: float, *, proven: bool) -> None:
        """
        Take what a round says of it.
        """
        self.state.update(change)
        if self.whole is not None:
            return
        self.why = str(change.get("why", self.why))
        self.queue = self.state.get("queue", "")
        self.priority = self.state.get("priority", 0)
        self.gpus, self.minimum = self.state.get("gpus", 0), self.state.get("min", 0)
        runs, whole = self.state.get("runs", 0), self.state.get("whole", False)
        if whole and not self.was_whole:
            self.whole = now
        self._note_half(now, is_half=bool(runs) and not whole)
        if self.whole is not None or self.was_whole:
            return
        plan = self.state.get("plan")
        if plan == _WOULD and self.would is None:
            self.would, self.would_proven = now, proven
        if plan == _WOULD_AFTER and self.after is None:
            self.after = now
        self.reason, self.to = self.state.get("reason"), self.state.get("to", "")
        self.said = self.state.get("said") or self.said

    def end(self, now: float) -> None:
        """
        Take that it is gone, or that the record ends.
        """
        self._note_half(now, is_half=False)

    def _note_half(self, now: float, *, is_half: bool) -> None:
        if self.half_since is not None and not is_half:
            self.half += now - self.half_since
        if not is_half:
            self.half_since = None
        elif self.half_since is None:
            self.half_since = now

    def until(self, end: float) -> float:
        """
        Give when its waiting ended: it was whole, or is gone, or the record ends.
        """
        if self.whole is not None:
            return self.whole
        return end if self.gone is None else self.gone

    def earlier(self, end: float) -> float:
        """
        Give for how long a plan would have had it started before; 0 where at once.
        """
        if self.would is None:
            return 0.0
        seconds = self.until(end) - self.would
        return seconds if seconds > SAME else 0.0


@dataclass(slots=True)
class Observed:
    """
    A whole observation: gangs by name and first moment, and what rounds came to.

    ``left`` counts the pods of each gang that ran and then were gone without an end.
    """

    gangs: list[GangStory]
    schedulers: tuple[str, ...]
    begin: float
    end: float
    rounds: int
    proven: int
    seconds: float
    nodes: int
    gpus: float
    left: Counter[str]
    evicts: list[Mapping[str, Any]]
    versions: Mapping[str, str]
    strategy: str

    @property
    def hours(self) -> float:
        """
        Give how long it was looked at.
        """
        return (self.end - self.begin) / _HOUR

    def waited(self) -> list[GangStory]:
        """
        List the gangs that were seen to wait.
        """
        return [gang for gang in self.gangs if not gang.was_whole]

    def gpu_hours_earlier(self) -> float:
        """
        Add up the GPU-hours for which gangs waited that a plan would have started.
        """
        return sum(g.earlier(self.end) * g.gpus for g in self.waited()) / _HOUR


def folded(records: Iterable[Mapping[str, Any]]) -> Observed | None:
    """
    Fold records, in their order; none where there are none.
    """
    found: Observed | None = None
    alive: dict[str, GangStory] = {}
    for record in records:
        now = moment_of(record)
        if found is None:
            found = _begun(record, now)
        if record.get("begins"):
            _look_anew(alive, record["gangs"], now, last=found.end)
        found.end, found.nodes = now, record["nodes"]
        found.gpus = record["gpus"]["total"]
        found.rounds += record["rounds"]
        found.proven += record["provenRounds"]
        found.seconds += record["seconds"]
        found.left.update(record["left"])
        found.evicts += record["evicts"]
        for change in record["gangs"]:
            _hear(found, alive, change, now, proven=record["proven"])
    if found is not None:
        for story in alive.values():
            story.end(found.end)
    return found


def moment_of(record: Mapping[str, Any]) -> float:
    """
    Give when a round began.
    """
    return datetime.fromisoformat(record["began"]).timestamp()


def _begun(record: Mapping[str, Any], now: float) -> Observed:
    return Observed(
        gangs=[],
        schedulers=tuple(record["of"]),
        begin=now,
        end=now,
        rounds=0,
        proven=0,
        seconds=0.0,
        nodes=0,
        gpus=0,
        left=Counter(),
        evicts=[],
        versions=record["versions"],
        strategy=record["strategy"],
    )


def _look_anew(
    alive: dict[str, GangStory],
    gangs: Iterable[Mapping[str, Any]],
    now: float,
    *,
    last: float,
) -> None:
    """
    End those that went while nobody looked: when somebody ``last`` did.

    Of another gang of that name the age says so.
    """
    came = {x["gang"]: now - x["age"] for x in gangs if "age" in x}
    for name, story in [*alive.items()]:
        if abs(came.get(name, inf) - story.came) > _SAME_BIRTH:
            story.gone = last
            story.end(last)
            del alive[name]


def _hear(
    found: Observed,
    alive: dict[str, GangStory],
    change: Mapping[str, Any],
    now: float,
    *,
    proven: bool,
) -> None:
    """
    Tell a gang what a round says of it.
    """
    name = change["gang"]
    story = alive.get(name)
    if change.get("gone"):
        if story is not None:
            story.gone = now
            story.end(now)
            del alive[name]
        return
    if story is None:
        came = now - change.get("age", 0)
        was_whole = change.get("whole", False)
        story = alive[name] = GangStory(name, came=came, was_whole=was_whole)
        found.gangs.append(story)
    story.hear(change, now, proven=proven)
