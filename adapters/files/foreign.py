"""
Manifests where a scenario is read: the one place where files meet Kubernetes' objects.

What reads them is imported when there are some: most files hold none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.files.folders import SUFFIXES
from adapters.files.text import parse_documents, read_text
from models.dialects import DialectChoice
from models.errors import InputRejectedError, Problem

if TYPE_CHECKING:
    from adapters.kube.dialects.protocol import Objects
    from adapters.kube.gangs.assemble import Assembled
    from adapters.kube.gangs.manifests import Manifest

OURS = "phalanx/"
OUR_KINDS = ("Scenario", "Snapshot")


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """
    A file to be read; one that was ``found`` in a folder may hold something else.
    """

    path: str
    found: bool = False


def opened(paths: Iterable[str]) -> list[OpenedFile]:
    """
    List files as named, and all that may hold manifests in folders.
    """
    found: list[OpenedFile] = []
    for path in paths:
        try:
            folder = Path(path)
            if path == "-" or not folder.is_dir():
                found.append(OpenedFile(path))
                continue
            inside = [str(f) for f in sorted(folder.rglob("*")) if _is_text(f)]
        except (OSError, ValueError):
            found.append(
                OpenedFile(path)
            )  # whoever reads it says why it cannot be read
            continue
        if not inside:
            hint = "manifests end in .yaml, .yml or .json"
            problem = Problem("file", "the folder holds no manifests", hint)
            raise InputRejectedError(path, [problem])
        found.extend(OpenedFile(file, found=True) for file in inside)
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


def is_foreign(document: object) -> bool:
    """
    Tell a document that is nothing of ours: values of a chart, results of a replay.
    """
    if not isinstance(document, dict):
        return True
    ours = "given" in document or document.get("kind") in OUR_KINDS
    return not ours and not is_manifest(document)


def passed_over(names: Sequence[str]) -> str:
    """
    Say which files of folders hold nothing that is read.
    """
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"passed over, since nothing in them is read: {', '.join(names[:3])}{more}"


def raw_objects(paths: Iterable[str]) -> list[object]:
    """
    List the objects of manifests as they are written, of kinds that are read.
    """
    return [raw for raws in objects_in(paths).by_kind.values() for raw in raws]


def objects_in(paths: Iterable[str]) -> "Objects":
    """
    Read the objects of manifests, and nothing else.

    Raises
    ------
    InputRejectedError
        When something is no object, or is written twice.
    """
    from adapters.kube.gangs import manifests  # noqa: PLC0415 - as the module says

    found: list[Manifest] = []
    names: list[str] = []
    for file in opened(paths):
        name, text = read_text(file.path)
        documents = parse_documents(name, text)
        if file.found and all(map(is_foreign, documents)):
            continue
        names.append(name)
        found.extend(manifests.manifests_of(name, documents))
    return manifests.objects_of(found, ", ".join(names))


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
