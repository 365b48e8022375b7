"""
A bill of materials of an environment, in CycloneDX: what is installed, as it says.

Needs nothing but Python, since it runs while an image is built:
``python bill.py FOLDER FILE`` describes the packages of a folder of packages.
"""

import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

_VERSION = "1.6"
_OWN = "phalanx"


def bill_of(folder: Path) -> dict[str, object]:
    """
    Describe the packages of a folder, by name; ours is what they are for.
    """
    found = sorted(_installed(folder), key=lambda one: str(one["name"]))
    own = [one for one in found if _is_ours(one)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": _VERSION,
        "version": 1,
        "metadata": {"component": own[0] | {"type": "application"}} if own else {},
        "components": [one for one in found if one not in own],
    }


def _is_ours(one: dict[str, object]) -> bool:
    name = str(one["name"])
    return name == _OWN or name.startswith(f"{_OWN}-")


def _installed(folder: Path) -> Iterator[dict[str, object]]:
    for each in distributions(path=[str(folder)]):
        name, version = each.name, each.version
        where = f"pkg:pypi/{_normal(name)}@{version}"
        one: dict[str, object] = {"type": "library", "name": name, "version": version}
        one |= {"bom-ref": where, "purl": where}
        words = _licence(each)
        yield one | ({"licenses": [words]} if words else {})


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _licence(each: Distribution) -> dict[str, object]:
    """
    Give the licence as the package says it; an expression, else one line of text.
    """
    said = each.metadata
    if "License-Expression" in said:
        return {"expression": said["License-Expression"]}
    name = said["License"].strip() if "License" in said else ""
    return {"license": {"name": name}} if name and "\n" not in name else {}


def main() -> None:
    """
    Write the bill of a folder to a file.
    """
    folder, target = map(Path, sys.argv[1:])
    text = json.dumps(bill_of(folder), indent=1, sort_keys=True)
    target.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
