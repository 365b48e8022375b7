"""
The plan: operations in order, and one line for every gang that has something to say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.metadata import version

from models.devices.gpu_parts import DeviceAmounts, GpuPart, part_of
from models.gangs import Gang, Pod, PodPhase, PodSet, is_complete, pod_sets
from models.memory.aged_gangs import still
from models.memory.kept import Kept
from models.plan import (
    Departure,
    GangLine,
    Hold,
    Op,
    Operation,
    Placement,
    Plan,
    PodCounts,
    State,
)
from models.snapshot import Snapshot
from models.why.reasons import Waiting
from solver.problem.gang_state import (
    Standing,
    has_ended,
    least_pods,
    satisfied_after,
    standing,
)
from solver.problem.problem import Problem
from solver.search.search_outcome import Outcome

VERSION = "0.2.0"


def plan_of(
    placement: Placement,
    outcome: Outcome,
    *,
    strategy: str,
    waiting: Mapping[str, Waiting],
    source: str,
    lines: "LinesMemo | None" = None,
) -> Plan:
    """
    Order a placement's operations and describe every gang after them.

    ``source`` names what was planned for; with any ``lines`` the plan is the same.
    """
    policy = outcome.problem.policy
    said, steps = _said(outcome.problem, placement, waiting, lines or lines_memo())
    pending = any(line.state == "Waiting" for line in said)
    operations = sorted(steps, key=lambda step: _ORDER[step.op])
    proven = all(tier.proof == "proven" for tier in outcome.tiers)
    limits = policy.limits
    idle = not operations and not pending
    return Plan(
        strategy=strategy,
        status="idle" if idle else "optimal" if proven else "feasible",
        deterministic=limits.seconds is None and limits.workers == 1,
        snapshot=source,
        seed=policy.seed,
        versions=versions(),
        tiers=outcome.tiers,
        gangs=tuple(said),
        operations=tuple(operations),
        model=outcome.model,
        held=outcome.held,
        holds=_holds(outcome),
        turn=outcome.turn,
    )


def _holds(outcome: Outcome) -> tuple[Hold, ...]:
    """
    List for whom nodes are held that do not start yet.
    """
    problem, waiting = outcome.problem, {}
    for unit in problem.units:
        if not outcome.draft.starts(unit):
            waiting[unit.key] = unit.states
    found = [
        Hold(
            gang=state.key,
            nodes=tuple(problem.room.nodes[at].name for at in head.nodes),
            expected=head.likely,
            lent=outcome.lent.get(head.key, ()),
        )
        for head in outcome.heads
        if head.nodes and head.likely
        for state in waiting.get(head.key, ())
    ]
    return tuple(sorted(found, key=lambda hold: hold.gang))


def _said(
    problem: Problem,
    placement: Placement,
    waiting: Mapping[str, Waiting],
    memo: "LinesMemo",
) -> tuple[list[GangLine], list[Operation]]:
    """
    Describe every gang, and list what happens to their pods.
    """
    snapshot, states = problem.snapshot, problem.states
    steps: list[Operation] = []
    said = list(memo.of(still(snapshot.gangs)))
    leaving = _gangs_leaving(snapshot, placement)
    memory = {node.name: node.gpu_memory for node in snapshot.nodes}
    for at, line in enumerate(said):
        if line is not None and line.name not in leaving:
            continue
        gang = snapshot.gangs[at]
        mine = list(_steps(gang, placement, memory))
        steps += mine
        counts = _counts_of(gang, mine)
        state: State = "Evicting"
        if not counts.evicting:
            now = states.get(gang.key) or standing(gang)
            state = _state_of_others(now, mine, counts)
        said[at] = _line(gang, state, counts, placement, waiting.get(gang.key))
    return [line for line in said if line is not None], steps


LinesMemo = Kept[Gang, GangLine | None]
"""
The lines of gangs that run whole, kept for as long as these are the same.
"""


def lines_memo() -> LinesMemo:
    """
    Give a memo of no lines.
    """
    return Kept(_running_line)


@cache
def versions() -> Mapping[str, str]:
    """
    Say who plans; that is read once from the files of the installed packages.
    """
    return {"phalanx": VERSION, "ortools": version("ortools")}


_ORDER: Mapping[Op, int] = {"Bind": 0, "Evict": 1, "Move": 2, "Reserve": 3}
_WAITS = frozenset({PodPhase.PENDING, PodPhase.RESERVED})


def _gangs_leaving(snapshot: Snapshot, placement: Placement) -> set[str]:
    """
    Name the gangs of which pods leave.
    """
    if not placement.departures:
        return set()
    return {
        gang.key
        for gang in still(snapshot.gangs)
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if f"{gang.namespace}/{pod.name}" in placement.departures
    }


def _steps(
    gang: Gang, placement: Placement, memory: Mapping[str, int]
) -> Iterator[Operation]:
    """
    Walk what happens to a gang's pods, in their order.
    """
    for leaf in pod_sets(gang.tree):
        part = part_of(leaf.requests)
        for pod in leaf.pods:
            name = f"{gang.namespace}/{pod.name}"
            if pod.phase in _WAITS:
                if name in placement.binds:
                    step = _step("Bind", gang, name, pod.uid, placement.binds[name])
                    yield _on_devices(step, placement, part, memory)
                elif name in placement.reserves:
                    node = placement.reserves[name]
                    step = _step("Reserve", gang, name, pod.uid, node)
                    yield _on_devices(step, placement, part, memory)
            elif pod.phase is PodPhase.RUNNING and name in placement.departures:
                step = _departure(gang, name, pod, placement.departures[name])
                yield _on_devices(step, placement, part, memory)


def _step(op: Op, gang: Gang, name: str, uid: str | None, node: str) -> Operation:
    return Operation(op=op, pod=name, gang=gang.key, node=node, uid=uid)


def _on_devices(
    step: Operation,
    placement: Placement,
    part: GpuPart | None,
    memory: Mapping[str, int],
) -> Operation:
    """
    Name the devices of a pod that gets parts of them, and how much of each.
    """
    devices = placement.devices.get(step.pod)
    if not devices or part is None:
        return step
    amounts = DeviceAmounts.of(part, memory[step.node])
    return replace(step, devices=devices, of_each=amounts)


def _departure(gang: Gang, name: str, pod: Pod, why: Departure) -> Operation:
    moves = why.target is not None
    return Operation(
        op="Move" if moves else "Evict",
        pod=name,
        gang=gang.key,
        node=why.target or pod.node or "",
        uid=pod.uid,
        source=pod.node if moves else None,
        beneficiaries=why.beneficiaries,
        rule=why.rule,
    )


def _line(
    gang: Gang,
    state: State,
    counts: PodCounts,
    placement: Placement,
    waiting: Waiting | None,
) -> GangLine:
    key = gang.key
    return GangLine(
        name=key,
        queue=gang.queue,
        state=state,
        entitled=key in placement.entitled,
        guaranteed=key in placement.guaranteed,
        waiting=waiting if state in {"Waiting", "Reserved"} else None,
        pods=counts,
    )


def _counts_of(gang: Gang, steps: Sequence[Operation]) -> PodCounts:
    """
    Count a gang's pods by phase, and what happens to them.
    """
    leaves = list(pod_sets(gang.tree))
    phases = [pod.phase for leaf in leaves for pod in leaf.pods]
    ops = [step.op for step in steps]
    return _counts(
        total=sum([leaf.replicas for leaf in leaves]),
        minimum=least_pods(gang),
        running=phases.count(PodPhase.RUNNING),
        succeeded=phases.count(PodPhase.SUCCEEDED),
        failed=phases.count(PodPhase.FAILED),
        binding=ops.count("Bind"),
        evicting=ops.count("Evict") + ops.count("Move"),
    )


def _running_line(gang: Gang) -> GangLine | None:
    """
    Describe a gang that runs whole.
    """
    tree = gang.tree
    if not is_complete(gang):
        return None
    assert isinstance(tree, PodSet)
    return GangLine(
        name=gang.key,
        queue=gang.queue,
        state="Running",
        entitled=False,
        waiting=None,
        pods=_counts(total=tree.replicas, minimum=tree.minimum, running=tree.replicas),
    )


_counts = lru_cache(maxsize=4096)(PodCounts)
"""
Gives equal records of counts once: most gangs have the same few pods.
"""


def _state_of_others(
    now: Standing, steps: Sequence[Operation], counts: PodCounts
) -> State:
    """
    Give the first state that holds where nothing leaves, in the order of the format.
    """
    if has_ended(now):
        return "Finished"
    binds = [step for step in steps if step.op == "Bind"]
    if binds:
        return "Starting" if _becomes_satisfied(now, binds) else "Growing"
    if steps:
        return "Reserved"
    return "Running" if now.satisfied and counts.running else "Waiting"


def _becomes_satisfied(now: Standing, binds: Sequence[Operation]) -> bool:
    if now.satisfied:
        return False
    names = {op.pod for op in binds}
    prefix = f"{now.gang.namespace}/"
    added = {
        i: sum(f"{prefix}{pod.name}" in names for pod in leaf.pod_set.pods)
        for i, leaf in enumerate(now.leaves)
    }
    return satisfied_after(now, added)[0]
