"""
An observation: what each round would have started, beside what another scheduler bound.

Only what changed since the round before is written, one JSON object a line, so that a
quiet cluster costs nothing; who begins to look, and each file, names all gangs once.
Nothing is decided here, and nothing is written elsewhere.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from adapters.compare.outcome import gpus_of_nodes
from adapters.loop.interfaces import Turn
from adapters.observe.round_file import RoundFile
from adapters.observe.written_gang import WrittenGang, restated, uid_of
from models.devices.gpu_counts import gpus_asked
from models.errors import PhalanxError, PlanRejectedError
from models.gangs import FINISHED, Gang, PodPhase, pod_sets
from models.plan import GangLine, Plan
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.reasons import Reason
from solver import RoundAsked, is_live, least_pods

KIND = "Observation"
BEAT = 600.0
"""
The seconds after which a round without changes is written, to say that we still look.
"""
MOST_ASKED = 0.5
"""
Seconds of a round after which no more gangs are asked why a plan left them out.
"""
_MOST_NAMED = 10
_WAITS = "Waiting"
_LEFT = frozenset({"Evict", "Move"})
_FACTS = ("queue", "priority", "min", "pods", "gpus")
"""
What a gang is; that stays as it was when it was whole, while its pods end.
"""
Said = Callable[[Iterable[str]], str]


@dataclass(slots=True)
class _Since:
    """
    What was planned since something was written last.
    """

    rounds: int = 0
    proven: int = 0
    seconds: float = 0.0
    evicted: set[str] = field(default_factory=set)


class _Whys:
    """
    Why gangs wait in a round, in the sentence of ``phalanx why``, within some time.
    """

    def __init__(
        self, turn: Turn | None, policy: Policy, now: Callable[[], float]
    ) -> None:
        self._turn = turn
        self._policy = policy
        self._now = now
        self._began: float | None = None

    @cached_property
    def _asked(self) -> RoundAsked | None:
        turn = self._turn
        if turn is None:
            return None
        return RoundAsked(turn.snapshot, self._policy, turn.plan)

    def of(self, gang: str) -> str:
        """
        Say why a gang waits; nothing where that was not shown in time.
        """
        began = self._began = self._now() if self._began is None else self._began
        if self._now() - began >= MOST_ASKED or self._asked is None:
            return ""
        why = self._asked.told(gang)
        return why.short if why.certain else ""

    def all(self) -> Iterable[dict[str, Any]]:
        """
        Walk the gangs that wait, each with why it does.
        """
        for line in self._turn.plan.gangs if self._turn else ():
            if line.state == _WAITS and (why := self.of(line.name)):
                yield {"gang": line.name, "why": why}


class Observer:
    """
    Writes what changes from round to round.

    ``schedulers`` are those whose pods are planned, by the ``policy``; ``said`` gives
    what pods without a node say, which are the words of the other one.
    """

    def __init__(
        self,
        file: RoundFile,
        schedulers: Sequence[str],
        said: Said,
        policy: Policy,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._file = file
        self._now = now
        self._last: Turn | None = None
        self._schedulers = list(schedulers)
        self._said = said
        self._policy = policy
        self._known: dict[str, WrittenGang] = {}
        self._since = _Since()
        self._wrote_at, self._begins = 0.0, True

    def ticked(self) -> None:
        """
        Say nothing.
        """

    def leading(self, *, is_leader: bool) -> None:
        """
        Begin anew: who looked meanwhile wrote elsewhere.
        """
        if not is_leader:
            self.ended()
        self._known.clear()
        self._wrote_at, self._begins = 0.0, True

    def ended(self) -> None:
        """
        Write until when we looked: what waited, waited until now.
        """
        last, self._last = self._last, None
        if last is not None and self._now() > self._wrote_at:
            whys = _Whys(last, self._policy, self._now)
            told = list(whys.all())
            self._write(replace(last, began=self._now()), told, Counter(), [])

    def refused(self, error: PhalanxError) -> None:
        """
        Say nothing.
        """

    def skipped(self) -> None:
        """
        Say nothing.
        """

    def planned(self, turn: Turn) -> None:
        """
        Write what is otherwise than in the round before.
        """
        since, plan = self._since, turn.plan
        before = _Whys(self._last, self._policy, self._now)
        since.rounds += 1
        since.proven += is_proven(plan)
        since.seconds += sum(turn.seconds.values())
        left: Counter[str] = Counter()
        gangs = list(self._changes(turn, left, before))
        self._last = turn
        evicts = list(_evictions(plan, since.evicted))
        due = turn.began >= self._wrote_at + BEAT
        if gangs or left or evicts or due:
            self._write(turn, gangs, left, evicts)

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Say nothing.
        """

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Say nothing.
        """

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Say nothing.
        """

    def carried_out(self, turn: Turn) -> None:
        """
        Say nothing.
        """

    def failed(self, error: Exception) -> None:
        """
        Say nothing.
        """

    def _changes(
        self, turn: Turn, left: Counter[str], before: "_Whys"
    ) -> Iterable[dict[str, Any]]:
        """
        Walk the gangs that stand otherwise; count in ``left`` whose pods are gone.

        Who is whole now and was to wait is asked about in the round ``before``.
        """
        lines = {line.name: line for line in turn.plan.gangs}
        here = {gang.key: gang for gang in turn.snapshot.gangs}
        for key, last in [*self._known.items()]:
            if key not in here or last.is_another(here[key], turn.began):
                self._since.evicted -= last.running
                if last.running:
                    left[key] += len(last.running)
                del self._known[key]
                yield {"gang": key, "gone": True}
        for key, gang in here.items():
            known = self._known.get(key)
            was = {} if known is None else known.wrote
            change = self._change(gang, lines[key], left, turn.began)
            if change.get("whole") and was.get("plan") == _WAITS:
                change = {**change, "why": before.of(key)}
            if change:
                yield {"gang": key, **change}

    def _change(
        self, gang: Gang, line: GangLine, left: Counter[str], began: float
    ) -> Mapping[str, Any]:
        known = self._known.get(gang.key)
        pods = [pod for leaf in pod_sets(gang.tree) for pod in leaf.pods]
        uids = frozenset(map(uid_of, pods))
        running = frozenset(uid_of(p) for p in pods if p.phase is PodPhase.RUNNING)
        ended = {uid_of(pod) for pod in pods if pod.phase in FINISHED}
        if known is not None and (gone := len(known.running - running - ended)):
            left[gang.key] += gone
        now = {**_facts(gang, line), **self._standing(gang, line, running, known)}
        if known is None:
            came = began - gang.age
            self._known[gang.key] = WrittenGang(now, came, uids, running)
            return {"age": gang.age, **now}
        self._since.evicted -= known.running - running
        before, known.wrote = known.wrote, now
        known.pods, known.running = uids, running
        if before["whole"]:
            now |= {key: before[key] for key in _FACTS}
        return {key: value for key, value in now.items() if before.get(key) != value}

    def _standing(
        self,
        gang: Gang,
        line: GangLine,
        running: frozenset[str],
        known: WrittenGang | None,
    ) -> dict[str, Any]:
        """
        Say what runs of a gang, what the plan makes of it, and what the other one says.
        """
        waiting = line.waiting
        found: dict[str, Any] = {
            "runs": len(running),
            "whole": bool(running) and is_live(gang),
            "plan": line.state,
            "reason": waiting.reason.value if waiting else None,
            "to": "",
        }
        if waiting is not None and waiting.reason is Reason.LOWER_TIER_OR_PRIORITY:
            found["to"] = str(waiting.facts.get("to", ""))
        if line.state == "Starting" and known is not None:
            keys = (f"{gang.namespace}/{p.name}" for p in _waiting(gang))
            found["said"] = self._said(keys)
        return found

    def _write(
        self,
        turn: Turn,
        gangs: list[dict[str, Any]],
        left: Counter[str],
        evicts: list[dict[str, Any]],
    ) -> None:
        since, self._wrote_at = self._since, turn.began
        changed = {
            "gangs": gangs,
            "left": dict(sorted(left.items())),
            "evicts": evicts,
        }
        record = _head(turn, self._schedulers, since) | changed
        anew = partial(restated, record, self._known, turn.began)
        self._file.append(anew() if self._begins else record, anew)
        self._begins, self._since = False, _Since(evicted=since.evicted)


