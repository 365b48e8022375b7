"""
The bill of materials of an image says what is installed.
"""

import json
import subprocess
import sys
from pathlib import Path

from tools.release import bill


def package(folder, name, version, *more):
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *more]
    (info / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_it_names_what_is_installed_and_what_that_is_for(tmp_path):
    package(tmp_path, "Some_Thing", "1.2", "License-Expression: MIT")
    package(tmp_path, "other", "3.0", "License: BSD")
    package(tmp_path, "phalanx", "0.2.0")
    target = tmp_path / "bill.json"
    words = [sys.executable, bill.__file__, str(tmp_path), str(target)]
    subprocess.run(words, check=True)
    found = json.loads(target.read_text(encoding="utf-8"))

    assert ("CycloneDX", "1.6") == (found["bomFormat"], found["specVersion"])
    assert "phalanx" == found["metadata"]["component"]["name"]
    assert ["pkg:pypi/some-thing@1.2", "pkg:pypi/other@3.0"] == [
        one["purl"] for one in found["components"]
    ]
    assert [{"expression": "MIT"}] == found["components"][0]["licenses"]


def test_every_locked_requirement_that_is_here_is_on_it():
    folder = next(p for p in map(Path, sys.path) if p.name == "site-packages")
    found = bill.bill_of(folder)["components"]
    lock = (Path(bill.__file__).parents[2] / "requirements" / "run.txt").read_text()
    pins = {x.split("==")[0] for x in lock.splitlines() if "==" in x and x[0] != " "}
    names = {one["purl"].split("/")[1].split("@")[0] for one in found}

    assert {"ortools", "pydantic"} <= pins & names
