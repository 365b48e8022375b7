"""
What ``deploy/`` holds, as documents: its base as it stands, anything as kustomize does.
"""

import shutil
import subprocess
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[3]
DEPLOY = REPOSITORY / "deploy"
BASE = DEPLOY / "base"
FOLDERS = [BASE, *sorted((DEPLOY / "overlays").iterdir())]


def documents(path: Path) -> list[dict]:
    return list(yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader))


def base() -> list[dict]:
    """
    Read the manifests that the base lists, in its order.
    """
    listed = documents(BASE / "kustomization.yaml")[0]["resources"]
    return [raw for name in listed for raw in documents(BASE / name)]


def one(raws: list[dict], kind: str) -> dict:
    """
    Give the only document of a kind.
    """
    (found,) = (raw for raw in raws if raw["kind"] == kind)
    return found


def rules(kind: str) -> list[dict]:
    return one(base(), kind)["rules"]


def kustomize() -> list[str]:
    """
    Name the command that renders a folder; none where it is not installed.
    """
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    return ["kubectl", "kustomize"] if shutil.which("kubectl") else []


def rendered(folder: Path) -> list[dict]:
    """
    Render a folder as `kubectl apply -k` does.
    """
    done = subprocess.run(
        [*kustomize(), str(folder)], check=True, capture_output=True, text=True
    )
    return list(yaml.safe_load_all(done.stdout))
