"""
What goes at one go when somebody is let go by hand: its pods, its room, its loss.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.gangs import pod_sets
from models.plan import Rule
from models.resources import Resources
from solver.evict.greedy.victim_rows import VictimRow
from solver.evict.greedy.victim_table import VictimTable
from solver.evict.rights.cores import as_one, parts_of
from solver.evict.rights.leaving_sums import Leaver
from solver.problem.gang_state import standing
from solver.problem.leaving_pods import NOWHERE
from solver.problem.node_room import Ints
from solver.problem.problem import Unit
from solver.problem.running_gangs import Runner, age_of, asked_by, work_of


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


def alone(table: VictimTable, at: int, rule: Rule) -> Going:
    """
    See a small gang, or a spare pod, as what leaves.
    """
    item = table.items[at]
    account = table.victims.accounts[item.sort]
    return Going(
        item=item,
        at=at,
        leaver=Leaver(
            gang=item.victim.gang.key,
            queue=account.queue,
            band=account.band,
            rule=rule,
            parts=as_one(account.requests),
            pods=len(item.victim.pods),
            budgets=account.budgets,
        ),
        runners=tuple((runner, item.node) for runner in item.victim.pods),
        rooms={item.node: table.rows[at]},
        released=account.requests,
        work=item.victim.work,
        whole=item.wide < 0,
    )


def whole(table: VictimTable, at: int, rule: Rule, before: Sequence[Going]) -> Going:
    """
    See all that is left of a wide gang as what leaves, with what left of it before.
    """
    item = table.items[at]
    wide = table.victims.wide[item.wide]
    gone = {id(pod) for one in before for (_, pod), _ in one.runners}
    pairs = zip(wide.pods, wide.hosts, strict=True)
    runners = tuple(pair for pair in pairs if id(pair[0][1]) not in gone)
    requests = [leaf.requests for leaf in pod_sets(wide.gang.tree)]
    left = [runner for runner, _ in runners]
    parts = Counter(leaf for leaf, _ in wide.pods)
    return Going(
        item=item,
        at=at,
        leaver=Leaver(
            gang=wide.gang.key,
            queue=wide.queue,
            band=wide.band,
            rule=rule,
            parts=parts_of(wide.state or standing(wide.gang), parts),
            pods=len(wide.pods),
            budgets=wide.budgets,
        ),
        runners=runners,
        rooms=_rooms(table, runners, requests),
        released=asked_by(wide.gang, left),
        work=work_of(table.problem.values, wide.gang, left),
        whole=True,
        merged=tuple(one.leaver for one in before),
    )


def _rooms(
    table: VictimTable,
    runners: Iterable[tuple[Runner, int]],
    requests: Sequence[Resources],
) -> dict[int, Ints]:
    rooms: dict[int, Ints] = {}
    for (leaf, pod), host in runners:
        if host != NOWHERE:
            row = table.listed.held(requests[leaf], pod, host)
            rooms[host] = rooms[host] + row if host in rooms else row
    return rooms
