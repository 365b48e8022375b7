"""
Many: all runs of a comparison, each in its folder, as many at once as there are cores.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from adapters.machine.clock import monotonic
from adapters.machine.processes import fan_out
from adapters.replay.play import SUMMARY, Run, play, summary_of

REACHED = "reached"
"""
A file in the folder of a run that is being played: how far it is, from 0 to 1.
"""
_OFTEN = 0.5


def play_all(runs: Sequence[Run], folder: Path, *, workers: int = 0) -> int:
    """
    Play every run that is not played yet; give how many were.

    Parameters
    ----------
    runs
        What is played, with the folder of each.
    folder
        The folder of the comparison.
    workers
        How many at once; as many as cores if 0.
    """
    left = [run for run in runs if summary_of(folder / run.folder, run.key) is None]
    for _ in fan_out(partial(_play, folder), left, workers=workers):
        pass
    return len(left)


def _play(folder: Path, run: Run) -> None:
    """
    Play one run, and leave word of how far it is.
    """
    path = folder / run.folder
    told = 0.0

    def tell(part: float) -> None:
        nonlocal told
        if monotonic() - told > _OFTEN:
            told = monotonic()
            (path / REACHED).write_text(f"{part:.4f}", encoding="utf-8")

    try:
        play(run, path, tell)
    finally:
        (path / REACHED).unlink(missing_ok=True)


def reached(runs: Sequence[Run], folder: Path) -> Callable[[], float]:
    """
    Give a function that says which part of all runs is played, from 0 to 1.
    """

    def part() -> float:
        return sum(_reached(folder / run.folder) for run in runs) / max(1, len(runs))

    return part


def _reached(path: Path) -> float:
    try:
        return float((path / REACHED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return float((path / SUMMARY).exists())
