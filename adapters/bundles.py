"""
Bundles: a snapshot and a policy in one file, from which `phalanx plan` does it again.
"""

from pathlib import Path
from typing import Final

from adapters.files.snapshot_writer import snapshot_document
from adapters.files.yaml_writer import yaml_text
from models.errors import printable
from models.policy import Policy
from models.snapshot import Snapshot

MOST_KEPT: Final = 10


def save(folder: Path, name: str, snapshot: Snapshot, policy: Policy, why: str) -> Path:
    """
    Write a bundle and let the oldest go; give its path.

    Parameters
    ----------
    folder
        Where bundles are kept; made where it is not there.
    name
        The id of the round.
    snapshot
        What the round saw.
    policy
        What it wanted.
    why
        What happened, in one line; it stands in the file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": printable(f"round {name}: {why}"),
        "policy": policy.model_dump(by_alias=True, mode="json"),
        "given": snapshot_document(snapshot)["given"],
    }
    path = folder / f"{name}.yaml"
    half = path.with_suffix(".part")
    half.write_text(yaml_text(document), encoding="utf-8")
    half.rename(path)
    for old in sorted(folder.glob("*.yaml"))[:-MOST_KEPT]:
        old.unlink(missing_ok=True)
    return path
