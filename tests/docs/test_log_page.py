"""
The page on the log lists every event that is logged, and no other.
"""

import ast
import re

from tests.docs.pages import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "metrics.md"
LEVELS = {"info", "warning", "error", "exception"}


def logged():
    """
    Collect what is logged by name, wherever it is.
    """
    for path in sorted((REPOSITORY / "adapters").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "_log" not in text and "_say" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args and is_log(node.func):
                yield from texts(node.args[0])


def is_log(called):
    if isinstance(called, ast.Attribute):
        own = called.attr in LEVELS and ast.unparse(called.value) == "_log"
        return own or called.attr == "_say"
    return isinstance(called, ast.Name) and called.id == "_say"


def texts(node):
    words = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return (word for word in words if re.fullmatch(r"[a-z_]+", str(word)))


def test_every_event_is_on_the_page_and_every_one_there_is_logged():
    log = PAGE.read_text(encoding="utf-8").partition("## The log")[2]
    rows = re.findall(r"^\| (`.*?) \|", log, re.MULTILINE)
    listed = {word for row in rows for word in re.findall(r"`(\w+)`", row)}

    assert listed == set(logged())
