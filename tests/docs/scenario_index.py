"""
The index in ``scenarios/README.md``: every file with its rule, folder by folder.

The head of the page and what each folder is about are written by hand, the rest comes
from the files.
"""

import re
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[2] / "scenarios"
PAGE = FOLDER / "README.md"
HEADER = "| folder | rules about | files |\n|---|---|---|\n"
_ROW = re.compile(r"\| \[(?P<name>[\w-]+)\]\(#[\w-]+\) \| (?P<about>.*) \| \d+ \|")


def fresh() -> str:
    """
    Write the page anew from the files.
    """
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(HEADER)
    about = {row["name"]: row["about"] for row in _ROW.finditer(rest)}
    found = rules()
    names = [*about, *sorted(found.keys() - about.keys())]
    names = [name for name in names if name in found]
    table = "".join(
        f"| [{name}](#{name}) | {about.get(name, 'TODO')} | {len(found[name])} |\n"
        for name in names
    )
    lists = "".join(f"\n## {name}\n\n" + "".join(_lines(found[name])) for name in names)
    return head + HEADER + table + lists


def rules() -> dict[str, dict[str, str]]:
    """
    Read the rule of every scenario, by folder and name.
    """
    found: dict[str, dict[str, str]] = {}
    for file in sorted(FOLDER.glob("*/**/*.yaml")):
        text = file.read_text(encoding="utf-8")
        document = next(iter(yaml.load_all(text, Loader=yaml.CSafeLoader)))
        if isinstance(document, dict) and "rule" in document:
            where = file.relative_to(FOLDER)
            folder = found.setdefault(where.parts[0], {})
            folder[str(where.with_suffix(""))] = " ".join(document["rule"].split())
    return found


def _lines(files: dict[str, str]) -> list[str]:
    return [
        f"- [`{path.split('/', 1)[1]}`]({path}.yaml): {rule}\n"
        for path, rule in files.items()
    ]
