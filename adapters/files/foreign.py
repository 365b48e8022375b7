"""
Manifests where a scenario is read: the one place where files meet Kubernetes' objects.

What reads them is imported when there are some: most files hold none.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.files.folders import SUFFIXES
from adapters.files.text import parse_documents, read_text
from models.dialects import DialectChoice
from models.errors import InputRejectedError, Problem

if TYPE_CHECKING:
    from adapters.kube.gangs.assemble import Assembled
    from adapters.kube.gangs.manifests import Manifest

OURS = "phalanx/"


def opened(paths: Iterable[str]) -> list[str]:
    """
    List files as named, and all that may hold manifests in folders.
    """
    found: list[str] = []
    for path in paths:
        try:
            folder = Path(path)
            if path == "-" or not folder.is_dir():
                found.append(path)
                continue
            inside = [str(f) for f in sorted(folder.rglob("*")) if _is_text(f)]
        except (OSError, ValueError):
            found.append(path)  # whoever reads it says why it cannot be read
            continue
        if not inside:
            hint = "manifests end in .yaml, .yml or .json"
            problem = Problem("file", "the folder holds no manifests", hint)
            raise InputRejectedError(path, [problem])
        found.extend(inside)
    return found


def _is_text(file: Path) -> bool:
    return file.suffix in SUFFIXES and file.is_file()


def is_manifest(document: object) -> bool:
    """
    Tell an object of Kubernetes from a file of ours.
    """
    if not isinstance(document, dict) or "given" in document:
        return False
    version, kind = document.get("apiVersion"), document.get("kind")
    if not (isinstance(version, str) and isinstance(kind, str)):
        return False
    return not version.startswith(OURS)


def raw_objects(paths: Iterable[str]) -> list[object]:
    """
    List the objects of manifests as they are written, of kinds that are read.
    """
    from adapters.kube.gangs import manifests  # noqa: PLC0415 - as the module says

    found: list[Manifest] = []
    names: list[str] = []
    for path in opened(paths):
        name, text = read_text(path)
        names.append(name)
        found.extend(manifests.manifests_of(name, parse_documents(name, text)))
    by_kind = manifests.objects_of(found, ", ".join(names)).by_kind
    return [raw for raws in by_kind.values() for raw in raws]


def assembled(
    sources: Iterable[tuple[str, Sequence[object]]],
    schedulers: Sequence[str] = (),
    choices: Sequence[DialectChoice] = (),
) -> "Assembled":
    """
    Make the snapshot of all manifests of some files.

    Parameters
    ----------
    sources
        The name of each file and the documents in it.
    schedulers
        Whose pods are ours; those of ``phalanx`` if none is named.
    choices
        How the words of other systems are read.

    Raises
    ------
    InputRejectedError
        When something is no object, or is written twice.
    """
    from adapters.kube.gangs import manifests  # noqa: PLC0415 - as the module says

    read = list(sources)
    found = [m for name, texts in read for m in manifests.manifests_of(name, texts)]
    names = ", ".join(name for name, _ in read)
    return manifests.assembled_of(found, schedulers, names, choices)
