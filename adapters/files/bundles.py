"""
Bundles: a snapshot and a policy in one file, from which `phalanx plan` does it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import FrameSummary, format_exception, format_list
from typing import Final

from adapters.files.writing.plan_writer import plan_json
from adapters.files.writing.snapshot_writer import snapshot_document
from adapters.files.writing.yaml_writer import yaml_text
from models.errors import PhalanxError, printable
from models.plan import FailedTry
from models.policy import Policy
from models.snapshot import Snapshot

MOST_KEPT: Final = 10


@dataclass(frozen=True, slots=True)
class FailedRound:
    """
    What a round saw and wanted; ``failed`` are the ways in which it was planned.
    """

    snapshot: Snapshot
    policy: Policy
    failed: Sequence[FailedTry] = ()


def save(
    folder: Path, name: str, case: FailedRound, error: Exception | None = None
) -> Path:
    """
    Write a bundle and let the oldest go; give its path.

    Beside it lies, for each way that failed, the plan that broke a rule, as JSON, or
    where an error was raised, as text.

    Parameters
    ----------
    folder
        Where bundles are kept; made where it is not there.
    name
        The id of the round.
    case
        What the round saw and wanted.
    error
        What happened, where no way gave a plan; what happened first stands in the
        file, in one line.
    """
    said = why_failed(case.failed[0]) if error is None else _why(error)
    for one in case.failed:
        if one.plan is not None:
            _write(folder, f"{name}.{one.way}.json", plan_json(one.plan))
        elif one.error is not None:
            _write(folder, f"{name}.{one.way}.txt", traceback_of(one))
    document = {
        "apiVersion": "phalanx/v1",
        "kind": "Scenario",
        "rule": printable(f"round {name}: {said}"),
        "source": printable(f"round {name}"),
        "policy": case.policy.model_dump(by_alias=True, mode="json"),
        "given": snapshot_document(case.snapshot)["given"],
    }
    path = _write(folder, f"{name}.yaml", yaml_text(document))
    _let_go(folder, ".yaml")
    return path


def trace(folder: Path, name: str, error: Exception) -> Path:
    """
    Write where a round without a snapshot broke; give the path.
    """
    path = _write(folder, f"{name}.txt", "".join(format_exception(error)))
    _let_go(folder, ".txt")
    return path


def why_failed(failed: FailedTry) -> str:
    """
    Say in one line what a way of planning did wrong.
    """
    if failed.error is not None:
        return failed.error
    more = len(failed.violations) - 1
    return f"{failed.violations[0]}{f' and {more} more' if more else ''}"


def traceback_of(failed: FailedTry) -> str:
    """
    Write where an error was raised, as Python does.
    """
    frames = [FrameSummary(*frame) for frame in failed.frames]
    lines = ["Traceback (most recent call last):\n", *format_list(frames)]
    return f"{''.join(lines)}{failed.error}\n"


def _write(folder: Path, name: str, text: str) -> Path:
    """
    Write a file whole or not at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    half = path.with_suffix(".part")
    half.write_text(text, encoding="utf-8")
    half.rename(path)
    return path


def _let_go(folder: Path, suffix: str) -> None:
    """
    Remove the oldest bundles, or traces, with what lies beside them.
    """
    mine = [path for path in folder.glob(f"*{suffix}") if path.name.count(".") == 1]
    for old in sorted(mine)[:-MOST_KEPT]:
        for beside in folder.glob(f"{old.stem}.*"):
            beside.unlink(missing_ok=True)


def _why(error: Exception) -> str:
    """
    Say an error: ours are sentences, of others the kind matters too.
    """
    ours = isinstance(error, PhalanxError)
    return str(error) if ours else f"{type(error).__name__}: {error}"
