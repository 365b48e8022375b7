"""
One step of a round in the small model: its variables, and what was decided before it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from exact.evictions.settled import is_settled
from exact.facts import Facts
from exact.small_model import SmallModel
from exact.tiers import band_level, start_priority
from models.gangs import Gang, Pod, PodPhase, PodSet, pod_sets
from models.policy import Policy
from models.resources import Resources, add
from solver.effort.cp_sat import cp_model

Place = tuple[str, str, str]
"""
A gang, one of its leaves, and a node.
"""
Term = cp_model.LinearExprT
Rows = dict[tuple[str, str], list[Term]]
RECLAIM, PREEMPT, CONSOLIDATE = "reclaim", "preempt", "consolidate"
LEND = "lend"
RULES = (RECLAIM, PREEMPT, CONSOLIDATE, LEND)
LONGEST_LEAVING = 120


class Stage(IntEnum):
    """
    Whose starts may make others leave: entitled ones, the others, or none.
    """

    ENTITLED = 1
    BORROWING = 2
    IDLE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """
    What earlier steps decided.

    ``departures`` are pods with the rule by which they leave, ``targets`` the new
    places of moved ones, ``places`` those of reserved pods; of the gangs that are
    reserved, ``entitled`` are so.  The ``first`` pods leave for these.
    """

    departures: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[Place, int] = field(default_factory=dict)
    places: Mapping[Place, int] = field(default_factory=dict)
    entitled: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()

    @property
    def reserved(self) -> frozenset[str]:
        """
        Name the gangs that have their places.
        """
        return frozenset(gang for gang, _, _ in self.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """
    A pod that runs.
    """

    gang: Gang
    leaf: PodSet
    pod: Pod

    @property
    def key(self) -> str:
        """
        The name plans use for it.
        """
        return f"{self.gang.namespace}/{self.pod.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    The variables of one step, by meaning.

    ``small`` holds all places of new pods, bound or reserved, with the gangs as the
    frozen part leaves them; ``before`` is the snapshot itself.  ``needs`` are the pods
    a start needs, one of its ``sets``; ``charged`` the same where it is entitled, else
    none, ``sure`` where it is ``guaranteed``; ``low`` holds only where a queue loses
    some of its share.  ``reserved`` says that a start is not bound, ``evicting`` that
    it needs more than what leaves anyway; ``now`` are the bound pods of a place.
    ``gone`` says that a pod leaves by a rule, ``emptied`` that all below a tree node
    do, ``targets`` counts moved pods by new place.
    """

    small: SmallModel
    before: Facts
    policy: Policy
    stage: Stage
    frozen: Frozen
    runners: tuple[Runner, ...]
    sets: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    needs: dict[str, dict[str, cp_model.IntVar]] = field(default_factory=dict)
    charged: dict[str, dict[str, cp_model.IntVar]] = field(default_factory=dict)
    guaranteed: dict[str, cp_model.IntVar] = field(default_factory=dict)
    sure: dict[str, dict[str, cp_model.IntVar]] = field(default_factory=dict)
    low: list[cp_model.IntVar] = field(default_factory=list)
    reserved: dict[str, cp_model.IntVar] = field(default_factory=dict)
    evicting: dict[str, cp_model.IntVar] = field(default_factory=dict)
    now: dict[Place, cp_model.IntVar] = field(default_factory=dict)
    gone: dict[tuple[str, str], cp_model.IntVar] = field(default_factory=dict)
    emptied: dict[tuple[str, int, str], cp_model.IntVar] = field(default_factory=dict)
    targets: dict[Place, cp_model.IntVar] = field(default_factory=dict)

    @property
    def cp(self) -> cp_model.CpModel:
        """
        The model under construction.
        """
        return self.small.cp

    @property
    def evicts(self) -> bool:
        """
        Tell whether anything may leave for the starts of this step.
        """
        names = [tier.name for tier in self.policy.tiers]
        if self.stage is Stage.IDLE or "disruption" not in names:
            return False
        if is_settled(self.before.snapshot, self.policy) or not self.promises:
            return False
        if self.stage is Stage.BORROWING:
            return "borrowing" in names
        at = names.index("disruption")
        return "entitled" in names[:at]

    @property
    def promises(self) -> bool:
        """
        Tell whether starts may have room that others are leaving, by any rule at all.
        """
        evict = self.policy.evict
        by_right = evict.preempt or evict.consolidate
        return {
            Stage.ENTITLED: by_right or evict.reclaim,
            Stage.BORROWING: by_right,
            Stage.IDLE: True,
        }[self.stage]

    @property
    def most(self) -> int:
        """
        Give more of any resource than all nodes offer and all pods ask for.
        """
        asked: dict[str, int] = {}
        for node in self.before.snapshot.nodes:
            add(asked, node.allocatable)
        for fact in self.before.gangs.values():
            for leaf in pod_sets(fact.gang.tree):
                add(asked, leaf.requests, len(leaf.pods))
        return 1 + max(asked.values(), default=0)

    def leaves(self, runner: Runner) -> cp_model.LinearExpr:
        """
        Give one if a pod leaves, by whatever rule.
        """
        return total(self.gone[runner.key, rule] for rule in RULES)

    def evicted(self, runner: Runner) -> cp_model.LinearExpr:
        """
        Give one if a pod is evicted.
        """
        return total(self.gone[runner.key, rule] for rule in (RECLAIM, PREEMPT, LEND))

    def is_first(self, runner: Runner) -> bool:
        """
        Tell whether a pod leaves in the first step, if it does.
        """
        return self.stage is Stage.ENTITLED or runner.key in self.frozen.first

    def beneficiaries(self) -> Iterator[str]:
        """
        Name the starts that this step may evict for.
        """
        for key in self.small.starts:
            if key not in self.frozen.reserved:
                yield key

    def remembers(self, gang: Gang) -> bool:
        """
        Tell whether nobody leaves for a gang, since it had to leave itself.
        """
        late = gang.passed_over >= self.policy.waiting.protect_after
        return gang.evicted_ago is not None and not late

    def level(self, gang: Gang) -> int:
        """
        Give the band of a gang that runs.
        """
        return band_level(gang.priority, self.policy.bands)

    def start_level(self, key: str) -> int:
        """
        Give the band in which a gang starts.
        """
        return band_level(start_priority(self.small, key), self.policy.bands)

    def requests(self, key: str, name: str) -> Resources:
        """
        Give what one pod of a leaf asks for.
        """
        leaves = pod_sets(self.before.gangs[key].gang.tree)
        return next(leaf.requests for leaf in leaves if leaf.name == name)

    def queue(self, key: str) -> str:
        """
        Name a gang's leaf queue; nothing where there are no queues.
        """
        return next(iter(self.before.gangs[key].path), "")


