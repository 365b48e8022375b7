"""
The bench: every row of the contract, measured one after the other.
"""

from collections.abc import Callable, Iterator, Sequence

from benchmarks.contract import (
    Growth,
    PriorityMatters,
    Quality,
    Rounds,
    Small,
    contract_names,
    load_contract,
)
from benchmarks.contract_days import Days
from benchmarks.contract_devices import (
    BulkParts,
    ClaimedDevices,
    MigOrders,
    OfDevices,
    OpenbOnline,
    OpenbPlan,
    WholeOrHalves,
)
from benchmarks.contract_evict import Evictions, FullCases, VictimCases
from benchmarks.contract_steady import Steady
from benchmarks.contract_why import Why
from benchmarks.days import measure_days
from benchmarks.devices import measure_bulk, measure_claims, measure_mig_orders
from benchmarks.evictions import measure_evictions
from benchmarks.full import measure_full
from benchmarks.measure import measure_growth, measure_rounds
from benchmarks.openb import measure_openb_online
from benchmarks.openb_plan import measure_openb_plan
from benchmarks.partitions import measure_whole_or_halves
from benchmarks.planned import trying
from benchmarks.quality import measure_priority_matters, measure_small
from benchmarks.rows import BenchReport, Row
from benchmarks.steady import measure_steady
from benchmarks.victims_quality import measure_victims
from benchmarks.why import measure_why
from solver.tuning import DEFAULT, Tuning


def run(
    names: Sequence[str] = (),
    *,
    progress: Callable[[str], None] | None = None,
    tuning: Tuning = DEFAULT,
    seeds: int = 1,
) -> BenchReport:
    """
    Measure rows by name, all if none is given.

    Parameters
    ----------
    names
        Such as ``rounds/1k``; a name that ends in ``/`` takes all rows below it.
    progress
        Told the name of each row as it begins.
    tuning
        The numbers of the search that are tried.
    seeds
        How many traces of each sort are drawn where a row draws traces.
    """
    rows: list[Row] = []
    for name in _chosen(names):
        if progress is not None:
            progress(name)
        with trying(tuning):
            rows += measure(name, seeds)
    return BenchReport(measured=tuple(rows))


def _chosen(names: Sequence[str]) -> list[str]:
    known = contract_names()
    found: list[str] = []
    for name in names or known:
        below = [k for k in known if name.endswith("/") and k.startswith(name)]
        found += below or [name]
    return list(dict.fromkeys(found))


def measure(name: str, seeds: int = 1) -> Iterator[Row]:
    """
    Measure one row of the contract, with so many seeds where it draws traces.
    """
    contract = load_contract(name)
    match contract:
        case Rounds():
            yield from measure_rounds(contract)
        case Growth():
            yield from measure_growth(contract)
        case Evictions():
            yield from measure_evictions(contract)
        case Days():
            yield from measure_days(contract, seeds)
        case Steady():
            yield from measure_steady(contract)
        case Why():
            yield from measure_why(contract)
        case _:
            yield from _measure_quality(contract)


def _measure_quality(contract: Quality) -> Iterator[Row]:
    match contract:
        case Small():
            yield from measure_small(contract)
        case VictimCases():
            yield from measure_victims(contract)
        case FullCases():
            yield from measure_full(contract)
        case PriorityMatters():
            yield from measure_priority_matters(contract)
        case _:
            yield from _measure_devices(contract)


def _measure_devices(contract: OfDevices) -> Iterator[Row]:
    match contract:
        case WholeOrHalves():
            yield from measure_whole_or_halves(contract)
        case MigOrders():
            yield from measure_mig_orders(contract)
        case BulkParts():
            yield from measure_bulk(contract)
        case ClaimedDevices():
            yield from measure_claims(contract)
        case OpenbOnline():
            yield from measure_openb_online(contract)
        case OpenbPlan():
            yield from measure_openb_plan(contract)
