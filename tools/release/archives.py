"""
Archives of the chart and of what an image is built from: same input, same bytes.
"""

import gzip
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path


def archive(
    target: Path, folder: str, root: Path, paths: Iterable[Path], moment: int
) -> None:
    """
    Pack files of a folder, sorted, without owners, all of one moment.

    Parameters
    ----------
    folder
        The name of the one folder in the archive.
    moment
        The time of every file, in seconds since the epoch.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(paths):
            data = path.read_bytes()
            entry = tarfile.TarInfo(f"{folder}/{path.relative_to(root).as_posix()}")
            entry.size, entry.mtime, entry.mode = len(data), moment, 0o644
            tar.addfile(entry, io.BytesIO(data))
    with (
        target.open("wb") as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=moment) as whole,
    ):
        whole.write(packed.getvalue())


def of_chart(root: Path) -> list[Path]:
    """
    List the files of the chart.
    """
    return [path for path in (root / "deploy" / "chart").rglob("*") if path.is_file()]


def of_image(root: Path) -> list[Path]:
    """
    List what an image is built from: the recipe, and what it is allowed to see.
    """
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    found = [root / "Dockerfile", root / ".dockerignore"]
    for name in (line.removeprefix("!") for line in lines if line.startswith("!")):
        path = root / name
        found += path.rglob("*") if path.is_dir() else [path]
    return [
        path for path in found if path.is_file() and "__pycache__" not in path.parts
    ]