def total(terms: Iterable[Term]) -> cp_model.LinearExpr:
    """
    Add terms up, also none.
    """
    return cp_model.LinearExpr.sum([0, *terms])


def weighted(counts: Mapping[str, Term], gang: Gang, resource: str) -> list[Term]:
    """
    List what pods per leaf ask for of one resource.
    """
    return [
        leaf.requests.get(resource, 0) * counts[leaf.name]
        for leaf in pod_sets(gang.tree)
        if leaf.requests.get(resource, 0)
    ]


def add_at_most(step: Step, terms: list[Term], fixed: int, more: list[Term]) -> None:
    """
    Ensure that a sum stays within a room, which is never less than nothing.
    """
    if terms:
        limit = step.cp.new_int_var(0, 2 * step.most, "")
        room = min(step.most, max(-step.most, fixed))
        step.cp.add_max_equality(limit, [0, total([room, *more])])
        step.cp.add(total(terms) <= limit)


def runners_of(facts: Facts) -> tuple[Runner, ...]:
    """
    List the pods that run.
    """
    return tuple(
        Runner(gang=fact.gang, leaf=leaf, pod=pod)
        for fact in facts.gangs.values()
        for leaf in pod_sets(fact.gang.tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.RUNNING
    )


def leaving_soon(facts: Facts) -> Iterator[tuple[str, Resources]]:
    """
    List the nodes and requests of terminating pods that are counted on to go.
    """
    for fact in facts.gangs.values():
        for leaf in pod_sets(fact.gang.tree):
            for pod in leaf.pods:
                if is_leaving(pod) and pod.node:
                    yield pod.node, leaf.requests


def is_leaving(pod: Pod) -> bool:
    """
    Tell whether a pod terminates, and not for too long to be counted on to go.
    """
    return pod.phase is PodPhase.TERMINATING and pod.seconds < LONGEST_LEAVING


def is_stale(policy: Policy, facts: Facts, key: str) -> bool:
    """
    Tell whether a gang has run below its minimum for too long.
    """
    fact = facts.gangs[key]
    gang = fact.gang
    grace = policy.evict.stale_after if gang.stale_after is None else gang.stale_after
    since = gang.stale_since
    late = since is not None and 0 <= grace <= since
    return policy.evict.stale and fact.needy and late
