"""
What is depended on is imported, by us and not only by what we import.
"""

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
_WITH_EXTRAS = re.compile(r"[\w.-]+\[[\w,-]+\]")
_IMPORTED_AS = {"pyyaml": "yaml", "vl-convert-python": "vl_convert"}


def imported(*folders) -> set[str]:
    """
    Name the packages that the modules of some folders import.
    """
    texts = (
        path.read_text(encoding="utf-8")
        for folder in folders
        for path in (REPOSITORY / folder).rglob("*.py")
    )
    return {name for text in texts for name in _IMPORT.findall(text)}


def test_everything_that_is_depended_on_is_imported():
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(one for some in extras for one in some)]
    names = {re.match(r"[\w-]+", one)[0] for one in wanted}
    known = imported("adapters", "solver", "models")

    assert not {
        name
        for name in names
        if _IMPORTED_AS.get(name, name).replace("-", "_") not in known
    }


def test_what_is_asked_for_with_extras_is_locked_with_them():
    """
    Without the extras in the lock, pip takes the newest version and then refuses it.
    """
    lock = (REPOSITORY / "requirements" / "dev.txt").read_text(encoding="utf-8")
    locked = {line.partition("==")[0] for line in lock.splitlines() if "==" in line}
    bare = {name.partition("[")[0] for name in locked}
    asked = {
        found[0]
        for one in distributions()
        if one.name.lower() in bare
        for line in one.requires or ()
        if "extra ==" not in line and (found := _WITH_EXTRAS.match(line))
    }

    assert "coverage[toml]" in asked
    assert asked <= locked