def _evictions(plan: Plan, known: set[str]) -> Iterable[dict[str, Any]]:
    """
    Walk what a plan would evict or move; what plans before it would have is ``known``.
    """
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for step in plan.operations:
        who = step.uid or step.pod
        if step.op in _LEFT and who not in known:
            known.add(who)
            key = step.op, step.gang, step.rule or ""
            groups.setdefault(key, []).append(step)
    for (op, gang, rule), steps in groups.items():
        whom = sorted({name for step in steps for name in step.beneficiaries})
        shown = {"op": op, "gang": gang, "rule": rule, "pods": len(steps)}
        yield {**shown, "for": whom[:_MOST_NAMED]}


def _head(turn: Turn, schedulers: list[str], since: _Since) -> dict[str, Any]:
    """
    Say of a round when it was, what it saw, and what came since the one before.
    """
    total, free = gpus_of_nodes(turn.snapshot)
    moment = datetime.fromtimestamp(turn.began, UTC).isoformat(timespec="milliseconds")
    return {
        "apiVersion": "phalanx/v1",
        "kind": KIND,
        "name": turn.name,
        "began": moment.replace("+00:00", "Z"),
        "of": schedulers,
        "strategy": turn.plan.strategy,
        "versions": dict(turn.plan.versions),
        "rounds": since.rounds,
        "provenRounds": since.proven,
        "seconds": round(since.seconds, 6),
        "proven": is_proven(turn.plan),
        "nodes": len(turn.snapshot.nodes),
        "gpus": {"total": total, "free": free},
    }


def is_proven(plan: Plan) -> bool:
    """
    Tell whether no plan is better in any tier.
    """
    return all(tier.proof == "proven" for tier in plan.tiers)


def observed_in(folder: str, shard: str) -> Path:
    """
    Name the record that an observing shard keeps in its folder.
    """
    return Path(folder) / shard / "observed.jsonl"


def _facts(gang: Gang, line: GangLine) -> dict[str, Any]:
    """
    Say what a gang is, which is not known before its pods are there.
    """
    leaves = list(pod_sets(gang.tree))
    return {
        "queue": gang.queue,
        "priority": gang.priority,
        "min": least_pods(gang),
        "pods": line.pods.total,
        "gpus": gpus_asked((leaf.requests, leaf.replicas) for leaf in leaves),
    }


def _waiting(gang: Gang) -> list[Any]:
    return [
        pod
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.PENDING
    ]
