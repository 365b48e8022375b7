"""
What ``deploy/`` holds: the objects of the base, and what each overlay changes.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BASE = DEPLOY / "base"
OVERLAYS = DEPLOY / "overlays"
Object = dict[str, Any]


def documents(path: Path) -> list[Object]:
    """
    Read all documents of a file.
    """
    return list(yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader))


def document(path: Path) -> Object:
    """
    Read the one document of a file.
    """
    (found,) = documents(path)
    return found


def remark(path: Path) -> str:
    """
    Give the comment that a file begins with, line by line.
    """
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.startswith("#"):
            break
        lines.append(line)
    return "".join(lines)


def files(folder: Path) -> list[Path]:
    """
    List the files of objects that a folder adds, in the order of its kustomization.
    """
    listed = document(folder / "kustomization.yaml")["resources"]
    return [folder / name for name in listed if "/" not in name]


def labels() -> Mapping[str, str]:
    """
    Give the labels that the base lays on everything.
    """
    (listed,) = document(BASE / "kustomization.yaml")["labels"]
    pairs: Mapping[str, str] = listed["pairs"]
    return pairs


def settings(folder: Path) -> Object:
    """
    Read the settings of a folder, else those of the base.
    """
    own = folder / "settings.yaml"
    return document(own if own.exists() else BASE / "settings.yaml")


def patches(folder: Path) -> Iterator[tuple[str, object]]:
    """
    Walk what an overlay sets or adds in the Deployment: its path, and the value.
    """
    listed = document(folder / "kustomization.yaml")
    for patch in listed.get("patches", ()):
        if patch.get("target", {}).get("kind") == "Deployment":
            for step in yaml.safe_load(patch["patch"]):
                yield step["path"], step["value"]


def replicas(folder: Path) -> int | None:
    """
    Give the number of replicas that an overlay asks for.
    """
    listed = document(folder / "kustomization.yaml").get("replicas", ())
    return next((int(each["count"]) for each in listed), None)
