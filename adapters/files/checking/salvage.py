"""
More problems of a file whose shape is wrong: what contradicts in the rest of it.

Ill-written fields are taken out, or filled with something harmless where they are
needed, and the rest is judged, so that a person sees everything at once. Nothing is
planned from such a rest.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from adapters.files.checking.across_file import file_faults
from adapters.files.checking.problems import Fault, Path, schema_faults
from models.documents.scenario import ScenarioFile

_ROUNDS = 5
_NEEDED = {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": {}}
_HARMLESS: Mapping[str, object] = {
    "allocatable": {},
    "allowed": 0,
    "gangs": [],
    "key": "unknown",
    "levels": ["unknown"],
    "node": "unknown",
    "operator": "Exists",
}
_JUDGED_TOGETHER = frozenset(
    {"min", "replicas", "created", "gated", "succeeded", "failed", "running"}
    | {"terminating", "reserved", "groups", "minGroups", "minPods", "count"}
    | {"after", "topology", "levels", "parent", "group", "namespace"}
    | {"matchExpressions", "nodeSelectorTerms", "tolerations", "affinity"}
)
Document = dict[str, Any]


def further_faults(document: Document, faults: Sequence[Fault]) -> list[Fault]:
    """
    Judge what is left of a file without its ill-written fields.
    """
    rest = deepcopy(document)
    harmed = {_record(p) for p, what, _ in faults if _is_harmful(p, what)}
    misspelt = {path[:-1] for path, _, _ in faults}
    dropped: dict[str, list[int]] = {}
    found: list[Fault] = []
    todo = [path for path, _, _ in faults]
    for attempt in range(_ROUNDS):
        for path in sorted(todo, key=_backwards, reverse=True):
            _cut(rest, path, dropped, whole=attempt > 0)
        for word, value in _NEEDED.items():
            rest.setdefault(word, deepcopy(value))
        try:
            file = ScenarioFile.model_validate(rest)
        except ValidationError as error:
            more = schema_faults(error, rest, ScenarioFile)
            if attempt == 0:
                found += [f for f in more if not _is_ours(f)]
                todo = [path for path, _, _ in more]
            else:
                todo = sorted({_record(path) for path, _, _ in more}, key=_backwards)
            continue
        unsure = _lost_names(document, faults)
        moved = [(_restored(p, dropped), w, h) for p, w, h in file_faults(file)]
        return found + [f for f in moved if _is_sure(f, harmed, misspelt, unsure)]
    return found


def _is_harmful(path: Path, what: str) -> bool:
    """
    Tell whether other fields of a record were judged together with this one.
    """
    if "unknown field" in what:
        return False
    if path[:1] != ("given",):
        return path[:2] == ("policy", "tiers")
    return len(path) < 4 or not _JUDGED_TOGETHER.isdisjoint(path[3:])


def _is_ours(fault: Fault) -> bool:
    """
    Tell a fault that only taking fields out has made.
    """
    what = fault[1]
    return what.endswith("is missing") or what == "the list is empty"


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
        if last == "name" and path[:1] == ("given",):
            here["name"] = "unnamed-" + "-".join(map(str, path[2:-1])).lower()
        elif last in _HARMLESS and len(path) > 2:
            here[last] = deepcopy(_HARMLESS[str(last)])
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


def _lost_names(document: Document, faults: Sequence[Fault]) -> set[str]:
    """
    Give the names of records with problems, which others may rightly speak of.

    An empty name stands for one that cannot be told.
    """
    lost: set[str] = set()
    for path, _, _ in faults:
        if path[:1] != ("given",) or len(path) < 3 or path[1] not in _NAMED:
            lost |= {""} if path[:2] in _WHOLE else set()
            continue
        record: Any = document["given"][path[1]][path[2]]
        name = record.get("name") if isinstance(record, dict) else None
        lost.add(name if isinstance(name, str) else "")
    return lost


_NAMED = frozenset({"gangs", "topologies"})
_WHOLE = frozenset({("given",), ("given", "gangs"), ("given", "topologies")})
_UNSURE = ('there is no gang "', 'there is no topology "')


def _is_sure(
    fault: Fault, harmed: set[Path], misspelt: set[Path], lost: set[str]
) -> bool:
    path, what, _ = fault
    if _record(path) in harmed or path in misspelt:
        return False
    if what.startswith("the topology's name is needed"):
        return not lost
    for begin in _UNSURE:
        if what.startswith(begin):
            name = what.removeprefix(begin).removesuffix('"').rpartition("/")[2]
            return not any(
                one in ("", name) or name.startswith(f"{one}-") for one in lost
            )
    return True
