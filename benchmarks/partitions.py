"""
Measured choices: gangs that take whole GPUs or parts of them, against the exact model.
"""

from collections.abc import Iterator

from adapters.machine.clock import monotonic
from benchmarks.cases.claims import read
from benchmarks.cases.partitions import (
    PartitionsCase,
    exact_case,
    manifests,
    random_case,
    whole_or_halves,
    without_devices,
)
from benchmarks.contract_devices import WholeOrHalves
from benchmarks.planned import decide
from benchmarks.rows import Range, Row
from models.policy import Policy


def measure_whole_or_halves(contract: WholeOrHalves) -> Iterator[Row]:
    """
    Count the cases in which fewer gangs start than can, and pods without devices.
    """
    began = monotonic()
    seeds = range(contract.first_seed, contract.first_seed + contract.cases)
    cases = [whole_or_halves(), *map(random_case, seeds)]
    can = [exact_case(case) for case in cases]
    found = [_started(case, contract.policy) for case in cases]
    short = [
        at for at, (most, (n, _)) in enumerate(zip(can, found, strict=True)) if n < most
    ]
    lost = sum(number for _, number in found)
    yield Row(
        name=contract.name,
        seconds={"total": monotonic() - began},
        facts={
            "gangs": sum(len(case.gangs) for case in cases),
            "can start": sum(can),
            "start": sum(number for number, _ in found),
        },
        notes=tuple(f"case {at} starts too few" for at in short),
        ranges=(
            Range(
                what="cases with fewer starts than can be", value=len(short), limit=0
            ),
            Range(what="pods without devices", value=lost, limit=0),
        ),
    )


def _started(case: PartitionsCase, policy: Policy) -> tuple[int, int]:
    """
    Count the gangs that start, and their pods that can be dealt no devices.
    """
    raws = manifests(case)
    plan = decide(read(raws), policy)
    steps = [step for step in plan.operations if step.op == "Bind"]
    bound = {step.pod.partition("/")[2]: step.node for step in steps}
    return len({step.gang for step in steps}), len(without_devices(raws, bound))
