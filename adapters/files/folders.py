"""
Paths to scenario files: folders are searched, what says another kind is passed over.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from adapters.files.text import parse_text, read_text
from models.errors import InputRejectedError, Problem

SUFFIXES = frozenset({".yaml", ".yml", ".json"})
PERFORMANCE = "perf"
_KIND = re.compile(
    rb"""(?:^|[,{])[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?(\w+)""", re.MULTILINE
)
_HEAD = 4096


def scenario_files(paths: Sequence[str], kinds: frozenset[str]) -> list[str]:
    """
    List files as named, and in folders those that say no other kind.

    Raises
    ------
    InputRejectedError
        When a path is none, or a folder has no such file.
    """
    found: list[str] = []
    for path in paths:
        inside = _named(path, kinds)
        if not inside:
            hint = "scenarios end in .yaml, .yml or .json"
            problem = Problem("file", "the folder holds no scenarios", hint)
            raise InputRejectedError(path, [problem])
        found += inside
    return found


def inputs(paths: Sequence[str]) -> list[str]:
    """
    List what can be planned: a folder that holds only manifests is one input.
    """
    kinds = frozenset({"Scenario", "Snapshot"})
    return [each for path in paths for each in _named(path, kinds) or [path]]


def _named(path: str, kinds: frozenset[str]) -> list[str]:
    try:
        if path == "-" or Path(path).is_file():
            return [path]
        if Path(path).is_dir():
            return [*_in_folder(Path(path), kinds)]
    except OSError as error:
        problem = Problem("file", f"cannot be read: {error.strerror or error}")
        raise InputRejectedError(path, [problem]) from error
    hint = "name a scenario file or a folder of them"
    problem = Problem("file", "there is no such file or folder", hint)
    raise InputRejectedError(path, [problem])


def _in_folder(folder: Path, kinds: frozenset[str]) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).parts[:-1]
        if file.suffix not in SUFFIXES or PERFORMANCE in inside or not file.is_file():
            continue
        kind = _kind(file)
        if kind in kinds or (kind is None and not _says_nothing(file)):
            yield str(file)


def _says_nothing(file: Path) -> bool:
    """
    Tell whether a file holds nothing of ours; one with a mistake is judged later.
    """
    try:
        document = parse_text(*read_text(str(file)))
    except InputRejectedError:
        return False
    return not isinstance(document, dict) or not {"apiVersion", "given"} & set(document)


def _kind(file: Path) -> str | None:
    """
    Look what kind a file says it is; one that cannot be read is judged later.
    """
    try:
        with file.open("rb") as stream:
            found = _KIND.search(stream.read(_HEAD))
    except OSError:
        return None
    return found[1].decode() if found else None
