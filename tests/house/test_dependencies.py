"""
What is depended on is imported, by us and not only by what we import.
"""

import re
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
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
