"""
What there is to say after a round: how each gang stands, and what its pods are told.

Nothing is written here, and nothing is decided: plan and receipts decided all of it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.dialects.protocol import Claim, GroupStanding
from adapters.kube.gangs.assemble import Assembled
from models.errors import escaped
from models.gangs import Gang, PodPhase, pod_sets
from models.memory.aged_gangs import ages_of, still
from models.plan import GangLine, Op, Operation, Plan
from models.policy import Policy
from models.receipt import Receipt
from models.why.reasons import LEFT_OVER, NOTHING_NEEDED, Waiting, counted

_WAITS = frozenset({PodPhase.PENDING, PodPhase.RESERVED})
_REFUSED: Mapping[Op, tuple[str, str]] = {
    "Bind": ("binding", "FailedBinding"),
    "Evict": ("eviction", "FailedEviction"),
    "Move": ("eviction", "FailedEviction"),
    "Reserve": ("reservation", "FailedReservation"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """
    One round as status tells of it; ``now`` is the time of day it was observed.

    ``assembled`` says which object each gang was read from, ``held`` what pods wait for
    whose binds are held: the round takes them for bound.  ``policy`` is what it was
    planned by.
    """

    round: str
    now: float
    assembled: Assembled
    plan: Plan
    policy: Policy = field(default_factory=Policy)
    receipts: Sequence[Receipt] = ()
    held: Mapping[str, Waiting] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """
    What is said of one gang: its standing, and a sentence for each pod that waits.

    ``pods`` are the keys and uids of those that have no node, ``bound`` those that got
    one.  ``events`` (type, reason, note) are what happened to it.  ``open`` says that
    one of its operations was not done: what becomes of it the next round says.
    ``weight`` orders gangs: the more important first, then the older.
    """

    claim: Claim
    standing: GroupStanding
    message: str = ""
    pods: tuple[tuple[str, str], ...] = ()
    bound: tuple[tuple[str, str], ...] = ()
    events: tuple[tuple[str, str, str], ...] = ()
    open: bool = False
    weight: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class _Receipts:
    """
    What became of one gang's operations.
    """

    bound: set[str] = field(default_factory=set)
    evicted: list[Operation] = field(default_factory=list)
    refused: Receipt | None = None
    open: bool = False

    def events(self) -> Iterator[tuple[str, str, str]]:
        """
        Tell of what was refused, and of who had to leave.
        """
        if self.refused is not None:
            word, reason = _REFUSED[self.refused.operation.op]
            why = self.refused.message or self.refused.result
            note = f"{word} of {self.refused.operation.pod} was refused: {why}"
            yield "Warning", reason, note
        if self.evicted:
            rule = self.evicted[0].rule
            whom = sorted(
                {name for step in self.evicted for name in step.beneficiaries}
            )
            note = f"{counted(len(self.evicted), 'pod')} evicted ({rule})"
            yield "Warning", "Evicted", f"{note}{_for(whom)}"


def sayings(told: Told) -> Iterator[Saying]:
    """
    Walk the gangs that were read from a cluster, in the order of the plan.
    """
    snapshot = told.assembled.snapshot
    pairs = zip(still(snapshot.gangs), ages_of(snapshot.gangs), strict=True)
    gangs = {gang.key: (gang, age) for gang, age in pairs}
    receipts = _by_gang(told)
    for line in told.plan.gangs:
        claim, found = told.assembled.claims.get(line.name), gangs.get(line.name)
        if claim is not None and found is not None:
            became = receipts.get(line.name) or _Receipts()
            yield _saying(told, line, found, claim, became)


def _standing(
    told: Told,
    line: GangLine,
    phases: Counter[PodPhase],
    binding: int,
    held: Waiting | None,
) -> GroupStanding:
    """
    Say how a gang stands, whose pods made so far are in these phases.
    """
    waiting = line.waiting or held
    is_short = phases[PodPhase.RUNNING] + binding < line.pods.minimum
    return GroupStanding(
        key=line.name,
        state="Waiting" if held is not None and is_short else line.state,
        minimum=line.pods.minimum,
        total=phases.total(),
        running=phases[PodPhase.RUNNING],
        succeeded=phases[PodPhase.SUCCEEDED],
        failed=phases[PodPhase.FAILED],
        binding=binding,
        reason=waiting.reason.value if waiting else None,
        message=escaped(waiting.message) if waiting else None,
        facts=waiting.facts if waiting else {},
        round=told.round,
        now=told.now,
    )


def _saying(
    told: Told,
    line: GangLine,
    found: tuple[Gang, int],
    claim: Claim,
    became: _Receipts,
) -> Saying:
    gang, age = found
    every = [
        (f"{gang.namespace}/{pod.name}", pod.uid, pod.phase)
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.uid is not None  # not a place for a pod that nobody has made yet
    ]
    made = [
        (key, uid, PodPhase.PENDING if key in told.held else phase)
        for key, uid, phase in every
    ]
    held = next((told.held[key] for key, _, _ in made if key in told.held), None)
    phases = Counter(phase for _, _, phase in made)
    bound = [(key, uid) for key, uid, _ in made if key in became.bound]
    waits = [
        (key, uid)
        for key, uid, phase in made
        if key not in became.bound and phase in _WAITS
    ]
    standing = _standing(told, line, phases, len(became.bound), held)
    return Saying(
        claim=claim,
        standing=standing,
        message=message_of(standing),
        pods=() if claim.silent else tuple(waits),
        bound=tuple(bound),
        events=tuple(became.events()),
        open=became.open,
        weight=(gang.priority, age),
    )


def message_of(standing: GroupStanding) -> str:
    """
    Write what a pod without a node is told: the reason of its gang, then a sentence.
    """
    if standing.reason is not None:
        return f"{standing.reason}: {standing.message}"
    return NOTHING_NEEDED if standing.state == "Waiting" else LEFT_OVER


def _by_gang(told: Told) -> Mapping[str, _Receipts]:
    """
    Sort the receipts; a gang whose operations have none yet is open.
    """
    found: dict[str, _Receipts] = {}
    if not told.receipts:
        for step in told.plan.operations:
            if step.op != "Reserve":
                found.setdefault(step.gang, _Receipts()).open = True
    for receipt in told.receipts:
        became = found.setdefault(receipt.operation.gang, _Receipts())
        if receipt.result == "done":
            if receipt.operation.op == "Bind":
                became.bound.add(receipt.operation.pod)
            elif receipt.operation.op != "Reserve":
                became.evicted.append(receipt.operation)
            continue
        became.open |= receipt.result != "held"
        if became.refused is None and receipt.result not in {"skipped", "held"}:
            became.refused = receipt
    return found


def _for(gangs: Sequence[str]) -> str:
    """
    Name the gangs that others leave for; of many, the first ones.
    """
    if not gangs:
        return ""
    more = f" and {len(gangs) - 3:,} more" if len(gangs) > 3 else ""
    return f" for {', '.join(gangs[:3])}{more}"
