"""
Bundles: a snapshot and a policy in one file, from which `phalanx plan` does it again.
"""

from pathlib import Path
from traceback import format_exception
from typing import Final

from adapters.files.snapshot_writer import snapshot_document
from adapters.files.yaml_writer import yaml_text
from models.errors import PhalanxError, printable
from models.policy import Policy
from models.snapshot import Snapshot

MOST_KEPT: Final = 10


def save(
    folder: Path, name: str, snapshot: Snapshot, policy: Policy, error: Exception
) -> Path:
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
    error
        What happened; it stands in the file, in one line.
    """
    document = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": printable(f"round {name}: {_why(error)}"),
        "policy": policy.model_dump(by_alias=True, mode="json"),
        "given": snapshot_document(snapshot)["given"],
    }
    return _written(folder, f"{name}.yaml", yaml_text(document))


def trace(folder: Path, name: str, error: Exception) -> Path:
    """
    Write where a round without a snapshot broke; give the path.
    """
    return _written(folder, f"{name}.txt", "".join(format_exception(error)))


def _written(folder: Path, name: str, text: str) -> Path:
    """
    Write a file whole or not at all, and let the oldest of its kind go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    half = path.with_suffix(".part")
    half.write_text(text, encoding="utf-8")
    half.rename(path)
    for old in sorted(folder.glob(f"*{path.suffix}"))[:-MOST_KEPT]:
        old.unlink(missing_ok=True)
    return path


def _why(error: Exception) -> str:
    """
    Say an error: ours are sentences, of others the kind matters too.
    """
    ours = isinstance(error, PhalanxError)
    return str(error) if ours else f"{type(error).__name__}: {error}"
