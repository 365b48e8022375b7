"""
What a scenario expects against what a plan does, word by word.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

from adapters.compare.outcome import LOSSES, Outcome, label, outcome_of
from adapters.files.checking.across_file import full_name
from models.documents.expect import Expect
from models.gangs import Gang, pod_sets
from models.plan import Plan
from models.snapshot import Snapshot
from models.why.reasons import counted

Check = Callable[[Expect, Snapshot, Plan, Outcome], Iterator[str]]


def differences(expect: Expect, snapshot: Snapshot, plan: Plan) -> list[str]:
    """
    List every expectation that a plan does not meet.
    """
    outcome = outcome_of(snapshot, plan)
    wanted = expect.of(plan.strategy)
    return [
        text for check in _CHECKS for text in check(wanted, snapshot, plan, outcome)
    ]


def _starts(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    yield from _per_gang("starts", expect.starts, _count(plan, "Bind"))


def _evicts(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    yield from _per_gang("evicts", expect.evicts, _count(plan, "Evict"))


def _moves(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    yield from _total_or_per_gang("moves", expect.moves, _count(plan, "Move"))


def _reserves(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    yield from _total_or_per_gang("reserves", expect.reserves, _count(plan, "Reserve"))


def _count(plan: Plan, kind: str) -> Counter[str]:
    return Counter(step.gang for step in plan.operations if step.op == kind)


def _total_or_per_gang(
    word: str, wanted: int | Mapping[str, int | None] | None, have: Counter[str]
) -> Iterator[str]:
    if isinstance(wanted, int):
        if wanted != have.total():
            yield f"{word} {have.total()} pods, expected {wanted}"
        return
    yield from _per_gang(word, wanted, have)


def _per_gang(
    word: str, wanted: Mapping[str, int | None] | None, have: Counter[str]
) -> Iterator[str]:
    """
    Compare pods for each gang; gangs that are not listed must have none.
    """
    if wanted is None:
        return
    expected = {full_name(name): pods for name, pods in wanted.items()}
    for name in sorted({*expected, *have}):
        pods = expected.get(name, 0)
        if pods is not None and pods != have[name]:
            yield f"{word}: {name} {have[name]} pods, expected {pods}"


def _runs(expect: Expect, _s: Snapshot, _p: Plan, outcome: Outcome) -> Iterator[str]:
    for name, pods in (expect.runs or {}).items():
        have = outcome.running[full_name(name)]
        if pods is not None and pods != have:
            yield f"runs: {name} {have} pods, expected {pods}"


def _leaves(
    expect: Expect, snapshot: Snapshot, _p: Plan, outcome: Outcome
) -> Iterator[str]:
    gangs = {gang.key: gang for gang in snapshot.gangs}
    for name, leaves in (expect.leaves or {}).items():
        key = full_name(name)
        known = _leaf_names(gangs[key]) if key in gangs else set()
        for leaf, pods in (leaves or {}).items():
            have = outcome.by_leaf[key, leaf]
            if leaf not in known:
                yield f"leaves: {name} has no leaf {leaf}"
            elif pods is not None and pods != have:
                yield f"leaves: {name} {leaf} {have} pods, expected {pods}"


def _leaf_names(gang: Gang) -> set[str]:
    return {leaf.name for leaf in pod_sets(gang.tree)}


def _waits(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    lines = {line.name: line for line in plan.gangs}
    for name, reason in (expect.waits or {}).items():
        line = lines.get(full_name(name))
        if reason is None:
            continue
        if line is None:
            yield f"waits: {name} is not in the plan, expected {reason}"
            continue
        have = line.waiting.reason.value if line.waiting else "no reason"
        # Who has its places reserved waits for a reason, too, but not for just any.
        if reason != have and (reason != "any" or line.state != "Waiting"):
            yield f"waits: {name} is {line.state} ({have}), expected {reason}"


def _same(
    expect: Expect, snapshot: Snapshot, _p: Plan, outcome: Outcome
) -> Iterator[str]:
    labels = {node.name: node.labels for node in snapshot.nodes}
    gangs = {gang.key: gang for gang in snapshot.gangs}
    for same in expect.same or ():
        gang = gangs[full_name(same.gang)]
        topologies = [t for t in snapshot.topologies if same.level in t.levels]
        found: set[object] = set()
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                node = outcome.seats.get(f"{gang.namespace}/{pod.name}")
                have = labels.get(node or "")
                if node is None or have is None:
                    continue
                by_tree = [t.domain(have, same.level) for t in topologies]
                found.add(by_tree[0] if by_tree else have.get(same.level))
        if len(found) != 1:
            names = ", ".join(sorted(map(str, found))) or "none"
            yield f"same: {same.gang} is in {len(found)} of {same.level}: {names}"


def _on(expect: Expect, _s: Snapshot, _p: Plan, outcome: Outcome) -> Iterator[str]:
    for pod, node in (expect.on or {}).items():
        have = outcome.seats.get(full_name(pod), "no node")
        if node is not None and node != have:
            yield f"on: {pod} is on {have}, expected {node}"


def _tiers(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    values: defaultdict[str, int | float] = defaultdict(int)
    known: set[str] = set(LOSSES)
    for tier in plan.tiers:
        for name in {tier.name, label(tier)}:
            values[name] += tier.counted(tier.value)
            known.add(name)
    for name, value in (expect.tiers or {}).items():
        if name not in known:
            yield f"tiers: the plan has no tier {name}"
        elif value is not None and value != values[name]:
            yield f"tiers: {name} {values[name]}, expected {value}"


def _idle(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    if expect.idle is None:
        return
    steps = sum(step.op != "Reserve" for step in plan.operations)
    if expect.idle and steps:
        yield f"idle: {counted(steps, 'operation')}, expected none"
    if not expect.idle and not steps:
        yield "idle: no operation, expected some"


def _proven(expect: Expect, _s: Snapshot, plan: Plan, _o: Outcome) -> Iterator[str]:
    if expect.proven is None:
        return
    tiers = [label(tier) for tier in plan.tiers if tier.proof != "proven"]
    if expect.proven and tiers:
        yield f"proven: not {', '.join(tiers)}, expected every tier"
    if not expect.proven and not tiers:
        yield "proven: every tier, expected some that are not"


_CHECKS: tuple[Check, ...] = (
    _starts,
    _runs,
    _leaves,
    _waits,
    _evicts,
    _moves,
    _reserves,
    _same,
    _on,
    _tiers,
    _idle,
    _proven,
)
