"""
Every place that names the version of Phalanx.
"""

import re
from pathlib import Path

PLACES = {
    "pyproject.toml": r'^version = "{}"$',
    "solver/plan/plan.py": r'^VERSION = "{}"$',
    "deploy/base/kustomization.yaml": r"^    newTag: {}$",
    "docs/installing.md": r"(?:phalanx:|newTag: ){}(?=[\s}}])",
    "docs/tutorial.md": r"(?<=phalanx:){}\b",
}
_NUMBERS = re.compile(r"^\d+\.\d+\.\d+$")


def current(root: Path) -> str:
    """
    Read the version of the project.
    """
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(PLACES["pyproject.toml"].format(r"([\d.]+)"), text, re.MULTILINE)
    if found is None:
        raise ValueError("pyproject.toml names no version")
    return found[1]


def check(old: str, new: str) -> None:
    """
    Make sure that a version follows another.

    Raises
    ------
    ValueError
        Where it is none, or does not come after it.
    """
    if not _NUMBERS.match(new):
        raise ValueError(f"{new!r} is not a version such as 0.2.0")
    if _parts(new) <= _parts(old):
        raise ValueError(f"{new} does not come after {old}")


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def put(root: Path, old: str, new: str) -> None:
    """
    Name the new version wherever the old one stands.

    Raises
    ------
    ValueError
        Where a file that names it does not: then this table is out of date.
    """
    for name, pattern in PLACES.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        known = re.compile(pattern.format(re.escape(old)), re.MULTILINE)
        changed, count = known.subn(lambda it: it[0].replace(old, new), text)
        if not count:
            raise ValueError(f"{name} does not name the version {old}")
        path.write_text(changed, encoding="utf-8")
