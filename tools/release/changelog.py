"""
Gathers the fragments of ``changelog.d`` under the headings of the changelog.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")
_NAME = re.compile(r"^(?P<issue>\d+)\.(?P<kind>[a-z]+)(?:\.(?P<number>\d+))?\.md$")
_NEXT = "\n## Unreleased\n"


@dataclass(frozen=True, slots=True)
class Fragment:
    """
    One change: its file, its issue, its kind, and what a user reads.
    """

    path: Path
    issue: int
    kind: str
    number: int
    text: str


def fragments(folder: Path) -> list[Fragment]:
    """
    Read all fragments, in the order of their issues.

    Raises
    ------
    ValueError
        Where a file is no fragment: by its name, its kind, or since it is empty.
    """
    found = [
        _fragment(path) for path in sorted(folder.iterdir()) if path.name != "README.md"
    ]
    return sorted(found, key=lambda each: (each.issue, each.number, each.path.name))


def _fragment(path: Path) -> Fragment:
    named = _NAME.match(path.name)
    if named is None or named["kind"] not in KINDS:
        raise ValueError(
            f"{path.name} is no <issue>.<kind>.<n>.md of the kinds {', '.join(KINDS)}"
        )
    text = " ".join(path.read_text(encoding="utf-8").split())
    if not text:
        raise ValueError(f"{path.name} is empty")
    number = int(named["number"] or 0)
    return Fragment(path, int(named["issue"]), named["kind"], number, text)


def section(version: str, date: str, changes: Iterable[Fragment]) -> str:
    """
    Write what a version brought, under headings.
    """
    listed = list(changes)
    lines = [f"## {version} - {date}", ""]
    for kind in KINDS:
        of_kind = [each.text for each in listed if each.kind == kind]
        if of_kind:
            lines += [f"### {kind.capitalize()}", ""]
            lines += [f"- {text}" for text in of_kind]
            lines.append("")
    return "\n".join(lines)


def with_section(changelog: str, added: str) -> str:
    """
    Put a version's section below what is not released yet.

    Raises
    ------
    ValueError
        Where the changelog has no such place, or the version already.
    """
    heading = added.partition(" - ")[0]
    if f"\n{heading} - " in changelog:
        raise ValueError(f"the changelog has {heading.removeprefix('## ')} already")
    head, there, rest = changelog.partition(_NEXT)
    if not there:
        raise ValueError("the changelog has no heading `Unreleased`")
    words, _, older = rest.partition("\n## ")
    older = f"\n## {older}" if older else ""
    return f"{head}{there}{words.rstrip()}\n\n{added.rstrip()}\n{older}"
