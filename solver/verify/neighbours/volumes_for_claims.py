"""
The rule about free volumes that several nodes reach.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from models.neighbours import ReachedVolumes, sharer
from solver.verify.evidence import Evidence
from solver.verify.neighbours.occupants import Occupant, occupants
from solver.verify.violation import Violation

_Suited = tuple[ReachedVolumes, ...]
_Asker = tuple[str, ...]
"""
A node and a kind, or a claim of several pods after nothing.
"""


class _Given:
    """
    The volumes that claims have so far; who has one may take another.
    """

    def __init__(self) -> None:
        self._suited: dict[_Asker, _Suited] = {}
        self._has: dict[ReachedVolumes, Counter[_Asker]] = {}
        self._left: dict[ReachedVolumes, int] = {}

    def copy(self) -> "_Given":
        """
        Give the same, to be changed.
        """
        found = _Given()
        found._suited, found._left = dict(self._suited), dict(self._left)
        found._has = {one: row.copy() for one, row in self._has.items()}
        return found

    def lacking(self, asker: _Asker, suited: _Suited, number: int = 1) -> int:
        """
        Give volumes to so many claims; say for how many of them there is none.
        """
        self._suited[asker] = suited
        for one in suited if number else ():
            if more := min(number, self._left.setdefault(one, one.number)):
                self._change(one, asker, more)
                number -= more
        while number and self._move_others(asker):
            number -= 1
        return number

    def _move_others(self, asker: _Asker) -> bool:
        """
        Find a volume for a claim by way of those who take another one for it.
        """
        came: dict[ReachedVolumes, tuple[ReachedVolumes, _Asker] | None]
        came = dict.fromkeys(self._suited[asker])
        seen: set[_Asker] = set()
        queue = [*came]
        for one in queue:
            for holder in self._has.get(one, Counter()).keys() - seen:
                seen.add(holder)
                for more in self._suited[holder]:
                    if more not in came:
                        came[more] = one, holder
                        queue.append(more)
                        if self._left.setdefault(more, more.number):
                            self._hand_on(more, asker, came)
                            return True
        return False

    def _hand_on(
        self,
        at: ReachedVolumes,
        asker: _Asker,
        came: Mapping[ReachedVolumes, tuple[ReachedVolumes, _Asker] | None],
    ) -> None:
        """
        Let each on the way take the next volume, and who asks the first.
        """
        while (step := came[at]) is not None:
            before, holder = step
            self._change(at, holder, 1)
            self._change(before, holder, -1)
            at = before
        self._change(at, asker, 1)

    def _change(self, one: ReachedVolumes, asker: _Asker, number: int) -> None:
        row = self._has.setdefault(one, Counter())
        row[asker] += number
        if not row[asker]:
            del row[asker]
        self._left[one] -= number


def volumes_for_claims(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that each claim of a pod that gets a place can have a volume of its own.

    Volumes of pods that were there are theirs, also of those that leave or move.
    """
    claiming = [one for one in occupants(evidence) if one.said.takes_volumes]
    given = _Given()
    for one in claiming:
        for kind, number in one.said.claims:
            asker, there = (one.node.name, kind), number * (one.stay + one.ending)
            given.lacking(asker, _suited(one, kind), there)
    yield from _shared_by_pods(claiming, given)
    for one in claiming:
        for kind, number in one.said.claims:
            asker = one.node.name, kind
            if lacking := given.lacking(asker, _suited(one, kind), number * one.new):
                what = f"{lacking} claims of {kind} on {one.node.name}"
                yield Violation("volume-for-claim", one.gang, f"{what} find no volume")


def _shared_by_pods(claiming: list[Occupant], given: _Given) -> Iterator[Violation]:
    """
    Ensure that all pods of a claim are on nodes that reach a volume it can have.

    Those that have one keep it or change it; the pods that come may narrow the choice.
    """
    users: dict[tuple[str, str], list[Occupant]] = {}
    for one in claiming:
        for claim in one.said.shared:
            users.setdefault(sharer(claim, one.node.name), []).append(one)
    there: dict[tuple[str, str], _Suited] = {}
    first = given.copy()
    for claim, pods in sorted(users.items()):
        old = _for_all([one for one in pods if one.stay or one.ending], claim[1])
        if old and not first.lacking(("", *claim), old):
            there[claim] = old
    grow = {claim for claim, pods in users.items() if any(one.new for one in pods)}
    for claim in sorted(there.keys() - grow):
        given.lacking(("", *claim), there[claim])
    for claim in sorted(grow):
        pods = [one for one in users[claim] if one.stay or one.ending or one.new]
        if given.lacking(("", *claim), _for_all(pods, claim[1])):
            gang = next(one.gang for one in pods if one.new)
            what = f"no volume for claim {claim[0]} is reached by all of its pods"
            yield Violation("volume-for-claim", gang, what)


def _for_all(pods: list[Occupant], kind: str) -> _Suited:
    """
    List the volumes that a claim of several pods may have.
    """
    rows = [_suited(one, kind) for one in pods]
    return tuple(x for x in rows[0] if all(x in row for row in rows)) if rows else ()


def _suited(one: Occupant, kind: str) -> _Suited:
    """
    List the volumes that a claim may have on its node.
    """
    return tuple(volumes for volumes in one.node.volumes if kind in volumes.kinds)
