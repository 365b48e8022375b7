"""
Fair shares: what each queue may count on, by water-filling the tree of quotas.

A pure function of queues, totals and requests, in whole units and integers only.
It knows nothing of gangs, nodes or plans.  What queues used so far may change what they
weigh in it, and nothing else.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from models.memory.usage_hours import MILLIONTHS
from models.queues import Queue

Level = list[Queue]


@dataclass(frozen=True, slots=True)
class Precedence:
    """
    Who comes first among queues that are owed equal parts of one unit.

    ``held`` is what runs in each queue and below it, ``ages`` gives the ages of their
    oldest gangs.
    """

    held: Mapping[str, Mapping[str, int]]
    ages: Callable[[], Mapping[str, int]]

    def order(
        self,
        owed: Mapping[str, int],
        shares: Mapping[str, int],
        resource: str,
        units: int,
    ) -> list[str]:
        """
        Sort those who are owed a part of a unit, so that the first get one each.

        Of equal parts it stays with who holds it, else it goes to the oldest gang;
        names decide between queues that are alike in both.
        """

        def rank(name: str) -> tuple[int, bool]:
            held = self.held.get(name, {}).get(resource, 0)
            return -owed[name], held <= shares[name]

        names = sorted(sorted(owed), key=rank)
        if 0 < units < len(names) and rank(names[units - 1]) == rank(names[units]):
            ages = self.ages()
            names.sort(key=lambda name: (*rank(name), -ages.get(name, 0)))
        return names


BY_NAME = Precedence({}, dict)


def fair_shares(
    queues: Sequence[Queue],
    totals: Mapping[str, int],
    requested: Mapping[str, Mapping[str, int]],
    precedence: Precedence = BY_NAME,
) -> dict[str, dict[str, int]]:
    """
    Divide the cluster among the queues, each resource by itself.

    Top-level queues divide the total, children divide the share of their parent:
    first every queue gets its quota as far as it asks for it (these are never scaled
    down), then what is left goes by weight to those who ask for more, one priority
    after the other.  Queues below a missing parent get nothing.

    What is ``requested`` is by each queue's own gangs, running and pending;
    ``precedence`` says who gets a unit that is owed to several.
    """
    named = sorted({name for queue in queues for name in queue.resources})
    shares: dict[str, dict[str, int]] = {queue.name: {} for queue in queues}
    levels = _levels(queues)
    for resource in named:
        demand = _demand(queues, levels, resource, requested)
        have: dict[str | None, int] = dict.fromkeys(shares, 0)
        have[None] = max(0, totals.get(resource, 0))
        for parent, level in levels:
            have.update(_divide(level, resource, have[parent], demand, precedence))
        for name, row in shares.items():
            row[resource] = have[name]
    return shares


def _levels(queues: Sequence[Queue]) -> list[tuple[str | None, Level]]:
    """
    List parents with their children by name, every parent before its children.
    """
    children: dict[str | None, Level] = defaultdict(list)
    for queue in sorted(queues, key=lambda queue: queue.name):
        children[queue.parent].append(queue)
    found: list[tuple[str | None, Level]] = []
    parents: list[str | None] = [None]
    for parent in parents:
        if parent in children:
            found.append((parent, children[parent]))
            parents.extend(queue.name for queue in children[parent])
    return found


def _demand(
    queues: Sequence[Queue],
    levels: list[tuple[str | None, Level]],
    resource: str,
    requested: Mapping[str, Mapping[str, int]],
) -> dict[str | None, int]:
    """
    Sum what is asked for below each queue, whatever the limits below it.

    What a queue does not lend is its own, also where nobody asks for it.
    """
    demand: dict[str | None, int] = {None: 0}
    for queue in queues:
        demand[queue.name] = requested.get(queue.name, {}).get(resource, 0)
    for parent, level in reversed(levels):
        for queue in level:
            kept = queue.rule(resource).kept
            demand[queue.name] = max(kept, demand[queue.name])
        demand[parent] += sum(demand[queue.name] for queue in level)
    return demand


def _divide(
    level: Level,
    resource: str,
    total: int,
    demand: Mapping[str | None, int],
    precedence: Precedence,
) -> dict[str, int]:
    """
    Divide a total among siblings: quotas first, the rest band by band.
    """
    wants: dict[str, int] = {}
    shares: dict[str, int] = {}
    for queue in level:
        rule = queue.rule(resource)
        want = max(0, demand[queue.name])
        wants[queue.name] = want if rule.limit is None else min(rule.limit, want)
        quota = total if rule.quota is None else rule.quota
        shares[queue.name] = min(quota, wants[queue.name])
    left = total - sum(shares.values())
    for priority in sorted({queue.priority for queue in level}, reverse=True):
        if left <= 0:
            break
        weights = {
            queue.name: queue.rule(resource).weight
            for queue in level
            if queue.priority == priority and queue.rule(resource).weight > 0
        }
        owed, left = _fill(weights, wants, shares, left)
        for name in precedence.order(owed, shares, resource, left)[: max(0, left)]:
            shares[name] += 1
            left -= 1
    return shares


def _fill(
    weights: Mapping[str, int],
    wants: Mapping[str, int],
    shares: dict[str, int],
    left: int,
) -> tuple[dict[str, int], int]:
    """
    Give what is left to one band by weight; say who is owed a part of one unit.

    Every round gives whole units: a queue that wants at most its part gets what it
    wants, the others get the whole units of theirs.  Only where somebody wanted less
    does another round divide the rest.  The units that rounding left over go to the
    same band, largest remainder first: each at most one, and there are always more
    remainders than units.

    Returns
    -------
    What each is owed of a unit, and what is left.
    """
    remainders: dict[str, int] = {}
    again = True
    while again and left > 0:
        hungry = [name for name in weights if wants[name] > shares[name]]
        whole, amount = sum(weights[name] for name in hungry), left
        remainders, again = {}, False
        for name in hungry:
            part, remainder = divmod(amount * weights[name], whole)
            need = wants[name] - shares[name]
            if need <= part:
                again = again or need < part or remainder > 0
                part = need
            elif remainder:
                remainders[name] = remainder
            shares[name] += part
            left -= part
    return remainders, left


@dataclass(frozen=True, slots=True)
class FairPart:
    """
    What a queue used of a resource beyond its quota, and its part of all such use.

    ``whole`` is what it and those that it shares with used, ``weight`` its own weight
    of ``weights``: its fair part is whole × weight ÷ weights.
    """

    usage: int
    whole: int
    weight: int
    weights: int

    @property
    def due(self) -> int:
        """
        Its part by weight, in whole units.
        """
        return self.whole * self.weight // self.weights

    @property
    def weighs(self) -> int:
        """
        Weight ÷ (1 + usage ÷ fair part), in millionths rounded down, at least one.
        """
        if not self.whole:
            return self.weight * MILLIONTHS
        fair = self.whole * self.weight
        return max(
            1, MILLIONTHS * self.weight * fair // (fair + self.usage * self.weights)
        )


def fair_parts(queues: Sequence[Queue], resource: str) -> dict[str, FairPart]:
    """
    Give the fair part of each queue that shares by weight in one resource.

    Queues of one parent and one priority share with each other.
    """
    teams: dict[tuple[str | None, int], list[Queue]] = defaultdict(list)
    for queue in queues:
        if queue.rule(resource).weight > 0:
            teams[queue.parent, queue.priority].append(queue)
    found: dict[str, FairPart] = {}
    for team in teams.values():
        weights = sum(queue.rule(resource).weight for queue in team)
        whole = sum(queue.usage.get(resource, 0) for queue in team)
        for queue in team:
            usage, weight = queue.usage.get(resource, 0), queue.rule(resource).weight
            found[queue.name] = FairPart(usage, whole, weight, weights)
    return found


def with_memory(queues: Sequence[Queue], half_life: int | None) -> Sequence[Queue]:
    """
    Give queues that weigh what usage leaves of their weights.

    Without a half-life shares have no memory, and without usage they need none.
    """
    if half_life is None or not any(queue.usage for queue in queues):
        return queues
    weighs: dict[str, dict[str, int]] = defaultdict(dict)
    for resource in sorted({name for queue in queues for name in queue.resources}):
        for name, part in fair_parts(queues, resource).items():
            weighs[name][resource] = part.weighs
    return [
        replace(
            queue,
            resources={
                **queue.resources,
                **{
                    resource: replace(queue.rule(resource), weight=weight)
                    for resource, weight in weighs[queue.name].items()
                },
            },
        )
        for queue in queues
    ]
