"""
More problems of a file whose shape is wrong: what contradicts in the rest of it.

Ill-written fields are taken out and the rest is judged, so that a person sees
everything at once. Nothing is planned from such a rest.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from adapters.files.checks import file_faults
from adapters.files.problems import Fault, Path, schema_faults
from models.scenario import ScenarioFile

_ROUNDS = 4
_NEEDED = {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": {}}
Document = dict[str, Any]


def further_faults(document: Document, faults: Sequence[Fault]) -> list[Fault]:
    """
    Judge what is left of a file without its ill-written fields.
    """
    rest = deepcopy(document)
    harmed = {_record(path) for path, what, _ in faults if "unknown field" not in what}
    misspelt = {path[:-1] for path, _, _ in faults}
    dropped: dict[str, list[int]] = {}
    todo = [path for path, _, _ in faults]
    for attempt in range(_ROUNDS):
        for path in sorted(todo, key=_backwards, reverse=True):
            _cut(rest, path, dropped, whole=attempt > 0)
        for word, value in _NEEDED.items():
            rest.setdefault(word, deepcopy(value))
        try:
            file = ScenarioFile.model_validate(rest)
        except ValidationError as error:
            found = schema_faults(error, rest, ScenarioFile)
            todo = sorted({_record(path) for path, _, _ in found}, key=_backwards)
            continue
        moved = [(_restored(p, dropped), w, h) for p, w, h in file_faults(file)]
        return [f for f in moved if _is_sure(f, harmed, misspelt, dropped)]
    return []


def _backwards(path: Path) -> list[tuple[str, int]]:
    return [(p, 0) if isinstance(p, str) else ("", p) for p in path]


def _record(path: Path) -> Path:
    return path[:3] if path[:1] == ("given",) else path[:1]


def _cut(
    rest: Document, path: Path, dropped: dict[str, list[int]], *, whole: bool
) -> None:
    """
    Take a field out; a record of a list goes only when it cannot be mended.
    """
    here: Any = rest
    for part in path[:-1]:
        try:
            here = here[part]
        except (KeyError, IndexError, TypeError):
            return
    last = path[-1]
    if isinstance(here, dict):
        here.pop(last, None)
    elif isinstance(here, list) and isinstance(last, int) and last < len(here):
        if path[:1] == ("given",) and len(path) == 3:
            original = _restored(path, dropped)[2]
            dropped.setdefault(str(path[1]), []).append(int(original))
        del here[last]
    elif whole:
        rest.pop(str(path[0]), None)


def _restored(path: Path, dropped: dict[str, list[int]]) -> Path:
    """
    Give a place as it is in the file, before records were taken out.
    """
    if len(path) < 3 or path[0] != "given" or not isinstance(path[2], int):
        return path
    index = path[2]
    for gone in sorted(dropped.get(str(path[1]), ())):
        index += gone <= index
    return (*path[:2], index, *path[3:])


_NAMED = {"gangs", "topologies"}
_UNSURE = ("there is no ", "the topology's name is needed")


def _is_sure(
    fault: Fault,
    harmed: set[Path],
    misspelt: set[Path],
    dropped: dict[str, list[int]],
) -> bool:
    path, what, _ = fault
    if _record(path) in harmed or path in misspelt:
        return False
    return not (_NAMED & dropped.keys() and what.startswith(_UNSURE))
