"""
For whom somebody leaves: reserved gangs that get its room, else those it may go for.

Where the policy bounds what may be lost, and what those get who have the room is too
little for that, it leaves for all for whom it may: room is room, whoever gets which.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import inf

from models.plan import Departure
from solver.evict.rights.hand_rights import HandRights
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import NOWHERE, Exit, loss_of
from solver.problem.problem import Problem, Step, Unit


def departures_of(problem: Problem) -> dict[str, Departure]:
    """
    Name for each leaving pod the rule, whom it is for, and its new place.
    """
    frozen = problem.frozen
    if not frozen.exits:
        return {}
    result = {}
    low = HandRights(problem).losing_share() if frozen.guaranteed else frozenset()
    for step, part in zip(Step, frozen.by_step, strict=False):
        claims = _Claims(problem, step, low)
        groups = [*_together(part)]
        found = [claims.of(exits) for exits in groups]
        if loss_of(part).work > claims.worth(found):
            found = [claims.of(exits, anywhere=True) for exits in groups]
        for exits, names in zip(groups, found, strict=True):
            for one in exits:
                gang = problem.gangs[one.gang]
                target = None
                if one.target != NOWHERE:
                    target = problem.room.nodes[one.target].name
                result[f"{gang.namespace}/{one.pod.name}"] = Departure(
                    rule=one.rule, beneficiaries=names, target=target
                )
    return result


def worth(
    problem: Problem, unit: Unit, counts: Mapping[str, Mapping[int, int]]
) -> float:
    """
    Say what may be lost for the pods of a unit; infinite where nothing bounds it.
    """
    most = problem.policy.evict.max_lost_per_gpu
    if most is None:
        return inf
    return sum(
        problem.values.work(state.leaves[i].pod_set.requests, most) * pods
        for state in unit.states
        for i, pods in counts[state.key].items()
    )


def _together(exits: Iterable[Exit]) -> Iterable[list[Exit]]:
    """
    Gather the pods of one gang that leave by one rule.
    """
    found: dict[tuple[str, str], list[Exit]] = {}
    for one in exits:
        found.setdefault((one.gang, one.rule), []).append(one)
    return found.values()


class _Claims:
    """
    Which reserved gangs that somebody may leave for have places on which nodes.

    In the first step they are those that are entitled, in the second one the others.
    """

    def __init__(self, problem: Problem, step: Step, low: AbstractSet[str]) -> None:
        self.problem = problem
        self.low = low
        frozen = problem.frozen
        self.on_node: dict[int, list[tuple[Unit, Standing]]] = {}
        self.all: list[tuple[Unit, Standing]] = []
        self._known: dict[object, tuple[str, ...]] = {}
        for unit in frozen.units:
            if (unit.key in frozen.entitled) is not (step is Step.ENTITLED):
                continue
            for state in unit.states:
                self.all.append((unit, state))
                hosts = frozen.places[state.key].nodes
                for host in sorted(hosts):
                    self.on_node.setdefault(host, []).append((unit, state))

    def of(self, exits: list[Exit], *, anywhere: bool = False) -> tuple[str, ...]:
        """
        Name those that get the room of some exits and may, else all that may.
        """
        first = exits[0]
        if first.rule == "lend":
            return self.lenders(first)
        gang = self.problem.gangs[first.gang]
        band = self.problem.bands.of(gang.priority)
        hosts = () if anywhere else tuple(sorted({one.host for one in exits}))
        queue = self.problem.queues.leaf(gang.queue)
        key = (first.rule, queue, band, hosts)
        if key not in self._known:
            here = [pair for host in hosts for pair in self.on_node.get(host, ())]
            names = self._that_may(here, first.rule, queue, band)
            self._known[key] = names or self._that_may(
                self.all, first.rule, queue, band
            )
        names = self._known[key]
        below = first.rule == "reclaim" and gang.queue in self.low and not anywhere
        return self.guaranteed(first, names) if below else names

    def worth(self, found: Sequence[tuple[str, ...]]) -> float:
        """
        Say what may be lost for some of those that are named, each counted once.
        """
        named = {name for names in found for name in names}
        units = {unit.key: unit for unit, state in self.all if state.key in named}
        places = self.problem.frozen.places
        counts = {key: rows.counts for key, rows in places.items()}
        return sum(worth(self.problem, unit, counts) for unit in units.values())

    def lenders(self, one: Exit) -> tuple[str, ...]:
        """
        Name those that lent the nodes from which somebody leaves.
        """
        lent_by = self.problem.gangs[one.gang].lent_by
        return tuple(sorted({s.key for _, s in self.all if s.key in lent_by}))

    def guaranteed(self, one: Exit, names: tuple[str, ...]) -> tuple[str, ...]:
        """
        Name those that are guaranteed among some, or beside them if there are none.
        """
        sure = self.problem.frozen.guaranteed
        found = sure.intersection(names)
        if found:
            return tuple(sorted(found))
        gang = self.problem.gangs[one.gang]
        band = self.problem.bands.of(gang.priority)
        mine = [pair for pair in self.all if pair[1].key in sure]
        queue = self.problem.queues.leaf(gang.queue)
        more = self._that_may(mine, one.rule, queue, band)
        return tuple(sorted({*names, *more}))

    def _that_may(
        self, pairs: Iterable[tuple[Unit, Standing]], rule: str, queue: str, band: int
    ) -> tuple[str, ...]:
        found = {
            state.key
            for unit, state in pairs
            if may_be_for(state, unit.band, rule, queue, band)
        }
        return tuple(sorted(found))


def may_be_for(
    state: Standing, own_band: int, rule: str, queue: str, band: int
) -> bool:
    """
    Tell whether a gang of some queue and band may leave by a rule for one that starts.

    A leaf queue without a name is that of all.
    """
    same = queue in {"", state.gang.queue}
    return {"reclaim": not same, "preempt": same and own_band > band}.get(rule, True)
