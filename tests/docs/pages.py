"""
The documents of the repository, taken apart: prose, links and fenced blocks.
"""

import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_FOLDERS = ("docs", "scenarios", "changelog.d")
_FENCE = re.compile(r"^```(\S*)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_CODE_SPAN = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """
    One fenced block: its language, the file name beside it, and its text.
    """

    page: Path
    line: int
    language: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """
    A command of a console block and what it prints.
    """

    command: str
    output: str


def pages() -> list[Path]:
    """
    List every document, those at the top first.
    """
    deeper = {p for name in _FOLDERS for p in (REPOSITORY / name).rglob("*.md")}
    of_rooms = set(REPOSITORY.glob("*/README.md"))
    return [*sorted(REPOSITORY.glob("*.md")), *sorted(deeper | of_rooms)]


def name_of(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start()) + 1,
            language=found[1],
            name=found[2].strip(),
            text=found[3],
        )
        for found in _FENCE.finditer(text)
    ]


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    return _LINK.findall(prose(page))


def code_spans(page: Path) -> list[str]:
    return _CODE_SPAN.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """
    Give the anchors of a page's headings, as the usual renderers make them.
    """
    plain = (re.sub(r"[^\w\- ]", "", h.lower()) for h in _HEADING.findall(prose(page)))
    return {heading.strip().replace(" ", "-") for heading in plain}


def is_session(block: Block) -> bool:
    return block.language == "console" and block.text.startswith("$ ")


def steps(block: Block) -> list[Step]:
    """
    Split a session at its prompts; what follows a command is what it prints.
    """
    found = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        found.append(Step(command, output))
    return found


def recipe(target: str) -> str:
    """
    Give the last line of a target's recipe in the Makefile.
    """
    lines = (REPOSITORY / "Makefile").read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"{target}:"))
    own = []
    for line in lines[at + 1 :]:
        if not line.startswith("\t"):
            break
        own.append(line.strip())
    return own[-1].replace("$(BIN)", ".venv/bin") if own else ""
