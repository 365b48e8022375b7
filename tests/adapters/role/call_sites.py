"""
Where the source asks an API server for something, and which of these places were met.
"""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from types import FrameType

import yaml

from adapters.kube.api.client import Transport
from tests.adapters.role.grants import Grant, needed_for
from tests.helpers.kube.deployed import REPOSITORY

ADAPTERS = REPOSITORY / "adapters"
_ASKING = ("call", "page", "watch")
_CLIENT = str(ADAPTERS / "kube" / "api" / "client.py")


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """
    One call in the source, by its file and lines.
    """

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}"


def sites() -> Iterator[Site]:
    """
    Walk all calls of a transport; where one only passes a method on, its callers too.
    """
    for path in sorted(ADAPTERS.rglob("*.py")):
        if path.parts[-2:] == ("api", "client.py"):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        for call in _calls(tree):
            if _asks(call) or _name(call) in passing():
                end = call.end_lineno or call.lineno
                name = path.relative_to(REPOSITORY).as_posix()
                yield Site(name, call.lineno, end)


@cache
def passing() -> set[str]:
    """
    Name the functions that pass on a method which they are told.
    """
    texts = (path.read_text("utf-8") for path in ADAPTERS.rglob("*.py"))
    return {
        function.name
        for text in texts
        if "transport.call(" in text
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef)
        for call in _calls(function)
        if _name(call) == "call" and _asks(call)
        if not isinstance(call.args[0], ast.Constant)
    }


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.Call))


def _name(call: ast.Call) -> str:
    called = call.func
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _asks(call: ast.Call) -> bool:
    called = call.func
    if not isinstance(called, ast.Attribute) or called.attr not in _ASKING:
        return False
    return ast.unparse(called.value).rpartition(".")[2].strip("_") == "transport"


@dataclass
class Met:
    """
    The files and lines from which transports were asked, and wrong words of theirs.

    A call says which rule it needs, so that a refusal can tell it: ``wrong`` are those
    that say another one.
    """

    lines: set[tuple[str, int]] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)

    def asked(self, frame: FrameType | None) -> None:
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(str(ADAPTERS)) and name != _CLIENT:
                path = Path(name).relative_to(REPOSITORY).as_posix()
                self.lines.add((path, frame.f_lineno))
            frame = frame.f_back

    def called(self, method: str, path: str, rule: str) -> None:
        said = yaml.safe_load(rule) if rule else {}
        groups, resources, verbs = (
            said.get(word, ()) for word in ("apiGroups", "resources", "verbs")
        )
        told = {Grant(*each) for each in product(groups, resources, verbs)}
        for need in needed_for(method, path) if told else ():
            if Grant(need.group, need.resource, need.verb) not in told:
                self.wrong.add(f"{need}: {rule}")

    def unmet(self) -> set[Site]:
        """
        List the places of the source that were not met.
        """
        return {
            site
            for site in sites()
            if not any(
                (site.path, line) in self.lines
                for line in range(site.first, site.last + 1)
            )
        }


@contextmanager
def noted(monkeypatch) -> Iterator[Met]:
    """
    Note from where transports are asked for what, within a block.
    """
    met = Met()

    def noting(name, method):
        def asked(*words, **named):
            met.asked(sys._getframe(1))
            if name == "call":
                met.called(*words[1:3], named.get("rule", ""))
            return method(*words, **named)

        return asked

    with monkeypatch.context() as patch:
        for name in _ASKING:
            patch.setattr(Transport, name, noting(name, getattr(Transport, name)))
        yield met
