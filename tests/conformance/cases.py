"""
Outside cases: cluster states, and what another scheduler made of them.

They lie beside the repository; where they are missing, whoever asks is told so.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from adapters.files import scenario_of
from models.snapshot import Snapshot

FOLDER = Path(__file__).parents[3] / "shared" / "conformance"
MISSING = (
    "the outside cases are not here: they are expected in shared/conformance "
    "beside the repository"
)


@dataclass(frozen=True)
class Case:
    """
    A cluster state, and the pods of each gang that the other scheduler ran in the end.
    """

    name: str
    needs: tuple[str, ...]
    document: dict
    running: dict[str, int]
    evictions: int
    rounds: int

    @property
    def snapshot(self) -> Snapshot:
        """
        Read the cluster state as a file is read.
        """
        return scenario_of(self.name, self.document).snapshot


def read_cases(name: str = "kai") -> list[Case]:
    """
    Read all cases of one scheduler; none where the folder is missing.
    """
    path = FOLDER / name / "cases.jsonl"
    if not path.exists():
        return []
    return [_case(json.loads(line)) for line in path.read_text().splitlines()]


def _case(record: dict) -> Case:
    other = record["other"]
    gangs = record["scenario"]["given"]["gangs"]
    spaces = {gang["name"]: gang.get("namespace", "default") for gang in gangs}
    return Case(
        name=record["id"],
        needs=tuple(record["needs"]),
        document=record["scenario"],
        running={
            name if "/" in name else f"{spaces.get(name, 'default')}/{name}": pods
            for name, pods in other["running"].items()
        },
        evictions=other["evictions"],
        rounds=other["rounds"],
    )
