"""
Leavers: who was let go by hand, and what that changed; everybody may be brought back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from models.gangs import pod_sets
from models.plan import Rule
from models.resources import Resources, num_gpus, summed
from solver.evict.cores import as_one, parts_of
from solver.evict.eviction_ledger import MOVED, HandRights
from solver.evict.greedy.victim_table import (
    MOVE,
    PREEMPT,
    RECLAIM,
    VictimRow,
    VictimTable,
)
from solver.evict.leaving_sums import Leaver
from solver.evict.moved_gangs import Mover, movers_of, with_pods
from solver.place.place_gang import place_gang
from solver.place.round_state import RoundState
from solver.problem.gang_state import standing
from solver.problem.leaving_pods import NOWHERE, Exit
from solver.problem.node_room import Ints
from solver.problem.problem import Unit
from solver.problem.running_gangs import Runner, age_of

_RULES: Mapping[int, Rule] = {RECLAIM: "reclaim", PREEMPT: "preempt", MOVE: MOVED}


@dataclass(slots=True, eq=False, kw_only=True)
class Going:
    """
    What leaves at one go: its pods with their nodes, and the room it leaves there.

    ``leaver`` is what it counts as; ``merged`` are spare pods that left before and now
    count as part of it.  ``unit`` is what got a new place, if anything did; ``logged``
    is the mark before which it had not left.
    """

    item: VictimRow
    at: int
    leaver: Leaver
    runners: tuple[tuple[Runner, int], ...]
    rooms: Mapping[int, Ints]
    released: Resources
    work: int
    whole: bool
    merged: tuple[Leaver, ...] = ()
    unit: Unit | None = None
    logged: int = 0

    @property
    def rank(self) -> tuple[int, bool, int, int, int]:
        """
        What is lost with it: work, whether a gang stops, pods of which band and age.
        """
        age = age_of(runner for runner, _ in self.runners)
        return (self.work, self.whole, len(self.runners), self.leaver.band, age)


class Leavers:
    """
    All that left so far, in order, with their effect on room, limits and rights.
    """

    def __init__(
        self,
        work: RoundState,
        table: VictimTable,
        rights: HandRights,
        movers: Sequence[Mover] | None,
    ) -> None:
        self.work = work
        self.table = table
        self.rights = rights
        self.goings: dict[int, Going] = {}
        self._serial = 0
        self._lost: dict[int, dict[int, int]] = {}
        self._dead: set[int] = set()
        self._movers = movers
        self._mover_of: dict[tuple[bool, int], Mover] = {}

    def since(self, mark: int) -> dict[int, Going]:
        """
        List who left since a mark, the last first.
        """
        found: dict[int, Going] = {}
        for serial in reversed(self.goings):
            if self.goings[serial].logged < mark:
                break
            found[serial] = self.goings[serial]
        return found

    def has_left(self, wide: int) -> bool:
        """
        Tell whether any pod of a wide gang left.
        """
        return wide in self._dead or bool(self._lost.get(wide))

    def stopped(self, wide: int) -> bool:
        """
        Tell whether a wide gang is evicted whole, and not moved.
        """
        return wide in self._dead and any(
            going.whole and going.item.wide == wide and going.leaver.rule != MOVED
            for going in self.goings.values()
        )

    def offer(self, wide: int, *, offered: bool) -> None:
        """
        Let what is left of a wide gang be chosen next, or keep it.
        """
        lost = self._lost.get(wide, {}).keys()
        self.table.refresh(wide, lost, left=offered and wide not in self._dead)

    # --- leaving ------------------------------------------------------------------

    def let_go(self, at: int, rule: int) -> tuple[int, Going] | None:
        """
        Let an item leave by a rule if it may; with it its gang, where that goes whole.
        """
        item = self.table.items[at]
        is_part = bool(self.table.part_of[at] >= 0)
        going = self._whole(at, item, rule) if is_part else self._alone(at, item, rule)
        if going is None:
            return None
        for leaver in going.merged:
            self.rights.add(leaver, -1)
        if not self.rights.take(going.leaver):
            for leaver in going.merged:
                self.rights.add(leaver, 1)
            return None
        self._serial += 1
        going.logged = self.work.mark()
        self.work.note(partial(self._return, self._serial))
        self.goings[self._serial] = going
        self._apply(self._serial, going, 1)
        return self._serial, going

    def _alone(self, at: int, item: VictimRow, rule: int) -> Going:
        """
        See a small gang, or a spare pod, as what leaves.
        """
        account = self.table.victims.accounts[item.sort]
        return Going(
            item=item,
            at=at,
            leaver=Leaver(
                gang=item.gang.key,
                queue=account.queue,
                band=account.band,
                rule=_RULES[rule],
                parts=as_one(account.requests),
                pods=len(item.pods),
                budgets=account.budgets,
            ),
            runners=tuple((runner, item.node) for runner in item.pods),
            rooms={item.node: self.table.rows[at]},
            released=account.requests,
            work=item.work,
            whole=item.wide < 0,
        )

    def _whole(self, at: int, item: VictimRow, rule: int) -> Going | None:
        """
        See all that is left of a wide gang as what leaves.

        Pods of it that left before must have done so by the same rule.
        """
        wide = self.table.victims.wide[item.wide]
        lost = self._lost.get(item.wide, {})
        before = [self.goings[serial] for serial in lost.values()]
        if before and (
            rule == MOVE or any(one.leaver.rule != _RULES[rule] for one in before)
        ):
            return None
        gone = {id(pod) for one in before for (_, pod), _ in one.runners}
        runners = tuple(
            (runner, host)
            for runner, host in zip(wide.pods, wide.hosts, strict=True)
            if id(runner[1]) not in gone
        )
        leaves = tuple(pod_sets(wide.gang.tree))
        left = [runner for runner, _ in runners]
        return Going(
            item=item,
            at=at,
            leaver=Leaver(
                gang=wide.gang.key,
                queue=wide.gang.queue,
                band=wide.band,
                rule=_RULES[rule],
                parts=parts_of(
                    wide.state or standing(wide.gang),
                    Counter(leaf for leaf, _ in wide.pods),
                ),
                pods=len(wide.pods),
                budgets=wide.budgets,
            ),
            runners=runners,
            rooms=self._rooms(runners, [leaf.requests for leaf in leaves]),
            released=summed(leaves[leaf].requests for leaf, _ in left),
            work=self.table.problem.runners.work_of(wide.gang, left),
            whole=True,
            merged=tuple(one.leaver for one in before),
        )

    def _rooms(
        self, runners: Iterable[tuple[Runner, int]], requests: list[Resources]
    ) -> dict[int, Ints]:
        rooms: dict[int, Ints] = {}
        for (leaf, pod), host in runners:
            if host != NOWHERE:
                row = self.table.held(requests[leaf], pod, host)
                rooms[host] = rooms[host] + row if host in rooms else row
        return rooms

    def _apply(self, serial: int, going: Going, sign: int) -> None:
        """
        Give what somebody held to others, or back, and say anew what may leave.
        """
        queue, wide = going.leaver.queue, going.item.wide
        self.work.leave(going.rooms, queue, going.released, sign)
        if going.leaver.rule != MOVED:
            self.work.ledger.give_share(queue, going.released, sign)
        if wide < 0:
            self.table.live[going.at] = sign < 0
            return
        if going.whole:
            (self._dead.add if sign > 0 else self._dead.discard)(wide)
        elif sign > 0:
            self._lost.setdefault(wide, {})[going.at] = serial
        else:
            del self._lost[wide][going.at]
        lost = self._lost.get(wide, {})
        self.table.refresh(wide, lost.keys(), left=wide not in self._dead)

    def _count(self, going: Going, sign: int) -> None:
        """
        Count somebody who leaves in place of what left of it before, or back.
        """
        for leaver in going.merged:
            self.rights.add(leaver, -sign)
        self.rights.add(going.leaver, sign)

    # --- coming back ----------------------------------------------------------------

    def bring_back(self, serial: int) -> None:
        """
        Let somebody stay after all.
        """
        going = self.goings.pop(serial)
        self._count(going, -1)
        self._apply(serial, going, -1)

    def _return(self, serial: int) -> None:
        """
        Undo somebody's leaving, unless it has been undone already.
        """
        if serial in self.goings:
            self.bring_back(serial)

    def may_stay(self, going: Going) -> bool:
        """
        Tell whether the room that somebody left, and its part of limits, is unused.
        """
        limit = self.work.ledger.limit
        return (
            self._is_share_free(going)
            and self.work.room.has(going.rooms)
            and all(
                limit[queue][name] >= amount
                for queue in self.rights.path(going.leaver.queue)
                for name, amount in going.released.items()
                if amount and name in limit[queue] and self.rights.has_starts(queue)
            )
        )

    def _is_share_free(self, going: Going) -> bool:
        """
        Tell whether entitled starts fit their shares without somebody's eviction.
        """
        shares = self.work.ledger.inner_shares(going.leaver.queue)
        return going.leaver.rule == MOVED or all(
            left >= going.released.get(name, 0)
            for queue, share in shares.items()
            for name, left in share.items()
            if self.rights.is_claimed(queue, name)
        )

    def spare(self, serial: int) -> bool:
        """
        Let somebody stay if nobody needs that it leaves; say whether it stays.
        """
        going = self.goings[serial]
        if not self.is_apart(going) or not self.may_stay(going):
            return False
        self.bring_back(serial)
        if self.rights.hold():
            return True
        self.goings[serial] = going
        self._count(going, 1)
        self._apply(serial, going, 1)
        return False

    def is_apart(self, going: Going) -> bool:
        """
        Tell whether nothing else builds on somebody's leaving.
        """
        return going.whole or going.item.wide not in self._dead

    # --- new places -----------------------------------------------------------------

    def find_place(self, serial: int) -> bool:
        """
        Find a new place for somebody who is moved.
        """
        going = self.goings[serial]
        mover = self._mover(going) if self._is_room(going) else None
        if mover is None:
            return False
        of_leaf = self.work.problem.shapes.of_leaf
        pods = [runner for runner, _ in going.runners]
        unit = with_pods(mover, pods, f"{serial}")
        (state,) = unit.states
        for i in range(len(state.leaves)):
            of_leaf[state.key, i] = of_leaf[mover.state.key, i]
        if not place_gang(self.work, state):
            return False
        going.unit = unit
        return True

    def _is_room(self, going: Going) -> bool:
        """
        Tell quickly whether any node has room for one of somebody's pods.
        """
        leaf = going.runners[0][0][0]
        requests = self.table.requests(going.item.gang, leaf)
        return bool((self.work.room.rows >= self.table.row(requests)).all(1).any())

    def _mover(self, going: Going) -> Mover | None:
        """
        Name what stands for somebody who needs a new place.
        """
        if not self._mover_of:
            if self._movers is None:
                self._movers = movers_of(self.table.victims)
            of_leaf = self.work.problem.shapes.of_leaf
            for mover in self._movers:
                if (mover.state.key, 0) in of_leaf:
                    at = mover.account if mover.wide < 0 else mover.wide
                    self._mover_of[mover.wide >= 0, at] = mover
        if going.whole and going.item.wide >= 0:
            return self._mover_of.get((True, going.item.wide))
        return self._mover_of.get((False, going.item.sort))

    def move_instead(self, serial: int) -> bool:
        """
        Move somebody who is evicted, if there is a place; say whether there was.
        """
        going = self.goings[serial]
        if going.merged or not self.is_apart(going) or not self._is_share_free(going):
            return False
        evicted = going.leaver
        moved = Leaver(
            gang=evicted.gang,
            queue=evicted.queue,
            band=evicted.band,
            rule=MOVED,
            parts=evicted.parts,
            pods=evicted.pods,
            budgets=evicted.budgets,
        )
        self.rights.add(evicted, -1)
        if self.rights.take(moved):
            if self.rights.hold() and self.find_place(serial):
                self.work.ledger.give_share(going.leaver.queue, going.released, -1)
                going.leaver = moved
                return True
            self.rights.add(moved, -1)
        self.rights.add(evicted, 1)
        return False

    # --- the answer -----------------------------------------------------------------

    def exits(self) -> Iterator[Exit]:
        """
        Write down who leaves, and where to.
        """
        evicted: dict[int, int] = {}
        for going in self.goings.values():
            if going.leaver.rule != MOVED:
                wide = going.item.wide
                evicted[wide] = evicted.get(wide, 0) + len(going.runners)
        for going in self.goings.values():
            wide = going.item.wide
            whole = going.whole or (
                evicted.get(wide, 0) == len(self.table.victims.wide[wide].pods)
            )
            yield from self._exits(going, whole=whole)

    def _exits(self, going: Going, *, whole: bool) -> Iterator[Exit]:
        leaves = tuple(pod_sets(going.item.gang.tree))
        targets = self._targets(going)
        values = self.table.problem.values
        for (leaf, pod), host in going.runners:
            yield Exit(
                gang=going.item.gang.key,
                leaf=leaf,
                pod=pod,
                host=host,
                gpus=num_gpus(leaves[leaf].requests),
                work=values.work(leaves[leaf].requests, pod.seconds),
                size=values.of_pod(leaves[leaf].requests),
                rule=going.leaver.rule,
                whole=whole,
                band=going.leaver.band,
                target=targets.get(id(pod), NOWHERE),
            )

    def _targets(self, going: Going) -> dict[int, int]:
        if going.unit is None:
            return {}
        (state,) = going.unit.states
        placed = self.work.placed[state.key]
        return {
            id(pod): host
            for i, leaf in enumerate(state.leaves)
            for pod, host in zip(leaf.pending, sorted(placed.get(i, ())), strict=True)
        }
