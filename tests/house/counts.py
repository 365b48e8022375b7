"""
Counts of the structure: rooms, files, lengths, names, and who takes room by hand.

Only the source is read, as text and as syntax; nothing of it is run.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("models", "solver", "adapters")
JUDGES = frozenset({"verify", "exact"})
LONG_FILE, LONG_CLASS, LONG_FUNCTION = 400, 200, 40
FULL_ROOM = 20
ROOM_DOORS = frozenset(
    {"solver/problem/measured_room.py", "solver/problem/node_room.py"}
)
"""
The files that may take room of nodes or give it back.
"""
_TAKES = re.compile(
    r"(?:\b(?:free|now|after|later|idle|empty|room)|\.rows)(?:\[[^\]\n]*\])?\s*[-+]="
    r"|np\.(?:add|subtract)\.at\((?:\w+\.)*(?:free|now|after|later|idle|empty|rows)\b"
)


@dataclass(frozen=True)
class Source:
    """
    One module: its path from the top, its text, and its syntax tree.
    """

    path: str
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def judges(self) -> bool:
        return bool(JUDGES & set(self.path.split("/")))


@cache
def sources() -> tuple[Source, ...]:
    """
    Read every module of the product, in the order of their paths.
    """
    found = []
    for top in PRODUCT:
        for path in sorted((ROOT / top).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            name = path.relative_to(ROOT).as_posix()
            found.append(Source(name, text, ast.parse(text)))
    return tuple(found)


def solver_modules() -> dict[str, list[str]]:
    """
    List the modules of each room of the solver; its top is the room ``solver``.
    """
    rooms = defaultdict(list)
    for each in sources():
        if each.path.startswith("solver/") and not each.path.endswith("__init__.py"):
            rooms[each.room].append(each.path)
    return dict(rooms)


def full_rooms() -> list[str]:
    """
    List the rooms of the whole product with more modules than a person takes in.
    """
    rooms = defaultdict(int)
    for each in sources():
        rooms[each.room] += not each.path.endswith("__init__.py")
    return [room for room, modules in rooms.items() if modules > FULL_ROOM]


def product_lines() -> int:
    """
    Count the lines of the solver without what judges it.
    """
    return sum(
        each.text.count("\n")
        for each in sources()
        if each.path.startswith("solver/") and not each.judges
    )


def long_files() -> list[str]:
    """
    List the files with more lines than one sitting takes in.
    """
    return [s.path for s in sources() if s.text.count("\n") > LONG_FILE]


def long_classes() -> list[str]:
    """
    List the classes that are too long.
    """
    return list(_longer(ast.ClassDef, LONG_CLASS))


def long_functions() -> list[str]:
    """
    List the functions and methods that are too long.
    """
    return list(_longer((ast.FunctionDef, ast.AsyncFunctionDef), LONG_FUNCTION))


def _longer(kind, most) -> Iterator[str]:
    for path, node in _definitions():
        if isinstance(node, kind) and node.end_lineno - node.lineno >= most:
            yield f"{path}:{node.name}"


@cache
def _definitions() -> list[tuple[str, ast.stmt]]:
    """
    List the classes and functions of every module, those inside others too.
    """
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (each.path, node)
        for each in sources()
        for node in ast.walk(each.tree)
        if isinstance(node, kinds)
    ]


def takes_room_by_hand() -> list[str]:
    """
    List the files of the solver that add to rows of free room or subtract from them.
    """
    return [
        each.path
        for each in sources()
        if each.path.startswith("solver/")
        and not each.judges
        and each.path not in ROOM_DOORS
        and _TAKES.search(each.text)
    ]


def shared_class_names() -> dict[str, list[str]]:
    """
    Give the classes of one name that stand in several files, without what judges.
    """
    found = defaultdict(set)
    for each in sources():
        if each.judges:
            continue
        for node in each.tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name.lstrip("_")].add(each.path)
    return {name: sorted(where) for name, where in found.items() if len(where) > 1}


def within_one_package(shared: dict[str, list[str]]) -> dict[str, list[str]]:
    """
    Keep the names that one package uses more than once.
    """
    tops = {
        name: [path.partition("/")[0] for path in where]
        for name, where in shared.items()
    }
    return {
        n: shared[n] for n, tops_of in tops.items() if len({*tops_of}) < len(tops_of)
    }


def shared_module_names() -> dict[str, list[str]]:
    """
    Give the module names that several rooms use, without those of what judges.
    """
    found = defaultdict(set)
    for each in sources():
        stem = Path(each.path).stem
        if stem != "__init__" and not each.judges:
            found[stem].add(each.room)
    return {name: sorted(where) for name, where in found.items() if len(where) > 1}
