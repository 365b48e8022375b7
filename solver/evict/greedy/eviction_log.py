"""
Leavers: who was let go by hand, and what that changed; everybody may be brought back.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from models.plan import Rule
from solver.evict.greedy.exits import exits_of
from solver.evict.greedy.may_stay import is_share_free, lie_well, may_stay
from solver.evict.greedy.new_places import NewPlaces
from solver.evict.greedy.sorts import MOVE, PREEMPT, RECLAIM
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.greedy.what_goes import Going, alone, whole
from solver.evict.moved_gangs import Mover
from solver.evict.rights.hand_rights import HandRights
from solver.evict.rights.policy_bounds import MOVED
from solver.place.round_state import RoundState
from solver.problem.leaving_pods import Exit

_RULES: Mapping[int, Rule] = {RECLAIM: "reclaim", PREEMPT: "preempt", MOVE: MOVED}


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
        self.preempted: Counter[tuple[str, int]] = Counter()
        self._serial = 0
        self._lost: dict[int, dict[int, int]] = {}
        self._gone_whole: set[int] = set()
        self._places = NewPlaces(work, table, movers)

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
        return wide in self._gone_whole or bool(self._lost.get(wide))

    def stopped(self, wide: int) -> bool:
        """
        Tell whether a wide gang is evicted whole, and not moved.
        """
        return wide in self._gone_whole and any(
            going.whole and going.item.wide == wide and going.leaver.rule != MOVED
            for going in self.goings.values()
        )

    def offer(self, wide: int, *, offered: bool) -> None:
        """
        Let what is left of a wide gang be chosen next, or keep it.
        """
        lost = self._lost.get(wide, {}).keys()
        self.table.refresh(wide, lost, left=offered and wide not in self._gone_whole)

    # --- leaving ------------------------------------------------------------------

    def let_go(self, at: int, rule: int) -> tuple[int, Going] | None:
        """
        Let an item leave by a rule if it may; with it its gang, where that goes whole.
        """
        going = self._seen(at, _RULES[rule])
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
        self.work.note(partial(self.bring_back, self._serial))
        self.goings[self._serial] = going
        self._apply(self._serial, going, 1)
        if lie_well(self.work, self.goings.values(), going):
            return self._serial, going
        self.bring_back(self._serial)
        return None

    def _seen(self, at: int, rule: Rule) -> Going | None:
        """
        See an item as what leaves; with it all of its gang, where that goes whole.

        Pods of it that left before must have done so by the same rule.
        """
        if self.table.part_of[at] < 0:
            return alone(self.table, at, rule)
        lost = self._lost.get(self.table.items[at].wide, {})
        before = [self.goings[serial] for serial in lost.values()]
        if before and (rule == MOVED or any(one.leaver.rule != rule for one in before)):
            return None
        return whole(self.table, at, rule, before)

    def _apply(self, serial: int, going: Going, sign: int) -> None:
        """
        Give what somebody held to others, or back, and say anew what may leave.
        """
        queue, wide, leaver = going.leaver.queue, going.item.wide, going.leaver
        self.preempted[queue, leaver.band] += sign * (leaver.rule == "preempt")
        self.work.leave(going.rooms, queue, going.released, sign)
        self.work.part(going.item.victim.gang, going.runners, sign)
        if going.leaver.rule != MOVED:
            self.work.ledger.give_share(queue, going.released, sign)
        if wide < 0:
            self.table.live[going.at] = sign < 0
            return
        if going.whole:
            (self._gone_whole.add if sign > 0 else self._gone_whole.discard)(wide)
        elif sign > 0:
            self._lost.setdefault(wide, {})[going.at] = serial
        else:
            del self._lost[wide][going.at]
        lost = self._lost.get(wide, {})
        self.table.refresh(wide, lost.keys(), left=wide not in self._gone_whole)

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
        Let somebody stay after all, unless it was undone already that they leave.
        """
        going = self.goings.pop(serial, None)
        if going is not None:
            self._count(going, -1)
            self._apply(serial, going, -1)

    def spare(self, serial: int) -> bool:
        """
        Let somebody stay if nobody needs that it leaves; say whether it stays.
        """
        going = self.goings[serial]
        if not self.is_apart(going) or not may_stay(self.work, self.rights, going):
            return False
        self.bring_back(serial)
        if self.rights.hold() and lie_well(self.work, self.goings.values(), going):
            return True
        self.goings[serial] = going
        self._count(going, 1)
        self._apply(serial, going, 1)
        return False

    def is_apart(self, going: Going) -> bool:
        """
        Tell whether nothing else builds on somebody's leaving.
        """
        return going.whole or going.item.wide not in self._gone_whole

    # --- new places -----------------------------------------------------------------

    def find_place(self, serial: int) -> bool:
        """
        Find a new place for somebody who is moved.
        """
        return self._places.find(serial, self.goings[serial])

    def move_instead(self, serial: int) -> bool:
        """
        Move somebody who is evicted, if there is a place; say whether there was.
        """
        going = self.goings[serial]
        if (
            going.merged
            or not self.is_apart(going)
            or not is_share_free(self.work, self.rights, going)
        ):
            return False
        evicted = going.leaver
        moved = replace(evicted, rule=MOVED)
        self.rights.add(evicted, -1)
        if self.rights.take(moved):
            if self.rights.hold() and self.find_place(serial):
                self.work.ledger.give_share(going.leaver.queue, going.released, -1)
                going.leaver = moved
                return True
            self.rights.add(moved, -1)
        self.rights.add(evicted, 1)
        return False

    def exits(self) -> Iterator[Exit]:
        """
        Write down who leaves, and where to.
        """
        return exits_of(self.goings.values(), self.table, self.work)
