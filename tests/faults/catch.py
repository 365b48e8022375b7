"""
Which scenarios catch a fault: ``python -m tests.faults.catch [FAULT]…``.
"""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from adapters.compare.expectations import differences
from adapters.files import read_scenario
from adapters.files.folders import scenario_files
from models.documents.scenario import Scenario
from models.errors import PlanRejectedError
from solver.round import decide
from tests.faults.fault import Fault
from tests.faults.faults import FAULTS

FOLDER = Path(__file__).parents[2] / "scenarios"


def scenario(name: str) -> Scenario:
    """
    Read a scenario by its folder and name, once; one of manifests as the fault has it.
    """
    path = FOLDER / f"{name}.yaml"
    return read_scenario(str(path)) if _has_manifests(path) else _known(path)


@cache
def _has_manifests(path: Path) -> bool:
    return "\n  manifests:" in path.read_text()


@cache
def _known(path: Path) -> Scenario:
    return read_scenario(str(path))


def wrongs(name: str, strategy: str) -> list[str]:
    """
    Run a scenario; say what is not as it expects.

    A plan that verify refuses counts, any other error does not: it is raised.
    """
    given = scenario(name)
    try:
        plan = decide(given.snapshot, given.policy, strategy=strategy)
    except PlanRejectedError as error:
        return [f"verify: {violation}" for violation in error.violations]
    assert given.expect is not None
    return differences(given.expect, given.snapshot, plan)


def catchers(fault: Fault, names: Sequence[str]) -> list[str]:
    """
    List the scenarios that a fault spoils; one that ends in an error says which.
    """
    found = []
    with fault.apply():
        for name in names:
            try:
                if wrongs(name, fault.strategy):
                    found.append(name)
            except Exception as error:  # noqa: BLE001
                found.append(f"{name} ({type(error).__name__}: {error})")
    return found


def main() -> None:
    """
    Try all scenarios with the faults named, or with all.
    """
    wanted = set(sys.argv[1:]) or {fault.name for fault in FAULTS}
    unknown = wanted - {fault.name for fault in FAULTS}
    if unknown:
        sys.exit(f"no such fault: {', '.join(sorted(unknown))}")
    files = scenario_files([str(FOLDER)], frozenset({"Scenario"}))
    names = [str(Path(f).relative_to(FOLDER).with_suffix("")) for f in files]
    sound = {
        strategy: [name for name in names if not wrongs(name, strategy)]
        for strategy in ("solver", "greedy")
    }
    for fault in FAULTS:
        if fault.name in wanted:
            found = catchers(fault, sound[fault.strategy])
            print(f"{fault.name} [{fault.strategy}]: {len(found)}", flush=True)
            for name in found:
                print(f"  {name}", flush=True)


if __name__ == "__main__":
    main()
