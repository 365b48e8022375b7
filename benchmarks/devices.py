"""
Measured GPUs below a whole one: orders of instances, and many small shares at once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import inf

from adapters.machine.clock import monotonic
from benchmarks.cases.claims import manifests, read
from benchmarks.cases.contents import most_used
from benchmarks.cases.mig_orders import empty_gpu, orders, with_instance
from benchmarks.cases.waiting_parts import bulk
from benchmarks.contract_devices import BulkParts, ClaimedDevices, MigOrders
from benchmarks.planned import decide, planned
from benchmarks.rows import Range, Row, tier_lines
from models.devices.gpu_parts import WHOLE, part_of
from models.gangs import PodPhase, PodSet, pod_sets
from models.plan import Plan
from models.policy import Policy
from models.resources import GPU
from models.snapshot import Snapshot
from solver.next_snapshot import carry_out

_SECONDS = 10


def measure_mig_orders(contract: MigOrders) -> Iterator[Row]:
    """
    Count the orders in which some instance of a content that fills a GPU finds none.
    """
    began = monotonic()
    every = orders()
    at_once = sum(not _fits_at_once(names, contract.policy) for names in every)
    in_turn = sum(not _fits_in_turn(names, contract.policy) for names in every)
    yield Row(
        name=contract.name,
        seconds={"total": monotonic() - began},
        facts={"orders": len(every)},
        ranges=(
            Range(
                what="orders that fail at once",
                value=at_once,
                limit=contract.in_one_round,
            ),
            Range(
                what="orders that fail one by one",
                value=in_turn,
                limit=contract.one_by_one,
            ),
        ),
    )


def _fits_at_once(names: Sequence[str], policy: Policy) -> bool:
    snapshot = empty_gpu()
    for at, name in enumerate(names):
        snapshot = with_instance(snapshot, name, age=len(names) - at)
    plan = decide(snapshot, policy)
    return sum(step.op == "Bind" for step in plan.operations) == len(names)


def _fits_in_turn(names: Sequence[str], policy: Policy) -> bool:
    snapshot = empty_gpu()
    for name in names:
        snapshot = with_instance(snapshot, name)
        snapshot = carry_out(snapshot, decide(snapshot, policy), _SECONDS)
    return _num_running(snapshot) == len(names)


def _num_running(snapshot: Snapshot) -> int:
    return sum(
        pod.phase is PodPhase.RUNNING
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )


def measure_bulk(contract: BulkParts) -> Iterator[Row]:
    """
    Hold what many small shares use of the GPUs against what contents could use at most.
    """
    snapshot, policy = bulk(contract), contract.policy
    plan, greedy = planned(snapshot, policy), planned(snapshot, policy, "greedy")
    facts = {"pods": contract.pods}
    leaves = [leaf for gang in snapshot.gangs for leaf in pod_sets(gang.tree)]
    waiting = Counter(_thousandths(leaf) for leaf in leaves for _ in leaf.pods)
    most = most_used(sum(node.allocatable[GPU] for node in snapshot.nodes), waiting)
    yield used_row(
        contract.name, snapshot, (plan, greedy), facts, contract.at_most, most
    )


def used_row(
    name: str,
    snapshot: Snapshot,
    plans: tuple[Plan, Plan],
    facts: Mapping[str, float],
    at_most: float,
    proven: float = inf,
) -> Row:
    """
    Hold what a round uses of the GPUs, and greedy's, against what it could use at most.

    That is what there is, what all ask for, or what is proven where this is less.
    """
    plan, greedy = plans
    used, most = gpus_used(snapshot, plan), min(most_gpus(snapshot), proven)
    missing = Range(
        what="missing of the GPUs that could be used",
        value=1 - used / most,
        limit=at_most,
        unit="%",
    )
    return Row(
        name=name,
        seconds=dict(plan.seconds or {}),
        greedy_seconds=(greedy.seconds or {}).get("total"),
        tiers=tier_lines(plan, greedy),
        facts={
            **facts,
            "used": used,
            "greedy used": gpus_used(snapshot, greedy),
            "most": most,
        },
        ranges=(missing,),
    )


def measure_claims(contract: ClaimedDevices) -> Iterator[Row]:
    """
    Hold the time from slices and claims to a verified plan, and how good that is.
    """
    raws = manifests(contract)
    began = monotonic()
    snapshot = read(raws)
    seconds = monotonic() - began
    plan = planned(snapshot, contract.policy)
    greedy = planned(snapshot, contract.policy, "greedy")
    took = dict(plan.seconds or {})
    lines = tier_lines(plan, greedy)
    yield Row(
        name=contract.name,
        seconds={"read": seconds, **took},
        greedy_seconds=(greedy.seconds or {}).get("total"),
        tiers=lines,
        facts={
            "pods": contract.gangs * contract.members,
            "bound": sum(step.op == "Bind" for step in plan.operations),
        },
        ranges=(
            Range(
                what="seconds, with reading",
                value=seconds + took["total"],
                limit=contract.seconds,
            ),
        ),
    )


def gpus_used(snapshot: Snapshot, plan: Plan) -> float:
    """
    Add up the GPUs of the pods that a plan binds, parts and whole ones.
    """
    bound = {step.pod for step in plan.operations if step.op == "Bind"}
    return (
        sum(
            _thousandths(leaf) * (f"{gang.namespace}/{pod.name}" in bound)
            for gang in snapshot.gangs
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
        )
        / WHOLE
    )


def most_gpus(snapshot: Snapshot) -> float:
    """
    Give the GPUs that could be used at most, by the sum of what all ask for.
    """
    asked = sum(
        _thousandths(leaf) * len(leaf.pods)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
    )
    have = sum(node.allocatable.get(GPU, 0) for node in snapshot.nodes)
    return min(have, asked / WHOLE)


def _thousandths(leaf: PodSet) -> int:
    """
    Give the compute that a pod asks for, not rounded up as queues count it.
    """
    part = part_of(leaf.requests)
    whole = WHOLE * leaf.requests.get(GPU, 0)
    return whole if part is None else part.cores
