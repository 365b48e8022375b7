"""
Tries the wheel where nothing else is: in an environment of its own, with the demo.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

DEMO = Path("scenarios") / "demo" / "fragmented.yaml"
STARTS = "6 gangs start: 11 pods, 58 of 58 free GPUs"
JUDGED = "holds: "


class TryError(Exception):
    """
    The installed wheel does not do what it should.
    """


def try_wheel(root: Path, wheel: Path, version: str) -> None:
    """
    Install the locked requirements and the wheel, then plan and judge the demo.

    Raises
    ------
    TryError
        Where a command fails, or says something else than it should.
    """
    with tempfile.TemporaryDirectory(prefix="phalanx-release-") as name:
        folder = Path(name)
        _run(folder, sys.executable, "-m", "venv", "env")
        pip = (folder / "env/bin/python", "-m", "pip", "install", "--quiet")
        locked = root / "requirements" / "run.txt"
        _run(folder, *pip, "--require-hashes", "-r", locked)
        _run(folder, *pip, "--no-deps", wheel)
        (folder / "demo.yaml").write_bytes((root / DEMO).read_bytes())
        phalanx = folder / "env/bin/phalanx"
        _expect(version, _run(folder, phalanx, "version"))
        _expect(STARTS, _run(folder, phalanx, "plan", "demo.yaml", "--diff", "greedy"))
        plan = _run(folder, phalanx, "plan", "demo.yaml", "-o", "json")
        (folder / "plan.json").write_text(plan, encoding="utf-8")
        _expect(JUDGED, _run(folder, phalanx, "verify", "demo.yaml", "plan.json"))


def _expect(words: str, said: str) -> None:
    if words not in said:
        raise TryError(f"the installed wheel does not say {words!r}, but:\n{said}")


def _run(folder: Path, *command: str | Path) -> str:
    words = [str(word) for word in command]
    # Nothing of the checkout, nor of who calls, may help.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PHAL"))}
    done = subprocess.run(
        words, cwd=folder, env=kept, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise TryError(
            f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}"
        )
    return done.stdout
