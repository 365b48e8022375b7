"""
Make a release: ``make release VERSION=0.2.0``.

It changes the work tree and fills ``dist/``; committing is left to who runs it.
"""

import argparse
import calendar
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

from tools.release import changelog, version
from tools.release.archives import archive, of_chart, of_image
from tools.release.tried import TryError, try_wheel

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"


def main() -> int:
    """
    Check, write, build and try; say in one sentence what went wrong.
    """
    asked = argparse.ArgumentParser(prog="make release", description=__doc__)
    asked.add_argument("version", help="such as 0.2.0")
    asked.add_argument("--date", default=time.strftime("%Y-%m-%d", time.gmtime()))
    said = asked.parse_args()
    try:
        _write(said.version, said.date)
        built = _build(said.version, said.date)
        _say(f"Trying {built.name} in an environment of its own ...")
        try_wheel(ROOT, built, said.version)
    except (ValueError, TryError, subprocess.CalledProcessError) as error:
        _say(f"error: {error}")
        _say("do: mend it; `git checkout .` takes back what was written")
        return 1
    for line in _sums():
        _say(line)
    _say(f"Tried: the installed wheel plans the demo and judges it, as {said.version}.")
    _say("Look at `git diff`, then:")
    _say(f'  git add -A && git commit -m "Release {said.version}"')
    _say(f"  git tag v{said.version}")
    return 0


def _write(new: str, date: str) -> None:
    """
    Put version and changelog in place, and make anew what is made of them.
    """
    old = version.current(ROOT)
    version.check(old, new)
    if _git("status", "--porcelain"):
        raise ValueError("the work tree has changes that are not committed")
    changes = changelog.fragments(ROOT / "changelog.d")
    if not changes:
        raise ValueError("changelog.d has no fragment, so there is nothing to release")
    path = ROOT / "CHANGELOG.md"
    added = changelog.section(new, date, changes)
    text = changelog.with_section(path.read_text(encoding="utf-8"), added)
    version.put(ROOT, old, new)
    path.write_text(text, encoding="utf-8")
    for change in changes:
        change.path.unlink()
    subprocess.run([sys.executable, "-m", "tools.chart"], cwd=ROOT, check=True)
    _say(f"{old} becomes {new}; {len(changes)} changes are in CHANGELOG.md")


def _build(new: str, date: str) -> Path:
    """
    Build wheel, chart and the recipe of the image; give the wheel.
    """
    moment = calendar.timegm(time.strptime(date, "%Y-%m-%d"))
    DIST.mkdir(exist_ok=True)
    for path in DIST.iterdir():
        path.unlink()
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    build += ["--no-build-isolation", "--wheel-dir", str(DIST), str(ROOT)]
    timed = os.environ | {"SOURCE_DATE_EPOCH": str(moment)}
    subprocess.run(build, env=timed, check=True)
    chart = ROOT / "deploy" / "chart"
    target = DIST / f"phalanx-{new}.tgz"
    archive(target, "phalanx", chart, of_chart(ROOT), moment)
    folder = f"phalanx-{new}-image"
    archive(DIST / f"{folder}.tar.gz", folder, ROOT, of_image(ROOT), moment)
    (wheel,) = DIST.glob(f"phalanx-{new}-*.whl")
    return wheel


def _sums() -> list[str]:
    """
    Write the sums of what was built, and give them.
    """
    built = sorted(DIST.iterdir())
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}" for p in built]
    (DIST / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words],  # noqa: S607 - whose repository this is
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
