"""
Since when nothing but our own plans has changed what is wanted and what there is.

It is known from the plan that last made somebody leave for others, and only while no
gang came, ended or failed, and no node, queue or budget changed: planning asks for
nothing older.  What our own plans do is no change: pods that we bound run, those that
we told to leave go, and may be made anew.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

from pydantic import BaseModel, Field, StrictInt, ValidationError

from models.gangs import FINISHED, PodPhase, PodSet, Tree, pod_sets, waits_for_places
from models.plan import Operation, Plan
from models.snapshot import Snapshot

_EMPTY = PodSet(name="", minimum=0, replicas=0, requests={}, pods=())


@dataclass(frozen=True, slots=True)
class _WantedGang:
    """
    What a gang wants: all that time and our plans do not change, and so many pods.

    ``gang`` is without its tree, ``tree`` and ``leaves`` are without their pods; where
    this was kept over a restart, each is a digest.
    """

    gang: object
    tree: object
    leaves: Mapping[str, object]
    pods: int
    ended: int

    def is_still(self, after: "_WantedGang", told: int) -> bool:
        """
        Tell whether a gang wants the same, of which some pods were told to leave.
        """
        if not told:
            return self == after
        return (
            after.gang == self.gang
            and all(leaf == self.leaves.get(n) for n, leaf in after.leaves.items())
            and self.pods - told <= after.pods <= self.pods
            and self.ended <= after.ended <= self.ended + told
        )

    def digested(self) -> "_WantedGang":
        """
        Give it in few bytes.
        """
        leaves = {name: digest(leaf) for name, leaf in self.leaves.items()}
        gang, tree = digest(self.gang), digest(self.tree)
        return replace(self, gang=gang, tree=tree, leaves=leaves)


@dataclass(frozen=True, slots=True)
class _KnownGang:
    """
    What there is, and what is wanted of it.

    ``there`` are nodes, topologies, and queues without their usage, which time alone
    changes.  Of ``others`` only the digest is kept over a restart; else they are among
    the ``gangs``, and it is empty.
    """

    there: object
    budgets: Mapping[str, tuple[object, int]]
    gangs: Mapping[str, _WantedGang]
    others: str = ""

    @classmethod
    def of(cls, snapshot: Snapshot) -> "_KnownGang":
        """
        Take what matters of a snapshot.
        """
        return cls(
            (
                snapshot.nodes,
                tuple(replace(queue, usage={}) for queue in snapshot.queues),
                snapshot.topologies,
            ),
            {b.name: (b.gangs, b.allowed) for b in snapshot.budgets},
            dict(_wanted(snapshot)),
        )

    def digested(self, apart: Collection[str]) -> "_KnownGang":
        """
        Give it in few bytes: each gang of ``apart`` by itself, the others as one.
        """
        others = {key: held for key, held in self.gangs.items() if key not in apart}
        return _KnownGang(
            digest(self.there),
            {name: (digest(gangs), n) for name, (gangs, n) in self.budgets.items()},
            {k: held.digested() for k, held in self.gangs.items() if k in apart},
            digest(others),
        )

    def is_still(self, after: "_KnownGang", told: Mapping[str, int]) -> bool:
        """
        Tell whether nothing has changed but what we did.

        A budget that lets fewer pods go than before is of our doing, or bars only.
        """
        return (
            self.there == after.there
            and self.others == after.others
            and self.budgets.keys() == after.budgets.keys()
            and all(
                gangs == after.budgets[name][0] and after.budgets[name][1] <= allowed
                for name, (gangs, allowed) in self.budgets.items()
            )
            and self._have_still(after, told)
        )

    def _have_still(self, after: "_KnownGang", told: Mapping[str, int]) -> bool:
        if not after.gangs.keys() <= self.gangs.keys():
            return False
        for key, before in self.gangs.items():
            now = after.gangs.get(key)
            left = told.get(key, 0)
            if now is None and left < before.pods:
                return False
            if now is not None and not before.is_still(now, left):
                return False
        return True


class _StoredWanted(BaseModel):
    """
    What a gang wants, as it was kept.
    """

    gang: str
    tree: str
    leaves: dict[str, str]
    pods: StrictInt
    ended: StrictInt


class _StoredState(BaseModel):
    """
    What was kept; fields of another version are passed by.
    """

    since: float = Field(allow_inf_nan=False)
    told: dict[str, StrictInt]
    there: str
    budgets: dict[str, tuple[str, StrictInt]]
    gangs: dict[str, _StoredWanted]
    others: str = Field(min_length=1)


class Stillness:
    """
    Hears of every snapshot and every plan, and tells for how long nothing has changed.
    """

    def __init__(self) -> None:
        self._seen: Snapshot | None = None
        self._state: _KnownGang | None = None
        self._since = 0.0
        self._told: Counter[str] = Counter()
        self._kept: _KnownGang | None = None

    def seconds(self, snapshot: Snapshot, now: float) -> int | None:
        """
        Hear what there is now; give for how long it is so, where that is known.
        """
        self._seen = snapshot
        if self._state is None:
            return None
        state = _KnownGang.of(snapshot)
        if self._is_kept:
            state = state.digested(self._state.gangs)
        if not self._state.is_still(state, self._told):
            self.broken()
            return None
        for key in list(self._told):
            if state.gangs.get(key) == self._state.gangs.get(key):
                del self._told[key]  # all that had to leave are there again
        if self._state.budgets != state.budgets:
            self._state, self._kept = replace(self._state, budgets=state.budgets), None
        return max(0, int(now - self._since))

    def planned(self, plan: Plan, now: float) -> None:
        """
        Hear of a plan for what was last there, which is carried out from now on.
        """
        leaving = list(leaving_for_others(plan))
        if any(step.rule == "stale" for step in plan.operations):
            self.broken()  # they want their places anew
        if not leaving or self._seen is None:
            return
        if self._state is None:
            self._state, self._since = _KnownGang.of(self._seen), now
        self._told.update(step.gang for step in leaving)
        self._kept = None

    def document(self) -> dict[str, Any] | None:
        """
        Give what has to be known of it after a restart, as plain values.
        """
        if self._state is None:
            return None
        if self._kept is None:
            is_digest, state = self._is_kept, self._state
            self._kept = state if is_digest else state.digested(self._told)
        return {
            "since": self._since,
            "told": dict(sorted(self._told.items())),
            **asdict(self._kept),
        }

    def restore(self, document: object) -> bool:
        """
        Take what was kept; the first snapshot shows whether it is still so.

        Tell whether it can be read: else nothing is known, which is no harm.
        """
        self.broken()
        if document is None:
            return True
        try:
            read = _StoredState.model_validate(document)
        except ValidationError:
            return False
        self._since = read.since
        self._told.update(read.told)
        self._state = _KnownGang(
            read.there,
            read.budgets,
            {key: _WantedGang(**held.model_dump()) for key, held in read.gangs.items()},
            read.others,
        )
        return True

    @property
    def _is_kept(self) -> bool:
        """
        Tell whether what we compare with are digests, of before a restart.
        """
        return self._state is not None and bool(self._state.others)

    def broken(self) -> None:
        """
        Hear that something has changed.
        """
        self._state = self._kept = None
        self._told.clear()


def leaving_for_others(plan: Plan) -> Iterator[Operation]:
    """
    Walk the operations that make a pod leave for the sake of others.
    """
    for step in plan.operations:
        if step.op in {"Evict", "Move"} and step.rule != "stale":
            yield step


def _wanted(snapshot: Snapshot) -> Iterator[tuple[str, _WantedGang]]:
    """
    Walk the gangs without what time and our plans change.
    """
    for gang in snapshot.gangs:
        phases = Counter(pod.phase for leaf in pod_sets(gang.tree) for pod in leaf.pods)
        ended = sum(phases[phase] for phase in FINISHED)
        timeless = replace(
            gang,
            tree=_EMPTY,
            age=0,
            backoff=int(gang.backoff > 0 and waits_for_places(gang)),
            once_satisfied=False,
            stale_since=None,
            evicted_ago=None,
            passed_over=0,
            held_for=0,
            held_first=None,
            lent_by=(),
        )
        here = phases.total() - ended - phases[PodPhase.TERMINATING]
        leaves = {leaf.name: _bare(leaf) for leaf in pod_sets(gang.tree)}
        tree = _shape(gang.tree)
        yield gang.key, _WantedGang(timeless, tree, leaves, here, ended)


def _bare(leaf: PodSet) -> PodSet:
    """
    Give a leaf without its pods, and without how many there are to be.
    """
    return replace(leaf, pods=(), replicas=0)


def _shape(tree: Tree) -> Tree:
    """
    Give a tree without its pods, and without how many there are to be.
    """
    if isinstance(tree, PodSet):
        return _bare(tree)
    return replace(tree, children=tuple(map(_shape, tree.children)))


def digest(value: object) -> str:
    """
    Give the same few letters for equal values, in every process.
    """
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=9).hexdigest()


def _plain(value: object) -> object:
    """
    Write records as what JSON knows, with their fields in order.
    """
    if is_dataclass(value):
        return [_plain(getattr(value, each.name)) for each in fields(value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(held) for held in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} has no plain form")
