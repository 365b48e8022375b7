"""
Conduct: the cases of a study, played where nobody played them before.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adapters.machine.processes import On, fan_out
from adapters.study.case import Case, played, row_of

CASES = "cases"
Tell = Callable[[int, int], None]


def conduct(
    cases: Sequence[Case],
    folder: Path,
    *,
    workers: int = 0,
    on: On = "processes",
    tell: Tell = lambda *_: None,
) -> list[dict[str, Any]]:
    """
    Play all cases that have no result yet; give all results in the order of the cases.

    Every result is kept as soon as it is there, so that of a study that is killed
    only the replays are lost that were being played.

    Parameters
    ----------
    cases
        What is played.
    folder
        The folder of the study.
    workers
        How many at once; as many as cores if 0.
    on
        Where: processes of this machine, or Ray.
    tell
        Told how many of all have a result.
    """
    (folder / CASES).mkdir(parents=True, exist_ok=True)
    known = {case.key: _kept(folder, case) for case in cases}
    left = [case for case in cases if known[case.key] is None]
    done = len(cases) - len(left)
    tell(done, len(cases))
    for at, fresh in fan_out(played, left, workers=workers, on=on):
        _keep(folder, fresh)
        known[left[at].key] = fresh
        done += 1
        tell(done, len(cases))
    results = (known[case.key] for case in cases)
    return [result for result in results if result is not None]


def _path(folder: Path, key: str) -> Path:
    return folder / CASES / f"{key}.json"


def _kept(folder: Path, case: Case) -> dict[str, Any] | None:
    try:
        text = _path(folder, case.key).read_text(encoding="utf-8")
        result: dict[str, Any] = json.loads(text)
    except (OSError, ValueError):
        return None
    return result if result.get("key") == case.key else None


def _keep(folder: Path, result: dict[str, Any]) -> None:
    """
    Write a result whole or not at all.
    """
    path = _path(folder, result["key"])
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")
    beside.replace(path)


def write_tables(results: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """
    Write one row for each replay, as JSON lines and, with pyarrow, as Parquet.
    """
    rows = [row_of(result) for result in results]
    lines = folder / "results.jsonl"
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    lines.write_text(text, encoding="utf-8")
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError:
        return [lines]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = {name: _column([row.get(name) for row in rows]) for name in columns}
    path = folder / "results.parquet"
    parquet.write_table(pa.table(table), path, compression="zstd")
    return [lines, path]


def _column(values: Sequence[Any]) -> list[Any]:
    """
    Let a column that mixes whole numbers and others hold floats.
    """
    if any(isinstance(value, float) for value in values):
        return [float(v) if isinstance(v, int | float) else v for v in values]
    return [*values]
